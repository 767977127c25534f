"""What each format is known to do to ids, times and statuses, one row after the other."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from labadapt.adapters.span import Span, Tally

Read = Callable[..., tuple[list[Span], Tally]]
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
NS = 1_796_000_000_000_000_001


def coded(text: str) -> str:
    return base64.b64encode(bytes.fromhex(text)).decode()


def one(read_with: Read, source: str, document: Any) -> Span:
    (span,), _ = read_with(source, json.dumps(document).encode())
    return span


OTLP = {"traceId": TRACE, "spanId": SPAN, "name": "x", "startTimeUnixNano": str(NS), "endTimeUnixNano": NS + 998}


def otlp(span: dict[str, Any]) -> Any:
    return [{"scopeSpans": [{"spans": [span]}]}]


WRITINGS = {
    "hex": (TRACE, SPAN),
    "upper case": (TRACE.upper(), SPAN.upper()),
    "0x": ("0x" + TRACE, "0x" + SPAN),
    "base64": (coded(TRACE), coded(SPAN)),
    "base64 for addresses": (coded(TRACE).replace("+", "-").replace("/", "_").rstrip("="), coded(SPAN).rstrip("=")),
    "base64 of hex": (base64.b64encode(TRACE.encode()).decode(), base64.b64encode(SPAN.encode()).decode()),
    "hex that was decoded as base64": (
        base64.b64encode(base64.b64decode(TRACE)).decode(),
        base64.b64encode(base64.b64decode(SPAN)).decode(),
    ),
}
DOCUMENTS: dict[str, Callable[[str, str], tuple[str, Any]]] = {
    "otlp": lambda trace, span: ("otlp", {"resourceSpans": otlp({**OTLP, "traceId": trace, "spanId": span})}),
    "tempo 1": lambda trace, span: ("tempo", {"batches": otlp({**OTLP, "traceId": trace, "spanId": span})}),
    "tempo 2": lambda trace, span: (
        "tempo", {"trace": {"resourceSpans": otlp({**OTLP, "traceId": trace, "spanId": span})}, "status": "COMPLETE"}
    ),
    "jaeger 3": lambda trace, span: (
        "jaeger", {"result": {"resourceSpans": otlp({**OTLP, "traceId": trace, "spanId": span})}}
    ),
    "java": lambda trace, span: ("java-logging", otlp({**OTLP, "traceId": trace, "spanId": span})[0]),
    "protojson": lambda trace, span: (
        "protojson",
        {"resource_spans": [{"scope_spans": [{"spans": [
            {"trace_id": trace, "span_id": span, "name": "x", "start_time_unix_nano": str(NS)}
        ]}]}]},
    ),
    "zipkin": lambda trace, span: ("zipkin", [{"traceId": trace, "id": span, "timestamp": NS // 1_000, "duration": 1}]),
    "phoenix": lambda trace, span: (
        "phoenix",
        {"data": [{"id": "U3Bhbjox", "name": "x", "context": {"trace_id": trace, "span_id": span}, "span_kind": "LLM",
                   "start_time": "2026-11-30T10:00:00+00:00", "attributes": {}}]},
    ),
    "mlflow": lambda trace, span: (
        "mlflow",
        {"info": {"trace_id": "tr-1"}, "data": {"spans": [
            {"trace_id": trace, "span_id": span, "name": "x", "start_time_unix_nano": NS, "attributes": {}}
        ]}},
    ),
    "clickhouse": lambda trace, span: (
        "clickhouse",
        {"Timestamp": "2026-11-30 10:00:00.000000001", "TraceId": trace, "SpanId": span, "SpanAttributes": {},
         "Duration": 5},
    ),
    "python console": lambda trace, span: (
        "python-console",
        {"name": "x", "context": {"trace_id": trace, "span_id": span}, "start_time": "2026-11-30T10:00:00.000001Z"},
    ),
    "go": lambda trace, span: (
        "go-stdout",
        {"Name": "x", "SpanContext": {"TraceID": trace, "SpanID": span}, "StartTime": "2026-11-30T10:00:00.000000001Z"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("writing", WRITINGS)
def test_ids_are_read_in_every_writing_in_every_format(read_with: Read, document: str, writing: str) -> None:
    source, made = DOCUMENTS[document](*WRITINGS[writing])
    span = one(read_with, source, made)
    assert (span.trace_id, span.span_id) == (TRACE, SPAN)


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("trace", ["0" * 32, TRACE + "ab", "g" * 32, "0x", " " * 32, TRACE[:-1] + "é"])
def test_an_id_that_is_none_is_refused_in_every_format(
    refused: Callable[[str, bytes], Any], document: str, trace: str
) -> None:
    source, made = DOCUMENTS[document](trace, SPAN)
    assert refused(source, json.dumps(made).encode()).code == "BAD_ID"


@pytest.mark.parametrize("source", ["zipkin", "jaeger"])
def test_old_stores_write_ids_of_64_bits_without_their_zeros(read_with: Read, source: str) -> None:
    if source == "zipkin":
        made: Any = [{"traceId": "d6e9329d67b6146b", "id": "1f", "timestamp": NS // 1_000, "duration": 1}]
    else:
        spans = [{"traceID": "d6e9329d67b6146b", "spanID": "1f", "operationName": "x", "startTime": NS // 1_000,
                  "duration": 1, "process": {"serviceName": "shop"}}]  # fmt: skip
        made = {"data": [{"traceID": "d6e9329d67b6146b", "spans": spans, "processes": {}}]}
    span = one(read_with, source, made)
    assert (span.trace_id, span.span_id) == ("0000000000000000d6e9329d67b6146b", "000000000000001f")


def test_a_reversed_span_of_clickhouse_wraps_and_is_told_as_reversed(read_with: Read) -> None:
    """`Duration` is unsigned: -5 ns arrives as 2^64 - 5. What it means is refused where runs are made."""
    _, row = DOCUMENTS["clickhouse"](TRACE, SPAN)
    span = one(read_with, "clickhouse", {**row, "Duration": 2**64 - 5})
    assert span.end_ns - span.start_ns == -5
    assert one(read_with, "clickhouse", {**row, "Duration": str(2**64 - 5)}).end_ns == span.end_ns


def test_warnings_of_jaeger_are_told(read_with: Read) -> None:
    spans = [{"traceID": TRACE, "spanID": SPAN, "operationName": "x", "startTime": NS // 1_000, "duration": 1,
              "process": {"serviceName": "shop"}, "warnings": ["clock skew is not adjusted"]}]  # fmt: skip
    document = {"data": [{"traceID": TRACE, "spans": spans, "processes": {}}]}
    _, tally = read_with("jaeger", json.dumps(document).encode())
    assert tally.notes == {"Jaeger warns of a span: clock skew is not adjusted": 1}


@pytest.mark.parametrize("status", ["PARTIAL", "partial", 1, "PartialStatus_PARTIAL"])
@pytest.mark.parametrize("version", ["tempo 1", "tempo 2"])
def test_a_partial_answer_of_tempo_is_refused_with_its_reason(
    refused: Callable[[str, bytes], Any], version: str, status: Any
) -> None:
    _, made = DOCUMENTS[version](TRACE, SPAN)
    problem = refused("tempo", json.dumps({**made, "status": status, "message": "too large"}).encode())
    assert problem.code == "PARTIAL_TRACE"
    assert problem.message.endswith(": too large")


@pytest.mark.parametrize("status", ["COMPLETE", "complete", 0, None])
def test_a_complete_answer_of_tempo_is_read(read_with: Read, status: Any) -> None:
    _, made = DOCUMENTS["tempo 2"](TRACE, SPAN)
    assert one(read_with, "tempo", {**made, "status": status}).span_id == SPAN


@pytest.mark.parametrize("start", [str(NS), NS])
@pytest.mark.parametrize("kind", [3, "SPAN_KIND_CLIENT", "CLIENT", "client"])
@pytest.mark.parametrize("document", ["otlp", "tempo 1", "tempo 2", "jaeger 3", "java"])
def test_numbers_are_texts_or_numbers_and_enums_names_or_numbers(
    read_with: Read, document: str, start: Any, kind: Any
) -> None:
    source, made = DOCUMENTS[document](TRACE, SPAN)
    text = json.dumps(made).replace(f'"startTimeUnixNano": "{NS}"', f'"startTimeUnixNano": {json.dumps(start)}')
    text = text.replace('"name": "x"', f'"kind": {json.dumps(kind)}, "name": "x"')
    (span,), _ = read_with(source, text.encode())
    assert (span.start_ns, span.end_ns, span.kind) == (NS, NS + 998, 3)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_absent_and_null_fields_are_defaults(read_with: Read, document: str) -> None:
    source, made = DOCUMENTS[document](TRACE, SPAN)
    span = one(read_with, source, made)
    assert (span.parent_id, span.status_code, span.status_message, span.dropped) == ("", 0, "", 0)
    assert span.events == ()
