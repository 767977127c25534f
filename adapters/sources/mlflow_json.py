"""MLflow: the JSON of a trace (`Trace.to_json`, the download of its page), in the forms of MLflow 2 and 3.

MLflow encodes every attribute as JSON. Its own (`mlflow.`) stay so, since its OTLP export writes them so too; of all
others the value that the application set is read. A span that a server took in over OTLP carries one encoding more on
all attributes, which its `mlflow.spanType` shows; it is taken off. Of the resource, the scope, the kind of the span in
OpenTelemetry's sense, and the counts of what was dropped nothing arrives.

Source of the layout: mlflow, entities/span.py (`to_dict`, `from_dict`, `from_dict_v2`).
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from labadapt.adapters.reading.nodes import Node
from labadapt.adapters.reading.plain import CODES, Facts, Keeper, Layout, identifier, members, parent
from labadapt.adapters.reading.shapes import claims_of
from labadapt.adapters.span import Event, Input, Origin, Reading, Source, Span

_NOWHERE = Origin({}, "", "", {})
_OWN = "mlflow."
_TWICE = '"\\"'  # how a text begins that was encoded twice


def decode(item: Input, reading: Reading) -> Iterator[Span]:
    """Every span of the input. Raises `Refusal`."""
    from labadapt.adapters.reading.streams import decoded

    return decoded(item, reading, {"json": LAYOUT.decoder()})


def _spans(document: Node, _keeper: Keeper) -> Iterator[tuple[Node, None]]:
    several = document if isinstance(document.value, list) else document.at("traces")
    for trace in several.items() if several.value is not None else [document]:
        for span in trace.object().at("data").at("spans").items():
            yield span.object(), None


def _read(span: Node, _context: None, keeper: Keeper) -> Facts:
    start, end = span.first("start_time_unix_nano", "start_time"), span.first("end_time_unix_nano", "end_time")
    status, name = span.at("status"), span.at("name").text()
    start_ns, end_ns = keeper.times(name, (start.integer(), start), (end.integer(), end))
    trace, own = _ids(span)
    return Facts(
        trace_id=identifier(Node(_bare(trace.text()), trace.pointer), "trace"),
        span_id=identifier(own, "span"),
        parent_id=parent(span.first("parent_span_id", "parent_id")),
        name=name,
        start_ns=start_ns,
        end_ns=end_ns,
        origin=_NOWHERE,
        status_code=(status if status.value is not None else span)
        .first("code", "status_code")
        .one_of(CODES, "STATUS_CODE_"),
        status_message=(status if status.value is not None else span).first("message", "status_message").text(),
        attributes=_attributes(span.at("attributes")),
        events=tuple(event for item in span.at("events").items() for event in _event(item, keeper)),
    )


def _ids(span: Node) -> tuple[Node, Node]:
    """Where the ids of trace and span stand."""
    context = span.at("context")
    within = context if context.value is not None else span
    return within.at("trace_id"), within.at("span_id")


def _bare(text: str) -> str:
    """A trace id without what MLflow puts before it: ``tr-``, or ``trace:/place/``."""
    return (text.rpartition("/")[2] if text.startswith("trace:/") else text).removeprefix("tr-")


def _attributes(node: Node) -> Iterator[tuple[str, Any, str]]:
    pairs = list(members(node))
    twice = any(key == "mlflow.spanType" and str(value).startswith(_TWICE) for key, value, _ in pairs)
    for key, value, pointer in pairs:
        yield key, _decoded(value) if twice or not key.startswith(_OWN) else value, pointer


def _decoded(value: Any) -> Any:
    """The value that an attribute's JSON text holds; text that is no JSON stays."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return value


def _event(item: Node, keeper: Keeper) -> tuple[Event, ...]:
    time = item.first("time_unix_nano", "timestamp")
    return keeper.event(item.at("name").text(), time.integer(), members(item.at("attributes")), time)


LAYOUT = Layout(source="mlflow", expected="info, data.spans", spans=_spans, read=_read, ids=_ids)
SOURCE = Source(
    name="mlflow",
    summary="MLflow: the JSON of its traces.",
    claims=claims_of("mlflow"),
    decode=decode,
    export="mlflow.json",
)
