"""What repeated trials come to: rates with their denominators, pass^k, usage, a gate (docs/results.md).

A figure that cannot be given is null. `lower` and `upper` bound a figure that inconclusive trials leave open; it has a
`value` only where the two are equal.
"""

from typing import Annotated, Literal, TypeAlias

from labadapt.schema.model import Count, Mode, NonNegative
from labadapt.schema.result import Summary
from msgspec import UNSET, Meta, Struct, UnsetType

Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Convention: TypeAlias = Literal["missing counted as failure", "missing left out"]
Method: TypeAlias = Literal["wilson", "clustered by case"]
GateState: TypeAlias = Literal["met", "not met", "not enough evidence"]


class LeftOut(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Trials, or cases, that a denominator does not hold, and why."""

    reason: Annotated[str, Meta(description="Why they are not in the denominator.")]
    ids: Annotated[list[str], Meta(description="case#trial of each, or the case.")]


class Rate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A share of trials, with exactly what it counts."""

    name: Annotated[str, Meta(description="What it is a rate of.")]
    of: Annotated[str, Meta(description="What the denominator holds, in words.")]
    successes: Annotated[Count, Meta(description="Trials that are shown to succeed.")]
    open: Annotated[Count, Meta(description="Trials of the denominator that could go either way.")]
    trials: Annotated[Count, Meta(description="The denominator.")]
    value: Annotated[Share | None, Meta(description="successes / trials; null where trials are open or there is none.")]
    lower: Annotated[Share | None, Meta(description="With every open trial as a failure.")]
    upper: Annotated[Share | None, Meta(description="With every open trial as a success.")]
    interval: Annotated[
        tuple[Share, Share] | None,
        Meta(description="Confidence interval; from the one of `lower` to the one of `upper` where trials are open."),
    ]
    method: Annotated[Method | None, Meta(description="How the interval is made; null without one.")]
    left_out: Annotated[list[LeftOut], Meta(description="What the denominator does not hold.")]


class PassK(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The probability that k trials of a case all succeed; of a suite, the mean over its cases."""

    k: Annotated[int, Meta(ge=1, description="How many trials must all succeed.")]
    missing: Annotated[Convention, Meta(description="How trials that were scheduled and not made are counted.")]
    cases: Annotated[Count, Meta(description="Cases that the mean is over.")]
    value: Annotated[Share | None, Meta(description="The mean; null where it is open or unavailable.")]
    lower: Annotated[Share | None, Meta(description="With every inconclusive trial as a failure.")]
    upper: Annotated[Share | None, Meta(description="With every inconclusive trial as a success.")]
    left_out: Annotated[list[LeftOut], Meta(description="Cases that have no figure, and why.")]


class CasePassK(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """pass^k of one case under both conventions. Bounds as [lower, upper], equal where nothing is open."""

    k: Annotated[int, Meta(ge=1, description="How many trials must all succeed.")]
    missing_as_failure: Annotated[tuple[Share, Share] | None, Meta(description="Null: no schedule, or fewer than k.")]
    missing_left_out: Annotated[tuple[Share, Share] | None, Meta(description="Null: fewer than k trials were made.")]


class CaseReliability(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The trials of one case."""

    case_id: Annotated[str, Meta(description="The case.")]
    made: Annotated[Count, Meta(description="Trials in the files.")]
    missing: Annotated[Count | None, Meta(description="Scheduled and not made; null where no schedule is known.")]
    passed: Annotated[Count, Meta(description="Trials whose outcome is pass.")]
    failed: Annotated[Count, Meta(description="Trials whose outcome is fail.")]
    inconclusive: Annotated[Count, Meta(description="Trials whose outcome is inconclusive.")]
    interval: Annotated[tuple[Share, Share] | None, Meta(description="Wilson interval of end-to-end success.")]
    pass_k: Annotated[list[CasePassK], Meta(description="For k of 1 and up.")]


class Duration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Durations of runs of one mode, in milliseconds. Each figure is one that was observed (nearest rank)."""

    mode: Annotated[Mode, Meta(description="recorded: measured. fixture: declared. Never added up with each other.")]
    runs: Annotated[Count, Meta(description="Runs with a duration.")]
    unavailable: Annotated[Count, Meta(description="Runs of this mode without one.")]
    least: Annotated[NonNegative | None, Meta(description="The shortest.")]
    median: Annotated[NonNegative | None, Meta(description="Half of the runs took at most this long.")]
    p95: Annotated[NonNegative | None, Meta(description="95 of 100 runs took at most this long.")]
    most: Annotated[NonNegative | None, Meta(description="The longest.")]


class Amount(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A sum over the runs that recorded the figure."""

    runs: Annotated[Count, Meta(description="Runs that recorded it.")]
    unavailable: Annotated[Count, Meta(description="Runs that did not; they are not in the sum.")]
    total: Annotated[NonNegative | None, Meta(description="Sum over `runs`; null where no run recorded it.")]


class Cost(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Costs in US dollars by source; the three are never added up."""

    billed: Annotated[NonNegative | None, Meta(description="Sum of billed costs; null where there is none.")]
    billed_runs: Annotated[Count, Meta(description="Runs with a billed cost.")]
    estimated: Annotated[NonNegative | None, Meta(description="Sum of estimated costs; null where there is none.")]
    estimated_runs: Annotated[Count, Meta(description="Runs with an estimated cost.")]
    unstated: Annotated[NonNegative | None, Meta(description="Sum of costs without a source; null without one.")]
    unstated_runs: Annotated[Count, Meta(description="Runs whose cost names no source.")]
    unavailable: Annotated[Count, Meta(description="Runs without a cost.")]


class Consumption(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Tokens, calls and cost. Cached tokens are among the input's and reasoning tokens among the output's."""

    input_tokens: Annotated[Amount, Meta(description="Tokens read by the model.")]
    cached_input_tokens: Annotated[Amount, Meta(description="Of these, read from a cache.")]
    output_tokens: Annotated[Amount, Meta(description="Tokens written by the model.")]
    reasoning_tokens: Annotated[Amount, Meta(description="Of these, spent on reasoning.")]
    model_calls: Annotated[Amount, Meta(description="Model calls.")]
    cost_usd: Annotated[Cost, Meta(description="Cost by source.")]
    models: Annotated[dict[str, int], Meta(description="Runs by the name of their model, where it was one.")]


class UsageReport(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Latency and consumption over runs."""

    runs: Annotated[Count, Meta(description="Runs looked at.")]
    durations: Annotated[list[Duration], Meta(description="One entry for each mode.")]
    target: Annotated[Consumption, Meta(description="What the agent used.")]
    judge: Annotated[Consumption | None, Meta(description="What evaluators used, apart; null where no run has any.")]


class PolicyReliability(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The trials of one policy."""

    policy: Annotated[str | None, Meta(description="The policy; null where a table names none.")]
    cases: Annotated[Count, Meta(description="Cases with a trial made or scheduled.")]
    made: Annotated[Count, Meta(description="Trials in the files.")]
    missing: Annotated[Count | None, Meta(description="Scheduled and not made; null where no schedule is known.")]
    trials_by_case: Annotated[tuple[int, int], Meta(description="Fewest and most trials made of a case.")]
    summary: Annotated[Summary, Meta(description="Trials made, by outcome.")]
    differing: Annotated[
        list[LeftOut],
        Meta(description="Cases whose trials differ in what was asked, what must hold, what ran, or the mode."),
    ]
    rates: Annotated[list[Rate], Meta(description="End-to-end success first, then what it is made of.")]
    checks: Annotated[list[Rate], Meta(description="Reliability of each check.")]
    pass_k: Annotated[list[PassK], Meta(description="pass^k of the suite under both conventions.")]
    usage: Annotated[UsageReport | None, Meta(description="Latency and consumption; null for a table of outcomes.")]
    by_case: Annotated[list[CaseReliability], Meta(description="Every case.")]


class Gate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Whether end-to-end success of a policy is at least a rate."""

    policy: Annotated[str | None, Meta(description="The policy.")]
    at_least: Annotated[Share, Meta(description="The rate asked for.")]
    successes: Annotated[Count, Meta(description="Trials that are shown to succeed.")]
    open: Annotated[Count, Meta(description="Inconclusive trials, that could go either way.")]
    trials: Annotated[Count, Meta(description="Trials scheduled, or made where no schedule is known.")]
    lower: Annotated[Share | None, Meta(description="One-sided Clopper-Pearson lower bound, open trials as failures.")]
    upper: Annotated[Share | None, Meta(description="One-sided upper bound, open trials as successes.")]
    state: Annotated[GateState, Meta(description="met: lower ≥ atLeast. not met: upper < atLeast.")]


class Reliability(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A reliability report."""

    schema_version: Annotated[Literal[1], Meta(description="Version of the report.")]
    confidence: Annotated[float, Meta(gt=0, lt=1, description="Level of every interval and bound.")]
    scheduled: Annotated[int | None, Meta(description="Trials scheduled for each case; null: not said.")]
    policies: Annotated[list[PolicyReliability], Meta(description="By name.")]
    gates: Annotated[list[Gate] | UnsetType, Meta(description="One for each policy; absent: none asked for.")] = UNSET
