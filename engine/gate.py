"""Whether a candidate may be promoted: each thing asked by itself, no mean over what is critical (docs/results.md)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from labadapt.engine.compare import compare
from labadapt.engine.coverage import coverage, is_held_out
from labadapt.engine.effort import cost_part, effort_of, review_part
from labadapt.engine.estimates import clopper_pearson_lower, clopper_pearson_upper
from labadapt.engine.gaps import gaps_of, in_vain
from labadapt.engine.rates import Judged, left_out, rate
from labadapt.engine.standing import Standing, standing
from labadapt.engine.trials import Slot, Trial, slots_by_case
from labadapt.schema.cases import CasesFile
from labadapt.schema.comparison import Comparison
from labadapt.schema.gate import Aggregate, CriticalFailure, Decision, Gap, GateFile, Part, PartState, Verdict
from labadapt.schema.model import Contract
from labadapt.schema.problems import Problem, Refusal
from labadapt.schema.result import Outcome, RunResult
from msgspec import UNSET, UnsetType

Quality: TypeAlias = Literal["routine quality", "holdout quality"]
ROUTINE = "trials of cases that are neither critical nor held out, missing ones included"
HOLDOUT = "trials of held-out cases that are not critical, missing ones included"


def decide(
    results: Iterable[RunResult],
    cases: CasesFile,
    asked: GateFile,
    *,
    baseline: Iterable[RunResult] | None = None,
) -> Decision:
    """The decision on the candidate's results, of one policy, in whatever order they come.

    Only results count that were held to the request and the contract which `cases` has now. Raises `Refusal`
    (``BAD_VALUE``) for several policies, for none, or for more trials of a case than were scheduled.
    """
    candidate = list(results)
    policy = _policy(candidate)
    stood = standing(candidate, cases)
    before = None if baseline is None else standing(baseline, cases)
    critical = _critical(candidate, cases, asked)
    compared = None if before is None else _compared(before, stood, asked)
    failures = _failures(stood, before, critical, cases)
    open_ = _open(candidate, stood, critical, asked)
    routine, holdout = (_aggregate(stood, cases, critical, asked, held=held) for held in (False, True))
    covered = coverage(cases, candidate)
    gaps = gaps_of(covered, cases, stood, asked)
    effort = effort_of(stood, asked.review_minutes)
    parts = [
        _critical_part(failures, open_, critical),
        _quality_part("routine quality", routine, asked_at_all=True),
        _quality_part("holdout quality", holdout, asked_at_all=False),
        _coverage_part(gaps, asked),
        _comparison_part(compared, asked),
        review_part(effort, asked),
        cost_part(effort, asked),
    ]
    return Decision(
        schema_version=1,
        decision=_decision(parts),
        policy=policy,
        confidence=asked.confidence,
        parts=parts,
        critical_failures=failures,
        critical_open=open_,
        routine=routine,
        holdout=holdout,
        gaps=gaps,
        accepted_in_vain=in_vain(gaps, asked),
        empty_cells=len(covered.empty),
        uncounted=left_out(stood.uncounted),
        effort=effort,
        baseline_effort=None if before is None else effort_of(before, UNSET),
        comparison=compared,
    )


def _policy(results: Sequence[RunResult]) -> str:
    policies = sorted({result.policy for result in results})
    if len(policies) != 1:
        raise Refusal(
            Problem(
                code="BAD_VALUE",
                message=f"the results are of {'several policies' if policies else 'no run'}",
                found=", ".join(policies) or "nothing",
                expected="the runs of one policy",
            )
        )
    return policies[0]


def _decision(parts: Iterable[Part]) -> Verdict:
    """What is not met blocks, before what is unknown; and nothing is promoted of which nothing was shown."""
    states = {part.state for part in parts}
    if "not met" in states:
        return "block"
    return "promote" if states <= {"met", "not asked for"} and "met" in states else "not enough evidence"


# -- critical failures -------------------------------------------------------------------------------------------------


def _critical(results: Iterable[RunResult], cases: CasesFile, asked: GateFile) -> Mapping[str, str]:
    """The severity of each critical case: by the file's contract, or where it has none, by that of a run."""
    severities: dict[str, str] = {}
    for result in results:
        if isinstance(result.severity, str) and result.severity in asked.critical_severities:
            severities[result.case_id] = min(result.severity, severities.get(result.case_id, result.severity))
    for name, case in cases.cases.items():
        if isinstance(case.contract, Contract):
            severities.pop(name, None)
            if isinstance(case.contract.severity, str) and case.contract.severity in asked.critical_severities:
                severities[name] = case.contract.severity
    return {name: severities[name] for name in sorted(severities)}


def _failures(
    stood: Standing, before: Standing | None, critical: Mapping[str, str], cases: CasesFile
) -> list[CriticalFailure]:
    failures: list[CriticalFailure] = []
    for name, severity in critical.items():
        results = stood.counted.get(name, [])
        failed = [result for result in results if result.outcome == "fail"]
        if failed:
            known: list[Outcome] | None = (
                None if before is None else [result.outcome for result in before.counted[name]]
            )
            failures.append(
                CriticalFailure(
                    case_id=name,
                    severity=severity,
                    failed=len(failed),
                    trials=len(results),
                    holdout=is_held_out(cases.cases[name]),
                    new=_new(known),
                    reasons=_reasons(failed),
                )
            )
    return failures


def _new(before: Sequence[Outcome] | None) -> bool | None:
    """Whether the baseline did not fail; None where that is not known."""
    if before and "fail" in before:
        return False
    return True if before and set(before) == {"pass"} else None


def _reasons(failed: Iterable[RunResult]) -> list[str]:
    """The reasons of the checks that failed; of a run that tells none, its own."""
    told: set[str] = set()
    for result in failed:
        checks = [f"{check.id}: {check.reason}" for check in result.checks if check.verdict == "fail"]
        told.update(checks or [result.reason])
    return sorted(told)


def _open(results: Iterable[RunResult], stood: Standing, critical: Mapping[str, str], asked: GateFile) -> list[str]:
    """Critical cases that were not run as often as they were to be, or with a trial that is inconclusive.

    And those with a failed run that does not count: what it was held to is another contract than now, or not known.
    """
    least = 1 if isinstance(asked.scheduled, UnsetType) else asked.scheduled
    counted: dict[str, list[Outcome]] = {
        name: [result.outcome for result in its] for name, its in stood.counted.items()
    }
    uncounted = {result.case_id for result in results if result.outcome == "fail"} - _failed(counted)
    return [name for name in critical if _is_open(counted.get(name), least) or name in uncounted]


def _is_open(outcomes: Sequence[Outcome] | None, least: int) -> bool:
    return outcomes is not None and (len(outcomes) < least or "inconclusive" in outcomes)


def _failed(counted: Mapping[str, Sequence[Outcome]]) -> set[str]:
    return {name for name, outcomes in counted.items() if "fail" in outcomes}


def _critical_part(failures: Sequence[CriticalFailure], open_: list[str], critical: Mapping[str, str]) -> Part:
    state: PartState = "met"
    names, reason = sorted(critical), f"no failure of {_number(len(critical), 'critical case')}"
    if failures:
        names = [failure.case_id for failure in failures]
        new = sum(failure.new is True for failure in failures)
        state, reason = "not met", f"{_number(len(failures), 'critical case')} failed, {new} of them new"
    elif open_:
        state, names = "not enough evidence", open_
        reason = f"a failure of {_number(len(open_), 'critical case')} cannot be ruled out"
    elif not critical:
        state, reason = "not asked for", "no case has a critical severity"
    return Part(name="critical failures", state=state, reason=reason, cases=names)


# -- quality in aggregate ----------------------------------------------------------------------------------------------


def _aggregate(
    stood: Standing, cases: CasesFile, critical: Mapping[str, str], asked: GateFile, *, held: bool
) -> Aggregate:
    names = [name for name, case in cases.cases.items() if name not in critical and is_held_out(case) is held]
    slots = _slots(stood, names, asked)
    name, of = ("holdout success", HOLDOUT) if held else ("routine success", ROUTINE)
    made = rate(name, of, slots, _judge, asked.confidence)
    at_least = asked.holdout_at_least if held else asked.at_least
    return Aggregate(
        rate=made,
        at_least=None if isinstance(at_least, UnsetType) else at_least,
        lower=clopper_pearson_lower(made.successes, made.trials, asked.confidence),
        upper=clopper_pearson_upper(made.successes + made.open, made.trials, asked.confidence),
    )


def _slots(stood: Standing, names: Iterable[str], asked: GateFile) -> list[Slot]:
    """The trials of the cases; of a case without any, one that is missing."""
    scheduled = None if isinstance(asked.scheduled, UnsetType) else asked.scheduled
    trials = [
        Trial(case=name, policy=None, label=str(number), outcome=result.outcome)
        for name in names
        for number, result in enumerate(stood.counted[name], 1)
    ]
    slots = slots_by_case(trials, names, scheduled)
    return [slot for name, its in slots.items() for slot in (its or [Slot(name, f"{name}#missing 1", None)])]


_JUDGED: dict[Outcome, Judged] = {"pass": "success", "fail": "failure", "inconclusive": "open"}


def _judge(trial: Trial | None) -> Judged:
    """A trial that is missing might have passed or failed: it is no evidence for either."""
    return _JUDGED[trial.outcome] if trial else "open"


def _quality_part(name: Quality, aggregate: Aggregate, *, asked_at_all: bool) -> Part:
    """An "at least" on the exact bounds; routine quality that no rate is asked of is undecided, never good enough."""
    state: PartState = "not asked for"
    if aggregate.at_least is None:
        reason = "no rate is asked for"
        if asked_at_all and aggregate.rate.trials:
            state, reason = "not enough evidence", "no rate is asked for: atLeast in the gate file, or --at-least"
    elif aggregate.lower is None or aggregate.upper is None:
        state, reason = "not enough evidence", "there is no such case"
    else:
        state, reason = _held(aggregate.lower, aggregate.upper, aggregate.at_least)
    return Part(name=name, state=state, reason=reason, cases=[])


def _held(lower: float, upper: float, at_least: float) -> tuple[PartState, str]:
    if lower >= at_least:
        return "met", f"the rate is at least {at_least:g}: its lower bound is {lower:.3f}"
    if upper < at_least:
        return "not met", f"the rate is below {at_least:g}: its upper bound is {upper:.3f}"
    return "not enough evidence", f"{at_least:g} lies between the bounds of the rate, {lower:.3f} and {upper:.3f}"


# -- coverage and comparison -------------------------------------------------------------------------------------------


def _coverage_part(gaps: Sequence[Gap], asked: GateFile) -> Part:
    unresolved = [gap for gap in gaps if gap.accepted is None]
    state: PartState = "met"
    reason = f"every required cell is covered, or its gap accepted ({len(gaps)})" if gaps else "no gap"
    if not asked.required_cells and not asked.every_cell:
        state, reason = "not asked for", "no cell is required"
    elif unresolved:
        state, reason = "not enough evidence", f"{_number(len(unresolved), 'required cell')} not covered"
    return Part(name="coverage", state=state, reason=reason, cases=[])


def _compared(before: Standing, stood: Standing, asked: GateFile) -> Comparison | None:
    """The comparison of what counts on both sides; None where one side has nothing that does."""
    sides = [[result for its in one.counted.values() for result in its] for one in (before, stood)]
    if not all(sides):
        return None
    gate = "report-only" if isinstance(asked.comparison, UnsetType) else asked.comparison
    return compare(sides[0], sides[1], gate=gate, confidence=asked.confidence)


_STATES: dict[str, PartState] = {
    "passes": "met",
    "fails": "not met",
    "could not evaluate": "not enough evidence",
}


def _comparison_part(compared: Comparison | None, asked: GateFile) -> Part:
    if isinstance(asked.comparison, UnsetType):
        return Part(name="comparison", state="not asked for", reason="nothing is asked of a comparison", cases=[])
    if compared is None:
        reason = "there is no baseline, or nothing of a side counts"
        return Part(name="comparison", state="not enough evidence", reason=reason, cases=[])
    gate = compared.gate
    return Part(name="comparison", state=_STATES[gate.state], reason=f"{gate.name}: {gate.reason}", cases=gate.cases)


def _number(count: int, word: str) -> str:
    return f"1 {word}" if count == 1 else f"{count} {word}s"
