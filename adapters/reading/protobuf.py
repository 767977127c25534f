"""OTLP protobuf to spans, written for speed.

The file is walked one `ResourceSpans` at a time, so that memory is released as it goes. A private descriptor of the
same wire format keeps each span as bytes and each attribute value as bytes: only the values that are wanted are
decoded, and one damaged span is named instead of the whole file. Source of the layout: opentelemetry-proto 1.x,
trace.proto, common.proto, resource.proto.
"""

import io
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from labadapt.adapters.reading.faults import bad_id, bad_time, refusal
from labadapt.adapters.reading.ids import from_bytes, is_zero
from labadapt.adapters.reading.times import DAY_NS, EARLIEST_NS
from labadapt.adapters.reading.values import BadValue, TooDeep, from_protobuf
from labadapt.adapters.span import Event, Origin, Reading, Span, Wanted
from labadapt.schema.problems import Refusal, Where

_Field = descriptor_pb2.FieldDescriptorProto
_ONE, _MANY = _Field.LABEL_OPTIONAL, _Field.LABEL_REPEATED
_BYTES, _TEXT, _FIXED = _Field.TYPE_BYTES, _Field.TYPE_STRING, _Field.TYPE_FIXED64
_UINT, _ENUM = _Field.TYPE_UINT32, _Field.TYPE_INT32

# message → (field, number, type, label, message type)
_LAYOUT: dict[str, tuple[tuple[str, int, Any, Any, str], ...]] = {
    "ResourceSpans": (
        ("resource", 1, _Field.TYPE_MESSAGE, _ONE, "Resource"),
        ("scope_spans", 2, _Field.TYPE_MESSAGE, _MANY, "ScopeSpans"),
    ),
    "Resource": (("attributes", 1, _Field.TYPE_MESSAGE, _MANY, "Pair"),),
    "ScopeSpans": (("scope", 1, _Field.TYPE_MESSAGE, _ONE, "Scope"), ("spans", 2, _BYTES, _MANY, "")),
    "Scope": (
        ("name", 1, _TEXT, _ONE, ""),
        ("version", 2, _TEXT, _ONE, ""),
        ("attributes", 3, _Field.TYPE_MESSAGE, _MANY, "Pair"),
    ),
    "Pair": (("key", 1, _TEXT, _ONE, ""), ("value", 2, _BYTES, _ONE, "")),
    "Event": (
        ("time", 1, _FIXED, _ONE, ""),
        ("name", 2, _TEXT, _ONE, ""),
        ("attributes", 3, _Field.TYPE_MESSAGE, _MANY, "Pair"),
    ),
    "Status": (("message", 2, _TEXT, _ONE, ""), ("code", 3, _ENUM, _ONE, "")),
    "Span": (
        ("trace_id", 1, _BYTES, _ONE, ""),
        ("span_id", 2, _BYTES, _ONE, ""),
        ("parent_id", 4, _BYTES, _ONE, ""),
        ("name", 5, _TEXT, _ONE, ""),
        ("kind", 6, _ENUM, _ONE, ""),
        ("start", 7, _FIXED, _ONE, ""),
        ("end", 8, _FIXED, _ONE, ""),
        ("attributes", 9, _Field.TYPE_MESSAGE, _MANY, "Pair"),
        ("dropped", 10, _UINT, _ONE, ""),
        ("events", 11, _BYTES, _MANY, ""),
        ("status", 15, _Field.TYPE_MESSAGE, _ONE, "Status"),
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
_span_of: Callable[[bytes], Any] = _CLASS["Span"].FromString
_event_of: Callable[[bytes], Any] = _CLASS["Event"].FromString
_resource_spans_of: Callable[[bytes], Any] = _CLASS["ResourceSpans"].FromString


def decode(stream: io.BufferedReader, name: str, offset: int, reading: Reading) -> Iterator[Span]:
    """Every span of a serialised `TracesData`. `offset`: where the stream begins in its file. Raises `Refusal`."""
    for start, chunk in _messages(stream, name, offset, reading.limits.max_span * 8):
        where = Where(file=name, offset=start)
        try:
            group = _resource_spans_of(chunk)
        except DecodeError:
            raise refusal(
                "BAD_ENCODING", "a ResourceSpans message is damaged", where, found="bytes that do not parse"
            ) from None
        resource = _attributes(group.resource.attributes, reading.wanted, where) if group.HasField("resource") else {}
        for scoped in group.scope_spans:
            origin = _origin(resource, scoped.scope, reading.wanted, where)
            yield from _spans(scoped.spans, origin, where, reading)


def _messages(stream: io.BufferedReader, name: str, offset: int, largest: int) -> Iterator[tuple[int, bytes]]:
    """The `ResourceSpans` of the top level, each with its place; unknown fields are stepped over."""
    at = offset
    while True:
        tag, size = _read_varint(stream, name, at)
        if tag is None:
            return
        place = at
        at += size
        if tag & 7 != 2:
            raise refusal(
                "BAD_ENCODING",
                "this is no protobuf of traces",
                Where(file=name, offset=place),
                found=f"a field of tag {tag}",
            )
        length, size = _read_varint(stream, name, at)
        at += size
        if length is None or length > largest:
            raise refusal(
                "TOO_LARGE" if length else "BAD_ENCODING",
                "a message of the file is cut, or too large",
                Where(file=name, offset=place),
                found=f"{length} bytes",
            )
        chunk = stream.read(length)
        if len(chunk) < length:
            message = f"the file is cut: its first {place} bytes are whole"
            raise refusal(
                "BAD_ENCODING", message, Where(file=name, offset=place), found=f"{len(chunk)} bytes of {length}"
            )
        if tag >> 3 == 1:
            yield at, chunk
        elif tag >> 3 == 2:
            raise refusal("NOT_TRACES", "this looks like OpenTelemetry profiles", Where(file=name, offset=place))
        at += length


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
    raise refusal("BAD_ENCODING", "the file is cut in the middle of a number", Where(file=name, offset=at))


def _origin(resource: dict[str, Any], scope: Any, wanted: Wanted, where: Where) -> Origin:
    return Origin(resource, scope.name, scope.version, _attributes(scope.attributes, wanted, where))


def _attributes(pairs: Any, wanted: Wanted, where: Where) -> dict[str, Any]:
    keys, prefixes, everything = wanted.keys, wanted.prefixes, wanted.everything
    kept: dict[str, Any] = {}
    for pair in pairs:
        key = pair.key
        if key in keys or everything or key.startswith(prefixes):
            raw = pair.value
            size = len(raw)
            # Nearly every value is a text of less than 16 KB, whose length takes one or two bytes: read here, in place.
            if size > 1 and raw[0] == 0x0A and raw[1] == size - 2 < 0x80:
                text = raw[2:]
            elif size > 2 and raw[0] == 0x0A and raw[1] == (size - 3 & 0x7F | 0x80) and raw[2] == size - 3 >> 7 < 0x80:
                text = raw[3:]
            else:
                text = None
            try:
                value = _value(raw, key, where) if text is None else text.decode()
            except UnicodeDecodeError as error:
                raise bad_value(key, BadValue(f"text is not UTF-8 at byte {error.start}"), where) from None
            if key in kept and kept[key] != value:
                raise _twice(key, where)
            kept[key] = value
    return kept


def _value(raw: bytes, key: str, where: Where) -> Any:
    try:
        return from_protobuf(raw)
    except BadValue as error:
        raise bad_value(key, error, where) from None


def bad_value(key: str, error: BadValue, where: Where) -> Refusal:
    """The refusal of one attribute value."""
    code = "TOO_DEEP" if isinstance(error, TooDeep) else "BAD_ENCODING"
    return refusal(code, f'the value of attribute "{key}" cannot be read', where, found=str(error))


def _twice(key: str, where: Where) -> Refusal:
    return refusal("BAD_FIELD", f'attribute "{key}" stands twice on one span, with different values', where)


def _spans(raws: Any, origin: Origin, where: Where, reading: Reading) -> Iterator[Span]:
    wanted, tally = reading.wanted, reading.tally
    latest = reading.now_ns + DAY_NS
    for raw in raws:
        try:
            span = _span_of(raw)
        except DecodeError:
            raise refusal(
                "BAD_ENCODING",
                "a span is damaged, or its text is not UTF-8",
                _place(raw, where),
                found=f"{len(raw)} bytes that do not parse",
            ) from None
        start, end, trace, identifier = span.start, span.end, span.trace_id, span.span_id
        if (
            len(trace) != 16
            or len(identifier) != 8
            or not EARLIEST_NS <= start <= latest
            or (end and not EARLIEST_NS <= end <= latest)
        ):
            if _other_signal(raw, span, tally.leave_records):
                continue
            _refuse_header(span, raw, where, reading)
        parent = span.parent_id
        tally.read += 1
        trace_id, span_id = _identity(trace, identifier, raw, where)
        yield Span(
            trace_id,
            span_id,
            _parent(parent, raw, where) if parent else "",
            span.name,
            start,
            end,
            origin,
            _attributes(span.attributes, wanted, where),
            _events(span.events, wanted, where) if span.events else (),
            *_status(span),
            span.kind,
            span.dropped,
            where,
        )


def _status(span: Any) -> tuple[int, str]:
    if not span.HasField("status"):
        return 0, ""
    status = span.status
    return status.code, status.message


def _identity(trace: bytes, identifier: bytes, raw: bytes, where: Where) -> tuple[str, str]:
    trace_id = trace.hex() if len(trace) == 16 else from_bytes(trace, 16)
    if trace_id is None or is_zero(trace_id):
        raise bad_id("trace", trace.hex(), _place(raw, where))
    span_id = identifier.hex() if len(identifier) == 8 else from_bytes(identifier, 8)
    if span_id is None or is_zero(span_id):
        raise bad_id("span", identifier.hex(), _place(raw, where))
    return trace_id, span_id


def _parent(parent: bytes, raw: bytes, where: Where) -> str:
    parent_id = from_bytes(parent, 8)
    if parent_id is None:
        raise bad_id("parent span", parent.hex(), _place(raw, where))
    return "" if is_zero(parent_id) else parent_id


def _refuse_header(span: Any, raw: bytes, where: Where, reading: Reading) -> None:
    """Refuse impossible times; ids in other writings pass on."""
    latest = reading.now_ns + DAY_NS
    for field, value in (("its start", span.start), ("its end", span.end)):
        if not EARLIEST_NS <= value <= latest and (value or field == "its start"):
            raise bad_time(span.name, field, value, reading.now_ns, _place(raw, where))


def _place(raw: bytes, where: Where) -> Where:
    """The place of a span, with its ids where they can be read."""
    try:
        span = _span_of(raw)
    except DecodeError:
        trace, identifier = (
            (raw[2:18], raw[20:28]) if raw[:2] == b"\x0a\x10" and raw[18:20] == b"\x12\x08" else (b"", b"")
        )
    else:
        trace, identifier = span.trace_id, span.span_id
    span_id = from_bytes(identifier, 8)
    return Where(
        file=where.file, offset=where.offset, trace_id=from_bytes(trace, 16), span_ids=(span_id,) if span_id else ()
    )


def _other_signal(raw: bytes, span: Any, leave: Callable[[str], None]) -> bool:
    """Whether the record is a log record or a metric: they have the same outer shape, and parse as id-less spans."""
    if len(span.trace_id) in {12, 16, 24, 32} and (span.start or span.end):
        return False
    if span.start or span.end or len(span.span_id) == 8:
        return False
    if raw[:1] in {b"\x09", b"\x59"}:  # fixed64 time_unix_nano, observed_time_unix_nano
        leave("log record")
        return True
    if raw[:1] == b"\x0a" and len(span.trace_id) != 16:  # its name
        leave("metric")
        return True
    return False


def _events(raws: Any, wanted: Wanted, where: Where) -> tuple[Event, ...]:
    kept = []
    for raw in raws:
        try:
            event = _event_of(raw)
        except DecodeError:
            raise refusal("BAD_ENCODING", "a span event is damaged, or its text is not UTF-8", where) from None
        if event.name in wanted.events or wanted.everything:
            kept.append(Event(event.name, event.time, _attributes(event.attributes, wanted, where)))
    return tuple(kept)
