"""Rates of trials, each with what its denominator holds and what left it; pass^k (docs/results.md)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal, TypeAlias

from labadapt.engine.estimates import Interval, clustered, pass_k, wilson
from labadapt.engine.trials import Slot, Trial
from labadapt.schema.reliability import CasePassK, Convention, LeftOut, Method, PassK, Rate
from labadapt.schema.result import CheckId, Verdict

# A trial succeeds, fails, could go either way, or leaves the denominator for a reason.
Judged: TypeAlias = Literal["success", "failure", "open"]
_OUTCOMES: dict[str, Judged] = {"pass": "success", "fail": "failure", "inconclusive": "open"}
MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a trial is not in a denominator."""

    text: str


Judge: TypeAlias = Callable[[Trial | None], Judged | Reason]


def end_to_end(trial: Trial | None) -> Judged | Reason:
    """Of all scheduled: what was not made did not succeed."""
    return _OUTCOMES[trial.outcome] if trial else "failure"


def availability(trial: Trial | None) -> Judged | Reason:
    """Of the trials whose infrastructure is known."""
    if trial is None:
        return Reason(MISSING)
    if trial.status is None:
        return Reason("health not recorded")
    words: dict[str, Judged | Reason] = {"healthy": "success", "failed": "failure"}
    return words.get(trial.status.infrastructure, Reason("infrastructure unknown"))


def completion(trial: Trial | None) -> Judged | Reason:
    """Of the trials with healthy infrastructure whose target is known."""
    if trial is None or trial.status is None or trial.status.infrastructure != "healthy":
        health = availability(trial)
        return health if isinstance(health, Reason) else Reason("infrastructure failed")
    words: dict[str, Judged | Reason] = {"completed": "success", "failed": "failure"}
    return words.get(trial.status.target, Reason("target unknown"))


def behaviour(trial: Trial | None) -> Judged | Reason:
    """Of the trials with healthy infrastructure and a completed target."""
    ended = completion(trial)
    if isinstance(ended, Reason):
        return ended
    return _OUTCOMES[trial.outcome] if trial and ended == "success" else Reason("target failed")


RATES: tuple[tuple[str, str, Judge], ...] = (
    ("end-to-end success", "all scheduled trials", end_to_end),
    ("behavioural success", "trials with healthy infrastructure and a completed target", behaviour),
    ("infrastructure availability", "trials whose infrastructure is known", availability),
    ("target completion", "trials with healthy infrastructure whose target is known", completion),
)
NO_SCHEDULE = "all trials made (no schedule is known)"
_VERDICTS: dict[Verdict, Judged | Reason] = {
    "pass": "success",
    "fail": "failure",
    "unevaluable": Reason("unevaluable"),
    "not_required": Reason("not asked for by the contract"),
}


def of_check(identifier: CheckId) -> Judge:
    """Of the trials in which the check could be evaluated."""

    def judge(trial: Trial | None) -> Judged | Reason:
        return Reason(MISSING) if trial is None else _VERDICTS[dict(trial.checks).get(identifier, "not_required")]

    return judge


@dataclass(slots=True)
class _Tally:
    successes: int = 0
    open: int = 0
    trials: int = 0


def rate(name: str, of: str, slots: Iterable[Slot], judge: Judge, confidence: float) -> Rate:
    """A rate over the slots, with its bounds, its interval, and what left the denominator."""
    tallies: dict[str, _Tally] = defaultdict(_Tally)
    left: dict[str, list[str]] = defaultdict(list)
    for slot in slots:
        judged = judge(slot.trial)
        if isinstance(judged, Reason):
            left[judged.text].append(slot.name)
            continue
        tally = tallies[slot.case]
        tally.trials += 1
        tally.successes += judged == "success"
        tally.open += judged == "open"
    return _rate(name, of, list(tallies.values()), left, confidence)


def _rate(name: str, of: str, tallies: Sequence[_Tally], left: Mapping[str, list[str]], confidence: float) -> Rate:
    successes, open_, trials = (
        sum(getattr(tally, part) for tally in tallies) for part in ("successes", "open", "trials")
    )
    low, method = _interval([(tally.successes, tally.trials) for tally in tallies], confidence)
    high, _ = _interval([(tally.successes + tally.open, tally.trials) for tally in tallies], confidence)
    return Rate(
        name=name,
        of=of,
        successes=successes,
        open=open_,
        trials=trials,
        value=successes / trials if trials and not open_ else None,
        lower=successes / trials if trials else None,
        upper=(successes + open_) / trials if trials else None,
        interval=(low[0], high[1]) if low and high else None,
        method=method,
        left_out=left_out(left),
    )


def _interval(pairs: Sequence[tuple[int, int]], confidence: float) -> tuple[Interval | None, Method | None]:
    """By case where a case has several trials and there are several cases: its trials resemble each other."""
    if len(pairs) > 1 and any(trials > 1 for _, trials in pairs):
        return clustered(pairs, confidence), "clustered by case"
    successes, trials = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    return wilson(successes, trials, confidence), "wilson" if trials else None


def left_out(reasons: Mapping[str, list[str]]) -> list[LeftOut]:
    """What left a denominator, by reason."""
    return [LeftOut(reason=reason, ids=ids) for reason, ids in sorted(reasons.items())]


# -- pass^k ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CaseCounts:
    """The trials of one case by outcome; `missing` None: no schedule is known."""

    case: str
    passed: int
    failed: int
    inconclusive: int
    missing: int | None

    @property
    def made(self) -> int:
        """Trials in the files."""
        return self.passed + self.failed + self.inconclusive


def counts_of(case: str, slots: Sequence[Slot], *, scheduled: bool) -> CaseCounts:
    """The counts of a case."""
    outcomes = [slot.trial.outcome for slot in slots if slot.trial]
    return CaseCounts(
        case=case,
        passed=outcomes.count("pass"),
        failed=outcomes.count("fail"),
        inconclusive=outcomes.count("inconclusive"),
        missing=len(slots) - len(outcomes) if scheduled else None,
    )


def case_pass_k(counts: CaseCounts, k: int) -> CasePassK:
    """pass^k of one case under both conventions for missing trials."""
    scheduled = None if counts.missing is None else counts.made + counts.missing
    return CasePassK(
        k=k,
        missing_as_failure=None if scheduled is None else _pass_bounds(counts, scheduled, k),
        missing_left_out=_pass_bounds(counts, counts.made, k),
    )


def _pass_bounds(counts: CaseCounts, trials: int, k: int) -> Interval | None:
    if k > trials:
        return None
    return pass_k(counts.passed, trials, k), pass_k(counts.passed + counts.inconclusive, trials, k)


def suite_pass_k(cases: Sequence[tuple[CaseCounts, CasePassK]]) -> Iterator[PassK]:
    """The mean over the cases that have a figure, under each convention; each case counts once."""
    unscheduled = any(counts.missing is None for counts, _ in cases)
    yield _suite("missing counted as failure", [(c, one.missing_as_failure, one.k) for c, one in cases], unscheduled)
    yield _suite("missing left out", [(c, one.missing_left_out, one.k) for c, one in cases], unscheduled=False)


def _suite(missing: Convention, cases: Sequence[tuple[CaseCounts, Interval | None, int]], unscheduled: bool) -> PassK:
    figures = [bounds for _, bounds, _ in cases if bounds]
    without = [counts.case for counts, bounds, _ in cases if not bounds]
    reason = "no schedule is known" if unscheduled else "fewer than k trials"
    lower = fsum(low for low, _ in figures) / len(figures) if figures else None
    upper = fsum(high for _, high in figures) / len(figures) if figures else None
    return PassK(
        k=cases[0][2],
        missing=missing,
        cases=len(figures),
        value=lower if lower == upper else None,
        lower=lower,
        upper=upper,
        left_out=left_out({reason: without} if without else {}),
    )
