"""The mapping file: how to read one application's telemetry. Nothing to say means the defaults."""

from typing import Annotated, Literal

from labadapt.schema.model import Identifier, RequestOperation, Token
from msgspec import UNSET, Meta, Struct, UnsetType


class ToolMapping(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """One tool. Expressions are JMESPath over ``{"arguments": …, "result": …}`` of the call.

    Default of each expression: the key of the same name in the result.
    """

    operation: Annotated[
        RequestOperation | UnsetType, Meta(description="Whether the tool reads or writes. Absent: unknown.")
    ] = UNSET
    metric: Annotated[str | UnsetType, Meta(description="Where the metric that was returned stands.")] = UNSET
    window: Annotated[str | UnsetType, Meta(description="Where the window that was returned stands.")] = UNSET
    rows: Annotated[str | UnsetType, Meta(description="Where the number of rows stands.")] = UNSET
    value: Annotated[str | UnsetType, Meta(description="Where the value stands.")] = UNSET
    source: Annotated[str | UnsetType, Meta(description="Where the source stands.")] = UNSET


class RunMapping(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Where the parts of a run stand. Expressions are JMESPath over the run's view (docs/mapping.md)."""

    case: Annotated[str | UnsetType, Meta(description="Where the case id stands.")] = UNSET
    policy: Annotated[str | UnsetType, Meta(description="Where the policy stands.")] = UNSET
    output: Annotated[
        str | UnsetType,
        Meta(description="The output: an object with disposition, value, evidence, state."),
    ] = UNSET


class MappingFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A mapping file."""

    schema_version: Annotated[Literal[1], Meta(description="Version of the mapping format.")]
    tools: Annotated[dict[Identifier, ToolMapping] | UnsetType, Meta(description="The tools by name.")] = UNSET
    run: Annotated[RunMapping | UnsetType, Meta(description="Where case, policy and output stand.")] = UNSET
    dispositions: Annotated[
        dict[Identifier, Token] | UnsetType, Meta(description="The application's own words for dispositions.")
    ] = UNSET
