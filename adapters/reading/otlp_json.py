"""OTLP JSON to spans: typed decoding, attribute values left raw until they are wanted.

Source of the layout: OTLP specification, "JSON Protobuf Encoding": hex ids, lowerCamelCase, enums as numbers (names
are met too), 64-bit integers as text or number, default fields absent.
"""

import io
from collections.abc import Iterator
from typing import Any

import msgspec
from labadapt.adapters.reading.documents import documents
from labadapt.adapters.reading.faults import bad_id, bad_time, refusal
from labadapt.adapters.reading.ids import from_text, is_zero
from labadapt.adapters.reading.protobuf import bad_value
from labadapt.adapters.reading.times import integer, plausible
from labadapt.adapters.reading.values import BadValue, from_json
from labadapt.adapters.span import Event, Origin, Reading, Span, Wanted
from labadapt.schema.problems import Where


class _Pair(msgspec.Struct, gc=False):
    key: str = ""
    value: msgspec.Raw = msgspec.Raw(b"null")


class _Event(msgspec.Struct, rename="camel", gc=False):
    name: str | None = None
    time_unix_nano: int | str | None = None
    attributes: list[_Pair] | None = None


class _Status(msgspec.Struct, rename="camel", gc=False):
    code: int | str | None = None
    message: str | None = None


class _Span(msgspec.Struct, rename="camel"):
    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    kind: int | str | None = None
    start_time_unix_nano: int | str | None = None
    end_time_unix_nano: int | str | None = None
    attributes: list[_Pair] | None = None
    dropped_attributes_count: int | str | None = None
    events: list[_Event] | None = None
    status: _Status | None = None


class _Attributed(msgspec.Struct, rename="camel"):
    name: str | None = None
    version: str | None = None
    attributes: list[_Pair] | None = None


class _ScopeSpans(msgspec.Struct, rename="camel"):
    scope: _Attributed | None = None
    spans: list[_Span] | None = None


class _ResourceSpans(msgspec.Struct, rename="camel"):
    resource: _Attributed | None = None
    scope_spans: list[_ScopeSpans] | None = None


class _Counted(msgspec.Struct, rename="camel"):
    """A scope of logs or metrics: only counted."""

    log_records: list[msgspec.Raw] | None = None
    metrics: list[msgspec.Raw] | None = None
    profiles: list[msgspec.Raw] | None = None


class _ResourceOther(msgspec.Struct, rename="camel"):
    scope_logs: list[_Counted] | None = None
    scope_metrics: list[_Counted] | None = None
    scope_profiles: list[_Counted] | None = None


class Document(msgspec.Struct, rename="camel"):
    """One OTLP JSON document; other signals stand in the same files and are counted."""

    resource_spans: list[_ResourceSpans] | None = None
    resource_logs: list[_ResourceOther] | None = None
    resource_metrics: list[_ResourceOther] | None = None
    resource_profiles: list[_ResourceOther] | None = None


_decode = msgspec.json.Decoder(Document).decode
_KINDS = {"UNSPECIFIED": 0, "INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}
_CODES = {"UNSET": 0, "OK": 1, "ERROR": 2}


def decode(stream: io.BufferedReader, name: str, offset: int, reading: Reading) -> Iterator[Span]:
    """Every span of OTLP JSON documents. Raises `Refusal`."""
    for document, where in documents(stream, name, offset, _decode, reading.limits):
        _count_others(document, reading)
        if document.resource_spans:
            yield from spans(document.resource_spans, where, reading)


def _count_others(document: Document, reading: Reading) -> None:
    for group in document.resource_logs or ():
        count = sum(len(scoped.log_records or ()) for scoped in group.scope_logs or ())
        reading.tally.leave_records("log record", count)
    for group in document.resource_metrics or ():
        reading.tally.leave_records("metric", sum(len(scoped.metrics or ()) for scoped in group.scope_metrics or ()))
    for group in document.resource_profiles or ():
        reading.tally.leave_records("profile", sum(len(scoped.profiles or ()) for scoped in group.scope_profiles or ()))


def spans(groups: list[_ResourceSpans], where: Where, reading: Reading) -> Iterator[Span]:
    """The spans of decoded `ResourceSpans`."""
    wanted = reading.wanted
    for group in groups:
        resource = _attributes(group.resource.attributes, wanted, where) if group.resource else {}
        for scoped in group.scope_spans or ():
            scope = scoped.scope or _Attributed()
            origin = Origin(
                resource, scope.name or "", scope.version or "", _attributes(scope.attributes, wanted, where)
            )
            for span in scoped.spans or ():
                yield _neutral(span, origin, where, reading)


def _neutral(span: _Span, origin: Origin, where: Where, reading: Reading) -> Span:
    reading.tally.read += 1
    trace_id = _id(span.trace_id, 16, "trace", where)
    span_id = _id(span.span_id, 8, "span", where)
    start = _time(span, "its start", span.start_time_unix_nano, where, reading)
    end = _time(span, "its end", span.end_time_unix_nano, where, reading)
    status = span.status
    return Span(
        trace_id,
        span_id,
        _parent(span.parent_span_id, where),
        span.name or "",
        start,
        end,
        origin,
        _attributes(span.attributes, reading.wanted, where),
        _events(span.events, reading.wanted, where) if span.events else (),
        _enum(status.code, "STATUS_CODE_", _CODES, where) if status and status.code else 0,
        (status.message or "") if status else "",
        _enum(span.kind, "SPAN_KIND_", _KINDS, where) if span.kind else 0,
        _count(span.dropped_attributes_count, where),
        where,
    )


def _id(text: str | None, size: int, kind: str, where: Where) -> str:
    identifier = from_text(text, size) if text else None
    if identifier is None or is_zero(identifier):
        raise bad_id(kind, text or "", where)
    return identifier


def _parent(text: str | None, where: Where) -> str:
    if not text:
        return ""
    parent = from_text(text, 8)
    if parent is None:
        raise bad_id("parent span", text, where)
    return "" if is_zero(parent) else parent


def _time(span: _Span, field: str, value: int | str | None, where: Where, reading: Reading) -> int:
    time_ns = integer(value)
    if time_ns is None:
        raise bad_time(span.name or "", field, str(value), reading.now_ns, where)
    if plausible(time_ns, reading.now_ns) or (time_ns == 0 and field == "its end"):
        return time_ns
    raise bad_time(span.name or "", field, time_ns, reading.now_ns, where)


def _enum(value: int | str, prefix: str, names: dict[str, int], where: Where) -> int:
    if isinstance(value, int):
        return value
    known = names.get(value.upper().removeprefix(prefix))
    if known is None:
        raise refusal("BAD_FIELD", f"{value[:40]!r} is no name of the enum {prefix}…", where, expected=", ".join(names))
    return known


def _count(value: int | str | None, where: Where) -> int:
    count = integer(value)
    if count is None or count < 0:
        raise refusal("BAD_FIELD", "droppedAttributesCount is no count", where, found=str(value)[:40])
    return count


def _attributes(pairs: list[_Pair] | None, wanted: Wanted, where: Where) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    if not pairs:
        return kept
    keys, prefixes, everything = wanted.keys, wanted.prefixes, wanted.everything
    for pair in pairs:
        key = pair.key
        if key in keys or everything or (prefixes and key.startswith(prefixes)):
            try:
                value = from_json(pair.value)
            except BadValue as error:
                raise bad_value(key, error, where) from None
            if key in kept and kept[key] != value:
                raise refusal("BAD_FIELD", f'attribute "{key}" stands twice on one span, with different values', where)
            kept[key] = value
    return kept


def _events(events: list[_Event], wanted: Wanted, where: Where) -> tuple[Event, ...]:
    kept = []
    for event in events:
        if (event.name or "") in wanted.events or wanted.everything:
            time_ns = integer(event.time_unix_nano)
            if time_ns is None:
                raise refusal("BAD_TIME", "the time of a span event is no integer", where)
            kept.append(Event(event.name or "", time_ns, _attributes(event.attributes, wanted, where)))
    return tuple(kept)
