"""The JSON in which traces arrive and that is no OTLP JSON, told by its first keys and refused by name.

A shape that a source of its own reads leaves this table. The table stands in the order of asking: the more particular
first.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from labadapt.adapters.reading.faults import refusal
from labadapt.schema.problems import Refusal, Where

_COLLECTOR = "Send the traces through an OpenTelemetry Collector and give what its file exporter writes."
_SDK = "Export OTLP from the application: set OTEL_TRACES_EXPORTER=otlp, or add an OTLP file exporter."


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape: how it is called, whether a document has it, and how to export OTLP instead."""

    title: str
    fits: Callable[[Any], bool]
    instead: str


def _has(*paths: str) -> Callable[[Any], bool]:
    """Whether all these dotted paths lead to something; ``[]`` is the first item of a list."""
    return lambda document: all(_leads(document, path.split(".")) for path in paths)


def _leads(value: Any, steps: list[str]) -> bool:
    for step in steps:
        if step == "[]":
            if not (isinstance(value, list) and value):
                return False
            value = value[0]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return False
    return True


def _either(*fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda document: any(fit(document) for fit in fits)


SHAPES: tuple[Shape, ...] = (
    Shape("OTLP with the field names of protobuf (resource_spans)", _has("resource_spans"), _COLLECTOR),
    Shape("a list of OTLP documents", _has("[].resourceSpans"), "Write one document a line: jq -c '.[]' FILE."),
    Shape(
        "OTLP from before 2022 (instrumentationLibrarySpans)",
        _has("resourceSpans.[].instrumentationLibrarySpans"),
        "Upgrade the exporter to OTLP 1.0 or later, or " + _COLLECTOR[0].lower() + _COLLECTOR[1:],
    ),
    Shape(
        "Grafana Tempo",
        _either(_has("batches"), _has("trace.resourceSpans"), _has("trace.batches")),
        "Ask Tempo's /api/traces/TRACE-ID with the header 'Accept: application/protobuf', which answers in OTLP.",
    ),
    Shape("the Jaeger v3 API", _has("result.resourceSpans"), "Give the value of `result` alone: it is OTLP JSON."),
    Shape("the Jaeger v1 API", _either(_has("data.[].spans"), _has("spans", "processes")), _COLLECTOR),
    Shape("the OpenTelemetry Java logging exporter", _has("scopeSpans"), _SDK),
    Shape("Zipkin v2", _either(_has("[].traceId", "[].id"), _has("traceId", "id")), _COLLECTOR),
    Shape(
        "the OpenTelemetry Python console exporter",
        _either(_has("context.trace_id"), _has("[].context.trace_id")),
        _SDK,
    ),
    Shape("Go's stdouttrace exporter", _either(_has("Name", "SpanContext"), _has("[].SpanContext")), _SDK),
    Shape(
        "ClickHouse rows of the Collector",
        _either(_has("TraceId", "SpanAttributes"), _has("[].SpanAttributes"), _has("data.[].SpanAttributes")),
        _COLLECTOR,
    ),
    Shape("Arize Phoenix", _has("data.[].start_time_unix_nano"), _COLLECTOR),
    Shape(
        "an MLflow trace", _has("info", "data.spans"), "Let MLflow export OTLP: set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT."
    ),
    Shape("LangSmith runs", _either(_has("run_type"), _has("[].run_type"), _has("runs.[].run_type")), _SDK),
    Shape("Datadog", _either(_has("[].[].trace_id"), _has("traces.[].[].trace_id")), _COLLECTOR),
    Shape(
        "AWS X-Ray", _either(_has("Traces.[].Segments"), _has("Segments"), _has("trace_id", "start_time")), _COLLECTOR
    ),
    Shape("Honeycomb rows", _either(_has("trace\0trace_id"), _has("[].trace\0trace_id")), _COLLECTOR),
)
_CONSOLE = re.compile(rb"\{\s*(resource|instrumentationScope|traceId|name): ")


def console(text: bytes, where: Where) -> Refusal | None:
    """The refusal of what JavaScript prints on a console, which looks like JSON and is none; None for anything else."""
    if not _CONSOLE.match(text):
        return None
    title = "the OpenTelemetry JavaScript console exporter"
    return refusal("UNSUPPORTED_FORMAT", f"this is the output of {title}", where, found=title, hint=_SDK)


def named(text: bytes, where: Where) -> Refusal | None:
    """The refusal of a document whose shape is known and not read here; None where it is unknown, or no JSON."""
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    for shape in SHAPES:
        if shape.fits(_dotted(document)):
            return _unsupported(shape.title, shape.instead, where)
    return None


def _dotted(document: Any) -> Any:
    """The document with the dots in its own first keys out of the way of paths."""
    if isinstance(document, dict):
        return {key.replace(".", "\0"): value for key, value in document.items()}
    if isinstance(document, list) and document and isinstance(document[0], dict):
        return [_dotted(document[0])]
    return document


def _unsupported(title: str, instead: str, where: Where) -> Refusal:
    return refusal("UNSUPPORTED_FORMAT", f"this is the JSON of {title}", where, found=title, hint=instead)


def unknown(text: bytes, where: Where) -> Refusal:
    """The refusal of a JSON document that is of no format: its keys are named."""
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        document = None
    keys = ", ".join(sorted(document)[:8]) if isinstance(document, dict) else text[:40].decode("utf-8", "replace")
    message = "this JSON document is of no format that is read"
    return refusal("UNKNOWN_FORMAT", message, where, found=keys[:200], expected="resourceSpans")
