"""Folders of bundles: written with a manifest of digests, and held to it when they are read."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from labadapt.schema.problems import Problem, Refusal, Where

if TYPE_CHECKING:
    from labadapt.cli.bundles import Packed
    from labadapt.schema.manifest import Manifest, Shard

MANIFEST = "manifest.json"
_MARK = b'"bundles"'  # of a manifest that is one of ours; other programs call a file manifest.json, too
_HEAD = 4096
_PIECE = 1 << 20


# -- written -----------------------------------------------------------------------------------------------------------


def with_manifest(bundles: Iterable["Packed"]) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The files of a folder, the manifest last: so it stands only beside bundles that are whole.

    The parts of each file must be used up before the next file is asked for.
    """
    from labadapt.schema.manifest import Pair, Shard

    shards = []
    for bundle in bundles:
        seen = _Seen()
        yield bundle.file, seen.passing(bundle.parts)
        first, last = (Pair(case_id=case_id, policy=policy) for case_id, policy in (bundle.first, bundle.last))
        shards.append(
            Shard(file=bundle.file, sha256=seen.digest(), bytes=seen.size, runs=bundle.runs, first=first, last=last)
        )
    yield MANIFEST, [_encoded(shards)]


class _Seen:
    """Digest and size of what passes."""

    def __init__(self) -> None:
        self.size = 0
        self._hash = hashlib.sha256()

    def passing(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        for part in parts:
            self.size += len(part)
            self._hash.update(part)
            yield part

    def digest(self) -> str:
        return self._hash.hexdigest()


def _encoded(shards: "list[Shard]") -> bytes:
    import msgspec
    from labadapt import __version__
    from labadapt.schema.manifest import Manifest
    from labadapt.schema.model import Generator

    generator = Generator(name="labadapt", version=__version__)
    runs = sum(shard.runs for shard in shards)
    manifest = Manifest(schema_version=1, generator=generator, runs=runs, bundles=shards)
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


# -- read --------------------------------------------------------------------------------------------------------------


def held(folder: Path, files: list[Path]) -> list[Path]:
    """The bundles of a folder that has a manifest, without it; all files of another folder.

    Raises ``BAD_MANIFEST`` for a bundle that is missing, changed or not listed.
    """
    path = folder / MANIFEST
    if path not in files or not _is_ours(path):
        return files
    manifest = _decoded(path, path.read_bytes())
    listed = {folder / shard.file: shard for shard in manifest.bundles}
    others = sorted(file for file in files if file != path and file not in listed)
    problems = [
        *(_problem(file, "the manifest does not list this file", None, None) for file in others),
        *(problem for file, shard in listed.items() for problem in _faults(file, shard)),
    ]
    if problems:
        raise Refusal(problems)
    return list(listed)


def _is_ours(path: Path) -> bool:
    with path.open("rb") as stream:
        return _MARK in stream.read(_HEAD)


def _decoded(path: Path, data: bytes) -> "Manifest":
    import msgspec
    from labadapt.schema.faults import faults
    from labadapt.schema.manifest import Manifest
    from labadapt.schema.parsing import parse

    try:
        return msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        parsed = parse(data, str(path))
        found = parsed.problems or faults(parsed.value, "manifest", str(path))
        raise Refusal(found or [_problem(path, "this is no manifest of bundles", None, None)]) from None


def _faults(file: Path, shard: "Shard") -> Iterator[Problem]:
    if not file.is_file():
        yield _problem(file, "the manifest lists a bundle that is not there", None, None)
    elif (digest := _digest(file)) != shard.sha256:
        yield _problem(
            file, "the bundle is not the one that the manifest lists", f"sha256 {digest}", f"sha256 {shard.sha256}"
        )


def _digest(file: Path) -> str:
    found = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE):
            found.update(piece)
    return found.hexdigest()


def _problem(file: Path, message: str, found: str | None, expected: str | None) -> Problem:
    return Problem(code="BAD_MANIFEST", message=message, where=Where(file=str(file)), found=found, expected=expected)
