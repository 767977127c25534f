"""Arize Phoenix: spans of its REST API, in its own form (`/spans`) and in its OTLP-like one (`/spans/otlpv1`).

Phoenix stores microseconds; its OTLP-like form writes them as nanoseconds that went through a double, so they are
rounded to the microsecond that was stored. Attributes arrive flattened, and those that hold JSON (`metadata`,
`tool.parameters`) flattened as well: their text does not arrive. Of the resource and the scope nothing arrives, nor of
the kind of the span in OpenTelemetry's sense, so conventions that are told by their scope are not recognised. Its own
form has the attribute `openinference.span.kind` as `span_kind`. An answer that says that there are further pages is
taken, with a note.

Source of the layout: Arize-ai/phoenix, server/api/routers/v1/spans.py.
"""

from collections.abc import Iterator
from typing import Any

from labadapt.adapters.reading.nodes import Node
from labadapt.adapters.reading.plain import CODES, Facts, Keeper, Layout, identifier, iso, members, parent
from labadapt.adapters.reading.shapes import claims_of
from labadapt.adapters.reading.snake import any_value
from labadapt.adapters.span import Event, Input, Origin, Reading, Source, Span

_NOWHERE = Origin({}, "", "", {})
_PAGES = "Phoenix says that further pages follow (next_cursor): give them too"


def decode(item: Input, reading: Reading) -> Iterator[Span]:
    """Every span of the input. Raises `Refusal`."""
    from labadapt.adapters.reading.streams import decoded

    return decoded(item, reading, {"json": LAYOUT.decoder()})


def _spans(document: Node, keeper: Keeper) -> Iterator[tuple[Node, None]]:
    is_answer = isinstance(document.value, dict) and "data" in document.value
    if is_answer and document.at("next_cursor").text():
        keeper.reading.tally.note(_PAGES)
    is_list = is_answer or isinstance(document.value, list)
    for span in (document.at("data") if is_answer else document).items() if is_list else [document]:
        yield span.object(), None


def _read(span: Node, _context: None, keeper: Keeper) -> Facts:
    return _own(span, keeper) if span.at("context").value is not None else _otlp(span, keeper)


def _own(span: Node, keeper: Keeper) -> Facts:
    context, kind = span.at("context"), span.at("span_kind")
    start, end, name = span.at("start_time"), span.at("end_time"), span.at("name").text()
    start_ns, end_ns = keeper.times(name, (iso(start), start), (iso(end), end))
    attributes = list(members(span.at("attributes")))
    if kind.text() not in {"", "UNKNOWN"}:
        attributes.append(("openinference.span.kind", kind.text(), kind.pointer))
    return Facts(
        trace_id=identifier(context.at("trace_id"), "trace"),
        span_id=identifier(context.at("span_id"), "span"),
        parent_id=parent(span.at("parent_id")),
        name=name,
        start_ns=start_ns,
        end_ns=end_ns,
        origin=_NOWHERE,
        status_code=span.at("status_code").one_of(CODES),
        status_message=span.at("status_message").text(),
        attributes=attributes,
        events=tuple(
            event
            for item in span.at("events").items()
            for event in keeper.event(
                item.at("name").text(), iso(item.at("timestamp")), members(item.at("attributes")), item
            )
        ),
    )


def _otlp(span: Node, keeper: Keeper) -> Facts:
    start, end, name = span.at("start_time_unix_nano"), span.at("end_time_unix_nano"), span.at("name").text()
    start_ns, end_ns = keeper.times(name, (_stored(start), start), (_stored(end), end))
    status = span.at("status")
    return Facts(
        trace_id=identifier(span.at("trace_id"), "trace"),
        span_id=identifier(span.at("span_id"), "span"),
        parent_id=parent(span.at("parent_span_id")),
        name=name,
        start_ns=start_ns,
        end_ns=end_ns,
        origin=_NOWHERE,
        dropped=span.at("dropped_attributes_count").count(),
        status_code=status.at("code").count(),
        status_message=status.at("message").text(),
        attributes=_pairs(span.at("attributes")),
        events=tuple(event for item in span.at("events").items() for event in _event(item, keeper)),
    )


def _stored(node: Node) -> int:
    """The microsecond that was stored, in nanoseconds."""
    return (node.integer() + 500) // 1_000 * 1_000


def _event(item: Node, keeper: Keeper) -> tuple[Event, ...]:
    return keeper.event(item.at("name").text(), _stored(item.at("time_unix_nano")), _pairs(item.at("attributes")), item)


def _pairs(pairs: Node) -> Iterator[tuple[str, Any, str]]:
    for pair in pairs.items():
        yield pair.at("key").text(), any_value(pair.at("value")), pair.pointer


LAYOUT = Layout(
    source="phoenix",
    expected="data",
    spans=_spans,
    read=_read,
    ids=lambda span: (
        (span.at("context") if span.at("context").value is not None else span).at("trace_id"),
        (span.at("context") if span.at("context").value is not None else span).at("span_id"),
    ),
)
SOURCE = Source(
    name="phoenix",
    summary="Arize Phoenix: spans of its REST API.",
    claims=claims_of("phoenix"),
    decode=decode,
    export="phoenix.json",
)
