"""What looks like traces and is none is named: other signals, other stores' answers, other JSON."""

import json
import struct
from collections.abc import Callable
from typing import Any

import pytest
import zstandard
from labadapt.adapters.span import Span, Tally
from labadapt.schema.problems import Problem, Refusal
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

Read = Callable[..., tuple[list[Span], Tally]]
TIME = 1_796_000_000_000_000_001


def refusal_of(read_bytes: Read, data: bytes) -> Problem:
    with pytest.raises(Refusal) as refusal:
        read_bytes(data)
    return refusal.value.problems[0]


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field; contents of less than 16 KB."""
    size = len(content)
    length = bytes([size]) if size < 0x80 else bytes([size & 0x7F | 0x80, size >> 7])
    return bytes([number << 3 | 2]) + length + content


def logs(**fields: Any) -> bytes:
    body = fields.pop("body", "hello")
    request = ExportLogsServiceRequest()
    record: LogRecord = request.resource_logs.add().scope_logs.add().log_records.add(**fields)
    record.body.string_value = body
    record.attributes.add(key="logger").value.string_value = "shop"
    return request.SerializeToString()


@pytest.mark.parametrize(
    "fields",
    [
        {"time_unix_nano": TIME},
        {"observed_time_unix_nano": TIME, "body": "a long text " * 40},
        {"time_unix_nano": TIME, "trace_id": bytes(range(1, 17)), "span_id": bytes(range(1, 9))},
        {"severity_number": 9, "severity_text": "INFO"},
        {"event_name": "gen_ai.choice"},
    ],
)
def test_a_log_record_is_no_span_without_an_id(read_bytes: Read, fields: dict[str, Any]) -> None:
    problem = refusal_of(read_bytes, logs(**fields))
    assert (problem.code, problem.found) == ("NOT_TRACES", "1 of kind log record")


@pytest.mark.parametrize("kind", ["gauge", "sum", "histogram", "exponential_histogram", "summary"])
@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("latency", ""),
        ("http.server.time", "duration"),  # as long as the ids of a span
        ("latency of tools in total", "a gauge"),
    ],
)
def test_a_metric_is_no_span_whose_id_is_its_name(read_bytes: Read, kind: str, name: str, description: str) -> None:
    request = ExportMetricsServiceRequest()
    metric: Metric = request.resource_metrics.add().scope_metrics.add().metrics.add(name=name, description=description)
    for _ in range(3):
        point = getattr(metric, kind).data_points.add(time_unix_nano=TIME)
        point.attributes.add(key="route").value.string_value = "/checkout" * 20
    problem = refusal_of(read_bytes, request.SerializeToString())
    assert (problem.code, problem.found) == ("NOT_TRACES", "1 of kind metric")


def test_profiles_are_no_traces(read_bytes: Read) -> None:
    profile = b"\x19" + struct.pack("<Q", TIME) + field(7, bytes(16))
    data = field(1, field(2, field(2, profile)))
    assert refusal_of(read_bytes, data).found == "1 of kind profile"
    assert refusal_of(read_bytes, data + field(2, b"\x0a\x00")).code == "NOT_TRACES"


def test_a_span_without_id_and_time_is_still_refused_as_a_span(read_bytes: Read, one_span: Any) -> None:
    data = one_span(trace_id=b"", span_id=b"", start_time_unix_nano=0, end_time_unix_nano=0).SerializeToString()
    assert refusal_of(read_bytes, data).code == "BAD_ID"


def test_the_other_signals_of_a_mixed_file_are_counted_as_left_aside(
    read_bytes: Read, one_span: Any, json_bytes: Any
) -> None:
    lines = [
        b'{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"a","sum":{}},{"name":"b"}]}]}]}',
        json_bytes(one_span()),
        b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}',
        b'{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{}]}]}]}',
        b"{}",
    ]
    spans, tally = read_bytes(b"\n".join(lines))
    assert (len(spans), tally.read) == (1, 1)
    assert tally.records_aside == {"metric": 2, "log record": 1, "profile": 1}


def test_an_answer_of_tempo_2_is_named(read_bytes: Read, one_span: Any) -> None:
    trace = one_span().SerializeToString()
    answer = field(1, trace) + field(2, b"\x08\x05") + b"\x18\x01" + field(4, b"partial")
    for data in (answer, field(1, trace), field(1, trace + trace)):
        problem = refusal_of(read_bytes, data)
        assert (problem.code, "Grafana Tempo" in problem.message) == ("UNSUPPORTED_FORMAT", True)
        assert "application/protobuf" in (problem.hint or "")


def test_traces_from_before_2022_are_named(read_bytes: Read, one_span: Any, json_document: Any) -> None:
    document = json_document(one_span())
    group = document["resourceSpans"][0]
    group["instrumentationLibrarySpans"] = group.pop("scopeSpans")
    for data in (field(1, b"\xc2\x3e\x05hello"), json.dumps(document).encode()):
        problem = refusal_of(read_bytes, data)
        assert (problem.code, "before 2022" in problem.message) == ("UNSUPPORTED_FORMAT", True)


SHAPES: list[tuple[str, Any]] = [
    ("resource_spans", {"resource_spans": []}),
    ("a list of OTLP documents", [{"resourceSpans": []}]),
    ("Grafana Tempo", {"batches": [{"scopeSpans": []}]}),
    ("Grafana Tempo", {"trace": {"resourceSpans": []}, "status": "PARTIAL"}),
    ("Jaeger v3", {"result": {"resourceSpans": []}}),
    ("Jaeger v1", {"data": [{"traceID": "1", "spans": [], "processes": {}}]}),
    ("Java logging exporter", {"scopeSpans": [], "resource": {}}),
    ("Zipkin v2", [{"traceId": "1", "id": "2", "name": "a"}]),
    ("Python console exporter", {"name": "a", "context": {"trace_id": "0x1"}}),
    ("stdouttrace", {"Name": "a", "SpanContext": {"TraceID": "1"}}),
    ("ClickHouse", {"TraceId": "1", "SpanAttributes": {}}),
    ("Phoenix", {"data": [{"start_time_unix_nano": 1}]}),
    ("MLflow", {"info": {}, "data": {"spans": []}}),
    ("LangSmith", {"id": "1", "run_type": "llm"}),
    ("Datadog", [[{"trace_id": 1, "span_id": 2}]]),
    ("X-Ray", {"Traces": [{"Segments": []}]}),
    ("Honeycomb", [{"trace.trace_id": "1"}]),
    ("a run bundle, which is converted already", {"schemaVersion": 1, "runs": []}),
]


@pytest.mark.parametrize(("title", "document"), SHAPES)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_of_another_shape_is_refused_by_name(
    read_bytes: Read, title: str, document: Any, indent: int | None
) -> None:
    problem = refusal_of(read_bytes, json.dumps(document, indent=indent).encode())
    assert (problem.code, title in problem.message) == ("UNSUPPORTED_FORMAT", True)
    assert problem.hint


def test_the_console_of_node_is_named(read_bytes: Read) -> None:
    problem = refusal_of(read_bytes, b"{\n  resource: {\n    attributes: {\n      'service.name': 'shop',\n")
    assert (problem.code, "JavaScript console" in problem.message) == ("UNSUPPORTED_FORMAT", True)


@pytest.mark.parametrize("line", [b'{"level":"info","msg":"exporter started"}', b'"text"', b"5", b"[]"])
def test_a_line_of_something_else_between_the_spans_is_refused(
    read_bytes: Read, one_span: Any, json_bytes: Any, line: bytes
) -> None:
    problem = refusal_of(read_bytes, json_bytes(one_span()) + b"\n" + line + b"\n")
    assert (problem.code, problem.where.line) == ("UNKNOWN_FORMAT", 2)


# -- wrappings ---------------------------------------------------------------------------------------------------------


def test_protobuf_that_begins_like_an_empty_line_and_a_brace_is_protobuf(read_bytes: Read, one_span: Any) -> None:
    traces = one_span(name="n" * 26)
    traces.resource_spans[0].resource.attributes[0].key = "k" * 22  # its length, 34, is a quote
    data = traces.SerializeToString()
    assert data[:4] == b'\n{\n"'
    assert len(read_bytes(data)[0]) == 1


def test_blank_lines_before_json_are_stepped_over(read_bytes: Read, one_span: Any, json_bytes: Any) -> None:
    line = json_bytes(one_span())
    for blanks in (b"\n", b"\n\n", b" \r\n\t", b"\n" * 200):
        assert len(read_bytes(blanks + line)[0]) == 1


@pytest.mark.parametrize("place", ["before", "between", "after"])
def test_frames_without_content_are_stepped_over(read_bytes: Read, one_span: Any, place: str) -> None:
    skipped = b"\x50\x2a\x4d\x18" + struct.pack("<I", 5) + b"hello"
    frame = zstandard.ZstdCompressor().compress(one_span().SerializeToString())
    data = {"before": skipped + frame, "between": frame + skipped + frame, "after": frame + skipped}[place]
    assert len(read_bytes(data)[0]) == (2 if place == "between" else 1)


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xef\xbb\xbf\n\n"])
def test_a_mark_and_nothing_after_it_is_no_span(read_bytes: Read, data: bytes) -> None:
    assert refusal_of(read_bytes, data).code == "NO_SPANS"
