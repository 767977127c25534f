"""The cases file: written and reviewed by people. For each case what is asked, and what must hold."""

from typing import Annotated, Literal

from labadapt.schema.model import Contract, Identifier, Name, Request
from msgspec import UNSET, Meta, Struct, UnsetType


class CaseMatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """How a run is recognised as this case when its telemetry carries no case id. All that stand must hold."""

    input_equals: Annotated[str | UnsetType, Meta(description="The run's input is exactly this text.")] = UNSET
    input_contains: Annotated[str | UnsetType, Meta(description="The run's input contains this text.")] = UNSET
    expression: Annotated[
        str | UnsetType, Meta(description="A JMESPath expression over the run's view that yields true.")
    ] = UNSET


class Case(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """One case. `contract` absent or null: nobody has written it yet, and checking is inconclusive."""

    description: Annotated[str | UnsetType, Meta(description="For people.")] = UNSET
    match: Annotated[CaseMatch | UnsetType, Meta(description="How to recognise a run of this case.")] = UNSET
    request: Annotated[Request | UnsetType | None, Meta(description="What is asked.")] = UNSET
    contract: Annotated[Contract | UnsetType | None, Meta(description="What must hold.")] = UNSET
    loop: Annotated[Identifier | UnsetType, Meta(description="The loop of the product that the case exercises.")] = (
        UNSET
    )
    failure_class: Annotated[Identifier | UnsetType, Meta(description="The class of failure that it provokes.")] = UNSET
    holdout: Annotated[bool | UnsetType, Meta(description="Kept apart from the cases that people tune on.")] = UNSET
    scenario_version: Annotated[Identifier | UnsetType, Meta(description="Version of the scenario.")] = UNSET


class CasesFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A cases file."""

    schema_version: Annotated[Literal[1], Meta(description="Version of the cases format.")]
    cases: Annotated[dict[Name, Case], Meta(description="The cases by case id.")]
