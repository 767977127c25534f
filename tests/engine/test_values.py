"""Equality, exact distance and short rendering of JSON values."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labadapt.engine.values import is_number, key_pointer, listed, same, shown, within

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_a_value_is_the_same_as_itself_whatever_the_order_of_its_keys(value) -> None:
    def turned(value):
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(one) for one in value] if isinstance(value, list) else value

    assert same(value, turned(value))
    assert shown(value) == shown(turned(value))


@given(JSON, JSON)
def test_equality_has_no_direction(one, other) -> None:
    assert same(one, other) == same(other, one)


@given(JSON)
def test_a_value_is_not_the_same_as_one_around_it(value) -> None:
    assert not same(value, [value])
    assert not same(value, {"a": value})


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, True), (1.5, True), (10**400, True), (True, False), (None, False), ("1", False), (math.inf, False)],
)
def test_numbers_are_finite_and_no_booleans(value, expected) -> None:
    assert is_number(value) is expected
    assert is_number(math.nan) is False


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6), st.integers(0, 6))
def test_decimals_are_within_exactly_their_distance(one, other, places) -> None:
    def written(number):
        return float(f"{number}e-{places}")

    assert within(written(one), written(other), written(abs(one - other)))
    if one != other:
        assert not within(written(one), written(other), written(abs(one - other) - 1))


def test_a_rendering_is_short_and_flat() -> None:
    assert shown({"b": 1.0, "a": [True, None]}) == shown({"a": [True, None], "b": 1}) == '{"a": [true, null], "b": 1}'
    assert shown(412.0) == "412"
    assert shown("é\n") == '"é\\n"'
    assert shown("x" * 78) == '"' + "x" * 78 + '"'  # 80 characters with its quotes
    assert shown("x" * 79) == '"' + "x" * 78 + "…"
    deep = 1
    for _ in range(100_000):
        deep = [deep]
    assert shown(deep) == '[[[["…"]]]]'
    assert shown({"a": {"b": {"c": {"d": {"e": 1}, "f": 1}}}}) == '{"a": {"b": {"c": {"d": "…", "f": 1}}}}'
    assert same(deep, deep)


def test_of_many_values_the_first_ten_are_listed() -> None:
    assert listed(["a", "b"]) == '"a", "b"'
    assert listed(list(range(10))) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
    assert listed(list(range(12))) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"


@pytest.mark.parametrize(("key", "pointer"), [("a", "/a"), ("", "/"), ("a/b", "/a~1b"), ("~1", "/~01"), ("é", "/é")])
def test_pointers_are_escaped_as_rfc_6901_says(key, pointer) -> None:
    assert key_pointer("", key) == pointer
