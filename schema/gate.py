"""The gate file, which says what a candidate must show, and the decision that a gate comes to (docs/results.md)."""

from typing import Annotated, Literal, TypeAlias

from labadapt.schema.comparison import Comparison, GateName
from labadapt.schema.model import Count, Identifier, NonNegative
from labadapt.schema.reliability import Cost, LeftOut, Rate, Share
from msgspec import UNSET, Meta, Struct, UnsetType

Verdict: TypeAlias = Literal["promote", "block", "not enough evidence"]
PartState: TypeAlias = Literal["met", "not met", "not enough evidence", "not asked for"]


class RequiredCell(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A loop under a class of failure that must have decided cases."""

    loop: Annotated[Identifier, Meta(description="The loop.")]
    failure_class: Annotated[Identifier, Meta(description="The class of failure.")]
    cases: Annotated[int, Meta(ge=1, description="How many cases that are not held out must be decided.")] = 1


class AcceptedGap(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A gap that a person has accepted, and why."""

    loop: Annotated[Identifier, Meta(description="The loop.")]
    failure_class: Annotated[Identifier, Meta(description="The class of failure.")]
    reason: Annotated[str, Meta(min_length=1, max_length=2000, description="Why the gap may stay.")]


class GateFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A gate file (TOML). What it does not ask for is told and decides nothing, except routine quality."""

    schema_version: Annotated[Literal[1], Meta(description="Version of the gate format.")]
    critical_severities: Annotated[
        tuple[Identifier, ...], Meta(description='Severities a failure of which blocks; by default "critical" alone.')
    ] = ("critical",)
    at_least: Annotated[
        Share | UnsetType, Meta(description="Least rate of routine success. Absent: routine quality is undecided.")
    ] = UNSET
    holdout_at_least: Annotated[
        Share | UnsetType, Meta(description="Least rate of success of the routine cases that are held out.")
    ] = UNSET
    confidence: Annotated[float, Meta(gt=0, lt=1, description="Level of intervals, bounds and tests.")] = 0.95
    scheduled: Annotated[
        Annotated[int, Meta(ge=1)] | UnsetType,
        Meta(description="Trials of each case that were to be made. Absent: at least one."),
    ] = UNSET
    comparison: Annotated[
        GateName | UnsetType, Meta(description="What is asked of the comparison with a baseline. Absent: nothing.")
    ] = UNSET
    required_cells: Annotated[
        tuple[RequiredCell, ...], Meta(description="Loops and classes of failure that must be covered.")
    ] = ()
    every_cell: Annotated[
        bool, Meta(description="Whether each loop that a case names must be covered under each class.")
    ] = False
    accepted_gaps: Annotated[
        tuple[AcceptedGap, ...], Meta(description="Gaps that a person has accepted, each with the reason.")
    ] = ()
    review_minutes: Annotated[
        NonNegative | UnsetType, Meta(description="Minutes that people spent on reviewing these runs. Absent: unknown.")
    ] = UNSET
    max_review_minutes_per_success: Annotated[
        NonNegative | UnsetType, Meta(description="Most minutes of review for each run that passes.")
    ] = UNSET
    max_cost_usd_per_success: Annotated[
        NonNegative | UnsetType, Meta(description="Most US dollars for each run that passes.")
    ] = UNSET


class CriticalFailure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A failed run of a case whose failure blocks."""

    case_id: Annotated[str, Meta(description="The case.")]
    severity: Annotated[str, Meta(description="The contract's severity.")]
    failed: Annotated[Count, Meta(description="Trials that fail.")]
    trials: Annotated[Count, Meta(description="Trials that count.")]
    holdout: Annotated[bool, Meta(description="Whether the case is held out.")]
    new: Annotated[
        bool | None, Meta(description="true: every trial of the baseline passes. false: one fails. null: not known.")
    ]
    reasons: Annotated[list[str], Meta(description="Why, for each check that failed in a trial.")]


class Aggregate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Success in aggregate, with the exact bounds behind an "at least"."""

    rate: Annotated[Rate, Meta(description="Passes of the trials; what is missing or inconclusive is open.")]
    at_least: Annotated[Share | None, Meta(description="The rate asked for; null: none.")]
    lower: Annotated[
        Share | None, Meta(description="One-sided Clopper-Pearson lower bound, open trials as failures; null without.")
    ]
    upper: Annotated[Share | None, Meta(description="One-sided upper bound, open trials as successes; null without.")]


class Gap(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A cell that is required and not covered."""

    loop: Annotated[str, Meta(description="The loop.")]
    failure_class: Annotated[str, Meta(description="The class of failure.")]
    required: Annotated[int, Meta(ge=1, description="Decided cases that are asked for.")]
    decided: Annotated[Count, Meta(description="Decided cases that there are, without the held-out ones.")]
    cases: Annotated[Count, Meta(description="Cases that there are, without the held-out ones.")]
    accepted: Annotated[str | None, Meta(description="Why a person has accepted it; null: unresolved.")]


class Effort(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What success took. What is unknown is null, and is not 0."""

    successes: Annotated[Count, Meta(description="Runs that pass, critical and held-out ones included.")]
    review_minutes: Annotated[NonNegative | None, Meta(description="Minutes of review by people.")]
    review_minutes_per_success: Annotated[NonNegative | None, Meta(description="Null: unknown, or no success.")]
    cost_usd: Annotated[Cost | None, Meta(description="Cost of the target's runs by source; null without a run.")]
    cost_usd_per_success: Annotated[
        NonNegative | None,
        Meta(description="Null: no success, a run without a cost, or costs of several sources, which are not added."),
    ]


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """One thing that is asked of the candidate."""

    name: Annotated[
        Literal["critical failures", "routine quality", "holdout quality", "coverage", "comparison", "review", "cost"],
        Meta(description="What is asked about."),
    ]
    state: Annotated[PartState, Meta(description="met, not met, not enough evidence, or not asked for.")]
    reason: Annotated[str, Meta(description="One sentence that says why.")]
    cases: Annotated[list[str], Meta(description="The cases that decide it.")]


class Decision(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What a gate comes to. One part that is not met blocks, however good the others are."""

    schema_version: Annotated[Literal[1], Meta(description="Version of the report.")]
    decision: Annotated[Verdict, Meta(description="promote: every part that is asked for is met.")]
    policy: Annotated[str, Meta(description="The candidate's policy.")]
    confidence: Annotated[float, Meta(gt=0, lt=1, description="Level of intervals, bounds and tests.")]
    parts: Annotated[list[Part], Meta(description="Each thing asked, in a fixed order.")]
    critical_failures: Annotated[list[CriticalFailure], Meta(description="One by one.")]
    critical_open: Annotated[list[str], Meta(description="Critical cases of which a failure cannot be ruled out.")]
    routine: Annotated[Aggregate, Meta(description="Cases that are neither critical nor held out.")]
    holdout: Annotated[Aggregate, Meta(description="Held-out cases that are not critical.")]
    gaps: Annotated[list[Gap], Meta(description="Cells that are required and not covered.")]
    accepted_in_vain: Annotated[
        list[tuple[str, str]], Meta(description="Loop and class of accepted gaps that are none.")
    ]
    empty_cells: Annotated[Count, Meta(description="Cells of loops by classes without a case that people tune on.")]
    uncounted: Annotated[list[LeftOut], Meta(description="Runs that do not count, as case (policy), and why.")]
    effort: Annotated[Effort, Meta(description="Review and cost beside success.")]
    baseline_effort: Annotated[Effort | None, Meta(description="The baseline's; null without one.")]
    comparison: Annotated[Comparison | None, Meta(description="With the baseline; null without one.")]
