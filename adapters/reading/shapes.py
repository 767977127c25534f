"""The JSON in which traces arrive and that is no OTLP JSON, told by its first keys.

Each shape names the source that reads it, which claims files by this table, or what to export instead: then it is
refused by name. The table stands in the order of asking: the more particular first.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec
from labadapt.adapters.reading.faults import refusal
from labadapt.adapters.reading.heads import first_paths
from labadapt.schema.problems import Refusal, Where

_COLLECTOR = "Send the traces through an OpenTelemetry Collector and give what its file exporter writes."
_SDK = "Export OTLP from the application: set OTEL_TRACES_EXPORTER=otlp, or add an OTLP file exporter."
_LOG = "Where an export stands in a log, `labadapt java-logging FILE` reads it, and counts the other lines."
_SURE = 95
_LOOKED_AT = 65_536  # bytes in which a console may show itself


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape: how it is called, the paths that show it, and the source that reads it or how to export OTLP instead.

    `shown_by`: alternatives, each of paths that all lead to something (``[]``: the first item of a list).
    """

    title: str
    shown_by: tuple[tuple[str, ...], ...]
    source: str = ""
    instead: str = ""

    def fits(self, document: Any) -> bool:
        """Whether a document has this shape."""
        return any(all(_leads(document, path.split(".")) for path in paths) for paths in self.shown_by)

    def seen(self, found: frozenset[str]) -> bool:
        """Whether the paths that were found show this shape."""
        return any(found.issuperset(paths) for paths in self.shown_by)


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


SHAPES: tuple[Shape, ...] = (
    Shape(
        "a run bundle, which is converted already",
        (("schemaVersion", "runs"), ("schemaVersion", "generator")),
        instead="`labadapt validate FILE` and `labadapt check FILE` take it as it is.",
    ),
    Shape(
        "OTLP from before 2022 (instrumentationLibrarySpans)",
        (("resourceSpans.[].instrumentationLibrarySpans",), ("batches.[].instrumentationLibrarySpans",)),
        instead="Upgrade the exporter to OTLP 1.0 or later, or " + _COLLECTOR[0].lower() + _COLLECTOR[1:],
    ),
    Shape(
        "OTLP with the field names of protobuf (resource_spans)",
        (("resource_spans",), ("resource", "scope_spans")),
        source="protojson",
    ),
    Shape("a list of OTLP documents", (("[].resourceSpans",),), instead="Write one document a line: jq -c '.[]' FILE."),
    Shape(
        "Grafana Tempo",
        (("batches",), ("trace.resourceSpans",), ("trace.batches",), ("trace", "status"), ("trace", "metrics")),
        source="tempo",
    ),
    Shape("the Jaeger v3 API", (("result.resourceSpans",),), source="jaeger"),
    Shape(
        "the Jaeger v1 API",
        (
            ("data.[].traceID", "data.[].spans"),
            ("data.[].spans", "data.[].processes"),
            ("traceID", "spans"),
            ("spans", "processes"),
            ("errors.[].msg", "total", "limit"),
        ),
        source="jaeger",
    ),
    Shape(
        "the OpenTelemetry Java logging exporter", (("scopeSpans",), ("resource", "scopeLogs")), source="java-logging"
    ),
    Shape(
        "an export of Langfuse",
        (
            ("traceId", "parentObservationId"),
            ("[].traceId", "[].parentObservationId"),
            ("data.[].traceId", "data.[].parentObservationId"),
            ("observations.[].traceId",),
            ("trace_id", "parent_observation_id"),
            ("[].trace_id", "[].parent_observation_id"),
            ("data.[].experimentItemId",),
            ("data.[].itemCount",),
            ("data.[].datasetName",),
            ("[].datasetId", "[].expectedOutput"),
            ("datasetId", "expectedOutput"),
            ("datasetRunItems",),
        ),
        instead="`labadapt langfuse FILE...` reads it.",
    ),
    Shape("Zipkin v2", (("[].traceId", "[].id"), ("[].[].traceId", "[].[].id"), ("traceId", "id")), source="zipkin"),
    Shape(
        "Arize Phoenix",
        (
            ("data.[].start_time_unix_nano",),
            ("data.[].attributes.[].key", "next_cursor"),
            ("data.[].context.trace_id", "data.[].span_kind"),
            ("context.trace_id", "span_kind"),
            ("[].context.trace_id", "[].span_kind"),
        ),
        source="phoenix",
    ),
    Shape(
        "the OpenTelemetry Python console exporter",
        (("context.trace_id",), ("[].context.trace_id",)),
        source="python-console",
    ),
    Shape("Go's stdouttrace exporter", (("Name", "SpanContext"), ("[].SpanContext",)), source="go-stdout"),
    Shape(
        "ClickHouse rows of the Collector",
        (("TraceId", "SpanAttributes"), ("[].SpanAttributes",), ("data.[].SpanAttributes",)),
        source="clickhouse",
    ),
    Shape(
        "an MLflow trace",
        (
            ("info", "data.spans"),
            ("info.trace_id", "info.trace_location"),
            ("info.request_id", "info.experiment_id"),
            ("[].info", "[].data.spans"),
            ("[].info.trace_id", "[].info.trace_location"),
            ("traces.[].info", "traces.[].data.spans"),
        ),
        source="mlflow",
    ),
    Shape(
        "spans of AWS CloudWatch (aws/spans)",
        (("traceId", "spanId", "startTimeUnixNano"), ("[].traceId", "[].spanId", "[].startTimeUnixNano")),
        instead=_SDK,
    ),
    Shape(
        "Google Cloud Trace",
        (("projectId", "traceId", "spans"), ("traces.[].projectId", "traces.[].spans")),
        instead=_COLLECTOR,
    ),
    Shape("LangSmith runs", (("run_type",), ("[].run_type",), ("runs.[].run_type",)), instead=_SDK),
    Shape(
        "Datadog",
        (
            ("[].[].trace_id",),
            ("traces.[].[].trace_id",),
            ("data.[].attributes.trace_id", "data.[].type"),
            ("data.[].attributes.ml_app", "data.[].type"),
        ),
        instead=_COLLECTOR,
    ),
    Shape(
        "AWS X-Ray",
        (("Traces.[].Segments",), ("Segments",), ("[].Document", "[].Id"), ("trace_id", "start_time")),
        instead=_COLLECTOR,
    ),
    Shape(
        "Honeycomb rows",
        (
            ("trace\0trace_id",),
            ("[].trace\0trace_id",),
            ("data.trace\0trace_id",),
            ("[].data.trace\0trace_id",),
            ("data.results.[].data.trace\0trace_id",),
        ),
        instead=_COLLECTOR,
    ),
)


def claims_of(source: str) -> Callable[[bytes], int]:
    """The `claims` of a source that reads shapes of the table: certain, where the first bytes show one of its own."""

    def claims(head: bytes) -> int:
        found = first_paths(head)
        shape = next((shape for shape in SHAPES if shape.seen(found)), None)
        return _SURE if shape is not None and shape.source == source else 0

    return claims


_CONSOLE = re.compile(rb"^\{\s*(?:resource|instrumentationScope|traceId|name): ", re.MULTILINE)


def console(text: bytes, where: Where) -> Refusal | None:
    """The refusal of what JavaScript prints on a console, which looks like JSON and is none; None for anything else.

    Lines of a log may stand before it.
    """
    if not _CONSOLE.search(text[:_LOOKED_AT]):
        return None
    title = "the OpenTelemetry JavaScript console exporter"
    return refusal("UNSUPPORTED_FORMAT", f"this is the output of {title}", where, found=title, hint=_SDK)


def named(text: bytes, where: Where) -> Refusal | None:
    """The refusal of a document whose shape is known and not read here; None where it is unknown, or no JSON."""
    shape = shape_of(_plain(text))
    return None if shape is None else unsupported(shape, where)


def _plain(text: bytes) -> Any:
    """The document of a text, to look at its keys; None for what no decoder takes."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def shape_of(document: Any) -> Shape | None:
    """The shape of a decoded document, if it is known."""
    dotted = _dotted(document)
    return next((shape for shape in SHAPES if shape.fits(dotted)), None)


def refuse_other(text: bytes, where: Where, source: str, expected: str) -> NoReturn:
    """Refuse a document that is not of the shapes of a source. Raises `Refusal`."""
    shape = shape_of(_plain(text.decode("utf-8", "replace").encode()))
    if shape is None or shape.source == source:
        raise unknown(text, where, expected)
    raise unsupported(shape, where)


def _dotted(document: Any, depth: int = 5) -> Any:
    """The document with the dots in its keys out of the way of paths, as deep as these lead; of lists the first."""
    if depth and isinstance(document, dict):
        return {key.replace(".", "\0"): _dotted(value, depth - 1) for key, value in document.items()}
    if depth and isinstance(document, list):
        return [_dotted(item, depth - 1) for item in document[:1]]
    return document


def unsupported(shape: Shape, where: Where) -> Refusal:
    """The refusal of a shape by a source that does not read it."""
    reads = f"`labadapt {shape.source} FILE` reads it; `labadapt convert FILE` recognises each file by its content."
    message = f"this is the JSON of {shape.title}"
    return refusal("UNSUPPORTED_FORMAT", message, where, found=shape.title, hint=shape.instead or reads)


def unknown(text: bytes, where: Where, expected: str = "resourceSpans") -> Refusal:
    """The refusal of a JSON document that is of no format: its keys are named, and the key of the one expected."""
    document = _plain(text)
    keys = ", ".join(sorted(document)[:8]) if isinstance(document, dict) else text[:40].decode("utf-8", "replace")
    message = "this JSON document is of no format that is read"
    hint = _LOG if (where.line or 1) > 1 and expected == "resourceSpans" else None
    return refusal("UNKNOWN_FORMAT", message, where, found=keys[:200], expected=expected, hint=hint)
