"""OTLP in every encoding and wrapping gives the same spans, and what cannot be taken is refused with its place."""

import gzip
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from labadapt.adapters.span import Span, Tally, Wanted
from labadapt.schema.problems import CODES, Problem, Refusal
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

SAMPLES = Path(__file__).parents[2] / "samples" / "producers"
Read = Callable[..., tuple[list[Span], Tally]]
Contents = Callable[[list[Span]], list[Any]]
fixed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def refusal_of(read_bytes: Read, data: bytes, **given: Any) -> Problem:
    with pytest.raises(Refusal) as refusal:
        read_bytes(data, **given)
    assert refusal.value.problems[0].where.file == "traces"
    return refusal.value.problems[0]


def spans_or_code(read_bytes: Read, data: bytes) -> Any:
    """How many spans there are, which is what was counted, or the code of the refusal."""
    try:
        spans, tally = read_bytes(data)
    except Refusal as refusal:
        return refusal.problems[0].code
    return len(spans) if len(spans) == tally.read else -1


def framed(*messages: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(message)) + message for message in messages)


# -- every wrapping ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "spans"),
    [
        ("pydantic-ai@2.68.0-v5/02_timeout_recovered.pb", 6),
        ("pydantic-ai@1.0.10-v1/01_supported.pb", 5),
        ("google-adk@2.13.0-schema2/09_parallel.pb", 7),
        ("langchain-openinference@0.1.80/01_supported.pb", 7),
    ],
)
def test_a_real_export_gives_the_same_spans_in_every_wrapping(
    read_bytes: Read, contents: Contents, json_document: Any, path: str, spans: int
) -> None:
    data = (SAMPLES / path).read_bytes()
    traces = TracesData.FromString(data)
    document = json_document(traces)
    line = json.dumps(document).encode()
    lines = b"\n".join(json.dumps({"resourceSpans": [one]}).encode() for one in document["resourceSpans"]) + b"\n"
    compress = zstandard.ZstdCompressor().compress
    expected, tally = read_bytes(data)
    assert len(expected) == tally.read == spans
    shuffled = TracesData()
    shuffled.CopyFrom(traces)
    for group in shuffled.resource_spans:
        for scoped in group.scope_spans:
            spans_in_reverse = list(scoped.spans)[::-1]
            del scoped.spans[:]
            scoped.spans.extend(spans_in_reverse)
    wrappings = {
        "newest first": shuffled.SerializeToString(),
        "newest first, as json": json.dumps(json_document(shuffled)).encode(),
        "json": line,
        "json lines": lines,
        "json lines, an empty one first": b"\n" + lines,
        "json lines, twice the line feed": lines.replace(b"\n", b"\r\n\r\n"),
        "pretty": json.dumps(document, indent=2).encode(),
        "byte order mark": b"\xef\xbb\xbf" + line,
        "utf-16": line.decode().encode("utf-16"),
        "gzip": gzip.compress(data),
        "gzip of json": gzip.compress(line),
        "zstd": compress(data),
        "gzip in zstd": compress(gzip.compress(data)),
        "framed protobuf": framed(data),
        "framed json": framed(line),
        "framed zstd": framed(compress(data)),
        "gzip of framed": gzip.compress(framed(data)),
    }
    for name, wrapped in wrappings.items():
        assert contents(read_bytes(wrapped)[0]) == contents(expected), name


def test_every_real_export_is_read_whole(read_bytes: Read) -> None:
    counts: dict[str, int] = {}
    for path in sorted(SAMPLES.glob("*/*.pb")):
        counts[path.parent.name] = counts.get(path.parent.name, 0) + len(read_bytes(path.read_bytes())[0])
    assert counts == {
        "ai-sdk@6.0.326": 72,
        "ai-sdk@7.0.173-otel": 108,
        "google-adk@2.13.0-schema2": 106,
        "langchain-openinference@0.1.80": 139,
        "langchain-traceloop@0.62.4": 376,
        "langfuse-observe@5.0.4": 69,
        "langsmith-otel@0.15.1": 163,
        "logfire-pydantic-ai-fastmcp@5.4.0": 191,
        "mlflow-tracing@3.17.2": 69,
        "openai-agents-openinference@2.6.0-responses": 149,
        "pydantic-ai@1.0.10-v1": 95,
        "pydantic-ai@2.68.0-v5-nocontent": 73,
        "pydantic-ai@2.68.0-v5": 73,
        "strands@1.62.0-legacy": 114,
    }


def test_several_documents_members_and_frames_in_one_file_are_all_read(
    read_bytes: Read, one_span: Any, json_bytes: Any
) -> None:
    first, second = one_span(span_id=b"\x01" * 8), one_span(span_id=b"\x02" * 8)
    raw = [first.SerializeToString(), second.SerializeToString()]
    lines = [json_bytes(first), json_bytes(second)]
    pretty = [json.dumps(json.loads(line), indent=1).encode() for line in lines]
    compress = zstandard.ZstdCompressor().compress
    for data in (
        b"".join(raw),
        lines[0] + lines[1],
        pretty[0] + b"\n" + pretty[1],
        pretty[0] + pretty[1],
        lines[0] + b"\n" + pretty[1],
        gzip.compress(raw[0]) + gzip.compress(raw[1]),
        compress(raw[0]) + compress(raw[1]),
        framed(*raw),
        framed(lines[0], compress(raw[1])),
    ):
        spans, _ = read_bytes(data)
        assert sorted(span.span_id for span in spans) == ["01" * 8, "02" * 8]


def test_only_what_is_wanted_is_materialised(read_bytes: Read, one_span: Any, json_bytes: Any) -> None:
    traces = one_span(attributes={"tool": "query", "prompt": "secret", "llm.a.0": "x", "llm.b": "y"})
    traces.resource_spans[0].scope_spans[0].spans[0].events.add(name="exception")
    traces.resource_spans[0].scope_spans[0].spans[0].events.add(name="gen_ai.user.message")
    wanted = Wanted(frozenset({"tool"}), ("llm.a.",), frozenset({"exception"}))
    for data in (traces.SerializeToString(), json_bytes(traces)):
        (span,), _ = read_bytes(data, wanted=wanted)
        assert span.attributes == {"tool": "query", "llm.a.0": "x"}
        assert [event.name for event in span.events] == ["exception"]
        assert span.origin.resource == {}


def _array(items: list[AnyValue]) -> AnyValue:
    made = AnyValue()
    made.array_value.SetInParent()
    made.array_value.values.extend(items)
    return made


def _map(items: dict[str, AnyValue]) -> AnyValue:
    made = AnyValue()
    made.kvlist_value.SetInParent()
    for key, value in items.items():
        made.kvlist_value.values.add(key=key, value=value)
    return made


any_values = st.recursive(
    st.one_of(
        st.builds(lambda text: AnyValue(string_value=text), st.text(max_size=300)),
        st.builds(lambda number: AnyValue(int_value=number), st.integers(-(2**63), 2**63 - 1)),
        st.builds(lambda number: AnyValue(double_value=number), st.floats()),
        st.builds(lambda truth: AnyValue(bool_value=truth), st.booleans()),
        st.builds(lambda raw: AnyValue(bytes_value=raw), st.binary(max_size=5)),
        st.just(AnyValue()),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(_array), st.dictionaries(st.text(max_size=3), inner, max_size=3).map(_map)
    ),
    max_leaves=6,
)


@given(
    st.dictionaries(st.text(min_size=1, max_size=5), any_values, max_size=4),
    st.text(max_size=10),
    st.sampled_from([b"", b"\x07" * 8]),
    st.integers(0, 2),
    st.text(max_size=10),
    st.integers(0, 3),
    st.booleans(),
)
@fixed
def test_protobuf_and_json_of_the_same_spans_are_the_same_spans(  # noqa: PLR0913, PLR0917 - one for each strategy
    read_bytes: Read, contents: Contents, one_span: Any, json_bytes: Any,
    attributes: dict[str, AnyValue], name: str, parent: bytes, code: int, message: str, dropped: int, ended: bool,
) -> None:  # fmt: skip
    traces = one_span(name=name, parent_span_id=parent, dropped_attributes_count=dropped)
    span = traces.resource_spans[0].scope_spans[0].spans[0]
    span.status.code, span.status.message = code, message
    if not ended:
        span.ClearField("end_time_unix_nano")
    event = span.events.add(name=name, time_unix_nano=1_796_000_000_000_000_500)
    for key, value in attributes.items():
        span.attributes.add(key=key, value=value)
        event.attributes.add(key=key, value=value)
    one, _ = read_bytes(traces.SerializeToString())
    other, _ = read_bytes(json_bytes(traces))
    assert contents(one) == contents(other)
    assert one[0].end_ns == (1_796_000_000_000_000_999 if ended else 0)


# -- ids and times -----------------------------------------------------------------------------------------------------

HEX = "0102030405060708090a0b0c0d0e0f10"


@pytest.mark.parametrize(
    "written",
    [
        HEX,
        HEX.upper(),
        "AQIDBAUGBwgJCgsMDQ4PEA==",  # base64 of the bytes
        "MDEwMjAzMDQwNTA2MDcwODA5MGEwYjBjMGQwZTBmMTA=",  # base64 of the hex text
    ],
)
def test_a_trace_id_is_read_in_every_writing(read_bytes: Read, one_span: Any, json_document: Any, written: str) -> None:
    document = json_document(one_span())
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = written
    (span,), _ = read_bytes(json.dumps(document).encode())
    assert span.trace_id == HEX


def test_hex_that_somebody_took_for_base64_is_read(read_bytes: Read, one_span: Any) -> None:
    import base64

    traces = one_span(trace_id=base64.b64decode(HEX), span_id=base64.b64decode("0102030405060708"))
    (span,), _ = read_bytes(traces.SerializeToString())
    assert (span.trace_id, span.span_id) == (HEX, "0102030405060708")


def test_an_all_zero_parent_is_no_parent(read_bytes: Read, one_span: Any, json_bytes: Any) -> None:
    traces = one_span(parent_span_id=bytes(8))
    for data in (traces.SerializeToString(), json_bytes(traces)):
        (span,), _ = read_bytes(data)
        assert span.parent_id == ""


@pytest.mark.parametrize("field", ["trace_id", "span_id"])
@pytest.mark.parametrize("raw", [b"\x00" * 16, b"\x00" * 8, b"\x01" * 5])
def test_an_id_that_is_none_is_refused_in_both_encodings(
    read_bytes: Read, one_span: Any, json_bytes: Any, field: str, raw: bytes
) -> None:
    traces = one_span(**{field: raw})
    for data in (traces.SerializeToString(), json_bytes(traces)):
        assert refusal_of(read_bytes, data).code == "BAD_ID"


@pytest.mark.parametrize(
    ("time", "unit"),
    [
        (1_796_000_000, "seconds"),
        (1_796_000_000_000, "milliseconds"),
        (1_796_000_000_000_000, "microseconds"),
        (7, None),
    ],
)
def test_a_time_in_the_wrong_unit_is_refused_with_the_likely_one(
    read_bytes: Read, one_span: Any, json_bytes: Any, time: int, unit: str | None
) -> None:
    traces = one_span(start_time_unix_nano=time, end_time_unix_nano=time)
    for data in (traces.SerializeToString(), json_bytes(traces)):
        problem = refusal_of(read_bytes, data)
        assert (problem.code, problem.found) == ("BAD_TIME", str(time))
        assert (unit in (problem.hint or "")) if unit else problem.hint is None


def test_times_are_integers_to_the_nanosecond(read_bytes: Read, one_span: Any, json_document: Any) -> None:
    document = json_document(one_span())
    span = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    span["startTimeUnixNano"] = 1_796_000_000_000_000_001  # a number: a double would lose the last digits
    assert read_bytes(json.dumps(document).encode())[0][0].start_ns == 1_796_000_000_000_000_001
    for wrong in (1.796e18, "soon", True):
        span["startTimeUnixNano"] = wrong
        assert refusal_of(read_bytes, json.dumps(document).encode()).code in {"BAD_TIME", "BAD_FIELD"}


# -- what is no trace --------------------------------------------------------------------------------------------------


def logs() -> bytes:
    request = ExportLogsServiceRequest()
    record = request.resource_logs.add().scope_logs.add().log_records.add(time_unix_nano=1_796_000_000_000_000_001)
    record.body.string_value = "hello"
    return request.SerializeToString()


def metrics() -> bytes:
    request = ExportMetricsServiceRequest()
    metric = request.resource_metrics.add().scope_metrics.add().metrics.add(name="latency", unit="ms")
    metric.gauge.data_points.add(as_int=4)
    return request.SerializeToString()


def test_other_signals_are_no_traces(read_bytes: Read) -> None:
    document = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{}, {}]}]}]}
    for data, found in (
        (logs(), "1 of kind log record"),
        (metrics(), "1 of kind metric"),
        (json.dumps(document).encode(), "2 of kind log record"),
    ):
        problem = refusal_of(read_bytes, data)
        assert (problem.code, problem.found) == ("NOT_TRACES", found)


def test_other_signals_beside_traces_are_counted(read_bytes: Read, one_span: Any) -> None:
    spans, tally = read_bytes(framed(logs(), one_span().SerializeToString(), metrics()))
    assert len(spans) == 1
    assert tally.records_aside == {"log record": 1, "metric": 1}


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"", "NO_SPANS", "empty"),
        (b"{}", "NO_SPANS", "no span"),
        (b'{"resourceSpans":[]}', "NO_SPANS", "no span"),
        (b"PAR1....", "UNSUPPORTED_FORMAT", "Parquet"),
        (b"ARROW1\0\0", "UNSUPPORTED_FORMAT", "Arrow"),
        (b"PK\x03\x04....", "UNSUPPORTED_FORMAT", "zip"),
        (b"SQLite format 3\0", "UNSUPPORTED_FORMAT", "SQLite"),
        (b"<html>502 Bad Gateway</html>", "UNSUPPORTED_FORMAT", "markup"),
        (b"hello world", "UNKNOWN_FORMAT", "no format"),
        (b'{"resourceSpans":[{', "BAD_ENCODING", "cut"),
        (b'{"resourceSpans":[]}\nINFO exporter started\n', "BAD_ENCODING", "no JSON"),
        (b'{"resourceSpans":{}}', "BAD_FIELD", "$.resourceSpans"),
        (b'{"resourceSpans":[{"resource":{"attributes":{"a":1}}}]}', "BAD_FIELD", "attributes"),
        (b'{"x":' + b"[" * 50_000, "TOO_DEEP", "deep"),
        (b"\x0a\x7f\x01", "BAD_ENCODING", "cut"),
        (gzip.compress(b"x" * 5000, mtime=0)[:-20], "BAD_ENCODING", "whole"),
        (zstandard.ZstdCompressor().compress(b"\x0a\x00" * 5000)[:-3], "BAD_ENCODING", "whole"),
        (bytes(5000), "UNKNOWN_FORMAT", "no format"),
        (struct.pack(">I", 500) + b"{}", "UNKNOWN_FORMAT", "no format"),
        (framed(b'{"resourceSpans":[]}') + b"\0\0\1\0{", "BAD_ENCODING", "whole"),
    ],
)
def test_input_that_cannot_be_taken_is_refused(read_bytes: Read, data: bytes, code: str, words: str) -> None:
    problem = refusal_of(read_bytes, data)
    assert problem.code == code
    assert words in problem.message


def test_a_refusal_says_the_line_and_the_byte(read_bytes: Read, one_span: Any, json_bytes: Any) -> None:
    line = json_bytes(one_span())
    problem = refusal_of(read_bytes, line + b"\n" + line[:-5] + b"\n" + line + b"\n")
    assert (problem.code, problem.where.line) == ("BAD_ENCODING", 2)
    assert (problem.where.offset or 0) > len(line)


def test_a_damaged_span_is_named(read_bytes: Read, one_span: Any) -> None:
    data = one_span(name="step").SerializeToString().replace(b"step", b"st\xffp")
    problem = refusal_of(read_bytes, data)
    assert (problem.code, problem.where.span_ids) == ("BAD_ENCODING", ("0102030405060708",))


def test_text_that_is_not_utf_8_is_refused_where_it_is_needed(read_bytes: Read, one_span: Any) -> None:
    data = one_span(attributes={"tool": "query"}).SerializeToString().replace(b"query", b"qu\xffry")
    problem = refusal_of(read_bytes, data, wanted=Wanted(frozenset({"tool"})))
    assert (problem.code, '"tool"' in problem.message) == ("BAD_ENCODING", True)


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.ZstdCompressor(level=19).compress])
def test_the_limit_of_the_decompressed_size_is_held(read_bytes: Read, compress: Any) -> None:
    assert refusal_of(read_bytes, compress(b"\x0a\x00" * 100_000), max_size=1000).code == "TOO_LARGE"


def test_a_bomb_is_stopped_by_its_ratio(read_bytes: Read) -> None:
    bomb = zstandard.ZstdCompressor(level=19).compress(b"\x0a\x80\x80\x80\x08" + bytes(30 * 1024 * 1024))
    problem = refusal_of(read_bytes, bomb)
    assert (problem.code, problem.expected) == ("TOO_LARGE", "at most 1000 times")


def test_an_attribute_that_stands_twice_with_two_values_is_refused(
    read_bytes: Read, one_span: Any, json_bytes: Any
) -> None:
    traces = one_span(attributes={"tool": "one"})
    span = traces.resource_spans[0].scope_spans[0].spans[0]
    span.attributes.add(key="tool", value=AnyValue(string_value="one"))
    for data in (traces.SerializeToString(), json_bytes(traces)):
        assert read_bytes(data)[0][0].attributes == {"tool": "one"}
    span.attributes.add(key="tool", value=AnyValue(string_value="two"))
    for data in (traces.SerializeToString(), json_bytes(traces)):
        assert refusal_of(read_bytes, data).code == "BAD_FIELD"


@pytest.mark.parametrize("depth", [20, 40])
def test_depth_is_judged_alike_in_both_encodings(read_bytes: Read, one_span: Any, json_bytes: Any, depth: int) -> None:
    value = AnyValue(string_value="x")
    for _ in range(depth):
        value = _array([value])
    traces = one_span()
    traces.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="deep", value=value)
    for data in (traces.SerializeToString(), json_bytes(traces)):
        if depth < 32:
            assert len(read_bytes(data)[0]) == 1
        else:
            assert refusal_of(read_bytes, data).code == "TOO_DEEP"


# -- any bytes ---------------------------------------------------------------------------------------------------------

SEEDS = [
    (SAMPLES / "pydantic-ai@1.0.10-v1" / "01_supported.pb").read_bytes(),
    gzip.compress((SAMPLES / "google-adk@2.13.0-schema2" / "01_supported.pb").read_bytes()),
    framed((SAMPLES / "google-adk@2.13.0-schema2" / "01_supported.pb").read_bytes()),
]


@given(st.binary(max_size=300))
@fixed
def test_any_bytes_give_spans_or_a_refusal(read_bytes: Read, data: bytes) -> None:
    found = spans_or_code(read_bytes, data)
    assert found in CODES or found > 0


@given(st.sampled_from(SEEDS), st.integers(0, 10**6), st.binary(min_size=1, max_size=4), st.booleans())
@fixed
def test_damaged_exports_give_spans_or_a_refusal(
    read_bytes: Read, seed: bytes, at: int, damage: bytes, cut: bool
) -> None:
    at %= len(seed)
    data = seed[:at] if cut else seed[:at] + damage + seed[at + len(damage) :]
    found = spans_or_code(read_bytes, data)
    assert found in CODES or found > 0


@given(st.integers(0, 10**6), st.sampled_from([b"\xff", b"\0", b'"', b"{", b"]", b"\\", b"9" * 40, b"\xed\xa0\x80"]))
@fixed
def test_damaged_json_gives_spans_or_a_refusal(
    read_bytes: Read, one_span: Any, json_bytes: Any, at: int, damage: bytes
) -> None:
    line = json_bytes(one_span(attributes={"a": "b"}))
    at %= len(line)
    found = spans_or_code(read_bytes, line[:at] + damage + line[at + 1 :] + b"\n" + line)
    assert found in CODES or found > 0


class _Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time, as a pipe does."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._data.read(min(size, 7) if size > 0 else 7)


def test_a_pipe_that_trickles_is_read_to_its_end() -> None:
    from labadapt.adapters.sources.otlp import SOURCE
    from labadapt.adapters.span import Input, Limits, Reading

    reading = Reading(wanted=Wanted(), tally=Tally(), limits=Limits(), now_ns=1_796_200_000_000_000_000)
    stream: Any = _Trickle(SEEDS[0])
    assert len(list(SOURCE.decode(Input("-", stream), reading))) == 5
