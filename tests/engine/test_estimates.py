"""Estimators against scipy, statsmodels and published tables; then what must hold of every one of them."""

import math
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from labadapt.engine import beta as own
from labadapt.engine import (
    clopper_pearson,
    clopper_pearson_lower,
    clopper_pearson_upper,
    clustered,
    mcnemar_exact,
    newcombe,
    newcombe_paired,
    pass_k,
    sign_test,
    smallest_p,
    wilson,
)
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

GRID = [(c, n) for n in (1, 2, 3, 5, 10, 29, 100, 1000, 50_000) for c in {0, 1, n // 3, n // 2, n - 1, n}]
LEVELS = (0.5, 0.8, 0.95, 0.99, 0.999999)


# -- reference values --------------------------------------------------------------------------------------------------


def test_the_wilson_interval_of_nine_in_ten() -> None:
    low, high = wilson(9, 10)
    assert (round(low, 6), round(high, 6)) == (0.595850, 0.982124)


@pytest.mark.parametrize("confidence", LEVELS)
def test_wilson_is_that_of_statsmodels(confidence: float) -> None:
    for successes, trials in GRID:
        expected = proportion_confint(successes, trials, alpha=1 - confidence, method="wilson")
        assert wilson(successes, trials, confidence) == pytest.approx(expected, abs=1e-9), (successes, trials)


@pytest.mark.parametrize("confidence", LEVELS)
def test_clopper_pearson_is_that_of_scipy_and_statsmodels(confidence: float) -> None:
    for successes, trials in GRID:
        expected = stats.binomtest(successes, trials).proportion_ci(confidence, method="exact")
        found = clopper_pearson(successes, trials, confidence)
        assert found == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12), (successes, trials)
        other = proportion_confint(successes, trials, alpha=1 - confidence, method="beta")
        assert found == pytest.approx(other, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("confidence", LEVELS)
def test_one_sided_bounds_are_those_of_scipy(confidence: float) -> None:
    for successes, trials in GRID:
        more = stats.binomtest(successes, trials, alternative="greater").proportion_ci(confidence, method="exact")
        less = stats.binomtest(successes, trials, alternative="less").proportion_ci(confidence, method="exact")
        assert clopper_pearson_lower(successes, trials, confidence) == pytest.approx(more.low, rel=1e-9, abs=1e-12)
        assert clopper_pearson_upper(successes, trials, confidence) == pytest.approx(less.high, rel=1e-9, abs=1e-12)


def test_twenty_nine_of_twenty_nine_show_nine_in_ten_and_twenty_eight_do_not() -> None:
    assert clopper_pearson_lower(29, 29) == pytest.approx(0.05 ** (1 / 29))
    assert clopper_pearson_lower(29, 29) > 0.9 > clopper_pearson_lower(28, 28)


def test_newcombe_is_that_of_statsmodels() -> None:
    samples = [(c, n) for c, n in GRID if n in (3, 10, 100)]
    for (a, n), (b, m) in product(samples, samples):
        expected = confint_proportions_2indep(a, n, b, m, method="newcomb", compare="diff", alpha=0.05)
        assert newcombe(a, n, b, m) == pytest.approx(expected, abs=1e-9), (a, n, b, m)


@pytest.mark.parametrize(
    ("table", "expected"),
    [  # Newcombe 1998, Statistics in Medicine 17:873-890, table II, method 10
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((10, 10, 0, 10), (0.6075, 1.0000)),
        ((10, 10, 0, 20), (0.6791, 1.0000)),
    ],
)
def test_newcombe_is_that_of_the_published_table(table: tuple[int, ...], expected: tuple[float, float]) -> None:
    assert newcombe(*table) == pytest.approx(expected, abs=5e-5)


def test_the_paired_interval_is_that_of_the_published_table() -> None:
    """Newcombe 1998, Statistics in Medicine 17:2635-2650, table III, method 10: 36, 12, 2, 0."""
    assert newcombe_paired(36, 12, 2, 0) == pytest.approx((0.0569, 0.3404), abs=5e-5)


def test_the_paired_interval_by_hand() -> None:
    """20 pairs, margins 15/20 and 10/20: φ = (9·4 - 6·1 - 10)/sqrt(15·5·10·10), Wilson bounds of both margins."""
    (low_a, high_a), (low_b, high_b) = wilson(15, 20), wilson(10, 20)
    phi = 20 / math.sqrt(15 * 5 * 10 * 10)
    low = math.sqrt((0.75 - low_a) ** 2 - 2 * phi * (0.75 - low_a) * (high_b - 0.5) + (high_b - 0.5) ** 2)
    high = math.sqrt((high_a - 0.75) ** 2 - 2 * phi * (high_a - 0.75) * (0.5 - low_b) + (0.5 - low_b) ** 2)
    assert newcombe_paired(9, 6, 1, 4) == pytest.approx((0.25 - low, 0.25 + high))


def test_exact_tests_are_those_of_scipy_and_statsmodels() -> None:
    for b, c in product(range(13), range(13)):
        table = [[5, b], [c, 5]]
        assert mcnemar_exact(b, c) == pytest.approx(mcnemar(table, exact=True).pvalue)
        if b + c:
            assert sign_test(b, c) == pytest.approx(stats.binomtest(b, b + c).pvalue)
    assert mcnemar_exact(4900, 5100) == pytest.approx(stats.binomtest(4900, 10_000).pvalue)


def test_what_six_and_five_pairs_could_show() -> None:
    assert (smallest_p(6), smallest_p(5), smallest_p(0)) == (0.03125, 0.0625, 1.0)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((9, 10, 3), 0.7), ((9, 10, 1), 0.9), ((9, 10, 10), 0.0), ((10, 10, 10), 1.0), ((2, 4, 2), 1 / 6)],
)
def test_pass_k(arguments: tuple[int, int, int], expected: float) -> None:
    assert pass_k(*arguments) == expected


def test_pass_k_is_the_share_of_all_draws_that_all_succeed() -> None:
    for trials in range(1, 8):
        for successes, k in product(range(trials + 1), range(1, trials + 1)):
            assert pass_k(successes, trials, k) == pytest.approx(stats.hypergeom.pmf(k, trials, successes, k))


def test_the_clustered_interval_by_hand() -> None:
    """Three cases of 5 with 5, 4 and 1: r = 2/3, variance 3/2·(25+4+49)/9/225, Wilson with t of 2 degrees."""
    variance = 1.5 * ((5 / 3) ** 2 + (2 / 3) ** 2 + (7 / 3) ** 2) / 15**2
    size, t = (2 / 9) / variance, stats.t.ppf(0.975, 2)
    middle, scale = 2 / 3 + t * t / 2 / size, 1 + t * t / size
    spread = t * math.sqrt(2 / 9 / size + t * t / 4 / size**2)
    expected = ((middle - spread) / scale, (middle + spread) / scale)
    assert clustered([(5, 5), (4, 5), (1, 5)]) == pytest.approx(expected)


def test_a_suite_without_spread_counts_each_case_once() -> None:
    t = stats.t.ppf(0.975, 7)
    assert clustered([(5, 5)] * 8) == (pytest.approx(8 / (8 + t * t)), 1.0)
    assert clustered([(0, 5)] * 8) == (0.0, pytest.approx(1 - 8 / (8 + t * t)))


def test_cases_that_all_have_one_rate_count_every_trial() -> None:
    t = stats.t.ppf(0.975, 3)
    low, high = clustered([(1, 2)] * 4)
    assert (high + low) / 2 == pytest.approx(0.5)
    assert (high - low) / 2 == pytest.approx(t * math.sqrt(0.25 / 8 + t * t / 4 / 64) / (1 + t * t / 8))


def test_the_beta_distribution_is_that_of_scipy() -> None:
    for a, b in product((0.5, 1, 2, 7.5, 40, 999, 50_000), repeat=2):
        for x in (1e-9, 0.001, 0.25, 0.5, a / (a + b), 0.9, 1 - 1e-9):
            assert own.probability(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), abs=1e-9), (x, a, b)
        for level in (1e-6, 0.025, 0.5, 0.975):
            assert own.quantile(level, a, b) == pytest.approx(stats.beta.ppf(level, a, b), rel=1e-9), (level, a, b)


def test_the_beta_distribution_ends_at_0_and_1() -> None:
    assert (own.probability(0.0, 2, 3), own.probability(1.0, 2, 3)) == (0.0, 1.0)
    assert (own.probability(-1.0, 2, 3), own.probability(2.0, 2, 3)) == (0.0, 1.0)


# -- properties --------------------------------------------------------------------------------------------------------

LEVEL = st.floats(0.5, 0.9999)
COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
INTERVALS = pytest.mark.parametrize("interval", [wilson, clopper_pearson], ids=lambda one: one.__name__)
Interval = Callable[[int, int, float], tuple[float, float]]


@INTERVALS
@given(counts=COUNTS, level=LEVEL)
@example(counts=(0, 1), level=0.95)
@example(counts=(1, 1), level=0.95)
def test_an_interval_lies_in_0_to_1_and_holds_the_estimate(
    interval: Interval, counts: tuple[int, int], level: float
) -> None:
    low, high = interval(*counts, level)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1
    assert low < high


@INTERVALS
@given(counts=COUNTS, level=LEVEL)
def test_failures_mirror_successes(interval: Interval, counts: tuple[int, int], level: float) -> None:
    successes, trials = counts
    low, high = interval(successes, trials, level)
    mirrored = interval(trials - successes, trials, level)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@INTERVALS
@given(counts=COUNTS, level=LEVEL)
def test_one_more_success_raises_both_ends_and_more_confidence_widens(
    interval: Interval, counts: tuple[int, int], level: float
) -> None:
    successes, trials = counts
    low, high = interval(successes, trials, level)
    wider_low, wider_high = interval(successes, trials, (1 + level) / 2)
    assert wider_low <= low
    assert high <= wider_high
    if successes < trials:
        more_low, more_high = interval(successes + 1, trials, level)
        assert low < more_low
        assert high <= more_high


@given(counts=COUNTS, level=LEVEL)
def test_an_exact_interval_holds_the_one_sided_bounds_of_its_level(counts: tuple[int, int], level: float) -> None:
    low, high = clopper_pearson(*counts, level)
    assert low <= clopper_pearson_lower(*counts, level)
    assert clopper_pearson_upper(*counts, level) <= high
    assert clopper_pearson_lower(*counts, (1 + level) / 2) == pytest.approx(low, abs=1e-12)


@given(one=COUNTS, other=COUNTS, level=LEVEL)
def test_a_difference_lies_in_its_interval_and_turns_round(
    one: tuple[int, int], other: tuple[int, int], level: float
) -> None:
    low, high = newcombe(*one, *other, level)
    assert -1 <= low <= one[0] / one[1] - other[0] / other[1] <= high <= 1
    assert newcombe(*other, *one, level) == pytest.approx((-high, -low), abs=1e-9)


@given(table=st.tuples(*[st.integers(0, 60)] * 4).filter(any), level=LEVEL)
def test_a_paired_difference_lies_in_its_interval_and_turns_round(
    table: tuple[int, int, int, int], level: float
) -> None:
    both, only_a, only_b, neither = table
    low, high = newcombe_paired(*table, level)
    difference = (only_a - only_b) / sum(table)
    assert -1 <= low <= difference + 1e-12
    assert difference - 1e-12 <= high <= 1
    assert newcombe_paired(both, only_b, only_a, neither, level) == pytest.approx((-high, -low), abs=1e-9)
    failures = newcombe_paired(neither, only_b, only_a, both, level)
    assert failures == pytest.approx((-high, -low), abs=1e-9)


@given(better=st.integers(0, 200), worse=st.integers(0, 200))
def test_a_p_is_a_probability_that_no_side_is_favoured_by(better: int, worse: int) -> None:
    p = sign_test(better, worse)
    assert 0 < p <= 1
    assert p == sign_test(worse, better) == mcnemar_exact(better, worse)
    assert p >= smallest_p(better + worse)
    if better >= worse:
        assert sign_test(better + 1, worse) <= p


@given(counts=COUNTS, data=st.data())
def test_pass_k_falls_with_k_rises_with_successes_and_is_at_most_the_rate(
    counts: tuple[int, int], data: st.DataObject
) -> None:
    successes, trials = counts
    k = data.draw(st.integers(1, trials))
    value = pass_k(successes, trials, k)
    assert 0 <= value <= successes / trials
    assert pass_k(successes, trials, 1) == successes / trials
    if k < trials:
        assert pass_k(successes, trials, k + 1) <= value
    if successes < trials:
        assert value <= pass_k(successes + 1, trials, k)


CLUSTERS = st.lists(
    st.integers(1, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2, max_size=30
)


@given(pairs=CLUSTERS, level=LEVEL, data=st.data())
def test_a_clustered_interval_holds_the_rate_in_whatever_order(
    pairs: list[tuple[int, int]], level: float, data: st.DataObject
) -> None:
    low, high = clustered(pairs, level)
    rate = sum(c for c, _ in pairs) / sum(n for _, n in pairs)
    assert 0 <= low <= rate <= high <= 1
    assert clustered(data.draw(st.permutations(pairs)), level) == (low, high)
    mirrored = clustered([(n - c, n) for c, n in pairs], level)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)
    wider = clustered(pairs, (1 + level) / 2)
    assert wider[0] <= low
    assert high <= wider[1]


@given(pairs=CLUSTERS)
def test_a_clustered_interval_is_never_narrower_than_that_of_independent_trials(pairs: list[tuple[int, int]]) -> None:
    low, high = clustered(pairs)
    alone = wilson(sum(c for c, _ in pairs), sum(n for _, n in pairs))
    assert low <= alone[0] + 1e-12
    assert alone[1] - 1e-12 <= high


@given(pairs=CLUSTERS)
def test_cases_without_trials_say_nothing(pairs: list[tuple[int, int]]) -> None:
    assert clustered([*pairs, (0, 0)]) == clustered(pairs)


# -- what is unavailable, and what is refused --------------------------------------------------------------------------


def test_no_trials_is_unavailable_and_not_nought() -> None:
    assert wilson(0, 0) is None
    assert clopper_pearson(0, 0) is None
    assert clopper_pearson_lower(0, 0) is None
    assert clopper_pearson_upper(0, 0) is None
    assert newcombe(0, 0, 1, 2) is None
    assert newcombe(1, 2, 0, 0) is None
    assert newcombe_paired(0, 0, 0, 0) is None


def test_one_case_shows_no_spread_between_cases() -> None:
    assert clustered([]) is None
    assert clustered([(4, 5)]) is None
    assert clustered([(4, 5), (0, 0)]) is None


@pytest.mark.parametrize(
    ("successes", "trials", "k", "sentence"),
    [
        (9, 10, 11, "pass^k needs at least k trials and k at least 1; k is 11 and there are 10 trials"),
        (0, 0, 1, "pass^k needs at least k trials and k at least 1; k is 1 and there are 0 trials"),
        (9, 10, 0, "pass^k needs at least k trials and k at least 1; k is 0 and there are 10 trials"),
        (9, 10, -1, "a count is a whole number of at least 0, and -1 is none"),
        (11, 10, 3, "11 of 10 trials cannot have succeeded"),
        (-1, 10, 3, "a count is a whole number of at least 0, and -1 is none"),
        (1.5, 10, 3, "a count is a whole number of at least 0, and 1.5 is none"),
        (True, 10, 3, "a count is a whole number of at least 0, and True is none"),
    ],
)
def test_what_no_trials_can_be_is_refused_in_a_sentence(successes: int, trials: int, k: int, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole sentence is compared below
        pass_k(successes, trials, k)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "call",
    [
        lambda: wilson(2, 1),
        lambda: clopper_pearson(2, 1),
        lambda: clopper_pearson_lower(-1, 1),
        lambda: newcombe(1, 2, 3, 2),
        lambda: newcombe_paired(1, -1, 1, 1),
        lambda: mcnemar_exact(-1, 3),
        lambda: sign_test(3, -1),
        lambda: smallest_p(-1),
        lambda: clustered([(1, 2), (3, 2)]),
        *(lambda level=level: wilson(1, 2, level) for level in (0, 1, -0.5, 95, float("nan"))),
        *(lambda level=level: clustered([], level) for level in (0, 1)),
    ],
)
def test_impossible_counts_and_levels_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"trials cannot have succeeded|is none|and .* does not"):
        call()
