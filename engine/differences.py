"""Differences between two sets of trials: what they show, and what they could not have shown (docs/results.md).

Every function is antisymmetric or symmetric in its two sides: to swap baseline and candidate changes signs only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb

from labadapt.engine.estimates import (
    Interval,
    clustered,
    hybrid,
    mcnemar_exact,
    newcombe,
    newcombe_paired,
    sign_test,
    smallest_p,
)
from labadapt.engine.rates import left_out
from labadapt.schema.comparison import CaseTest, Evidence, IntervalMethod, Suite


@dataclass(frozen=True, slots=True)
class Counts:
    """The trials of one case on one side, by outcome."""

    passed: int = 0
    failed: int = 0
    open: int = 0

    @property
    def trials(self) -> int:
        """All of them."""
        return self.passed + self.failed + self.open


@dataclass(frozen=True, slots=True)
class Pair:
    """Passes of a number of trials on each side of a case; both numbers of trials are at least 1."""

    baseline: int
    baseline_trials: int
    candidate: int
    candidate_trials: int

    @property
    def sign(self) -> int:
        """-1 where the candidate's rate is lower, 1 where it is higher; exact."""
        one, other = self.candidate * self.baseline_trials, self.baseline * self.candidate_trials
        return (one > other) - (one < other)

    @property
    def difference(self) -> float:
        """The candidate's rate minus the baseline's."""
        return self.candidate / self.candidate_trials - self.baseline / self.baseline_trials

    @property
    def unanimous(self) -> bool:
        """Whether all trials of each side came to one outcome."""
        return self.baseline in (0, self.baseline_trials) and self.candidate in (0, self.candidate_trials)

    @property
    def p(self) -> float:
        """Fisher's exact test of the two rates."""
        return fisher_exact(self.candidate, self.candidate_trials, self.baseline, self.baseline_trials)


def extremes(baseline: Counts, candidate: Counts) -> tuple[Pair, Pair]:
    """The pair with every open trial against the candidate, and with every open trial for it."""
    sizes = baseline.trials, candidate.trials
    against = Pair(baseline.passed + baseline.open, sizes[0], candidate.passed, sizes[1])
    return against, Pair(baseline.passed, sizes[0], candidate.passed + candidate.open, sizes[1])


@cache
def fisher_exact(successes_a: int, trials_a: int, successes_b: int, trials_b: int) -> float:
    """The two-sided p of Fisher's exact test of two independent rates.

    The sum of the hypergeometric probabilities that are at most that of the table observed, its margins given; in whole
    numbers, so that equal ones are equal. Source: Fisher 1934, Statistical Methods for Research Workers, 5th ed.
    """
    total = successes_a + successes_b
    ways = [
        comb(trials_a, number) * comb(trials_b, total - number)
        for number in range(max(0, total - trials_b), min(trials_a, total) + 1)
    ]
    observed = comb(trials_a, successes_a) * comb(trials_b, successes_b)
    return sum(way for way in ways if way <= observed) / sum(ways)


def fisher_smallest(trials_a: int, trials_b: int) -> float:
    """The smallest two-sided p that Fisher's test can give with these numbers of trials."""
    return min(fisher_exact(trials_a, trials_a, 0, trials_b), fisher_exact(0, trials_a, trials_b, trials_b))


def least_telling_p(against: Pair, favouring: Pair) -> float:
    """The larger p of the two extremes; 1 where the open trials decide which side is higher."""
    return max(against.p, favouring.p) if against.sign == favouring.sign else 1.0


def holm(ps: Mapping[str, float]) -> dict[str, float]:
    """The p of each test after Holm's correction, so that the chance of a single false finding stays below alpha.

    The i-th smallest of m, times m-i+1, and at least that of a smaller one. Source: Holm 1979, Scand. J. Stat. 6:65-70.
    """
    adjusted: dict[str, float] = {}
    highest = 0.0
    for place, (name, p) in enumerate(sorted(ps.items(), key=lambda item: (item[1], item[0]))):
        highest = max(highest, min(1.0, p * (len(ps) - place)))
        adjusted[name] = highest
    return adjusted


def evidence_of(p: float, smallest: float, alpha: float) -> Evidence:
    """What a p says, given the smallest that the design could have given."""
    if smallest > alpha:
        return "insufficient evidence"
    return "difference shown" if p <= alpha else "no difference shown"


def tests_of(extremes_by_case: Mapping[str, tuple[Pair, Pair]], alpha: float) -> dict[str, CaseTest]:
    """The test of every case with repeated trials on a side."""
    repeated = {case: pairs for case, pairs in extremes_by_case.items() if _repeated(pairs[0])}
    ps = {case: least_telling_p(*pairs) for case, pairs in repeated.items()}
    adjusted = holm(ps)
    smallest = holm({case: _smallest(pairs[0]) for case, pairs in repeated.items()})
    return {
        case: CaseTest(
            p=ps[case],
            adjusted_p=adjusted[case],
            smallest_p=smallest[case],
            evidence=evidence_of(adjusted[case], smallest[case], alpha),
        )
        for case in repeated
    }


def _smallest(pair: Pair) -> float:
    return fisher_smallest(pair.baseline_trials, pair.candidate_trials)


def _repeated(pair: Pair) -> bool:
    return pair.baseline_trials > 1 or pair.candidate_trials > 1


def interval_of(against: Pair, favouring: Pair, confidence: float) -> Interval | None:
    """Newcombe's interval of one case's difference; none with open trials, or where no side repeats the case."""
    if against != favouring or not _repeated(against):
        return None
    return _two_groups([against], confidence)


def _two_groups(pairs: Sequence[Pair], confidence: float) -> Interval | None:
    """Newcombe's interval of two independent groups of trials."""
    passes = sum(pair.candidate for pair in pairs), sum(pair.baseline for pair in pairs)
    trials = sum(pair.candidate_trials for pair in pairs), sum(pair.baseline_trials for pair in pairs)
    return newcombe(passes[0], trials[0], passes[1], trials[1], confidence)


# -- over all cases ----------------------------------------------------------------------------------------------------


def suite_of(decided: Iterable[Pair], repeated: bool, left: Mapping[str, list[str]], confidence: float) -> Suite:
    """The difference over the cases all of whose trials are decided. `repeated`: whether any case has several."""
    pairs = list(decided)
    better, worse = sum(pair.sign > 0 for pair in pairs), sum(pair.sign < 0 for pair in pairs)
    p = (sign_test if repeated else mcnemar_exact)(better, worse) if pairs else None
    smallest = smallest_p(len(pairs)) if pairs else None
    rates = _rates(pairs)
    interval, method = _interval(pairs, repeated, confidence)
    return Suite(
        method="sign test over cases" if repeated else "McNemar exact",
        cases=len(pairs),
        better=better,
        worse=worse,
        both_pass=sum(_all_pass(pair) for pair in pairs),
        p=p,
        smallest_p=smallest,
        alpha=alpha_of(confidence),
        baseline_rate=rates and rates[0],
        candidate_rate=rates and rates[1],
        difference=rates and rates[1] - rates[0],
        interval=interval,
        interval_method=method,
        evidence=evidence_of(1.0 if p is None else p, 1.0 if smallest is None else smallest, alpha_of(confidence)),
        left_out=left_out(left),
    )


def alpha_of(confidence: float) -> float:
    """1 - confidence, without the noise of binary fractions: 0.05, not 0.050000000000000044."""
    return round(1 - confidence, 12)


def _all_pass(pair: Pair) -> bool:
    return pair.baseline == pair.baseline_trials and pair.candidate == pair.candidate_trials


def _rates(pairs: Sequence[Pair]) -> tuple[float, float] | None:
    if not pairs:
        return None
    return (
        sum(pair.baseline for pair in pairs) / sum(pair.baseline_trials for pair in pairs),
        sum(pair.candidate for pair in pairs) / sum(pair.candidate_trials for pair in pairs),
    )


def _interval(
    pairs: Sequence[Pair], repeated: bool, confidence: float
) -> tuple[Interval | None, IntervalMethod | None]:
    if not pairs:
        return None, None
    if not repeated:
        return _paired(pairs, confidence), "Newcombe paired"
    if len(pairs) == 1:
        return _two_groups(pairs, confidence), "Newcombe of two groups"
    return _clustered(pairs, confidence), "Newcombe of rates clustered by case"


def _paired(pairs: Sequence[Pair], confidence: float) -> Interval | None:
    both, better = sum(_all_pass(pair) for pair in pairs), sum(pair.sign > 0 for pair in pairs)
    worse = sum(pair.sign < 0 for pair in pairs)
    return newcombe_paired(both, better, worse, len(pairs) - both - better - worse, confidence)


def _clustered(pairs: Sequence[Pair], confidence: float) -> Interval | None:
    """Trials of one case resemble each other, so each side's interval is clustered by case.

    The two sides are taken for independent, though they share the cases: that widens the interval, and is safe.
    """
    one = clustered([(pair.candidate, pair.candidate_trials) for pair in pairs], confidence)
    other = clustered([(pair.baseline, pair.baseline_trials) for pair in pairs], confidence)
    rates = _rates(pairs)
    if one is None or other is None or rates is None:
        return None
    return hybrid(rates[1], one, rates[0], other, correlation=0.0)
