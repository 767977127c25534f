"""OpenTelemetry for Go, `stdouttrace`: what its exporter to standard output prints, plain or indented.

All that OTLP carries of a span arrives, but for the attributes of the scope in old versions. A value's `Type` says what
it is: Go writes the double 1.0 as `1`. `WithoutTimestamps` prints the year 1, which is refused: without times there is
no order.

Source of the layout: opentelemetry-go, sdk/trace/tracetest `SpanStub`, and attribute `Value.MarshalJSON`.
"""

import base64
import binascii
from collections.abc import Callable, Iterator
from typing import Any

from labadapt.adapters.reading.nodes import Node
from labadapt.adapters.reading.plain import CODES, Facts, Keeper, Layout, identifier, iso, parent
from labadapt.adapters.reading.shapes import claims_of
from labadapt.adapters.span import Event, Input, Origin, Reading, Source, Span

_NEVER = -62_135_596_800_000_000_000  # the year 1, Go's time that was not set


def decode(item: Input, reading: Reading) -> Iterator[Span]:
    """Every span of the input. Raises `Refusal`."""
    from labadapt.adapters.reading.streams import decoded

    return decoded(item, reading, {"json": LAYOUT.decoder()})


def _spans(document: Node, _keeper: Keeper) -> Iterator[tuple[Node, None]]:
    for span in document.items() if isinstance(document.value, list) else [document]:
        yield span.object(), None


def _read(span: Node, _context: None, keeper: Keeper) -> Facts:
    context, status = span.at("SpanContext"), span.at("Status")
    start, end = span.at("StartTime"), span.at("EndTime")
    name = span.at("Name").text()
    start_ns, end_ns = keeper.times(name, (_time(start), start), (_time(end), end))
    return Facts(
        trace_id=identifier(context.at("TraceID"), "trace"),
        span_id=identifier(context.at("SpanID"), "span"),
        parent_id=parent(span.at("Parent").at("SpanID")),
        name=name,
        start_ns=start_ns,
        end_ns=end_ns,
        origin=_origin(span, keeper),
        kind=span.at("SpanKind").count(),
        dropped=span.first("DroppedAttributes", "DroppedAttributeCount").count(),
        status_code=status.at("Code").one_of(CODES),
        status_message=status.at("Description").text(),
        attributes=_pairs(span.at("Attributes")),
        events=tuple(event for item in span.at("Events").items() for event in _event(item, keeper)),
    )


def _origin(span: Node, keeper: Keeper) -> Origin:
    scope = span.first("InstrumentationScope", "InstrumentationLibrary")
    resource = keeper.attributes(_pairs(span.at("Resource")))
    attributes = keeper.attributes(_pairs(scope.at("Attributes")))
    return Origin(resource, scope.at("Name").text(), scope.at("Version").text(), attributes)


def _time(node: Node) -> int:
    time_ns = iso(node)
    return 0 if time_ns == _NEVER else time_ns


def _event(item: Node, keeper: Keeper) -> tuple[Event, ...]:
    time = item.at("Time")
    return keeper.event(item.at("Name").text(), _time(time), _pairs(item.at("Attributes")), time)


def _pairs(pairs: Node) -> Iterator[tuple[str, Any, str]]:
    """Key, value and place of each attribute. Raises `Fault`."""
    for pair in pairs.items():
        value = pair.at("Value")
        yield pair.at("Key").text(), _value(value), value.pointer


def _value(node: Node) -> Any:
    """A value by its declared type. Raises `Fault`."""
    kind, value = node.at("Type").text(), node.at("Value")
    if kind in _EMPTY:
        return None
    one = _TYPES.get(kind.removesuffix("SLICE") if kind != "BYTESLICE" else kind)
    if one is None:
        raise node.at("Type").fault("a type of attributes")
    if value.value is None:
        raise value.fault(f"of type {kind}")
    return [one(item) for item in value.items()] if one is not _bytes and kind.endswith("SLICE") else one(value)


def _bool(node: Node) -> bool:
    if not isinstance(node.value, bool):
        raise node.fault("true or false")
    return node.value


def _bytes(node: Node) -> bytes:
    try:
        return base64.b64decode(node.text(), validate=True)
    except (binascii.Error, ValueError):
        raise node.fault("base64") from None


_TYPES: dict[str, Callable[[Node], Any]] = {
    "BOOL": _bool,
    "INT64": Node.integer,
    "FLOAT64": Node.number,
    "STRING": Node.text,
    "BYTESLICE": _bytes,
}
_EMPTY = ("EMPTY", "INVALID")
LAYOUT = Layout(
    source="go-stdout",
    expected="Name, SpanContext",
    spans=_spans,
    read=_read,
    ids=lambda span: (span.at("SpanContext").at("TraceID"), span.at("SpanContext").at("SpanID")),
)
SOURCE = Source(
    name="go-stdout",
    summary="OpenTelemetry for Go: what its exporter stdouttrace prints.",
    claims=claims_of("go-stdout"),
    decode=decode,
    export="stdout.txt",
)
