"""Proportions with their uncertainty: intervals, exact tests, pass^k. Every formula names its source (docs/results.md).

A figure that nothing was observed for is `None`, never 0. Arguments that cannot be counts of anything raise
`ValueError` in one sentence. Levels of confidence lie strictly between 0 and 1. Tests hold every function to scipy,
to statsmodels or to a published table.
"""

from collections.abc import Sequence
from math import comb, fsum, sqrt
from statistics import NormalDist
from typing import TypeAlias

from labadapt.engine import beta

Interval: TypeAlias = tuple[float, float]


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval | None:
    """The Wilson score interval of a proportion; none without trials. For display: close to its level on average.

    (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n) with p = successes/trials and z the normal quantile.
    Source: Wilson 1927, J. Am. Stat. Assoc. 22:209-212; recommended by Brown, Cai and DasGupta 2001.
    """
    _require_counts(successes, trials)
    return score_interval(successes / trials, trials, _z(confidence)) if trials else None


def score_interval(rate: float, size: float, z: float) -> Interval:
    """Wilson's interval of a rate over `size` > 0 independent observations, which need not be whole."""
    spread = z * sqrt(rate * (1 - rate) / size + z * z / (4 * size * size))
    middle, scale = rate + z * z / (2 * size), 1 + z * z / size
    low = (middle - spread) / scale if rate > 0 else 0.0
    high = (middle + spread) / scale if rate < 1 else 1.0
    return max(0.0, min(low, rate)), min(1.0, max(high, rate))


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> Interval | None:
    """The exact interval of a proportion; none without trials. It never covers less often than its level says.

    The bounds are beta quantiles: (1-confidence)/2 of Beta(c, n-c+1) and its complement of Beta(c+1, n-c).
    Source: Clopper and Pearson 1934, Biometrika 26:404-413.
    """
    _require_counts(successes, trials)
    tail = (1 - _level(confidence)) / 2
    return (_exact_low(successes, trials, tail), 1 - _exact_low(trials - successes, trials, tail)) if trials else None


def clopper_pearson_lower(successes: int, trials: int, confidence: float = 0.95) -> float | None:
    """The exact one-sided lower bound of a proportion, for an "at least" gate; none without trials.

    The (1-confidence) quantile of Beta(c, n-c+1), all of the error on one side; 0 without a success.
    Source: Clopper and Pearson 1934, Biometrika 26:404-413.
    """
    _require_counts(successes, trials)
    return _exact_low(successes, trials, 1 - _level(confidence)) if trials else None


def clopper_pearson_upper(successes: int, trials: int, confidence: float = 0.95) -> float | None:
    """The exact one-sided upper bound of a proportion: what shows that an "at least" gate is not met."""
    lower = clopper_pearson_lower(trials - successes, trials, confidence)
    return None if lower is None else 1 - lower


def _exact_low(successes: int, trials: int, tail: float) -> float:
    return beta.quantile(tail, successes, trials - successes + 1) if successes else 0.0


def newcombe(
    successes_a: int, trials_a: int, successes_b: int, trials_b: int, confidence: float = 0.95
) -> Interval | None:
    """The hybrid score interval of rate A minus rate B, two independent groups; none where one has no trial.

    d - sqrt((pA-lA)² + (uB-pB)²) to d + sqrt((uA-pA)² + (pB-lB)²), l and u the Wilson bounds of each group.
    Source: Newcombe 1998, Statistics in Medicine 17:873-890, method 10 (without continuity correction).
    """
    one, other = wilson(successes_a, trials_a, confidence), wilson(successes_b, trials_b, confidence)
    if one is None or other is None:
        return None
    return hybrid(successes_a / trials_a, one, successes_b / trials_b, other, correlation=0.0)


def newcombe_paired(both: int, only_a: int, only_b: int, neither: int, confidence: float = 0.95) -> Interval | None:
    """The hybrid score interval of rate A minus rate B over the same cases; none without a pair.

    As `newcombe`, with -2φ(pA-lA)(uB-pB) and -2φ(uA-pA)(pB-lB) under the roots; φ is the correlation of the two
    outcomes with a continuity correction, 0 where a margin is empty.
    Source: Newcombe 1998, Statistics in Medicine 17:2635-2650, method 10.
    """
    pairs = both + only_a + only_b + neither
    for count in (both, only_a, only_b, neither):
        _require_counts(count, pairs)
    one, other = wilson(both + only_a, pairs, confidence), wilson(both + only_b, pairs, confidence)
    if one is None or other is None:
        return None
    correlation = _correlation(both, only_a, only_b, neither)
    return hybrid((both + only_a) / pairs, one, (both + only_b) / pairs, other, correlation)


def _correlation(both: int, only_a: int, only_b: int, neither: int) -> float:
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    cross = float(both * neither - only_a * only_b)
    if cross > 0:
        cross = max(cross - (both + only_a + only_b + neither) / 2, 0.0)
    return cross / sqrt(margins) if margins else 0.0


def hybrid(rate_a: float, one: Interval, rate_b: float, other: Interval, correlation: float) -> Interval:
    """Newcombe's interval of rate A minus rate B from an interval of each rate and the correlation of the two."""
    low = _joint(rate_a - one[0], other[1] - rate_b, correlation)
    high = _joint(one[1] - rate_a, rate_b - other[0], correlation)
    difference = rate_a - rate_b
    return max(-1.0, difference - low), min(1.0, difference + high)


def _joint(one: float, other: float, correlation: float) -> float:
    return sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """The two-sided p of McNemar's exact test: pairs in which only A, and only B, succeeded.

    min(1, 2·P(X ≤ min(b, c))) for X binomial with b+c trials at 1/2; 1 where no pair is discordant.
    Source: McNemar 1947, Psychometrika 12:153-157, in its exact conditional form.
    """
    discordant = only_a + only_b
    _require_counts(min(only_a, only_b), discordant)
    if 2 * min(only_a, only_b) >= discordant:
        return 1.0
    tail, term = 0, 1
    for number in range(min(only_a, only_b) + 1):
        tail += term
        term = term * (discordant - number) // (number + 1)
    return min(1.0, 2 * tail / (1 << discordant))


def sign_test(better: int, worse: int) -> float:
    """The two-sided p of the exact sign test; cases without a difference are left out before.

    The same binomial tail as `mcnemar_exact`. Source: Dixon and Mood 1946, J. Am. Stat. Assoc. 41:557-566.
    """
    return mcnemar_exact(better, worse)


def smallest_p(pairs: int) -> float:
    """The smallest two-sided p that `pairs` differing pairs can give in either exact test: min(1, 2·(1/2)^pairs).

    Where it is above the level asked for, no outcome could have shown a difference: the design, not the result, says
    that the evidence is insufficient.
    """
    return mcnemar_exact(_whole(pairs), 0)


def pass_k(successes: int, trials: int, k: int) -> float:
    """pass^k: the probability that k trials, drawn without replacement from those made, all succeed.

    C(c, k)/C(n, k), an unbiased estimate of the probability that k new trials all succeed. Not pass@k, which asks
    for one success. Source: Yao et al. 2024, tau-bench, arXiv:2406.12045. Raises `ValueError` unless 1 ≤ k ≤ trials.
    """
    _require_counts(successes, trials)
    if not 1 <= _whole(k) <= trials:
        raise ValueError(f"pass^k needs at least k trials and k at least 1; k is {k} and there are {trials} trials")
    return comb(successes, k) / comb(trials, k)


def clustered(pairs: Sequence[tuple[int, int]], confidence: float = 0.95) -> Interval | None:
    """An interval of the pooled rate over (successes, trials) of each case; trials of one case resemble each other.

    r = Σc/Σn with the variance J/(J-1)·Σ(c-rn)²/(Σn)² of a ratio over J cases (Cochran 1977, Sampling Techniques,
    section 6.3); then Wilson's interval with Student's t of J-1 degrees and the effective size m = r(1-r)/variance,
    never more than Σn (Dean and Pagano 2015, J. Survey Stat. Methodol. 3:484-503). At r of 0 or 1 no spread is seen,
    so nothing is known of the resemblance, and m is J: each case counts once. None with fewer than two cases that
    have trials: the spread between cases cannot be seen in one.
    """
    _level(confidence)
    for successes, trials in pairs:
        _require_counts(successes, trials)
    observed = [pair for pair in pairs if pair[1]]
    if len(observed) < 2:
        return None
    rate = sum(successes for successes, _ in observed) / sum(trials for _, trials in observed)
    return score_interval(rate, effective_size(observed), _t(confidence, len(observed) - 1))


def effective_size(pairs: Sequence[tuple[int, int]]) -> float:
    """How many independent trials the clustered ones are worth (see `clustered`); two or more cases with trials."""
    cases, total = len(pairs), sum(trials for _, trials in pairs)
    rate = sum(successes for successes, _ in pairs) / total
    if rate in (0, 1):
        return cases
    squares = fsum((successes - rate * trials) ** 2 for successes, trials in pairs)
    variance = cases / (cases - 1) * squares / total**2
    return min(total, rate * (1 - rate) / variance) if variance else total


def _t(confidence: float, degrees: int) -> float:
    """Student's t that |T| exceeds with probability 1-confidence, from T² = d(1/x - 1), x ~ Beta(d/2, 1/2)."""
    return sqrt(degrees * (1 / beta.quantile(1 - confidence, degrees / 2, 0.5) - 1))


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + _level(confidence)) / 2)


def _level(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"a level of confidence lies between 0 and 1, and {confidence} does not")
    return confidence


def _whole(number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError(f"a count is a whole number of at least 0, and {number!r} is none")
    return number


def _require_counts(successes: int, trials: int) -> None:
    if _whole(successes) > _whole(trials):
        raise ValueError(f"{successes} of {trials} trials cannot have succeeded")
