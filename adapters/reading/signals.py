"""Which signal a record in protobuf is: logs, metrics and profiles have the same outer shape as traces.

Told by the fields and wire types of one record, from opentelemetry-proto 1.x: only a span has fixed 64-bit times in the
fields 7 and 8. Read as a span, the others would be spans without id and time.
"""

from typing import Literal

from labadapt.adapters.reading import wire

Signal = Literal["span", "log record", "metric", "profile"]
_Fields = frozenset[tuple[int, int]]


def _layout(kinds: str) -> _Fields:
    """Field numbers by wire type, written as ``2:1,2,3 1:7,8``."""
    return frozenset(
        (int(number), int(part.split(":")[0])) for part in kinds.split() for number in part.split(":")[1].split(",")
    )


_SPAN = _layout("2:1,2,3,4,5,9,11,13,15 0:6,10,12,14 1:7,8 5:16")
_LOG = _layout("1:1,11 0:2,7 2:3,5,6,9,10,12 5:8")
_METRIC = _layout("2:1,2,3,5,7,9,10,11,12")
_PROFILE = _layout("2:1,2,5,7,9,10,11 1:3 0:4,6,8")
_ANY = _layout("2:1,5,6,7 0:2,3 1:4")
_POINT = _layout("1:2,3,4,5,6,7,11,12,13,14 2:1,5,6,7,8,9,11 0:6,8,10")
_POINTS = _layout("2:1 0:2,3")
_GROUP = _layout("2:1,2,3,1000")
_RESOURCE = _layout("2:1,3 0:2")


def signal_of(raw: bytes) -> Signal:
    """The signal of one record. What fits nothing is called a span, to be refused as a damaged one."""
    try:
        fields = [(number, kind, raw[first:last]) for number, kind, first, last in wire.fields(raw)]
    except wire.Cut:
        return "span"
    seen = frozenset((number, kind) for number, kind, _ in fields)
    if seen & {(7, 1), (8, 1)} and seen <= _SPAN:
        return "span"
    if seen <= _LOG and (seen - _SPAN or _has_body(seen, fields)):
        return "log record"
    if seen <= _METRIC and any(number in {5, 7, 9, 10, 11} and _has_points(content) for number, _, content in fields):
        return "metric"
    if seen <= _PROFILE and (3, 1) in seen:
        return "profile"
    return "span"


def _has_body(seen: _Fields, fields: list[tuple[int, int, bytes]]) -> bool:
    """Whether a record without the ids of a span holds a value where a span holds its name."""
    bodies = [content for number, kind, content in fields if (number, kind) == (5, 2)]
    return (
        bool(bodies) and not seen & {(1, 2), (2, 2)} and all(wire.chains(body, 0, len(body), _ANY) for body in bodies)
    )


def _has_points(content: bytes) -> bool:
    """Whether a field holds the data points of a metric; an empty gauge looks like nothing at all."""
    try:
        points = [content[first:last] for number, _, first, last in wire.fields(content) if number == 1]
        return (
            bool(points)
            and wire.chains(content, 0, len(content), _POINTS)
            and all(wire.chains(point, 0, len(point), _POINT) for point in points)
            and any(kind == 1 for _, kind, _, _ in wire.fields(points[0]))
        )
    except wire.Cut:
        return False


def is_group(chunk: bytes) -> bool:
    """Whether bytes are a `ResourceSpans`, or its sister of another signal, as far as its own fields tell."""
    return wire.chains(chunk, 0, len(chunk), _GROUP)


def is_wrapped(chunk: bytes) -> bool:
    """Whether what should be a `ResourceSpans` is a whole `Trace`: so answers version 2 of Tempo's API.

    Then its field 1 is no `Resource` but a `ResourceSpans`, whose field 2 is a message and no number.
    """
    if not is_group(chunk):
        return False
    inner = [(number, first, last) for number, _, first, last in wire.fields(chunk)]
    if not inner or any(number != 1 for number, _, _ in inner):
        return False
    return any(
        wire.chains(chunk, first, last, _GROUP) and not wire.chains(chunk, first, last, _RESOURCE)
        for _, first, last in inner
    )
