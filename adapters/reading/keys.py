"""Keys that stand twice in one JSON object: the second would hide what stood there first."""

import json
from typing import Any

from labadapt.adapters.reading.faults import refusal
from labadapt.schema.problems import Where


class _Twice(Exception):
    """A key that stands twice in one object."""


def check_keys(text: bytes, where: Where) -> None:
    """Look at every object of a document, slowly. Raises `Refusal` (DUPLICATE_KEY, TOO_DEEP, BAD_ENCODING)."""
    try:
        json.loads(text.decode("utf-8", "replace"), object_pairs_hook=_unique, parse_int=len)
    except _Twice as twice:
        message = f"the key {str(twice)[:80]!r} stands twice in one JSON object"
        raise refusal("DUPLICATE_KEY", message, where, found=str(twice)[:80], expected="each key once") from None
    except RecursionError:
        raise refusal("TOO_DEEP", "the JSON is nested too deep", where) from None
    except ValueError as error:
        raise refusal("BAD_ENCODING", "this is no JSON document", where, found=str(error)[:80]) from None


def _unique(pairs: list[tuple[str, Any]]) -> None:
    keys = set()
    for key, _ in pairs:
        if key in keys:
            raise _Twice(key)
        keys.add(key)
