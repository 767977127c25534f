"""The beta distribution, as exact binomial bounds and Student's t need it. Pure arithmetic, no dependency.

Sources: the continued fraction is DLMF 8.17.22 (https://dlmf.nist.gov/8.17#E22), evaluated by the modified Lentz
method (DLMF 3.10(iii)); the symmetry is DLMF 8.17.4. Tests hold both functions to `scipy.stats.beta`.
"""

from math import exp, lgamma, log, log1p

_SMALLEST = 1e-300  # stands in for a zero of the recurrence, so that nothing is divided by zero
_PRECISION = 4e-16
_TERMS = 100_000  # it needs about the square root of a + b
_HALVINGS = 2000  # more than lie between 1 and the smallest number; the loop ends where no number is between


def probability(x: float, a: float, b: float) -> float:
    """I_x(a, b): the probability that a Beta(a, b) variable is at most `x`, for a, b > 0.

    Within 1e-9 for a and b to 50,000.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast below the mean
        return 1.0 - probability(1 - x, b, a) if 1 - x < 1 else 0.0
    front = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a
    return min(1.0, front * _fraction(x, a, b))


def _fraction(x: float, a: float, b: float) -> float:
    """1/(1 + d1/(1 + d2/(1 + ...))), the continued fraction of DLMF 8.17.22."""
    value = ahead = 1.0
    behind = 0.0
    for number in range(1, _TERMS):
        term = _coefficient(number, x, a, b)
        behind = 1 / (1 + term * behind or _SMALLEST)
        ahead = 1 + term / ahead or _SMALLEST
        value *= ahead * behind
        if abs(ahead * behind - 1) < _PRECISION:
            break
    return 1 / value


def _coefficient(number: int, x: float, a: float, b: float) -> float:
    half, odd = divmod(number, 2)
    if odd:
        return -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
    return half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))


def quantile(level: float, a: float, b: float) -> float:
    """The x at which I_x(a, b) is `level`, by bisection down to neighbouring numbers. `level` lies in 0 to 1."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if probability(middle, a, b) < level:
            low = middle
        else:
            high = middle
    return (low + high) / 2
