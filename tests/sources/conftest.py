"""What the tests of sources share: reading bytes, and OTLP JSON written by hand from real protobuf messages."""

import base64
import io
import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from labadapt.adapters.sources.otlp import SOURCE
from labadapt.adapters.span import Input, Limits, Reading, Source, Span, Tally, Wanted
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

NOW = 1_796_200_000_000_000_000


def _value(value: AnyValue) -> dict[str, Any]:
    kind = value.WhichOneof("value")
    if kind is None:
        return {}
    inner = getattr(value, kind)
    written: Any = inner
    if kind == "int_value":
        written = str(inner)
    elif kind == "double_value" and not math.isfinite(inner):
        written = "NaN" if math.isnan(inner) else ("Infinity" if inner > 0 else "-Infinity")
    elif kind == "bytes_value":
        written = base64.b64encode(inner).decode()
    elif kind == "array_value":
        written = {"values": [_value(item) for item in inner.values]}
    elif kind == "kvlist_value":
        written = {"values": _pairs(inner.values)}
    first, _, second = kind.partition("_")
    return {first + second.capitalize(): written}


def _pairs(pairs: Any) -> list[dict[str, Any]]:
    return [{"key": pair.key, "value": _value(pair.value)} for pair in pairs]


def _span(span: ProtoSpan) -> dict[str, Any]:
    written: dict[str, Any] = {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start_time_unix_nano),
        "attributes": _pairs(span.attributes),
    }
    if span.end_time_unix_nano:
        written["endTimeUnixNano"] = str(span.end_time_unix_nano)
    if span.parent_span_id:
        written["parentSpanId"] = span.parent_span_id.hex()
    if span.dropped_attributes_count:
        written["droppedAttributesCount"] = span.dropped_attributes_count
    if span.HasField("status"):
        written["status"] = {"code": span.status.code, "message": span.status.message}
    if span.events:
        written["events"] = [
            {"name": event.name, "timeUnixNano": str(event.time_unix_nano), "attributes": _pairs(event.attributes)}
            for event in span.events
        ]
    return written


def as_document(traces: TracesData) -> dict[str, Any]:
    """The OTLP JSON document of a message, by the specification's mapping."""
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _pairs(group.resource.attributes)},
                "scopeSpans": [
                    {
                        "scope": {"name": scoped.scope.name, "version": scoped.scope.version},
                        "spans": [_span(span) for span in scoped.spans],
                    }
                    for scoped in group.scope_spans
                ],
            }
            for group in traces.resource_spans
        ]
    }


def read(data: bytes, source: Source = SOURCE, **given: Any) -> tuple[list[Span], Tally]:
    """All spans of some bytes, with everything kept unless `wanted` is given."""
    tally = Tally()
    wanted = given.pop("wanted", Wanted(everything=True))
    reading = Reading(wanted=wanted, tally=tally, limits=Limits(**given), now_ns=NOW)
    return list(source.decode(Input("traces", io.BytesIO(data)), reading)), tally


def content(spans: list[Span]) -> list[Any]:
    """The spans without their place in the file, in an order of their own; NaN equals itself here."""
    rows = []
    for span in spans:
        events = [(event.name, event.time_ns, repr(event.attributes)) for event in span.events]
        origin = span.origin
        rows.append(
            [
                span.trace_id, span.span_id, span.parent_id, span.name, span.start_ns, span.end_ns, span.status_code,
                span.status_message, span.kind, span.dropped, repr(span.attributes), events, repr(origin.resource),
                origin.scope_name, origin.scope_version,
            ]
        )  # fmt: skip
    return sorted(rows, key=repr)


@pytest.fixture
def read_bytes() -> Callable[..., tuple[list[Span], Tally]]:
    """Give `read`."""
    return read


@pytest.fixture
def contents() -> Callable[[list[Span]], list[Any]]:
    """Give `content`."""
    return content


@pytest.fixture
def json_document() -> Callable[[TracesData], dict[str, Any]]:
    """Give `as_document`."""
    return as_document


@pytest.fixture
def one_span() -> Callable[..., TracesData]:
    """Give a maker of a message with one span; keywords change its fields, attributes are a dictionary of texts."""

    def make(**fields: Any) -> TracesData:
        traces = TracesData()
        group = traces.resource_spans.add()
        group.resource.attributes.append(KeyValue(key="service.name", value=AnyValue(string_value="shop")))
        scoped = group.scope_spans.add()
        scoped.scope.name = "scope"
        given: dict[str, Any] = {
            "trace_id": bytes(range(1, 17)),
            "span_id": bytes(range(1, 9)),
            "name": "step",
            "start_time_unix_nano": 1_796_000_000_000_000_001,
            "end_time_unix_nano": 1_796_000_000_000_000_999,
            **fields,
        }
        attributes = given.pop("attributes", {})
        span = scoped.spans.add(**given)
        for key, value in attributes.items():
            span.attributes.append(KeyValue(key=key, value=AnyValue(string_value=value)))
        return traces

    return make


@pytest.fixture
def json_bytes(json_document: Callable[[TracesData], dict[str, Any]]) -> Callable[[TracesData], bytes]:
    """Give a writer of one line of OTLP JSON."""
    return lambda traces: json.dumps(json_document(traces)).encode()
