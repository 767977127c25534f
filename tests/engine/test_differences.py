"""Fisher's test and Holm's correction, held to scipy and to Holm's own rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labadapt.engine.differences import fisher_exact, fisher_smallest, holm
from scipy.stats import fisher_exact as reference


@st.composite
def tables(draw):
    one, other = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    return draw(st.integers(0, one)), one, draw(st.integers(0, other)), other


@given(tables())
def test_fishers_test_is_scipys(table) -> None:
    successes_a, trials_a, successes_b, trials_b = table
    square = [[successes_a, trials_a - successes_a], [successes_b, trials_b - successes_b]]
    assert fisher_exact(*table) == pytest.approx(reference(square).pvalue)
    assert fisher_exact(*table) == fisher_exact(successes_b, trials_b, successes_a, trials_a)
    assert fisher_exact(*table) >= fisher_smallest(trials_a, trials_b)


def test_fishers_test_is_that_of_the_lady_tasting_tea() -> None:
    """Fisher 1935, The Design of Experiments: all eight cups right has 1 chance in 70 on one side."""
    assert fisher_exact(4, 4, 0, 4) == 2 / 70
    assert fisher_exact(3, 4, 1, 4) == 34 / 70


def test_the_smallest_p_is_that_of_one_side_passing_and_the_other_failing() -> None:
    assert fisher_smallest(1, 1) == 1.0
    assert fisher_smallest(3, 3) == 2 / 20
    assert fisher_smallest(4, 4) == 2 / 70
    assert fisher_smallest(2, 6) == 1 / 28


def test_holms_correction() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == {"a": 0.03, "c": 0.06, "b": 0.06}
    assert holm({"a": 0.9, "b": 0.8}) == {"b": 1.0, "a": 1.0}
    assert holm({"a": 0.04}) == {"a": 0.04}
    assert holm({}) == {}
