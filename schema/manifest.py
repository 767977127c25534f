"""The manifest of a folder of bundles: which files belong to it, with their digests, so that a missing one is seen."""

from typing import Annotated, Literal

from labadapt.schema.model import Generator, Name
from msgspec import UNSET, Meta, Struct, UnsetType


class Pair(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What names a run."""

    case_id: Annotated[Name, Meta(description="The case.")]
    policy: Annotated[Name, Meta(description="The policy.")]


class Shard(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """One bundle of the folder. Runs stand in order of case and policy, over all bundles."""

    file: Annotated[str, Meta(pattern=r"^[a-z0-9-]+\.json$", description="Its name in the folder.")]
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$", description="SHA-256 of its bytes, in hexadecimal.")]
    bytes: Annotated[int, Meta(ge=1, description="Its size.")]
    runs: Annotated[int, Meta(ge=1, description="How many runs it holds.")]
    first: Annotated[Pair, Meta(description="Its first run.")]
    last: Annotated[Pair, Meta(description="Its last run.")]


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Every bundle of a folder, in order."""

    schema_version: Annotated[Literal[1], Meta(description="Version of the manifest's format.")]
    generator: Annotated[Generator | UnsetType, Meta(description="Who wrote the folder.")] = UNSET
    runs: Annotated[int, Meta(ge=1, description="Runs in all bundles together.")]
    bundles: Annotated[list[Shard], Meta(min_length=1, description="The bundles.")]
