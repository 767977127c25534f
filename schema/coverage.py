"""What a cases file covers, and what results have shown of it: loops by failure classes (docs/results.md)."""

from typing import Annotated, Literal, TypeAlias

from labadapt.schema.model import Count
from labadapt.schema.reliability import LeftOut
from msgspec import Meta, Struct

CellState: TypeAlias = Literal["decided", "undecided", "not run", "no case"]

# The classes that every loop is asked about; a cases file may have more of its own.
FAILURE_CLASSES = (
    "stale_data",
    "duplicate_input",
    "identity_ambiguity",
    "missing_evidence",
    "provider_timeout",
    "denied_permission",
    "budget_exhaustion",
    "hostile_content",
)


class CellCounts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The cases of one cell on one side of the holdout, and the outcomes of their runs."""

    cases: Annotated[list[str], Meta(description="The cases.")]
    passed: Annotated[Count, Meta(description="Runs whose outcome is pass.")]
    failed: Annotated[Count, Meta(description="Runs whose outcome is fail.")]
    inconclusive: Annotated[Count, Meta(description="Runs that decide nothing.")]
    not_run: Annotated[list[str], Meta(description="Cases without a run that counts.")]
    undecided: Annotated[list[str], Meta(description="Cases all of whose runs are inconclusive.")]
    state: Annotated[
        CellState,
        Meta(description="decided: a run passed or failed. undecided: all inconclusive. not run. no case: empty."),
    ]


class Cell(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """One loop under one class of failure."""

    loop: Annotated[str, Meta(description="The loop.")]
    failure_class: Annotated[str, Meta(description="The class of failure.")]
    open: Annotated[CellCounts, Meta(description="Cases that people tune on.")]
    holdout: Annotated[CellCounts, Meta(description="Cases that are kept apart.")]


class Likeness(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Cases of one cell that ask nearly the same."""

    cases: Annotated[list[str], Meta(description="Two cases, or all that ask the same.")]
    loop: Annotated[str | None, Meta(description="Their loop.")]
    failure_class: Annotated[str | None, Meta(description="Their class of failure.")]
    similarity: Annotated[float, Meta(ge=0, le=1, description="1: equal after normalising; else of their words.")]
    across_holdout: Annotated[bool, Meta(description="Whether one is held out and another is not.")]
    reason: Annotated[str, Meta(description="Why they are alike.")]


class Coverage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Which failures the cases provoke in which loop, and what the results show of them."""

    schema_version: Annotated[Literal[1], Meta(description="Version of the report.")]
    loops: Annotated[list[str], Meta(description="Loops that a case names.")]
    failure_classes: Annotated[list[str], Meta(description="The classes of every loop, then those of the cases' own.")]
    own_classes: Annotated[list[str], Meta(description="Of these, those that only the cases file names.")]
    with_results: Annotated[bool, Meta(description="Whether results were given.")]
    cells: Annotated[list[Cell], Meta(description="Every loop under every class.")]
    empty: Annotated[
        list[tuple[str, str]], Meta(description="Loop and class of the cells without a case that people tune on.")
    ]
    holdout_only: Annotated[
        list[tuple[str, str]], Meta(description="Of these, the cells whose cases are all held out.")
    ]
    unplaced: Annotated[list[LeftOut], Meta(description="Cases that no cell holds, and why.")]
    uncounted: Annotated[list[LeftOut], Meta(description="Runs that do not count, as case (policy), and why.")]
    near_duplicates: Annotated[list[Likeness], Meta(description="Cases of one cell that ask nearly the same.")]
    likeness_threshold: Annotated[
        float, Meta(ge=0, le=1, description="Least similarity that is pointed out: shared words by all words of both.")
    ]
    alike_spellings: Annotated[
        list[tuple[str, str]], Meta(description="Own classes that another class differs from in spelling alone.")
    ]
