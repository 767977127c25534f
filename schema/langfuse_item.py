"""What a person writes into a Langfuse dataset item so that its runs have a contract (docs/langfuse.md)."""

from typing import Annotated, Any

from labadapt.schema.model import Contract, JsonObject
from msgspec import UNSET, Meta, Struct, UnsetType


class LangfuseItem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The content of a dataset item. Langfuse's own fields, such as the item's id, are not part of it."""

    input: Annotated[
        Any,
        Meta(
            description="What the run is given. An object with tool and operation is the request, in the form of the "
            "definition Request of a bundle; everything else is content of yours."
        ),
    ] = UNSET
    expected_output: Annotated[
        Contract | UnsetType | None,
        Meta(description="The contract. Without a disposition it is content of yours, and no contract."),
    ] = UNSET
    metadata: Annotated[
        JsonObject | UnsetType | None,
        Meta(
            description="Content of yours, in which contract and request may stand under these names instead. What "
            "stands in two places must agree."
        ),
    ] = UNSET
