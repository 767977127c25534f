"""OTLP protobuf to spans, written for speed.

The file is walked one `ResourceSpans` at a time, so that memory is released as it goes. Each is parsed at once by a
private descriptor of the same wire format, in which an attribute stays bytes: only what is wanted is decoded. Where
that parse fails, or a record has no id or time, the chunk is walked by hand, and the span is named. Source of the
layout: opentelemetry-proto 1.x, trace.proto, common.proto, resource.proto.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from labadapt.adapters.reading import wire
from labadapt.adapters.reading.faults import Fault, bad_id, bad_time, refusal
from labadapt.adapters.reading.ids import from_bytes, is_zero
from labadapt.adapters.reading.pairs import Pairs
from labadapt.adapters.reading.signals import is_group, is_wrapped, signal_of
from labadapt.adapters.reading.times import DAY_NS, EARLIEST_NS
from labadapt.adapters.span import Event, Origin, Reading, Span
from labadapt.schema.problems import Refusal, Where

_Field = descriptor_pb2.FieldDescriptorProto
_ONE, _MANY = _Field.LABEL_OPTIONAL, _Field.LABEL_REPEATED
_BYTES, _TEXT, _FIXED = _Field.TYPE_BYTES, _Field.TYPE_STRING, _Field.TYPE_FIXED64
_UINT, _ENUM, _MESSAGE = _Field.TYPE_UINT32, _Field.TYPE_INT32, _Field.TYPE_MESSAGE

# message → (field, number, type, label, message type)
_LAYOUT: dict[str, tuple[tuple[str, int, Any, Any, str], ...]] = {
    "ResourceSpans": (
        ("resource", 1, _MESSAGE, _ONE, "Resource"),
        ("scope_spans", 2, _MESSAGE, _MANY, "ScopeSpans"),
        ("library_spans", 1000, _BYTES, _MANY, ""),
    ),
    "Resource": (("attributes", 1, _BYTES, _MANY, ""),),
    "ScopeSpans": (("scope", 1, _MESSAGE, _ONE, "Scope"), ("spans", 2, _MESSAGE, _MANY, "Span")),
    "Scope": (("name", 1, _TEXT, _ONE, ""), ("version", 2, _TEXT, _ONE, ""), ("attributes", 3, _BYTES, _MANY, "")),
    "Event": (("time", 1, _FIXED, _ONE, ""), ("name", 2, _TEXT, _ONE, ""), ("attributes", 3, _BYTES, _MANY, "")),
    "Link": (("attributes", 4, _BYTES, _MANY, ""),),
    "Status": (("message", 2, _TEXT, _ONE, ""), ("code", 3, _ENUM, _ONE, "")),
    "Span": (
        ("trace_id", 1, _BYTES, _ONE, ""),
        ("span_id", 2, _BYTES, _ONE, ""),
        ("parent_id", 4, _BYTES, _ONE, ""),
        ("name", 5, _TEXT, _ONE, ""),
        ("kind", 6, _ENUM, _ONE, ""),
        ("start", 7, _FIXED, _ONE, ""),
        ("end", 8, _FIXED, _ONE, ""),
        ("attributes", 9, _BYTES, _MANY, ""),
        ("dropped", 10, _UINT, _ONE, ""),
        ("events", 11, _MESSAGE, _MANY, "Event"),
        ("links", 13, _MESSAGE, _MANY, "Link"),
        ("status", 15, _MESSAGE, _ONE, "Status"),
    ),
}


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="labadapt/otlp.proto", package="labadapt.otlp", syntax="proto3")
    for name, fields in _LAYOUT.items():
        message = file.message_type.add(name=name)
        for field, number, kind, label, other in fields:
            added = message.field.add(name=field, number=number, type=kind, label=label)
            if other:
                added.type_name = f".labadapt.otlp.{other}"
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"labadapt.otlp.{name}")) for name in _LAYOUT
    }


_CLASS = _classes()
_Parse = Callable[[bytes], Any]
_span_of: _Parse = _CLASS["Span"].FromString
_scope_of: _Parse = _CLASS["Scope"].FromString
_resource_of: _Parse = _CLASS["Resource"].FromString
_group_of: _Parse = _CLASS["ResourceSpans"].FromString
_NO_TRACE, _NO_SPAN = bytes(16), bytes(8)


class _Scoped(NamedTuple):
    """The spans of one scope, parsed one by one; in the place of another signal's record stands an empty span."""

    scope: Any
    spans: list[Any]


def decode(stream: io.BufferedReader, name: str, offset: int, reading: Reading) -> Iterator[Span]:
    """Every span of a serialised `TracesData`. `offset`: where the stream begins in its file. Raises `Refusal`."""
    pairs = Pairs(reading.wanted)
    for start, chunk in _chunks(stream, name, offset, reading.limits.max_span * 8):
        yield from _Group(chunk, Where(file=name, offset=start), pairs, reading).read()


def _chunks(stream: io.BufferedReader, name: str, offset: int, largest: int) -> Iterator[tuple[int, bytes]]:
    """The `ResourceSpans` of the top level, each with the place of its first byte."""
    at = offset
    while True:
        tag, size = _read_varint(stream, name, at)
        if tag is None:
            return
        where = Where(file=name, offset=at)
        if tag != 0x0A:
            raise _no_traces(tag, where)
        length, more = _read_varint(stream, name, at + size)
        if length is None:
            raise _cut(where, "a tag without a length")
        if length > largest:
            raise refusal("TOO_LARGE", f"one message exceeds {largest} bytes", where, found=f"{length} bytes")
        chunk = stream.read(length)
        if len(chunk) < length:
            raise _cut(where, f"{len(chunk)} bytes of {length}")
        yield at + size + more, chunk
        at += size + more + length


def _read_varint(stream: io.BufferedReader, name: str, at: int) -> tuple[int | None, int]:
    value = 0
    for size in range(1, 11):
        byte = stream.read(1)
        if not byte:
            if size == 1:
                return None, 0
            break
        value |= (byte[0] & 0x7F) << (7 * (size - 1))
        if byte[0] < 0x80:
            return value, size
    raise _cut(Where(file=name, offset=at), "a number that does not end")


def _cut(where: Where, found: str) -> Refusal:
    return refusal("BAD_ENCODING", f"the file is cut: its first {where.offset} bytes are whole", where, found=found)


def _no_traces(tag: int, where: Where) -> Refusal:
    if tag == 0x12:
        return refusal("NOT_TRACES", "this looks like OpenTelemetry profiles", where, found="field 2 beside the groups")
    return refusal(
        "BAD_ENCODING", "this is no protobuf of traces", where, found=f"field {tag >> 3}, wire type {tag & 7}"
    )


class _Group:
    """One `ResourceSpans` while it is read: its bytes, and its place in the file."""

    def __init__(self, chunk: bytes, where: Where, pairs: Pairs, reading: Reading) -> None:
        self.chunk, self.where, self.pairs, self.reading = chunk, where, pairs, reading
        self._places: list[list[tuple[int, int]]] | None = None

    def read(self) -> Iterator[Span]:
        """Every span. Raises `Refusal`."""
        try:
            group = _group_of(self.chunk)
        except DecodeError:
            raws, scopes = self._finer()
        else:
            if group.library_spans or not group.scope_spans:
                self._look_closer(group)
            raws, scopes = group.resource.attributes, group.scope_spans
        try:
            resource = self.pairs.read(raws)
            origins = [self._origin(scoped.scope, resource) for scoped in scopes]
        except Fault as fault:
            raise fault.at(self.where) from None
        for number, (scoped, origin) in enumerate(zip(scopes, origins, strict=True)):
            yield from self._spans(number, scoped.spans, origin)

    def _origin(self, scope: Any, resource: dict[str, Any]) -> Origin:
        return Origin(resource, scope.name, scope.version, self.pairs.read(scope.attributes))

    def _spans(self, scope: int, spans: Any, origin: Origin) -> Iterator[Span]:
        tally, where, read = self.reading.tally, self.where, self.pairs.read
        latest = self.reading.now_ns + DAY_NS
        for number, span in enumerate(spans):
            trace, identifier, parent = span.trace_id, span.span_id, span.parent_id
            start, end = span.start, span.end
            try:
                if (
                    len(trace) == 16
                    and len(identifier) == 8
                    and (not parent or len(parent) == 8)
                    and EARLIEST_NS <= start <= latest
                    and (not end or EARLIEST_NS <= end <= latest)
                    and trace != _NO_TRACE
                    and identifier != _NO_SPAN != parent
                ):
                    ids = trace.hex(), identifier.hex(), parent.hex()
                elif not self._is_span(scope, number):
                    continue
                else:
                    ids = _ids(span)
                    self._check_times(span)
                attributes = read(span.attributes)
                events, links, status = span.events, span.links, span.status
                kept = self._events(events) if events else ()
                if links:
                    self._pass_over(links)
            except Fault as fault:
                raise fault.at(self._where(scope, number, span)) from None
            tally.read += 1
            yield Span(
                *ids, span.name, start, end, origin, attributes, kept,
                status.code, status.message, span.kind, span.dropped, where
            )  # fmt: skip

    def _events(self, events: Any) -> tuple[Event, ...]:
        wanted = self.reading.wanted
        kept = []
        for event in events:
            if wanted.everything or event.name in wanted.events:
                kept.append(Event(event.name, event.time, self.pairs.read(event.attributes)))
            else:
                self._pass_over((event,))
        return tuple(kept)

    def _pass_over(self, unread: Iterable[Any]) -> None:
        """Look at events and links that nobody reads only for their depth. Raises `Fault`."""
        for one in unread:
            self.pairs.pass_over(one.attributes)

    def _check_times(self, span: Any) -> None:
        latest = self.reading.now_ns + DAY_NS
        for field, value in (("its start", span.start), ("its end", span.end)):
            if not EARLIEST_NS <= value <= latest and (value or field == "its start"):
                raise bad_time(span.name, field, value, self.reading.now_ns)

    # -- where something is unusual --------------------------------------------------------------------------------

    def _is_span(self, scope: int, number: int) -> bool:
        """Whether a record is a span at all; one of another signal is counted as left aside."""
        signal = signal_of(self._raw(scope, number))
        if signal != "span":
            self.reading.tally.leave_records(signal)
        return signal == "span"

    def _raw(self, scope: int, number: int) -> bytes:
        start, end = self._walked()[scope][number]
        return self.chunk[start:end]

    def _walked(self) -> list[list[tuple[int, int]]]:
        """The places of all records by scope, walked by hand once."""
        if self._places is None:
            self._places = [self._parts(2, *place) for place in self._parts(2)]
        return self._places

    def _parts(self, wanted: int, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        return [(a, b) for number, kind, a, b in wire.fields(self.chunk, start, end) if (number, kind) == (wanted, 2)]

    def _where(self, scope: int, number: int, span: Any) -> Where:
        """The place of one span, with its ids where they can be read."""
        start, _ = self._walked()[scope][number]
        span_id = from_bytes(span.span_id, 8)
        return Where(
            file=self.where.file,
            offset=(self.where.offset or 0) + start,
            trace_id=from_bytes(span.trace_id, 16),
            span_ids=(span_id,) if span_id else (),
        )

    def _look_closer(self, group: Any) -> None:
        """Refuse a group that has no scopes because it is something else."""
        if group.library_spans:
            message = "these are traces of OTLP from before 2022 (instrumentation_library_spans)"
            hint = "Upgrade the exporter, or send the traces through a current OpenTelemetry Collector."
            raise refusal("UNSUPPORTED_FORMAT", message, self.where, hint=hint)
        if is_wrapped(self.chunk):
            hint = "Ask Tempo's /api/traces/TRACE-ID with the header 'Accept: application/protobuf', which gives OTLP."
            message = "this is an answer of version 2 of Grafana Tempo's API"
            raise refusal("UNSUPPORTED_FORMAT", message, self.where, found="a Trace within a message", hint=hint)
        if not is_group(self.chunk):
            raise refusal("BAD_ENCODING", "this is no protobuf of traces", self.where, found="fields that no group has")

    def _finer(self) -> tuple[Any, list[_Scoped]]:
        """The same as the parse at once, span by span: the one that is damaged is named."""
        try:
            return self._resource(), [self._scoped(scope, place) for scope, place in enumerate(self._parts(2))]
        except wire.Cut as cut:
            if is_wrapped(self.chunk):
                self._look_closer(_CLASS["ResourceSpans"]())
            raise refusal("BAD_ENCODING", "a ResourceSpans message is damaged", self.where, found=str(cut)) from None

    def _resource(self) -> Any:
        try:
            return _resource_of(b"".join(self.chunk[start:end] for start, end in self._parts(1))).attributes
        except DecodeError:
            raise wire.Cut("its resource does not parse") from None

    def _scoped(self, scope: int, place: tuple[int, int]) -> _Scoped:
        raws = [self.chunk[a:b] for number, kind, a, b in wire.fields(self.chunk, *place) if (number, kind) == (1, 2)]
        try:
            made = _scope_of(b"".join(raws))
        except DecodeError:
            raise wire.Cut("its scope does not parse, or its name is not UTF-8") from None
        return _Scoped(made, [self._one(scope, number) for number in range(len(self._walked()[scope]))])

    def _one(self, scope: int, number: int) -> Any:
        raw = self._raw(scope, number)
        try:
            return _span_of(raw)
        except DecodeError:
            if signal_of(raw) != "span":
                return _CLASS["Span"]()  # looked at again, and counted, where it is read
        fault = Fault(
            "BAD_ENCODING", "a span is damaged, or its text is not UTF-8", found=f"{len(raw)} bytes that do not parse"
        )
        raise fault.at(self._where(scope, number, _identity(raw)))


class _Identity(NamedTuple):
    trace_id: bytes
    span_id: bytes


def _identity(raw: bytes) -> _Identity:
    """The ids of a span that does not parse, as far as they stand before the damage."""
    found = {1: b"", 2: b""}
    try:
        for number, kind, first, last in wire.fields(raw):
            if kind == 2 and number in found:
                found[number] = raw[first:last]
    except wire.Cut:
        pass
    return _Identity(found[1], found[2])


def _ids(span: Any) -> tuple[str, str, str]:
    """The ids of a span that are not written as usual. Raises `Fault`."""
    trace_id, span_id = from_bytes(span.trace_id, 16), from_bytes(span.span_id, 8)
    if trace_id is None or is_zero(trace_id):
        raise bad_id("trace", span.trace_id.hex())
    if span_id is None or is_zero(span_id):
        raise bad_id("span", span.span_id.hex())
    parent_id = from_bytes(span.parent_id, 8) if span.parent_id else ""
    if parent_id is None:
        raise bad_id("parent span", span.parent_id.hex())
    return trace_id, span_id, "" if is_zero(parent_id) else parent_id
