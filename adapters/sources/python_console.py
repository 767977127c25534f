"""OpenTelemetry for Python, console exporter: what `ConsoleSpanExporter` prints, one indented document a span.

Times went through a double and are rounded to microseconds: spans that touch may seem to overlap by one. Neither the
instrumentation scope nor the count of dropped attributes is printed, so conventions that are told by their scope are
not recognised. A tuple is a list. Bytes and NaN are no JSON: the exporter fails on the first, and
prints the second so that the document is refused.

Source of the layout: opentelemetry-python, `ReadableSpan.to_json`.
"""

from collections.abc import Iterator
from typing import Any

from labadapt.adapters.reading.nodes import Node
from labadapt.adapters.reading.plain import CODES, KINDS, Facts, Keeper, Layout, identifier, iso, members, parent
from labadapt.adapters.reading.shapes import claims_of
from labadapt.adapters.span import Event, Input, Origin, Reading, Source, Span


def decode(item: Input, reading: Reading) -> Iterator[Span]:
    """Every span of the input. Raises `Refusal`."""
    from labadapt.adapters.reading.streams import decoded

    return decoded(item, reading, {"json": LAYOUT.decoder()})


def _spans(document: Node, _keeper: Keeper) -> Iterator[tuple[Node, None]]:
    for span in document.items() if isinstance(document.value, list) else [document]:
        yield span.object(), None


def _read(span: Node, _context: None, keeper: Keeper) -> Facts:
    context, status = span.at("context"), span.at("status")
    start, end = span.at("start_time"), span.at("end_time")
    name = span.at("name").text()
    start_ns, end_ns = keeper.times(name, (iso(start), start), (iso(end), end))
    return Facts(
        trace_id=identifier(context.at("trace_id"), "trace"),
        span_id=identifier(context.at("span_id"), "span"),
        parent_id=parent(span.at("parent_id")),
        name=name,
        start_ns=start_ns,
        end_ns=end_ns,
        origin=Origin(_resource(span.at("resource"), keeper), "", "", {}),
        kind=span.at("kind").one_of(KINDS, "SPANKIND."),
        status_code=status.at("status_code").one_of(CODES, "STATUSCODE."),
        status_message=status.at("description").text(),
        attributes=members(span.at("attributes")),
        events=tuple(event for item in span.at("events").items() for event in _event(item, keeper)),
    )


def _resource(resource: Node, keeper: Keeper) -> dict[str, Any]:
    """The attributes of the resource; old versions print them without a wrapper."""
    wrapped = resource.at("attributes")
    return keeper.attributes(members(wrapped if isinstance(wrapped.value, dict) else resource))


def _event(item: Node, keeper: Keeper) -> tuple[Event, ...]:
    time = item.at("timestamp")
    return keeper.event(item.at("name").text(), iso(time), members(item.at("attributes")), time)


LAYOUT = Layout(
    source="python-console",
    expected="context.trace_id",
    spans=_spans,
    read=_read,
    ids=lambda span: (span.at("context").at("trace_id"), span.at("context").at("span_id")),
)
SOURCE = Source(
    name="python-console",
    summary="OpenTelemetry for Python: what its console exporter prints.",
    claims=claims_of("python-console"),
    decode=decode,
    export="console.txt",
)
