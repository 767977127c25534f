"""Values, ids, keys and places are exact, in both encodings and however they are written."""

import io
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from labadapt.adapters.sources.otlp import SOURCE
from labadapt.adapters.span import Input, Limits, Reading, Span, Tally, Wanted
from labadapt.schema.problems import Problem, Refusal
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

Read = Callable[..., tuple[list[Span], Tally]]
fixed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
TOOL = Wanted(frozenset({"tool"}))
NOBODY = Wanted(frozenset({"something else"}))
PLACE = "/resourceSpans/0/scopeSpans/0/spans/0"


def refusal_of(read_bytes: Read, data: bytes, **given: Any) -> Problem:
    with pytest.raises(Refusal) as refusal:
        read_bytes(data, **given)
    return refusal.value.problems[0]


@pytest.fixture
def json_with(one_span: Any, json_document: Any) -> Callable[..., bytes]:
    """Give a writer of a JSON document of one span with changed fields, or with one attribute of a given value."""

    def make(value: Any = None, **fields: Any) -> bytes:
        document = json_document(one_span())
        span = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
        if value is not None:
            span["attributes"] = [{"key": "tool", "value": value}]
        return json.dumps(document | {}).encode() if not fields else json.dumps(_changed(document, fields)).encode()

    return make


def _changed(document: Any, fields: dict[str, Any]) -> Any:
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0].update(fields)
    return document


# -- values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ({"stringValue": ""}, ""),
        ({"intValue": 398}, 398),
        ({"intValue": "398"}, 398),
        ({"intValue": "-9223372036854775808"}, -(2**63)),
        ({"intValue": "9223372036854775807"}, 2**63 - 1),
        ({"doubleValue": 398}, 398.0),
        ({"doubleValue": "1.5e3"}, 1500.0),
        ({"doubleValue": "-Infinity"}, -math.inf),
        ({"boolValue": False}, False),
        ({"bytesValue": "AP8="}, b"\x00\xff"),
        ({"bytesValue": "AP8"}, b"\x00\xff"),
        ({"bytesValue": "-_8="}, b"\xfb\xff"),
        ({"arrayValue": {"values": [{"intValue": "1"}, {}]}}, [1, None]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"doubleValue": 1}}]}}, {"a": 1.0}),
        ({}, None),
        ({"stringValue": None}, None),
        ({"stringValue": None, "intValue": 1}, 1),
    ],
)
def test_a_json_value_has_one_reading(read_bytes: Read, json_with: Any, written: Any, value: Any) -> None:
    (span,), _ = read_bytes(json_with(written))
    assert span.attributes == {"tool": value}
    assert type(span.attributes["tool"]) is type(value)


@pytest.mark.parametrize("written", ["NaN", None])
def test_a_number_that_is_none_is_nan(read_bytes: Read, json_with: Any, written: Any) -> None:
    (span,), _ = read_bytes(json_with({"doubleValue": written}))
    assert math.isnan(span.attributes["tool"])


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ({"intValue": "--5"}, "/attributes/0/value"),
        ({"intValue": "9223372036854775808"}, "/attributes/0/value"),
        ({"intValue": 2**70}, "/attributes/0/value"),
        ({"intValue": 3.0}, "/attributes/0/value/intValue"),
        ({"intValue": True}, "/attributes/0/value/intValue"),
        ({"doubleValue": "1_0"}, "/attributes/0/value"),
        ({"doubleValue": "1e999"}, "/attributes/0/value"),
        ({"bytesValue": "!"}, "/attributes/0/value"),
        ({"stringValue": "a", "intValue": 1}, "/attributes/0/value"),
        ({"StringValue": "a"}, "/attributes/0/value"),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"intValue": n}} for n in (1, 2)]}}, "/attributes/0/value"),
        ("a", "/attributes/0/value"),
    ],
)
def test_a_json_value_that_is_none_is_refused_with_its_place(
    read_bytes: Read, json_with: Any, written: Any, place: str
) -> None:
    problem = refusal_of(read_bytes, json_with(written))
    assert (problem.code, problem.where.pointer, problem.where.line) == ("BAD_FIELD", PLACE + place, 1)
    assert (problem.where.trace_id, problem.where.span_ids) == (
        "0102030405060708090a0b0c0d0e0f10",
        ("0102030405060708",),
    )


def test_attributes_as_a_map_are_refused_with_their_path(read_bytes: Read, json_with: Any) -> None:
    problem = refusal_of(read_bytes, json_with(attributes={"a": 1}))
    assert (problem.code, problem.where.pointer) == ("BAD_FIELD", PLACE + "/attributes")
    assert "are a list" in (problem.hint or "")


def test_a_number_of_any_length_is_read_or_refused(read_bytes: Read, json_with: Any) -> None:
    data = json_with({"intValue": 1}).replace(b'"intValue": 1', b'"intValue": ' + b"9" * 5000)
    assert refusal_of(read_bytes, data).code == "BAD_FIELD"
    data = json_with({"doubleValue": 1}).replace(b'"doubleValue": 1', b'"doubleValue": 1e999')
    assert refusal_of(read_bytes, data).code == "BAD_FIELD"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"kind": "SPAN_KIND_CLIENT"}, (3, 0)),
        ({"kind": "CLIENT"}, (3, 0)),
        ({"status": {"code": "STATUS_CODE_ERROR"}}, (1, 2)),
        ({"kind": 2, "status": {"code": 1}}, (2, 1)),
        ({"kind": None, "status": None}, (0, 0)),
    ],
)
def test_an_enum_is_a_number_or_a_name(
    read_bytes: Read, json_with: Any, fields: Any, expected: tuple[int, int]
) -> None:
    (span,), _ = read_bytes(json_with(**({"kind": 1} | fields)))
    assert (span.kind, span.status_code) == expected


@pytest.mark.parametrize(
    ("fields", "code", "place"),
    [
        ({"kind": "CLIENTS"}, "BAD_FIELD", "/kind"),
        ({"status": {"code": "BAD"}}, "BAD_FIELD", "/status/code"),
        ({"droppedAttributesCount": "9" * 30}, "BAD_FIELD", "/droppedAttributesCount"),
        ({"droppedAttributesCount": -1}, "BAD_FIELD", "/droppedAttributesCount"),
        ({"startTimeUnixNano": "--5"}, "BAD_TIME", "/startTimeUnixNano"),
        ({"startTimeUnixNano": None}, "BAD_TIME", "/startTimeUnixNano"),
        ({"startTimeUnixNano": ""}, "BAD_TIME", "/startTimeUnixNano"),
        ({"startTimeUnixNano": 10**40}, "BAD_TIME", "/startTimeUnixNano"),
        ({"endTimeUnixNano": "1796000000000000001.0"}, "BAD_TIME", "/endTimeUnixNano"),
        ({"endTimeUnixNano": -1}, "BAD_TIME", "/endTimeUnixNano"),
        ({"events": [{"timeUnixNano": "soon"}]}, "BAD_TIME", "/events/0"),
        ({"events": [{"attributes": [{"key": "a", "value": {"intValue": "x"}}]}]}, "BAD_FIELD",
         "/events/0/attributes/0/value"),
        ({"parentSpanId": "xyz"}, "BAD_ID", "/parentSpanId"),
        ({"traceId": "01 2 030405060708090a0b0c0d0e0f10"}, "BAD_ID", "/traceId"),
        ({"spanId": "0000000000000000"}, "BAD_ID", "/spanId"),
    ],
)  # fmt: skip
def test_a_field_that_is_wrong_is_refused_with_its_place(
    read_bytes: Read, json_with: Any, fields: Any, code: str, place: str
) -> None:
    problem = refusal_of(read_bytes, json_with(**fields))
    assert (problem.code, problem.where.pointer) == (code, PLACE + place)


@pytest.mark.parametrize("number", [b"1796000000000000001.0", b"1.796e18", b"17960000000000000010E-1"])
def test_a_time_never_goes_through_a_double(read_bytes: Read, json_with: Any, number: bytes) -> None:
    data = json_with().replace(b'"1796000000000000001"', number)
    assert refusal_of(read_bytes, data).code == "BAD_FIELD"


@pytest.mark.parametrize("end", [0, "0", None])
def test_a_span_without_an_end_is_unfinished(read_bytes: Read, json_with: Any, end: Any) -> None:
    (span,), _ = read_bytes(json_with(endTimeUnixNano=end))
    assert span.end_ns == 0


# -- the same in both encodings ----------------------------------------------------------------------------------------


def nested(container: str, depth: int) -> tuple[bytes, str]:
    """Lists or maps within each other, as protobuf (whose own parser stops at 100 messages) and as JSON."""
    raw, text = delimited(5, b""), '{"arrayValue": {}}'
    if container == "map":
        raw, text = delimited(6, b""), '{"kvlistValue": {}}'
    for _ in range(depth - 1):
        if container == "array":
            raw, text = delimited(5, delimited(1, raw)), f'{{"arrayValue": {{"values": [{text}]}}}}'
        else:
            pair = delimited(1, b"k") + delimited(2, raw)
            raw, text = delimited(6, delimited(1, pair)), f'{{"kvlistValue": {{"values": [{{"value": {text}}}]}}}}'
    return raw, text


@pytest.mark.parametrize("container", ["array", "map"])
@pytest.mark.parametrize("wanted", [TOOL, NOBODY])
@pytest.mark.parametrize(("depth", "code"), [(32, None), (33, "TOO_DEEP"), (60, "TOO_DEEP")])
def test_the_limit_of_depth_is_one_for_both_encodings_wanted_or_not(  # noqa: PLR0913, PLR0917 - one for each column
    read_bytes: Read, one_span: Any, json_with: Any, container: str, wanted: Wanted, depth: int, code: str | None
) -> None:
    raw, text = nested(container, depth)
    span = one_span().resource_spans[0].scope_spans[0].spans[0].SerializeToString()
    span += delimited(9, delimited(1, b"tool") + delimited(2, raw))
    as_json = json_with({"stringValue": "XYZ"}).replace(b'{"stringValue": "XYZ"}', text.encode())
    for data in (delimited(1, delimited(2, delimited(2, span))), as_json):
        if code is None:
            assert len(read_bytes(data, wanted=wanted)[0]) == 1
        else:
            problem = refusal_of(read_bytes, data, wanted=wanted)
            assert (problem.code, problem.where.span_ids) == (code, ("0102030405060708",))


@pytest.mark.parametrize("encoding", ["protobuf", "json"])
def test_text_that_is_not_utf_8_matters_only_where_it_is_needed(
    read_bytes: Read, one_span: Any, json_bytes: Any, encoding: str
) -> None:
    def spoilt(**fields: Any) -> bytes:
        traces = one_span(**fields)
        data = traces.SerializeToString() if encoding == "protobuf" else json_bytes(traces)
        assert b"XYZ" in data
        return data.replace(b"XYZ", b"X\xffZ")

    assert len(read_bytes(spoilt(attributes={"prompt": "XYZ", "tool": "t"}), wanted=TOOL)[0]) == 1
    for fields in ({"attributes": {"tool": "XYZ"}}, {"name": "XYZ"}, {"attributes": {"XYZ": "tool"}}):
        problem = refusal_of(read_bytes, spoilt(**fields), wanted=TOOL)
        assert (problem.code, problem.where.span_ids) == ("BAD_ENCODING", ("0102030405060708",))


@pytest.mark.parametrize("text", [b"\\ud800", b"\\udc00\\ud800", b"\\ud83d!", b"\xed\xa0\x80"])
def test_half_a_surrogate_pair_is_no_text(read_bytes: Read, json_with: Any, text: bytes) -> None:
    data = json_with({"stringValue": "XYZ"}).replace(b"XYZ", text)
    assert refusal_of(read_bytes, data).code == "BAD_ENCODING"


def test_a_nul_in_a_text_is_a_character_like_others(read_bytes: Read, one_span: Any, json_bytes: Any) -> None:
    traces = one_span(attributes={"tool": "a\0b"})
    for data in (traces.SerializeToString(), json_bytes(traces)):
        assert read_bytes(data)[0][0].attributes == {"tool": "a\0b"}


# -- keys that stand twice ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        (b'"spans": [', b'"spans": [{}], "spans": [', "spans"),
        (b'"scopeSpans": [', b'"scopeSpans": [{"spans": [{"startTimeUnixNano": 1}]}], "scopeSpans": [', "scopeSpans"),
        (b'"startTimeUnixNano"', b'"startTimeUnixNano": "1", "startTimeUnixNano"', "startTimeUnixNano"),
        (b'"attributes": [{"key": "tool"', b'"attributes": [], "attributes": [{"key": "tool"', "attributes"),
    ],
)
def test_a_key_that_hides_another_is_refused(
    read_bytes: Read, json_with: Any, old: bytes, new: bytes, key: str
) -> None:
    data = json_with({"stringValue": "x"})
    data = data.replace(old, new.replace(b"{}", b'{"startTimeUnixNano": "1"}'), 1)
    problem = refusal_of(read_bytes, data)
    assert (problem.code, problem.found) == ("DUPLICATE_KEY", key)


def test_text_that_looks_like_keys_hides_nothing(read_bytes: Read, json_with: Any) -> None:
    text = '{"startTimeUnixNano": 1, "attributes": [], "attributes": 2} "attributes'
    (span,), _ = read_bytes(json_with({"stringValue": text}))
    assert span.attributes == {"tool": text}


def test_spans_without_attributes_and_with_links_and_events_are_no_fault(read_bytes: Read, json_with: Any) -> None:
    data = json_with(
        attributes=None,
        links=[{"traceId": "ab", "attributes": [{"key": "a", "value": {}}]}, {}],
        events=[{"name": "e", "attributes": []}, {"name": "f"}],
    )
    (span,), _ = read_bytes(data)
    assert [event.name for event in span.events] == ["e", "f"]


def test_one_is_not_true_when_an_attribute_stands_twice(read_bytes: Read, one_span: Any, json_bytes: Any) -> None:
    traces = one_span()
    attributes = traces.resource_spans[0].scope_spans[0].spans[0].attributes
    attributes.add(key="tool").value.int_value = 1
    attributes.add(key="tool").value.bool_value = True
    for data in (traces.SerializeToString(), json_bytes(traces)):
        assert refusal_of(read_bytes, data).code == "BAD_FIELD"


# -- protobuf however it is written ------------------------------------------------------------------------------------


def varint(value: int, wide: bool) -> bytes:
    """A number, in more bytes than it needs if `wide`: parsers take that too."""
    low, high = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(high, False) if high or wide else bytes([low])


def delimited(number: int, content: bytes, wide: bool = False) -> bytes:
    return bytes([number << 3 | 2]) + varint(len(content), wide) + content


texts = st.one_of(st.text(max_size=6), st.integers(110, 140).map(lambda n: "x" * n), st.just("y" * 17_000))


@given(texts, texts, st.booleans(), st.booleans(), st.booleans(), st.booleans())
@fixed
def test_an_attribute_is_the_same_however_its_bytes_are_laid_out(  # noqa: PLR0913, PLR0917 - one for each strategy
    read_bytes: Read, one_span: Any, key: str, text: str, swapped: bool, wide: bool, unknown: bool, twice: bool
) -> None:
    value = delimited(1, text.encode(), wide)
    parts = [delimited(1, key.encode(), wide), delimited(2, value, wide)]
    if twice:  # of a repeated scalar the last counts
        parts.insert(0, delimited(1, b"another"))
    if unknown:
        parts.append(delimited(15, b"unknown"))
    pair = b"".join(reversed(parts) if swapped and not twice else parts)
    span = one_span().resource_spans[0].scope_spans[0].spans[0].SerializeToString() + delimited(9, pair)
    data = delimited(1, delimited(2, delimited(2, span)))
    (read,), _ = read_bytes(data)
    assert read.attributes == {key: text}


@pytest.mark.parametrize(
    ("pair", "attributes"), [(b"", {"": None}), (b"\x0a\x01a", {"a": None}), (b"\x12\x00", {"": None})]
)
def test_an_attribute_without_key_or_value_is_read_as_it_is(
    read_bytes: Read, one_span: Any, pair: bytes, attributes: Any
) -> None:
    span = one_span().resource_spans[0].scope_spans[0].spans[0].SerializeToString() + delimited(9, pair)
    (read,), _ = read_bytes(delimited(1, delimited(2, delimited(2, span))))
    assert read.attributes == attributes


def test_a_list_belongs_to_its_span_alone(read_bytes: Read, one_span: Any) -> None:
    traces = one_span()
    spans = traces.resource_spans[0].scope_spans[0].spans
    spans[0].attributes.add(key="tool").value.array_value.values.add(int_value=1)
    spans.add().CopyFrom(spans[0])
    one, other = read_bytes(traces.SerializeToString())[0]
    assert one.attributes == other.attributes == {"tool": [1]}
    assert one.attributes["tool"] is not other.attributes["tool"]


def test_a_refusal_says_the_byte_and_the_ids_of_the_span(read_bytes: Read, one_span: Any) -> None:
    traces = one_span()
    spans = traces.resource_spans[0].scope_spans[0].spans
    spans.add().CopyFrom(spans[0])
    spans[1].span_id = b"\xab" * 8
    spans[1].start_time_unix_nano = 1_796_000_000
    data = traces.SerializeToString()
    problem = refusal_of(read_bytes, data)
    assert (problem.code, problem.where.span_ids) == ("BAD_TIME", ("abababababababab",))
    offset = problem.where.offset or 0
    assert data[offset : offset + len(spans[1].SerializeToString())] == spans[1].SerializeToString()


def test_a_damaged_span_among_others_is_found_by_its_byte(read_bytes: Read, one_span: Any) -> None:
    traces = one_span()
    spans = traces.resource_spans[0].scope_spans[0].spans
    spans.add().CopyFrom(spans[0])
    spans[1].name = "XYZ"
    data = traces.SerializeToString().replace(b"XYZ", b"X\xffZ")
    problem = refusal_of(read_bytes, data)
    assert (problem.code, problem.where.trace_id) == ("BAD_ENCODING", "0102030405060708090a0b0c0d0e0f10")
    assert b"X\xffZ" in data[problem.where.offset :]
    assert b"step" not in data[problem.where.offset :]


SMALL = (Path(__file__).parents[2] / "samples/producers/pydantic-ai@1.0.10-v1/01_supported.pb").read_bytes()


def plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    inner = getattr(value, kind) if kind else None
    if kind == "array_value":
        return [plain(item) for item in inner.values]
    return {pair.key: plain(pair.value) for pair in inner.values} if kind == "kvlist_value" else inner


def by_the_generated_classes(data: bytes) -> list[tuple[Any, ...]]:
    """Every span as the real parser sees it."""
    return [
        (
            span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex(), span.name, span.start_time_unix_nano,
            span.end_time_unix_nano, repr({pair.key: plain(pair.value) for pair in span.attributes}),
            [event.name for event in span.events], span.status.code, span.status.message, span.kind,
            span.dropped_attributes_count, scoped.scope.name,
        )
        for group in TracesData.FromString(data).resource_spans
        for scoped in group.scope_spans
        for span in scoped.spans
    ]  # fmt: skip


@given(st.integers(0, len(SMALL) - 1), st.one_of(st.integers(0, 255), st.sampled_from(b"\x0a\x12\x2a\x32\x4a\x5a\x7a")))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)
def test_what_is_read_of_damaged_bytes_is_what_the_real_parser_reads(read_bytes: Read, at: int, byte: int) -> None:
    data = SMALL[:at] + bytes([byte]) + SMALL[at + 1 :]
    try:
        spans, tally = read_bytes(data)
        expected = by_the_generated_classes(data)
    except (Refusal, DecodeError):  # the one is stricter on ids and times, the other on fields that no span keeps
        return
    if tally.records_aside:
        return
    assert [
        (
            span.trace_id, span.span_id, span.parent_id, span.name, span.start_ns, span.end_ns, repr(span.attributes),
            [event.name for event in span.events], span.status_code, span.status_message, span.kind, span.dropped,
            span.origin.scope_name,
        )
        for span in spans
    ] == expected  # fmt: skip


# -- documents in a row, and memory ------------------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.integers(0, 40_000), st.sampled_from([None, 1, 4]), st.sampled_from(["", "\n", " \r\n\n"])),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 3000),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
def test_documents_in_any_row_are_all_read(
    one_span: Any, json_document: Any, row: list[tuple[int, int | None, str]], piece: int
) -> None:
    text = ""
    for number, (size, indent, gap) in enumerate(row):
        traces = one_span(span_id=bytes([number + 1] * 8), attributes={"tool": "é" * size})
        text += json.dumps(json_document(traces), indent=indent, ensure_ascii=False) + gap
    reading = Reading(wanted=TOOL, tally=Tally(), limits=Limits(), now_ns=1_796_200_000_000_000_000)
    stream: Any = Pieces(text.encode(), piece)
    spans = list(SOURCE.decode(Input("traces", stream), reading))
    assert [span.span_id for span in spans] == [f"{number + 1:02x}" * 8 for number in range(len(row))]
    assert [len(span.attributes["tool"]) for span in spans] == [size for size, _, _ in row]


class Pieces(io.RawIOBase):
    """A stream that gives a few bytes at a time, as a pipe does."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data = io.BytesIO(data)
        self._size = size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._data.read(min(size, self._size) if size > 0 else self._size)


def test_a_document_larger_than_a_piece_is_cut_at_no_number(
    read_bytes: Read, one_span: Any, json_document: Any
) -> None:
    """The stream is read on in pieces of a megabyte: wherever one ends, the document goes on."""
    for size in range(2**20 - 460, 2**20 - 180):
        document = {"a": "x" * size, **json_document(one_span())}
        text = json.dumps(document, indent=1).encode()
        assert len(read_bytes(text)[0]) == 1


class Endless(io.RawIOBase):
    """A stream that never ends, and counts what was taken from it."""

    def __init__(self, part: bytes) -> None:
        self._part, self.given = part, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = min(len(buffer), len(self._part) - self.given % len(self._part))
        start = self.given % len(self._part)
        buffer[:size] = self._part[start : start + size]
        self.given += size
        return size


@pytest.mark.parametrize("encoding", ["protobuf", "json lines", "pretty"])
def test_spans_come_while_the_input_is_still_being_read(
    one_span: Any, json_document: Any, json_bytes: Any, encoding: str
) -> None:
    traces = one_span(attributes={"tool": "x" * 1000})
    parts = {
        "protobuf": traces.SerializeToString(),
        "json lines": json_bytes(traces) + b"\n",
        "pretty": json.dumps(json_document(traces), indent=1).encode() + b"\n",
    }
    stream = Endless(parts[encoding])
    reading = Reading(wanted=TOOL, tally=Tally(), limits=Limits(), now_ns=1_796_200_000_000_000_000)
    spans: Iterator[Span] = SOURCE.decode(Input("traces", io.BufferedReader(stream)), reading)
    for _ in range(2000):
        next(spans)
    assert stream.given < 2000 * len(parts[encoding]) + 8 * 2**20
