"""What comparing two sets of checked runs comes to: case by case, over all cases, and at a gate (docs/results.md).

A figure that cannot be given is null. Differences are the candidate's rate minus the baseline's, so that a negative one
is a loss.
"""

from typing import Annotated, Literal, TypeAlias

from labadapt.schema.model import Count, Mode
from labadapt.schema.reliability import LeftOut
from labadapt.schema.result import Digest
from msgspec import Meta, Struct

Change: TypeAlias = Literal["regression", "improvement", "unchanged", "inconclusive", "unmatched"]
SideName: TypeAlias = Literal["baseline", "candidate"]
GateName: TypeAlias = Literal["strict", "regressions-only", "report-only"]
ComparisonState: TypeAlias = Literal["passes", "fails", "could not evaluate"]
Evidence: TypeAlias = Literal["difference shown", "no difference shown", "insufficient evidence"]
Source: TypeAlias = Literal["control", "different targets", "mixed", "not recorded"]
IntervalMethod: TypeAlias = Literal["Newcombe paired", "Newcombe of two groups", "Newcombe of rates clustered by case"]
Difference: TypeAlias = Annotated[float, Meta(ge=-1, le=1)]
Probability: TypeAlias = Annotated[float, Meta(ge=0, le=1)]


class SideCounts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The trials of one case on one side, by outcome."""

    trials: Annotated[Count, Meta(description="Trials in the files.")]
    passed: Annotated[Count, Meta(description="Trials whose outcome is pass.")]
    failed: Annotated[Count, Meta(description="Trials whose outcome is fail.")]
    inconclusive: Annotated[Count, Meta(description="Trials that could go either way.")]


class CaseTest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What the trials of one case can show of a difference, for cases with repeated trials."""

    p: Annotated[
        Probability, Meta(description="Two-sided p of Fisher's exact test, open trials at their least telling.")
    ]
    adjusted_p: Annotated[Probability, Meta(description="The same after Holm's correction over all repeated cases.")]
    smallest_p: Annotated[
        Probability,
        Meta(description="The smallest adjustedP that these trials could have given, all cases at their most telling."),
    ]
    evidence: Annotated[Evidence, Meta(description="shown: adjustedP ≤ alpha. insufficient: smallestP > alpha.")]


class CaseComparison(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """One case, on both sides."""

    case_id: Annotated[str, Meta(description="The case.")]
    change: Annotated[Change, Meta(description="regression, improvement, unchanged, inconclusive or unmatched.")]
    reason: Annotated[str, Meta(description="One sentence that says why.")]
    baseline: Annotated[SideCounts, Meta(description="The baseline's trials.")]
    candidate: Annotated[SideCounts, Meta(description="The candidate's trials.")]
    severity: Annotated[str | None, Meta(description="The contract's severity; null where it has none.")]
    mode: Annotated[Mode | None, Meta(description="The mode of both sides; null where unmatched.")]
    request_digest: Annotated[Digest | None, Meta(description="Digest of the request of both; null where unmatched.")]
    contract_digest: Annotated[Digest | None, Meta(description="Digest of the contract of both; null where unmatched.")]
    control: Annotated[bool | None, Meta(description="Whether the same target made both; null: not recorded.")]
    difference: Annotated[Difference | None, Meta(description="Null where unmatched, or where trials are open.")]
    bounds: Annotated[
        tuple[Difference, Difference] | None,
        Meta(description="The difference with every open trial against the candidate, and for it; null: unmatched."),
    ]
    interval: Annotated[
        tuple[Difference, Difference] | None,
        Meta(description="Newcombe's interval of two groups of trials; null with one trial a side, or open ones."),
    ]
    test: Annotated[CaseTest | None, Meta(description="Null where unmatched, or with one trial on each side.")]
    regression_possible: Annotated[
        bool, Meta(description="Whether the record leaves room for a loss from what the baseline did.")
    ]


class Suite(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The difference over all cases that are matched and decided."""

    method: Annotated[
        Literal["McNemar exact", "sign test over cases"],
        Meta(description="McNemar: one trial of each case on each side. Sign test: repeated trials."),
    ]
    cases: Annotated[Count, Meta(description="Cases that are counted.")]
    better: Annotated[Count, Meta(description="Cases in which the candidate's rate is higher.")]
    worse: Annotated[Count, Meta(description="Cases in which it is lower.")]
    both_pass: Annotated[Count, Meta(description="Cases in which every trial of both sides passes.")]
    p: Annotated[Probability | None, Meta(description="Two-sided exact p; null without a case.")]
    smallest_p: Annotated[
        Probability | None, Meta(description="The smallest p that this many cases could have given; null without one.")
    ]
    alpha: Annotated[Probability, Meta(description="1 - confidence.")]
    baseline_rate: Annotated[Probability | None, Meta(description="Passes of the baseline's counted trials.")]
    candidate_rate: Annotated[Probability | None, Meta(description="Passes of the candidate's counted trials.")]
    difference: Annotated[Difference | None, Meta(description="candidateRate - baselineRate; null without a case.")]
    interval: Annotated[
        tuple[Difference, Difference] | None, Meta(description="Newcombe's interval; null without one.")
    ]
    interval_method: Annotated[
        IntervalMethod | None,
        Meta(description="How the interval is made; null without one."),
    ]
    evidence: Annotated[Evidence, Meta(description="insufficient: smallestP > alpha, or no case.")]
    left_out: Annotated[list[LeftOut], Meta(description="Cases that are not counted, by reason.")]


class Side(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Which runs stand on a side."""

    policy: Annotated[str, Meta(description="The policy.")]
    trials: Annotated[Count, Meta(description="Runs.")]
    cases: Annotated[Count, Meta(description="Cases that have one.")]


class ChangeCounts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Cases by change; they sum up to the cases that either side has."""

    regression: Annotated[Count, Meta(description="Cases that the candidate lost.")]
    improvement: Annotated[Count, Meta(description="Cases that it won.")]
    unchanged: Annotated[Count, Meta(description="Cases with the same outcome.")]
    inconclusive: Annotated[Count, Meta(description="Cases that the record does not decide.")]
    unmatched: Annotated[Count, Meta(description="Cases that cannot be compared.")]


class ComparisonGate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What a gate makes of the evidence. It changes none of it."""

    name: Annotated[GateName, Meta(description="Which gate.")]
    state: Annotated[ComparisonState, Meta(description="A gate that could not evaluate does not pass.")]
    reason: Annotated[str, Meta(description="One sentence that says why.")]
    cases: Annotated[list[str], Meta(description="The cases that decide it.")]


class Comparison(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A comparison of a candidate with a baseline."""

    schema_version: Annotated[Literal[1], Meta(description="Version of the report.")]
    confidence: Annotated[float, Meta(gt=0, lt=1, description="Level of every interval; 1 - alpha of every test.")]
    baseline: Annotated[Side, Meta(description="What is compared with.")]
    candidate: Annotated[Side, Meta(description="What is compared.")]
    source: Annotated[
        Source, Meta(description="control: the same target made both sides of every matched case, by its digest.")
    ]
    summary: Annotated[ChangeCounts, Meta(description="Cases by change.")]
    suite: Annotated[Suite, Meta(description="The difference over all cases.")]
    gate: Annotated[ComparisonGate, Meta(description="The gate asked for.")]
    cases: Annotated[list[CaseComparison], Meta(description="Every case of either side, by id.")]
