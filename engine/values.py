"""JSON values as the checks compare and tell them: equality, exact numbers, and a short rendering."""

import json
from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode  # made once: `json.dumps` makes one each time
_WIDTH = 80
_DEPTH = 4
_LISTED = 10


def same(one: Any, other: Any) -> bool:
    """Equality of JSON values: numbers by value (412 and 412.0), booleans are no numbers, structures in depth.

    Integers are compared exactly, whatever their size. Total: any depth, since it does not recurse.
    """
    pairs = [(one, other)]
    while pairs:
        left, right = pairs.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            pairs += [(value, right[key]) for key, value in left.items()]
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pairs += zip(left, right, strict=True)
        elif isinstance(left, bool) is not isinstance(right, bool) or left != right:
            return False
    return True


def is_number(value: Any) -> bool:
    """Whether a value is a finite number. A boolean is none."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and isfinite(value))


def within(value: float, target: float, tolerance: float) -> bool:
    """Whether two finite numbers differ by at most `tolerance`, which is inclusive.

    Each number counts as it is written in decimal, so that 0.3 is within 0.2 of 0.1, which it is not as a binary
    fraction; the difference is exact.
    """
    return value == target or abs(_exact(value) - _exact(target)) <= _exact(tolerance)


def _exact(number: float) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def plain(number: Any) -> Any:
    """A number that is whole as an integer, as the codec writes it; any other value as it is."""
    return int(number) if type(number) is float and number.is_integer() else number


def shown(value: Any) -> str:
    """A value as short JSON, for a sentence. The same for equal values, whatever the order of their keys."""
    text = _encode(_pruned(value, _DEPTH))
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _pruned(value: Any, depth: int) -> Any:
    if depth == 0 and isinstance(value, dict | list):
        return "…"
    if isinstance(value, dict):
        return {key: _pruned(one, depth - 1) for key, one in value.items()}
    return [_pruned(one, depth - 1) for one in value] if isinstance(value, list) else plain(value)


def listed(values: Sequence[Any]) -> str:
    """Values one after another, for a sentence; of many the first, and how many more."""
    more = f" and {len(values) - _LISTED} more" if len(values) > _LISTED else ""
    return ", ".join(map(shown, values[:_LISTED])) + more


def key_pointer(start: str, key: str) -> str:
    """The JSON pointer of a member, its key escaped (RFC 6901)."""
    return f"{start}/{key.replace('~', '~0').replace('/', '~1')}"
