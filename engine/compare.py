"""A candidate against a baseline, paired by case (docs/results.md).

Two runs are compared only where request, contract and mode are equal and recorded. What differs, or is not recorded, is
unmatched with the reason; it is never assumed to be the same.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labadapt.engine.differences import Counts, Pair, alpha_of, extremes, interval_of, suite_of, tests_of
from labadapt.schema.comparison import (
    CaseComparison,
    CaseTest,
    Change,
    ChangeCounts,
    Comparison,
    ComparisonGate,
    ComparisonState,
    GateName,
    Side,
    SideCounts,
    SideName,
    Source,
    Suite,
)
from labadapt.schema.problems import Problem, Refusal
from labadapt.schema.result import RunResult
from msgspec import UNSET, structs


def compare(
    baseline: Iterable[RunResult],
    candidate: Iterable[RunResult],
    *,
    gate: GateName = "strict",
    confidence: float = 0.95,
) -> Comparison:
    """The comparison of two sets of results, each of one policy; several of one case are its trials, in any order.

    `confidence` is the level of every interval, and 1 - confidence that of every test. Raises `Refusal` (``BAD_VALUE``)
    where a side has no result or several policies.
    """
    sides = {"baseline": list(baseline), "candidate": list(candidate)}
    described = {name: _side(name, results) for name, results in sides.items()}
    meetings = _meetings(sides["baseline"], sides["candidate"])
    cases = _cases(meetings, confidence)
    matched = {one.case: one for one in meetings if one.mismatch is None}
    decided = [one.extremes[0] for one in matched.values() if one.decided]
    repeated = any(len(one.baseline) > 1 or len(one.candidate) > 1 for one in matched.values())
    suite = suite_of(decided, repeated, _left(meetings), confidence)
    comparison = Comparison(
        schema_version=1,
        confidence=confidence,
        baseline=described["baseline"],
        candidate=described["candidate"],
        source=_source(matched.values()),
        summary=_summary(cases),
        suite=suite,
        gate=ComparisonGate(name=gate, state="could not evaluate", reason="", cases=[]),
        cases=cases,
    )
    return gated(comparison, gate)


# -- pairing -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Meeting:
    """A case with the trials of both sides; `mismatch` says why they cannot be compared."""

    case: str
    baseline: Sequence[RunResult]
    candidate: Sequence[RunResult]
    mismatch: str | None
    counts: tuple[Counts, Counts]

    @property
    def extremes(self) -> tuple[Pair, Pair]:
        return extremes(*self.counts)

    @property
    def decided(self) -> bool:
        return not any(one.open for one in self.counts)

    @property
    def control(self) -> bool | None:
        """Whether one target made all trials of both sides; None: not recorded of each."""
        digests = {result.target_digest for result in (*self.baseline, *self.candidate)}
        return None if UNSET in digests else len(digests) == 1


def _counts(results: Sequence[RunResult]) -> Counts:
    outcomes = Counter(result.outcome for result in results)
    return Counts(outcomes["pass"], outcomes["fail"], outcomes["inconclusive"])


def _side(name: str, results: Sequence[RunResult]) -> Side:
    policies = sorted({result.policy for result in results})
    if len(policies) != 1:
        raise Refusal(_not_one_policy(name, policies))
    return Side(policy=policies[0], trials=len(results), cases=len({result.case_id for result in results}))


def _not_one_policy(name: str, policies: Sequence[str]) -> Problem:
    return Problem(
        code="BAD_VALUE",
        message=f"the {name} has {'several policies' if policies else 'no run'}",
        found=", ".join(policies) or "nothing",
        expected="the runs of one policy",
    )


def _meetings(baseline: Iterable[RunResult], candidate: Iterable[RunResult]) -> list[_Meeting]:
    one, other = _by_case(baseline), _by_case(candidate)
    return [_meeting(case, one.get(case, ()), other.get(case, ())) for case in sorted(one.keys() | other.keys())]


def _meeting(case: str, baseline: Sequence[RunResult], candidate: Sequence[RunResult]) -> _Meeting:
    counts = _counts(baseline), _counts(candidate)
    return _Meeting(case, baseline, candidate, _mismatch(baseline, candidate), counts)


def _by_case(results: Iterable[RunResult]) -> Mapping[str, list[RunResult]]:
    cases: dict[str, list[RunResult]] = defaultdict(list)
    for result in results:
        cases[result.case_id].append(result)
    return cases


_MUST_EQUAL = (("request", "request_digest"), ("contract", "contract_digest"), ("mode", "mode"))


def _mismatch(baseline: Sequence[RunResult], candidate: Sequence[RunResult]) -> str | None:
    """Why two sides of a case cannot be compared; None where they can."""
    if not baseline:
        return "missing in the baseline"
    if not candidate:
        return "missing in the candidate"
    reasons = [_unequal(name, attribute, baseline, candidate) for name, attribute in _MUST_EQUAL]
    return "; ".join(filter(None, reasons)) or None


def _unequal(name: str, attribute: str, baseline: Sequence[RunResult], candidate: Sequence[RunResult]) -> str | None:
    sides: dict[SideName, set[object]] = {
        "baseline": {getattr(result, attribute) for result in baseline},
        "candidate": {getattr(result, attribute) for result in candidate},
    }
    if unrecorded := [side for side, values in sides.items() if UNSET in values]:
        return f"the {name} is not recorded in the {' and the '.join(unrecorded)}"
    if various := [side for side, values in sides.items() if len(values) > 1]:
        return f"the {name} differs between trials of the {' and of the '.join(various)}"
    return None if sides["baseline"] == sides["candidate"] else f"the {name} differs"


# -- case by case ------------------------------------------------------------------------------------------------------


def _cases(meetings: Sequence[_Meeting], confidence: float) -> list[CaseComparison]:
    pairs = {one.case: one.extremes for one in meetings if one.mismatch is None}
    tests = tests_of(pairs, alpha_of(confidence))
    return [
        _matched(one, tests.get(one.case), confidence) if one.mismatch is None else _unmatched(one, one.mismatch)
        for one in meetings
    ]


def _matched(one: _Meeting, test: CaseTest | None, confidence: float) -> CaseComparison:
    against, favouring = one.extremes
    worst, best = _change(against, test), _change(favouring, test)
    change: Change = worst if worst == best else "inconclusive"
    first = one.candidate[0]
    return CaseComparison(
        case_id=one.case,
        change=change,
        reason=_reason(one, change, test),
        baseline=_told(one.counts[0]),
        candidate=_told(one.counts[1]),
        severity=first.severity or None,
        mode=first.mode,
        request_digest=first.request_digest or None,
        contract_digest=first.contract_digest or None,
        control=one.control,
        difference=against.difference if one.decided else None,
        bounds=(against.difference, favouring.difference),
        interval=interval_of(against, favouring, confidence),
        test=test,
        regression_possible=against.sign < 0,
    )


def _change(pair: Pair, test: CaseTest | None) -> Change:
    """What a pair comes to: where the trials of a side disagree, only a test tells a change from chance."""
    if pair.sign == 0:
        return "unchanged"
    if not pair.unanimous and (test is None or test.evidence != "difference shown"):
        return "inconclusive"
    return "improvement" if pair.sign > 0 else "regression"


def _unmatched(one: _Meeting, reason: str) -> CaseComparison:
    baseline, candidate = one.counts
    severities = sorted({result.severity for result in (*one.baseline, *one.candidate) if result.severity})
    return CaseComparison(
        case_id=one.case,
        change="unmatched",
        reason=reason,
        baseline=_told(baseline),
        candidate=_told(candidate),
        severity=severities[0] if len(severities) == 1 else None,
        mode=None,
        request_digest=None,
        contract_digest=None,
        control=None,
        difference=None,
        bounds=None,
        interval=None,
        test=None,
        regression_possible=baseline.passed + baseline.open > 0,
    )


def _told(counts: Counts) -> SideCounts:
    return SideCounts(trials=counts.trials, passed=counts.passed, failed=counts.failed, inconclusive=counts.open)


def _reason(one: _Meeting, change: Change, test: CaseTest | None) -> str:
    baseline, candidate = map(_outcome_words, one.counts)
    seen = f"{baseline} before, {candidate} now"
    if change == "unchanged":
        return f"{candidate} on both sides" if baseline == candidate else f"the same rate: {seen}"
    if change == "inconclusive":
        return f"{seen}; {_doubt(one, test)}"
    return seen


def _doubt(one: _Meeting, test: CaseTest | None) -> str:
    if not one.decided:
        return "what is inconclusive could go either way"
    if test is None or test.evidence == "insufficient evidence":
        return "so few trials cannot tell this from chance"
    return "the trials do not tell this from chance"


def _outcome_words(counts: Counts) -> str:
    if counts.trials == 1:
        return "passed" if counts.passed else "failed" if counts.failed else "inconclusive"
    open_ = f" ({counts.open} inconclusive)" if counts.open else ""
    return f"{counts.passed} of {counts.trials} passed{open_}"


# -- over all ----------------------------------------------------------------------------------------------------------


def _left(meetings: Iterable[_Meeting]) -> dict[str, list[str]]:
    left: dict[str, list[str]] = defaultdict(list)
    for one in meetings:
        if one.mismatch is not None:
            left["unmatched"].append(one.case)
        elif not one.decided:
            left["inconclusive trials"].append(one.case)
    return left


def _source(matched: Iterable[_Meeting]) -> Source:
    controls = {one.control for one in matched}
    if controls == {True}:
        return "control"
    if controls == {False}:
        return "different targets"
    return "mixed" if controls - {None} else "not recorded"


def _summary(cases: Iterable[CaseComparison]) -> ChangeCounts:
    counts = Counter(case.change for case in cases)
    return ChangeCounts(
        regression=counts["regression"],
        improvement=counts["improvement"],
        unchanged=counts["unchanged"],
        inconclusive=counts["inconclusive"],
        unmatched=counts["unmatched"],
    )


# -- gates -------------------------------------------------------------------------------------------------------------


def gated(comparison: Comparison, gate: GateName) -> Comparison:
    """The same evidence under another gate.

    strict: every case is matched and decided, and none is a regression. regressions-only: no regression, and no case
    in which one cannot be ruled out: inconclusive trials, a case that cannot be compared, or a lower rate of so few
    trials that neither the case nor all together could have shown a loss. report-only: passes once anything could be
    compared. A shown loss over all cases fails both of the former. A gate that could not evaluate does not pass.
    """
    state, reason, cases = _judged(comparison, gate)
    return structs.replace(comparison, gate=ComparisonGate(name=gate, state=state, reason=reason, cases=cases))


def _judged(comparison: Comparison, gate: GateName) -> tuple[ComparisonState, str, list[str]]:
    cases, suite = comparison.cases, comparison.suite
    lost = [case.case_id for case in cases if case.change == "regression"]
    if not suite.cases and not any(case.change in _DECIDED for case in cases):
        return "could not evaluate", "no case is matched and decided", [case.case_id for case in cases]
    if gate == "report-only":
        return "passes", "report-only: the evidence is told, and nothing is asked of it", []
    if lost:
        return "fails", f"{_number(len(lost), 'regression')}", lost
    if suite.evidence == "difference shown" and suite.worse > suite.better:
        return "fails", "a loss is shown over all cases", []
    return _strictly(cases) if gate == "strict" else _without_a_loss(cases, suite)


_DECIDED = frozenset({"regression", "improvement", "unchanged"})


def _strictly(cases: Sequence[CaseComparison]) -> tuple[ComparisonState, str, list[str]]:
    doubtful = [case.case_id for case in cases if case.change not in _DECIDED]
    if doubtful:
        return "could not evaluate", f"{_number(len(doubtful), 'case')} inconclusive or unmatched", doubtful
    return "passes", "every case is decided, and none is a regression", []


def _without_a_loss(cases: Sequence[CaseComparison], suite: Suite) -> tuple[ComparisonState, str, list[str]]:
    """A drop that enough trials do not tell from chance is none; one of too few trials may be a regression."""
    lower = [case for case in cases if case.regression_possible]
    doubtful = [case.case_id for case in lower if not _tested(case, suite)]
    if doubtful:
        what = "in which a regression cannot be ruled out"
        return "could not evaluate", f"{_number(len(doubtful), 'case')} {what}", doubtful
    if lower:
        names = [case.case_id for case in lower]
        return "passes", f"no regression is shown; {_number(len(lower), 'case')} lower by what may be chance", names
    return "passes", "no regression, and nothing that leaves room for one", []


def _tested(case: CaseComparison, suite: Suite) -> bool:
    """Whether all trials are decided, and the case, or all of them together, could have shown a loss."""
    if case.difference is None or case.test is None:
        return False
    return {case.test.evidence, suite.evidence} != {"insufficient evidence"}


def _number(count: int, word: str) -> str:
    return f"1 {word}" if count == 1 else f"{count} {word}s"
