"""The reliability report: every rate, pass^k, usage and gate of the trials of each policy (docs/results.md)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from labadapt.engine.check import CHECKS
from labadapt.engine.estimates import clopper_pearson_lower, clopper_pearson_upper, wilson
from labadapt.engine.rates import (
    NO_SCHEDULE,
    RATES,
    CaseCounts,
    case_pass_k,
    counts_of,
    left_out,
    of_check,
    rate,
    suite_pass_k,
)
from labadapt.engine.trials import Slot, Trial, by_policy, slots_by_case
from labadapt.engine.usage import usage_of
from labadapt.schema.reliability import (
    CasePassK,
    CaseReliability,
    Gate,
    GateState,
    PassK,
    PolicyReliability,
    Rate,
    Reliability,
)
from labadapt.schema.result import CheckId, Summary
from msgspec import UNSET

MOST_K = 8  # how far pass^k goes where nobody says


def reliability(  # noqa: PLR0913 - keywords, one for each option of the command
    trials: Iterable[Trial],
    *,
    scheduled: int | None = None,
    k: int | None = None,
    confidence: float = 0.95,
    at_least: float | None = None,
    policies: Collection[str] = (),
) -> Reliability:
    """The report on trials, the same in whatever order they come.

    `scheduled`: how many trials each case was to have under each policy; then the cases are all that any policy has.
    `k`: pass^1 to pass^k are told; without it, up to the fewest trials of a case, at most `MOST_K`. `at_least`: the
    rate of end-to-end success to hold each policy to. `policies`: tell of these only; without any, of all. Raises
    `Refusal` (``REPEATED_TRIAL``, ``BAD_VALUE``).
    """
    plan = _Plan(scheduled is not None, k, confidence)
    groups = by_policy(trials)
    everything = {trial.case for group in groups.values() for trial in group}
    told: list[PolicyReliability] = []
    for policy, group in groups.items():
        if policies and policy not in policies:
            continue
        cases = everything if scheduled is not None else {trial.case for trial in group}
        told.append(_policy(policy, group, slots_by_case(group, cases, scheduled), plan))
    return Reliability(
        schema_version=1,
        confidence=confidence,
        scheduled=scheduled,
        policies=told,
        gates=UNSET if at_least is None else [gate(one, at_least, confidence) for one in told],
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """Whether missing trials are known, how far pass^k goes, and the level of every interval."""

    scheduled: bool
    k: int | None
    confidence: float


def _policy(
    policy: str | None, trials: Sequence[Trial], slots: Mapping[str, Sequence[Slot]], plan: _Plan
) -> PolicyReliability:
    counts = [counts_of(case, its, scheduled=plan.scheduled) for case, its in slots.items()]
    most = plan.k or min([MOST_K, *(len(its) for its in slots.values())])
    figures = [[case_pass_k(one, number) for number in range(1, most + 1)] for one in counts]
    made = [one.made for one in counts]
    return PolicyReliability(
        policy=policy,
        cases=len(counts),
        made=sum(made),
        missing=sum(one.missing or 0 for one in counts) if plan.scheduled else None,
        trials_by_case=(min(made), max(made)),
        summary=_summary(counts),
        differing=left_out(_differing(slots)),
        rates=_rates(slots, plan),
        checks=_checks(trials, slots, plan.confidence),
        pass_k=_suite(counts, figures),
        usage=usage_of(trials),
        by_case=[_case(one, its, plan.confidence) for one, its in zip(counts, figures, strict=True)],
    )


def _differing(slots: Mapping[str, Sequence[Slot]]) -> dict[str, list[str]]:
    """The cases whose trials are not repetitions of one thing, as far as that was recorded."""
    cases: dict[str, list[str]] = defaultdict(list)
    for case, its in slots.items():
        made = [slot.trial for slot in its if slot.trial]
        for name in ("request", "contract", "target", "mode"):
            if len({getattr(trial, name) for trial in made} - {UNSET, None}) > 1:
                cases[f"not the same {name} in every trial"].append(case)
    return cases


def _summary(counts: Sequence[CaseCounts]) -> Summary:
    return Summary(
        total=sum(one.made for one in counts),
        passed=sum(one.passed for one in counts),
        failed=sum(one.failed for one in counts),
        inconclusive=sum(one.inconclusive for one in counts),
    )


def _rates(slots: Mapping[str, Sequence[Slot]], plan: _Plan) -> list[Rate]:
    every = [slot for its in slots.values() for slot in its]
    made = []
    for number, (name, of, judge) in enumerate(RATES):
        made.append(rate(name, of if number or plan.scheduled else NO_SCHEDULE, every, judge, plan.confidence))
    return made


def _checks(trials: Sequence[Trial], slots: Mapping[str, Sequence[Slot]], confidence: float) -> list[Rate]:
    """The checks that some trial's contract asks for, in the order of the engine."""
    asked: set[CheckId] = {
        identifier for one in {trial.checks for trial in trials} for identifier, word in one if word in _ASKED
    }
    every = [slot for its in slots.values() for slot in its]
    of = "trials in which it could be evaluated"
    names: list[CheckId] = [identifier for identifier, _, _ in CHECKS if identifier in asked]
    return [rate(identifier, of, every, of_check(identifier), confidence) for identifier in names]


_ASKED = frozenset({"pass", "fail", "unevaluable"})


def _suite(counts: Sequence[CaseCounts], figures: Sequence[Sequence[CasePassK]]) -> list[PassK]:
    by_k = zip(*figures, strict=True)
    return [one for its in by_k for one in suite_pass_k(list(zip(counts, its, strict=True)))]


def _case(counts: CaseCounts, figures: list[CasePassK], confidence: float) -> CaseReliability:
    """One case; its interval counts what is missing as no success, and spans what is open."""
    trials = counts.made + (counts.missing or 0)
    low = wilson(counts.passed, trials, confidence)
    high = wilson(counts.passed + counts.inconclusive, trials, confidence)
    return CaseReliability(
        case_id=counts.case,
        made=counts.made,
        missing=counts.missing,
        passed=counts.passed,
        failed=counts.failed,
        inconclusive=counts.inconclusive,
        interval=(low[0], high[1]) if low and high else None,
        pass_k=figures,
    )


def gate(policy: PolicyReliability, at_least: float, confidence: float) -> Gate:
    """Whether end-to-end success is at least a rate, on the exact one-sided bounds of these cases.

    met: the lower bound is at least the rate with every open trial as a failure. not met: the upper bound is below it
    with every open trial as a success. Else the trials made do not decide it.
    """
    success = policy.rates[0]
    lower = clopper_pearson_lower(success.successes, success.trials, confidence)
    upper = clopper_pearson_upper(success.successes + success.open, success.trials, confidence)
    return Gate(
        policy=policy.policy,
        at_least=at_least,
        successes=success.successes,
        open=success.open,
        trials=success.trials,
        lower=lower,
        upper=upper,
        state=_state(lower, upper, at_least),
    )


def _state(lower: float | None, upper: float | None, at_least: float) -> GateState:
    if lower is not None and lower >= at_least:
        return "met"
    return "not met" if upper is not None and upper < at_least else "not enough evidence"
