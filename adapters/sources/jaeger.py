"""Jaeger: the JSON of its UI and API v1, and of its API v3.

v3 is OTLP JSON below `result`. v1 has times in microseconds: what is shorter is lost, and spans that end within one
microsecond of each other may seem to end the other way round. A list or map attribute arrives as its JSON text, and so
it stays. Scope attributes and the count of dropped events do not arrive. The parent is the first reference of type
CHILD_OF within the trace; FOLLOWS_FROM is a link. Of a log the field `event`, else `message`, is the name of the event.
What Jaeger warns of (a corrected clock, for example) is counted as a note.

Source of the layout: jaegertracing/jaeger, model/json; OpenTelemetry specification, mapping to Jaeger.
"""

import base64
import binascii
import io
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from labadapt.adapters.reading import tags
from labadapt.adapters.reading.faults import Fault, stands_twice
from labadapt.adapters.reading.nodes import Node
from labadapt.adapters.reading.plain import Facts, Keeper, Layout, identifier, parent, signed
from labadapt.adapters.reading.shapes import claims_of
from labadapt.adapters.span import Event, Input, Origin, Reading, Source, Span

_Made = tuple[str, Any, str]
_WORDS = {"NaN": math.nan, "+Inf": math.inf, "Infinity": math.inf, "-Inf": -math.inf, "-Infinity": -math.inf}


def decode(item: Input, reading: Reading) -> Iterator[Span]:
    """Every span of the input. Raises `Refusal`."""
    from labadapt.adapters.reading.streams import decoded

    return decoded(item, reading, {"json": _either})


def _either(stream: io.BufferedReader, name: str, offset: int, reading: Reading) -> Iterator[Span]:
    """Version 3 or 1, by the first keys."""
    from labadapt.adapters.reading.heads import first_paths
    from labadapt.adapters.reading.layers import HEAD

    decoder = _v3 if "result" in first_paths(stream.peek(HEAD)[:HEAD]) else V1.decoder()
    return decoder(stream, name, offset, reading)


# -- version 3 ---------------------------------------------------------------------------------------------------------


def _v3(stream: io.BufferedReader, name: str, offset: int, reading: Reading) -> Iterator[Span]:
    from labadapt.adapters.reading.otlp_json import Dialect, ResourceSpans, decode_as, placed
    from labadapt.adapters.reading.shapes import refuse_other

    class Result(msgspec.Struct, rename="camel"):
        resource_spans: list[ResourceSpans] | None = None

    class Chunk(msgspec.Struct):
        result: Result | None = None

    def groups(found: Any, _reading: Reading) -> Iterable[tuple[ResourceSpans, str]]:
        result: Result | None = found.value.result
        if result is None:
            refuse_other(found.text, found.where, "jaeger", "result.resourceSpans")
        return placed(result.resource_spans, "/result/resourceSpans")

    return decode_as(Dialect(msgspec.json.Decoder(Chunk).decode, groups), stream, name, offset, reading)


# -- version 1 ---------------------------------------------------------------------------------------------------------


def _spans(document: Node, keeper: Keeper) -> Iterator[tuple[Node, dict[str, Node]]]:
    for error in document.at("errors").items():
        said = error.first("msg", "message").value
        raise Fault("PARTIAL_TRACE", f"Jaeger answers with an error: {str(said)[:200]}", error.pointer)
    traces = document.at("data").items() if "data" in document.object().value else [document]
    for trace in traces:
        processes = dict(trace.object().at("processes").members())
        for span in trace.at("spans").items():
            for warning in span.at("warnings").items():
                keeper.reading.tally.note(f"Jaeger warns of a span: {warning.text()[:80]}")
            yield span.object(), processes


def _read(span: Node, processes: dict[str, Node], keeper: Keeper) -> Facts:
    made = _unique(span.at("tags"))
    name, version = tags.scope(made)
    code, message = tags.status(made)
    origin = Origin(_resource(span, processes, keeper), name, version, {})
    trace_id = identifier(span.at("traceID"), "trace", short=True)
    start, duration = span.at("startTime"), span.at("duration")
    start_ns = start.integer() * 1_000
    end_ns = start_ns + signed(duration.integer()) * 1_000
    start_ns, end_ns = keeper.times(
        span.at("operationName").text(), (start_ns, start), (0 if abs(end_ns) < 1_000 else end_ns, duration)
    )
    return Facts(
        trace_id=trace_id,
        span_id=identifier(span.at("spanID"), "span", short=True),
        parent_id=_parent(span, trace_id),
        name=span.at("operationName").text(),
        start_ns=start_ns,
        end_ns=end_ns,
        origin=origin,
        kind=tags.kind(made),
        dropped=tags.dropped(made),
        status_code=code,
        status_message=message,
        attributes=[(key, *value) for key, value in made.items()],
        events=tuple(event for log in span.at("logs").items() for event in _event(log, keeper)),
    )


def _resource(span: Node, processes: dict[str, Node], keeper: Keeper) -> dict[str, Any]:
    """The attributes of the process, with its service's name. Raises `Fault` for a process that does not stand."""
    key = span.at("processID")
    process = processes.get(key.text()) if key.text() else span.at("process")
    if process is None:
        raise key.fault("the key of one of the trace's processes")
    service = process.at("serviceName")
    pairs = [("service.name", service.text(), service.pointer)] if service.text() else []
    return keeper.attributes([*pairs, *_pairs(process.at("tags"))])


def _parent(span: Node, trace_id: str) -> str:
    for reference in span.at("references").items():
        within = identifier(reference.at("traceID"), "trace", short=True) == trace_id
        if within and reference.at("refType").text() == "CHILD_OF":
            return parent(reference.at("spanID"), short=True)
    return parent(span.at("parentSpanID"), short=True)


def _event(log: Node, keeper: Keeper) -> tuple[Event, ...]:
    fields = _unique(log.at("fields"))
    named = next(
        (key for key in ("event", "message") if isinstance(fields.get(key, ("",))[0], str) and key in fields), ""
    )
    name = fields.pop(named)[0] if named else ""
    pairs = [(key, *value) for key, value in fields.items()]
    return keeper.event(name, log.at("timestamp").integer() * 1_000, pairs, log.at("timestamp"))


def _unique(pairs: Node) -> tags.Tags:
    """Tags by key. Raises `Fault` for a key with two values."""
    made: tags.Tags = {}
    for key, value, pointer in _pairs(pairs):
        if key in made and repr(made[key][0]) != repr(value):
            raise stands_twice(key, pointer)
        made[key] = (value, pointer)
    return made


def _pairs(pairs: Node) -> Iterator[_Made]:
    """Key, value in its declared type, and place of each tag. Raises `Fault`."""
    for tag in pairs.items():
        declared, value = tag.at("type").text(), tag.at("value")
        if declared and declared not in _TYPES:
            raise tag.at("type").fault("one of " + ", ".join(_TYPES))
        if declared and value.value is None:
            raise value.fault(f"of type {declared}")
        yield tag.at("key").text(), _TYPES[declared](value) if declared else value.value, value.pointer


def _bool(node: Node) -> bool:
    if isinstance(node.value, bool):
        return node.value
    if node.text() not in {"true", "false"}:
        raise node.fault("true or false")
    return node.text() == "true"


def _float(node: Node) -> float:
    if isinstance(node.value, str) and node.value in _WORDS:
        return _WORDS[node.value]
    return node.number()


def _binary(node: Node) -> bytes:
    try:
        return base64.b64decode(node.text(), validate=True)
    except (binascii.Error, ValueError):
        raise node.fault("base64") from None


_TYPES: dict[str, Callable[[Node], Any]] = {
    "string": Node.text,
    "bool": _bool,
    "int64": Node.integer,
    "float64": _float,
    "binary": _binary,
}

V1 = Layout(
    source="jaeger",
    expected="data",
    spans=_spans,
    read=_read,
    ids=lambda span: (span.at("traceID"), span.at("spanID")),
)
SOURCE = Source(
    name="jaeger",
    summary="Jaeger: JSON of its UI and API v1 (data, spans, processes) and of its API v3 (result).",
    claims=claims_of("jaeger"),
    decode=decode,
    export="jaeger.json",
)
