"""OTLP JSON to spans: typed decoding at C speed, and only what is wanted made into attributes.

Source of the layout: OTLP specification, "JSON Protobuf Encoding": hex ids, lowerCamelCase, enums as numbers (names
are met too), 64-bit integers as text or number, default fields absent.

A key that stands twice in one object would hide what stood there first. Spans and attributes that are lost so are
noticed by counting, and refused; of a repeated scalar the last counts, as in protobuf.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec
from labadapt.adapters.reading import shapes
from labadapt.adapters.reading.documents import Found, Misshapen, documents, path_of, pointer
from labadapt.adapters.reading.faults import Fault, bad_id, bad_time, refusal, stands_twice
from labadapt.adapters.reading.ids import from_text, is_zero
from labadapt.adapters.reading.keys import check_keys
from labadapt.adapters.reading.pairs import is_wanted, of_attribute
from labadapt.adapters.reading.times import DAY_NS, EARLIEST_NS, integer
from labadapt.adapters.reading.values import JsonPair, JsonValue, check_depth, from_json, same
from labadapt.adapters.span import Event, Origin, Reading, Span, Wanted
from labadapt.schema.problems import Refusal, Where
from msgspec import UNSET, UnsetType

_MOST_NAMES = 65_536

Read = TypeVar("Read")


class _Event(msgspec.Struct, rename="camel", gc=False):
    name: str | None = None
    time_unix_nano: int | str | None = None
    attributes: list[JsonPair] | None = None


class _Link(msgspec.Struct, gc=False):
    """Not read; its attributes are counted."""

    attributes: list[JsonPair] | None = None


class _Status(msgspec.Struct, gc=False):
    code: int | str | None = None
    message: str | None = None


class _Span(msgspec.Struct, rename="camel", gc=False):
    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    kind: int | str | None = None
    start_time_unix_nano: int | str | None = None
    end_time_unix_nano: int | str | None = None
    attributes: list[JsonPair] | None = None
    dropped_attributes_count: int | str | None = None
    events: list[_Event] | None = None
    links: list[_Link] | None = None
    status: _Status | None = None


class _Attributed(msgspec.Struct, gc=False):
    name: str | None = None
    version: str | None = None
    attributes: list[JsonPair] | None = None


class _ScopeSpans(msgspec.Struct, gc=False):
    scope: _Attributed | None = None
    spans: list[_Span] | None = None


class ResourceSpans(msgspec.Struct, rename="camel", gc=False):
    """`ResourceSpans` in OTLP JSON."""

    resource: _Attributed | None = None
    scope_spans: list[_ScopeSpans] | None = None
    instrumentation_library_spans: msgspec.Raw = msgspec.Raw(b"null")


class Counted(msgspec.Struct, rename="camel"):
    """A scope of logs, metrics or profiles: only counted."""

    log_records: list[msgspec.Raw] | None = None
    metrics: list[msgspec.Raw] | None = None
    profiles: list[msgspec.Raw] | None = None


class ResourceOther(msgspec.Struct, rename="camel"):
    """`ResourceLogs` and its sisters of the other signals: only counted."""

    scope_logs: list[Counted] | None = None
    scope_metrics: list[Counted] | None = None
    scope_profiles: list[Counted] | None = None


class Document(msgspec.Struct, rename="camel"):
    """One OTLP JSON document; other signals stand in the same files and are counted."""

    resource_spans: list[ResourceSpans] | UnsetType | None = UNSET
    resource_logs: list[ResourceOther] | UnsetType | None = UNSET
    resource_metrics: list[ResourceOther] | UnsetType | None = UNSET
    resource_profiles: list[ResourceOther] | UnsetType | None = UNSET


@dataclass(frozen=True, slots=True)
class Dialect(Generic[Read]):
    """How a store wraps OTLP JSON.

    `decode` makes a document of bytes, typed. `groups` gives each `ResourceSpans` of it and its JSON pointer; it
    counts what else stands there, and raises `Refusal` for what it cannot take.
    """

    decode: Callable[[bytes], Read]
    groups: Callable[[Found[Read], Reading], Iterable[tuple[ResourceSpans, str]]]


_skip = msgspec.json.Decoder(msgspec.Raw).decode
_KINDS = {"UNSPECIFIED": 0, "INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}
_CODES = {"UNSET": 0, "OK": 1, "ERROR": 2}
_NO_SPAN = "0" * 16
_NOTHING = Document()
_ESCAPED = re.compile(rb"\xed[\xb2\xb3][\x80-\xbf]")  # what `surrogateescape` makes of a byte that is not UTF-8


def decode(stream: io.BufferedReader, name: str, offset: int, reading: Reading) -> Iterator[Span]:
    """Every span of OTLP JSON documents. Raises `Refusal`."""
    return decode_as(OTLP, stream, name, offset, reading)


def decode_as(
    dialect: Dialect[Read], stream: io.BufferedReader, name: str, offset: int, reading: Reading
) -> Iterator[Span]:
    """Every span of documents that hold OTLP JSON in another wrapping. Raises `Refusal`."""
    reader = _Reader(reading)
    try:
        for found in documents(stream, name, offset, partial(_decoded, dialect.decode), reading.limits):
            document, reader.damage = found.value
            groups = list(dialect.groups(Found(document, found.text, found.where), reading))
            if groups:
                _check_lost([group for group, _ in groups], found)
                for group, place in groups:
                    yield from reader.spans(group, place, found)
            elif found.text.count(b'"resourceSpans"') > 1:
                check_keys(found.text, found.where)
    except Misshapen as wrong:
        raise refused(wrong) from None


def _groups(found: Found[Document], reading: Reading) -> Iterable[tuple[ResourceSpans, str]]:
    _count_others(found.value, found, reading)
    return placed(found.value.resource_spans, "/resourceSpans")


def placed(groups: list[ResourceSpans] | UnsetType | None, place: str) -> Iterator[tuple[ResourceSpans, str]]:
    """Each group of a list with its JSON pointer."""
    for number, group in enumerate(groups or ()):
        yield group, f"{place}/{number}"


OTLP = Dialect(msgspec.json.Decoder(Document).decode, _groups)


# -- documents ---------------------------------------------------------------------------------------------------------


def _decoded(decode: Callable[[bytes], Read], text: bytes) -> tuple[Read, str]:
    """The document, and the mark that stands in it for bytes that are not UTF-8; the mark is empty if all are."""
    try:
        return decode(text), ""
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        if "UTF-8" not in str(error):
            raise
    _skip(text)  # tells where the document ends, if others follow it
    whole = bytes(text)
    mark = next(mark for mark in _marks() if mark.encode() not in whole)
    repaired = whole.decode("utf-8", "surrogateescape").encode("utf-8", "surrogatepass")
    return decode(_ESCAPED.sub(mark.encode(), repaired)), mark


def _marks() -> Iterator[str]:
    """Texts that no export contains, made of characters that Unicode reserves from ever being used."""
    number = 0
    while True:
        yield f"\ufdd0{number}\ufdd1"
        number += 1


def _count_others(document: Document, found: Found[Any], reading: Reading) -> None:
    for group in document.resource_logs or ():
        count = sum(len(scoped.log_records or ()) for scoped in group.scope_logs or ())
        reading.tally.leave_records("log record", count)
    for group in document.resource_metrics or ():
        reading.tally.leave_records("metric", sum(len(scoped.metrics or ()) for scoped in group.scope_metrics or ()))
    for group in document.resource_profiles or ():
        reading.tally.leave_records("profile", sum(len(scoped.profiles or ()) for scoped in group.scope_profiles or ()))
    if document == _NOTHING and found.text.strip(b"{} \t\r\n"):
        raise shapes.named(found.text, found.where) or shapes.unknown(found.text, found.where)


def _check_lost(groups: list[ResourceSpans], found: Found[Any]) -> None:
    """Refuse keys that stand twice in an object where that lost spans or attributes."""
    if any(bytes(group.instrumentation_library_spans) != b"null" for group in groups):
        raise shapes.named(found.text, found.where) or shapes.unknown(found.text, found.where)
    starts = lists = 0
    for group in groups:
        lists += _has_list(group.resource)
        for scoped in group.scope_spans or ():
            lists += _has_list(scoped.scope)
            for span in scoped.spans or ():
                starts += 1  # one without a start is refused in any case
                lists += span.attributes is not None
                if span.events or span.links:
                    lists += sum(inner.attributes is not None for inner in (*(span.events or ()), *(span.links or ())))
    if found.text.count(b'"startTimeUnixNano"') != starts or found.text.count(b'"attributes"') != lists:
        check_keys(found.text, found.where)


def _has_list(attributed: _Attributed | None) -> bool:
    return attributed is not None and attributed.attributes is not None


def refused(wrong: Misshapen) -> Refusal:
    """The refusal of a document whose fields have another type or shape: its format, or the path of the field."""
    named = shapes.named(wrong.text, wrong.where)
    if named is not None:
        return named
    path, steps, message = path_of(wrong.error)
    if not steps:
        return shapes.unknown(wrong.text, wrong.where)
    hint = None
    if str(steps[-1]) in {"attributes", "values"} and "`array" in message:
        hint = 'OTLP attributes are a list: [{"key": …, "value": {"stringValue": …}}].'
    trace_id, span_id = _ids_on(wrong.text, steps)
    where = msgspec.structs.replace(
        wrong.where, pointer=pointer(steps), trace_id=trace_id, span_ids=(span_id,) if span_id else ()
    )
    return refusal("BAD_FIELD", f"{path}: {message[:200]}", where, hint=hint)


def _ids_on(text: bytes, steps: tuple[str | int, ...]) -> tuple[str | None, str | None]:
    """The ids of the span on the way of a path, as far as they can be read."""
    value: Any
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None, None
    for step in steps:
        if isinstance(value, dict) and "spanId" in value:
            break
        if isinstance(value, dict):
            value = value.get(step)
        else:
            value = value[step] if isinstance(value, list) and isinstance(step, int) else None
    if not isinstance(value, dict):
        return None, None
    trace, span = value.get("traceId"), value.get("spanId")
    return (
        from_text(trace, 16) if isinstance(trace, str) else None,
        from_text(span, 8) if isinstance(span, str) else None,
    )


# -- spans -------------------------------------------------------------------------------------------------------------


class _Names(dict[str, bool]):
    """Whether each key is wanted."""

    def __init__(self, wanted: Wanted) -> None:
        super().__init__()
        self._wanted = wanted

    def __missing__(self, key: str) -> bool:
        if len(self) >= _MOST_NAMES:
            self.clear()
        self[key] = known = is_wanted(key, self._wanted)
        return known


class _Reader:
    """Makes neutral spans of decoded ones."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._names = _Names(reading.wanted)
        self.damage = ""

    def spans(self, group: ResourceSpans, place: str, found: Found[Any]) -> Iterator[Span]:
        """The spans of one decoded `ResourceSpans`, at a place in a document that was found. Raises `Refusal`."""
        resource = self._of(group.resource, found, place + "/resource")
        for inner, scoped in enumerate(group.scope_spans or ()):
            scope = scoped.scope or _Attributed()
            within = f"{place}/scopeSpans/{inner}"
            attributes = self._of(scope, found, within + "/scope")
            if self.damage and self.damage in f"{scope.name} {scope.version}":
                where = msgspec.structs.replace(found.where, pointer=within + "/scope")
                raise refusal("BAD_ENCODING", "the name or version of a scope is not UTF-8", where)
            origin = Origin(resource, scope.name or "", scope.version or "", attributes)
            where = msgspec.structs.replace(found.where, pointer=within + "/spans")
            yield from self._of_scope(scoped.spans or [], origin, where)

    def _of(self, attributed: _Attributed | None, found: Found[Any], place: str) -> dict[str, Any]:
        try:
            return self._attributes(attributed.attributes) if attributed and attributed.attributes else {}
        except Fault as fault:
            raise fault.at(msgspec.structs.replace(found.where, pointer=place)) from None

    def _of_scope(self, spans: list[_Span], origin: Origin, where: Where) -> Iterator[Span]:
        """The spans of one scope. All share one place, that of their list; a fault gets its own."""
        tally, now_ns = self._reading.tally, self._reading.now_ns
        latest = now_ns + DAY_NS
        trace, trace_id, parent, parent_id = None, "", None, ""  # of the span before: most often the same
        for number, span in enumerate(spans):
            try:
                if trace != span.trace_id or trace is None:
                    trace_id, trace = _id(span.trace_id, 16, "trace", "/traceId"), span.trace_id
                if parent != span.parent_span_id:
                    parent_id, parent = _parent(span.parent_span_id), span.parent_span_id
                span_id = _id(span.span_id, 8, "span", "/spanId")
                start, end = _integer(span.start_time_unix_nano), _integer(span.end_time_unix_nano)
                if not EARLIEST_NS <= start <= latest or (end and not EARLIEST_NS <= end <= latest):
                    raise _wrong_time(span, start, now_ns, latest)
                status = span.status
                made = Span(
                    trace_id,
                    span_id,
                    parent_id,
                    span.name or "",
                    start,
                    end,
                    origin,
                    self._attributes(span.attributes) if span.attributes else {},
                    self._events(span.events) if span.events else (),
                    _enum(status.code, "STATUS_CODE_", _CODES, "/status/code") if status and status.code else 0,
                    status.message or "" if status else "",
                    _enum(span.kind, "SPAN_KIND_", _KINDS, "/kind") if span.kind else 0,
                    _count(span.dropped_attributes_count) if span.dropped_attributes_count else 0,
                    where,
                )
                if span.links:
                    for index, link in enumerate(span.links):
                        self._check_unread(link.attributes or [], f"/links/{index}")
                if self.damage:
                    self._check_text(span, made)
            except Fault as fault:
                raise fault.at(_where(span, where, f"{where.pointer}/{number}")) from None
            tally.read += 1
            yield made

    def _attributes(self, pairs: list[JsonPair]) -> dict[str, Any]:
        names = self._names
        kept: dict[str, Any] = {}
        for pair in pairs:
            key, written = pair.key, pair.value
            if not names[key]:
                if written is not None and (written.array_value or written.kvlist_value):
                    self._pass_over(pairs, pair)
                continue
            if (
                written is not None
                and written.int_value is UNSET
                and written.bool_value is UNSET
                and written.double_value is UNSET
                and written.array_value is UNSET
                and written.kvlist_value is UNSET
                and written.bytes_value is UNSET
                and written.string_value is not UNSET
            ):
                value: Any = written.string_value
            else:
                value = self._value(pairs, pair)
            if key in kept and not same(kept[key], value):
                raise stands_twice(key, _place(pairs, pair))
            kept[key] = value
        if self.damage:
            self._check_attributes(pairs, kept)
        return kept

    def _value(self, pairs: list[JsonPair], pair: JsonPair) -> Any:
        try:
            return from_json(pair.value)
        except Fault as fault:
            raise of_attribute(pair.key, fault, _place(pairs, pair) + "/value") from None

    def _pass_over(self, pairs: list[JsonPair], pair: JsonPair) -> None:
        """Look at a value that nobody wants only for its depth: both encodings hold it to the same limit."""
        try:
            check_depth(pair.value or JsonValue())
        except Fault as fault:
            raise of_attribute(pair.key, fault, _place(pairs, pair) + "/value") from None

    def _check_attributes(self, pairs: list[JsonPair], kept: dict[str, Any]) -> None:
        for pair in pairs:
            if self.damage in pair.key:
                raise Fault("BAD_ENCODING", "the key of an attribute is not UTF-8", _place(pairs, pair))
            if _holds(kept.get(pair.key), self.damage):
                damaged = Fault("BAD_ENCODING", "its text is not UTF-8")
                raise of_attribute(pair.key, damaged, _place(pairs, pair) + "/value")

    def _check_text(self, span: _Span, made: Span) -> None:
        """Refuse bytes that are not UTF-8 where they are needed: the rest of a document stays readable."""
        if self.damage in made.name or self.damage in made.status_message:
            raise Fault("BAD_ENCODING", "the name or the status of a span is not UTF-8")
        if any(self.damage in (event.name or "") for event in span.events or ()):
            raise Fault("BAD_ENCODING", "the name of a span event is not UTF-8")

    def _events(self, events: list[_Event]) -> tuple[Event, ...]:
        wanted = self._reading.wanted
        kept = []
        for number, event in enumerate(events):
            if wanted.everything or (event.name or "") in wanted.events:
                kept.append(self._event(event, f"/events/{number}"))
            elif event.attributes:
                self._check_unread(event.attributes, f"/events/{number}")
        return tuple(kept)

    def _check_unread(self, pairs: list[JsonPair], place: str) -> None:
        """Look at a link, or an event that nobody reads, only for its depth. Raises `Fault`."""
        try:
            for pair in pairs:
                if pair.value is not None and (pair.value.array_value or pair.value.kvlist_value):
                    self._pass_over(pairs, pair)
        except Fault as fault:
            raise Fault(fault.code, fault.message, place + fault.pointer, **fault.more) from None

    def _event(self, event: _Event, place: str) -> Event:
        time_ns = integer(event.time_unix_nano)
        if time_ns is None or not 0 <= time_ns < 2**64:
            found = str(event.time_unix_nano)[:80]
            raise Fault("BAD_TIME", "the time of a span event is no integer of 64 bits", place, found=found)
        try:
            return Event(event.name or "", time_ns, self._attributes(event.attributes or []))
        except Fault as fault:
            raise Fault(fault.code, fault.message, place + fault.pointer, **fault.more) from None


def _holds(value: Any, mark: str) -> bool:
    """Whether a mark stands in a text, wherever it is."""
    if isinstance(value, dict):
        return any(mark in key or _holds(inner, mark) for key, inner in value.items())
    return any(_holds(inner, mark) for inner in value) if isinstance(value, list) else mark in str(value)


def _place(pairs: list[JsonPair], pair: JsonPair) -> str:
    """The pointer to an attribute within its span, scope or resource."""
    return f"/attributes/{next(number for number, one in enumerate(pairs) if one is pair)}"


def _where(span: _Span, where: Where, place: str) -> Where:
    """The place of one span, with its ids where they can be read."""
    trace_id = from_text(span.trace_id or "", 16)
    span_id = from_text(span.span_id or "", 8)
    return msgspec.structs.replace(where, pointer=place, trace_id=trace_id, span_ids=(span_id,) if span_id else ())


def _id(text: str | None, size: int, kind: str, place: str) -> str:
    identifier = from_text(text, size) if text else None
    if identifier is None or is_zero(identifier):
        raise bad_id(kind, text or "", place)
    return identifier


def _parent(text: str | None) -> str:
    if not text:
        return ""
    parent = from_text(text, 8)
    if parent is None:
        raise bad_id("parent span", text, "/parentSpanId")
    return "" if parent == _NO_SPAN else parent


def _integer(value: int | str | None) -> int:
    """A time as an integer; -1 where it is none, which no time is."""
    if type(value) is str and len(value) == 19 and value.isdigit() and value.isascii():
        return int(value)
    time_ns = integer(value)
    return -1 if time_ns is None else time_ns


def _wrong_time(span: _Span, start: int, now_ns: int, latest: int) -> Fault:
    if EARLIEST_NS <= start <= latest:
        field, place, written = "its end", "/endTimeUnixNano", span.end_time_unix_nano
    else:
        field, place, written = "its start", "/startTimeUnixNano", span.start_time_unix_nano
    time_ns = integer(written)
    return bad_time(span.name or "", field, str(written) if time_ns is None else time_ns, now_ns, place)


def _enum(value: int | str, prefix: str, names: dict[str, int], place: str) -> int:
    if isinstance(value, int):
        if not -(2**31) <= value < 2**31:
            raise Fault("BAD_FIELD", "the number of an enum does not fit 32 bits", place, found=str(value)[:40])
        return value
    known = names.get(value.upper().removeprefix(prefix))
    if known is None:
        message = f"{value[:40]!r} is no name of the enum {prefix}…"
        raise Fault("BAD_FIELD", message, place, expected=", ".join(names))
    return known


def _count(value: int | str) -> int:
    count = integer(value)
    if count is None or not 0 <= count < 2**32:
        message = "droppedAttributesCount is no count of 32 bits"
        raise Fault("BAD_FIELD", message, "/droppedAttributesCount", found=str(value)[:40])
    return count
