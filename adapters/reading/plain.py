"""Spans out of formats that are plain JSON and no OTLP: the rules that OTLP holds to, once for all of them.

A source says in a `Layout` where the spans stand in a document and how one is read. Ids, times, attributes and events
are held here to the same limits as those of OTLP, and every fault gets its place: file, line, JSON pointer, ids.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec
from labadapt.adapters.reading import shapes
from labadapt.adapters.reading.documents import Misshapen, documents
from labadapt.adapters.reading.faults import Fault, bad_id, bad_time, refusal, stands_twice
from labadapt.adapters.reading.ids import from_text, is_zero
from labadapt.adapters.reading.keys import check_keys
from labadapt.adapters.reading.nodes import Node
from labadapt.adapters.reading.pairs import is_wanted
from labadapt.adapters.reading.streams import StreamDecoder
from labadapt.adapters.reading.times import DAY_NS, EARLIEST_NS, from_iso, integer, likely_unit, plausible
from labadapt.adapters.reading.values import MAX_DEPTH
from labadapt.adapters.span import Event, Origin, Reading, Span, Wanted
from labadapt.schema.problems import Refusal, Where
from msgspec.structs import replace

Context = TypeVar("Context")
CODES = {"UNSET": 0, "OK": 1, "ERROR": 2}
KINDS = {"UNSPECIFIED": 0, "INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}
_HEX = frozenset("0123456789abcdefABCDEF")
_UNITS = {1: "nanoseconds", 1_000: "microseconds"}  # by their length in nanoseconds


class Facts(msgspec.Struct, kw_only=True, gc=False):
    """What a format says of one span: as in `Span`, with ids and parent read, and attributes not yet filtered.

    `attributes` are (key, value, JSON pointer).
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start_ns: int
    end_ns: int
    origin: Origin
    attributes: Iterable[tuple[str, Any, str]]
    events: tuple[Event, ...] = ()
    status_code: int = 0
    status_message: str = ""
    kind: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Layout(Generic[Context]):
    """Where the spans of a format stand, and how one is read.

    `spans` gives each span of a document with what it shares with others; `read` its facts; `ids` where its trace and
    span id stand, for the place of a fault. Both may raise `Fault`, with pointers that begin at the document.
    """

    source: str
    expected: str
    spans: Callable[[Node, "Keeper"], Iterable[tuple[Node, Context]]]
    read: Callable[[Node, Context, "Keeper"], Facts]
    ids: Callable[[Node], tuple[Node, Node]]

    def decoder(self) -> StreamDecoder:
        """The decoder of streams in this layout."""
        return partial(_decode, self)


def _decode(layout: Layout[Any], stream: io.BufferedReader, name: str, offset: int, reading: Reading) -> Iterator[Span]:
    keeper = Keeper(reading)
    try:
        for found in documents(stream, name, offset, msgspec.json.decode, reading.limits):
            check_keys(found.text, found.where)
            _check_shape(layout, found.value, found.text, found.where)
            yield from _spans(layout, Node(found.value), found.where, keeper)
    except Misshapen as wrong:
        raise refusal("BAD_FIELD", f"the document cannot be read: {wrong}", wrong.where) from None


def _check_shape(layout: Layout[Any], document: Any, text: bytes, where: Where) -> None:
    shape = shapes.shape_of(document)
    if shape is not None and shape.source == layout.source:
        return
    if shape is not None:
        raise shapes.unsupported(shape, where)
    if not _is_empty(document):
        raise shapes.unknown(text, where, layout.expected)


def _is_empty(document: Any) -> bool:
    """Whether an answer of a store holds nothing: an empty list, alone or as `data`."""
    if isinstance(document, dict) and "data" in document:
        document = document["data"]
    return not document and isinstance(document, list | dict | None)


def _spans(layout: Layout[Any], document: Node, where: Where, keeper: "Keeper") -> Iterator[Span]:
    try:
        for node, context in layout.spans(document, keeper):
            try:
                span = keeper.span(layout.read(node, context, keeper), replace(where, pointer=node.pointer))
            except Fault as fault:
                raise _placed(fault, layout, node, where) from None
            keeper.reading.tally.read += 1
            yield span
    except Fault as fault:
        raise fault.at(replace(where, pointer="")) from None


def _placed(fault: Fault, layout: Layout[Any], node: Node, where: Where) -> Refusal:
    """The fault at the place of a span, with its ids as far as they can be read."""
    trace, span = (readable(part.value, size) for part, size in zip(layout.ids(node), (16, 8), strict=True))
    where = replace(
        where, trace_id=trace, span_ids=(span,) if span else (), pointer="" if fault.pointer else node.pointer
    )
    return fault.at(where)


def readable(text: Any, size: int) -> str | None:
    """The id of `size` bytes, as hex, that a text is, for the place of a fault; None where it cannot be read."""
    return _padded(text, size) if isinstance(text, str) and text else None


def _padded(text: str, size: int) -> str | None:
    """An id as hex; one that is shorter, as old stores write those of 64 bits, without its leading zeros."""
    if len(text) < size * 2 and len(text) <= 16 and _HEX.issuperset(text):
        return text.lower().zfill(size * 2)
    return from_text(text, size)


class Keeper:
    """Keeps of what a format tells what is wanted, and holds it to the limits."""

    def __init__(self, reading: Reading) -> None:
        """Prepare for what is wanted."""
        self.reading = reading
        self.wanted: Wanted = reading.wanted

    def span(self, facts: Facts, where: Where) -> Span:
        """The span of some facts. Raises `Fault`."""
        return Span(
            facts.trace_id,
            facts.span_id,
            facts.parent_id,
            facts.name,
            facts.start_ns,
            facts.end_ns,
            facts.origin,
            self.attributes(facts.attributes),
            facts.events,
            facts.status_code,
            facts.status_message,
            facts.kind,
            facts.dropped,
            where,
        )

    def times(self, name: str, start: tuple[int, Node], end: tuple[int, Node]) -> tuple[int, int]:
        """Start and end in nanoseconds, each plausible; an end of 0 is unfinished. Raises `Fault`."""
        now_ns = self.reading.now_ns
        for (value, node), field in ((start, "its start"), (end, "its end")):
            if not EARLIEST_NS <= value <= now_ns + DAY_NS and (value or field == "its start"):
                raise _bad_time(name, field, value, now_ns, node)
        return start[0], end[0]

    def attributes(self, pairs: Iterable[tuple[str, Any, str]]) -> dict[str, Any]:
        """The wanted attributes; each pair is key, value and JSON pointer. Raises `Fault`."""
        kept: dict[str, Any] = {}
        for key, value, pointer in pairs:
            _check_value(key, value, pointer)
            if is_wanted(key, self.wanted):
                if key in kept and repr(kept[key]) != repr(value):
                    raise stands_twice(key, pointer)
                kept[key] = value
        return kept

    def event(self, name: str, time_ns: int, pairs: Iterable[tuple[str, Any, str]], node: Node) -> tuple[Event, ...]:
        """The event, or nothing where it is not wanted. Raises `Fault`."""
        if not 0 <= time_ns < 2**64:
            raise Fault("BAD_TIME", "the time of a span event does not fit 64 bits", node.pointer, found=str(time_ns))
        if not (self.wanted.everything or name in self.wanted.events):
            return ()
        return (Event(name, time_ns, self.attributes(pairs)),)


def _bad_time(name: str, field: str, value: int, now_ns: int, node: Node) -> Fault:
    """A time that cannot be, in the unit in which the format writes it."""
    fault = bad_time(name, field, value, now_ns, node.pointer)
    written = integer(node.value) if isinstance(node.value, int | str) else None
    unit = _UNITS.get(value // written) if written and value % written == 0 else None
    if unit is not None and written is not None:
        likely = "nanoseconds" if plausible(written, now_ns) else likely_unit(written, now_ns)
        hint = f"The times of this format are {unit}"
        hint += f"; the value would be plausible as {likely}." if likely else "."
        more: dict[str, str | None] = {"found": str(written)[:80], "expected": f"{unit} since 1970", "hint": hint}
        fault.more = more
    return fault


def _check_value(key: str, value: Any, pointer: str, depth: int = 0) -> None:
    """Hold a value to the limits of OTLP: integers of 64 bits, and not too deep. Raises `Fault`."""
    if isinstance(value, list | dict):
        if depth >= MAX_DEPTH:
            message = f'the value of attribute "{key[:80]}" is nested deeper than {MAX_DEPTH} levels'
            raise Fault("TOO_DEEP", message, pointer)
        for inner in value.values() if isinstance(value, dict) else value:
            _check_value(key, inner, pointer, depth + 1)
    elif type(value) is int and not -(2**63) <= value < 2**63:
        raise Fault("BAD_FIELD", f'the value of attribute "{key[:80]}" does not fit 64 bits', pointer, found=str(value))


def members(node: Node) -> Iterator[tuple[str, Any, str]]:
    """The pairs of an object of attributes. Raises `Fault`."""
    return ((key, member.value, member.pointer) for key, member in node.members())


def identifier(node: Node, kind: str, *, short: bool = False) -> str:
    """The id of a trace or span that stands at a place. `short`: it may lack leading zeros. Raises `Fault`."""
    size = 16 if kind == "trace" else 8
    text = node.text()
    found = (_padded if short else from_text)(text, size) if text else None
    if found is None or is_zero(found):
        raise bad_id(kind, text, node.pointer)
    return found


def parent(node: Node, *, short: bool = False) -> str:
    """The parent's span id; empty for none, absent or all zero. Raises `Fault`."""
    text = node.text()
    if not text:
        return ""
    found = (_padded if short else from_text)(text, 8)
    if found is None:
        raise bad_id("parent span", text, node.pointer)
    return "" if is_zero(found) else found


def iso(node: Node) -> int:
    """The time that is written as text, in nanoseconds; 0 where nothing stands. Raises `Fault`."""
    text = node.text()
    time_ns = from_iso(text) if text else 0
    if time_ns is None:
        raise node.fault("a time as ISO 8601 writes it", "BAD_TIME")
    return time_ns


def signed(value: int) -> int:
    """A difference that was stored as unsigned 64 bits: a negative one wraps to about 2^64."""
    return value - 2**64 if 2**63 <= value < 2**64 else value
