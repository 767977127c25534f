"""Keys that stand twice in one JSON object: the second would hide what stood there first."""

import json
from typing import Any

from labadapt.adapters.reading.faults import refusal
from labadapt.adapters.reading.ids import from_text
from labadapt.adapters.reading.nodes import escaped
from labadapt.schema.problems import Refusal, Where
from msgspec.structs import replace

_TRACE = ("traceId", "trace_id", "traceID", "TraceId", "TraceID")
_SPAN = ("spanId", "span_id", "spanID", "SpanId", "SpanID", "id")


class _Twice(Exception):
    """A key that stands twice in one object."""


class _Pairs(list[tuple[str, Any]]):
    """The members of an object, with those that stand twice."""


def check_keys(text: bytes, where: Where) -> None:
    """Look at every object of a document, slowly. Raises `Refusal` (DUPLICATE_KEY, TOO_DEEP, BAD_ENCODING)."""
    written = text.decode("utf-8", "replace")
    try:
        json.loads(written, object_pairs_hook=_unique, parse_int=len)
    except _Twice:
        raise _twice(json.loads(written, object_pairs_hook=_Pairs, parse_int=len), where) from None
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


def _twice(document: Any, where: Where) -> Refusal:
    """The refusal of a document in which a key stands twice, at the first of them, with the ids of its span."""
    waiting: list[tuple[Any, str, Where]] = [(document, "", where)]
    while waiting:
        value, pointer, where = waiting.pop()
        seen = set()
        inner = []
        where = _with_ids(value, where) if isinstance(value, _Pairs) else where
        members = value if isinstance(value, _Pairs) else [(str(number), item) for number, item in enumerate(value)]
        for key, member in members:
            place = f"{pointer}/{escaped(key)}"
            if key in seen:
                message = f"the key {key[:80]!r} stands twice in one JSON object"
                where = replace(where, pointer=place)
                return refusal("DUPLICATE_KEY", message, where, found=key[:80], expected="each key once")
            seen.add(key)
            if isinstance(member, list):
                inner.append((member, place, where))
        waiting += reversed(inner)
    raise AssertionError("the first pass found a key that stands twice")


def _with_ids(pairs: _Pairs, where: Where) -> Where:
    """The place with the ids that stand in an object, where they can be read."""
    for key, value in pairs:
        if isinstance(value, str) and key in _TRACE:
            where = replace(where, trace_id=from_text(value, 16))
        elif isinstance(value, str) and key in _SPAN:
            span_id = from_text(value, 8)
            where = replace(where, span_ids=(span_id,) if span_id else ())
    return where
