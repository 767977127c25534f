"""The same spans get the same verdict in both encodings: what is wrong with them, and which span it is."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from labadapt.adapters.span import Span, Tally, Wanted
from labadapt.schema.problems import Refusal

Read = Callable[..., tuple[list[Span], Tally]]
Verdict = tuple[str, str | None, tuple[str, ...]]
TOOL = Wanted(frozenset({"tool"}), events=frozenset({"wanted"}))
TRACE, SPAN = bytes(range(1, 17)), bytes(range(1, 9))
TIME = 1_796_000_000_000_000_001
PLACES = (
    "span", "unwanted attribute of the span", "resource", "scope", "event", "event nobody wants", "link",
)  # fmt: skip


def delimited(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def fixed(number: int, value: int) -> bytes:
    return varint(number << 3 | 1) + value.to_bytes(8, "little")


class Export:
    """One span in both encodings, written by hand, so that anything can be wrong with it.

    Texts are bytes. `attributes`: by place, of key and value, each value in both encodings.
    """

    def __init__(self, **fields: Any) -> None:
        given = {
            "trace_id": TRACE, "span_id": SPAN, "parent_id": b"", "name": b"step", "state": b"", "start": TIME,
            "end": TIME + 998, "event": TIME + 5, "status": b"", "code": 0, "kind": 1, "dropped": 0, "scope": b"scope",
            "version": b"1", "schema": b"", "event_name": b"wanted", "attributes": {},
        }  # fmt: skip
        assert given.keys() >= fields.keys()
        self.given = given | fields

    def _pairs(self, number: int, place: str) -> bytes:
        return b"".join(
            delimited(number, delimited(1, key) + delimited(2, raw))
            for key, raw, _ in self.given["attributes"].get(place, [])
        )

    def _json_pairs(self, place: str) -> bytes:
        pairs = (b'{"key":"%s","value":%s}' % (key, text) for key, _, text in self.given["attributes"].get(place, []))
        return b"[" + b",".join(pairs) + b"]"

    def protobuf(self) -> bytes:
        g = self.given
        event = fixed(1, g["event"]) + delimited(2, g["event_name"]) + self._pairs(3, "event")
        link = delimited(1, TRACE) + delimited(2, SPAN) + self._pairs(4, "link")
        span = (
            delimited(1, g["trace_id"]) + delimited(2, g["span_id"]) + delimited(3, g["state"])
            + delimited(4, g["parent_id"]) + delimited(5, g["name"]) + varint(6 << 3) + varint(g["kind"])
            + fixed(7, g["start"]) + fixed(8, g["end"]) + self._pairs(9, "span") + varint(10 << 3)
            + varint(g["dropped"]) + delimited(11, event) + delimited(13, link)
            + delimited(15, delimited(2, g["status"]) + varint(3 << 3) + varint(g["code"]))
        )  # fmt: skip
        scope = delimited(1, g["scope"]) + delimited(2, g["version"]) + self._pairs(3, "scope")
        scoped = delimited(1, scope) + delimited(2, span) + delimited(3, g["schema"])
        return delimited(1, delimited(1, self._pairs(1, "resource")) + delimited(2, scoped))

    def json(self) -> bytes:
        g = self.given
        text = (
            b'{"resourceSpans":[{"resource":{"attributes":%(resource)s},"scopeSpans":[{"schemaUrl":"%(schema)s","scope":'
            b'{"name":"%(scope)s","version":"%(version)s","attributes":%(scope_attributes)s},"spans":[{"traceId":"%(trace)s",'
            b'"spanId":"%(span)s","parentSpanId":"%(parent)s","traceState":"%(state)s","name":"%(name)s","kind":%(kind)d,'
            b'"startTimeUnixNano":"%(start)d","endTimeUnixNano":"%(end)d","attributes":%(attributes)s,'
            b'"droppedAttributesCount":%(dropped)d,"events":[{"timeUnixNano":"%(event)d","name":"%(event_name)s",'
            b'"attributes":%(event_attributes)s}],"links":[{"traceId":"%(trace)s","spanId":"%(span)s","attributes":%(links)s}],'
            b'"status":{"message":"%(status)s","code":%(code)d}}]}]}]}'
        )  # fmt: skip
        written = {key: value for key, value in g.items() if key != "attributes"}
        return text % {
            **{key.encode(): value for key, value in written.items()},
            b"trace": g["trace_id"].hex().encode(),
            b"span": g["span_id"].hex().encode(),
            b"parent": g["parent_id"].hex().encode(),
            b"resource": self._json_pairs("resource"),
            b"scope_attributes": self._json_pairs("scope"),
            b"attributes": self._json_pairs("span"),
            b"event_attributes": self._json_pairs("event"),
            b"links": self._json_pairs("link"),
        }


def verdict(read_bytes: Read, data: bytes, **given: Any) -> Verdict:
    """``read`` or the code, with the trace and the spans that the refusal names."""
    try:
        spans, _ = read_bytes(data, **given)
    except Refusal as refusal:
        problem = refusal.problems[0]
        assert problem.where.file == "traces"
        assert problem.where.line is not None or problem.where.offset is not None
        return problem.code, problem.where.trace_id, problem.where.span_ids
    assert len(spans) == 1
    return "read", None, ()


def both(read_bytes: Read, export: Export, **given: Any) -> tuple[Verdict, Verdict]:
    return verdict(read_bytes, export.protobuf(), **given), verdict(read_bytes, export.json(), **given)


def text_value(text: bytes) -> tuple[bytes, bytes]:
    return delimited(1, text), b'{"stringValue":"%s"}' % text


def nested(kind: str, depth: int, text: bytes = b"x") -> tuple[bytes, bytes]:
    """A text within lists or maps, in both encodings."""
    raw, written = text_value(text)
    for _ in range(depth):
        if kind == "list":
            raw, written = delimited(5, delimited(1, raw)), b'{"arrayValue":{"values":[%s]}}' % written
        else:
            raw = delimited(6, delimited(1, delimited(1, b"k") + delimited(2, raw)))
            written = b'{"kvlistValue":{"values":[{"key":"k","value":%s}]}}' % written
    return raw, written


def placed(place: str, value: tuple[bytes, bytes]) -> Export:
    """A span with a value somewhere; under the key `tool`, which is wanted, unless the place says otherwise."""
    key = b"other" if place.startswith("unwanted") else b"tool"
    if place == "event nobody wants":
        return Export(attributes={"event": [(key, *value)]}, event_name=b"other")
    inside = "span" if "span" in place else place
    return Export(attributes={inside: [(key, *value)]})


def test_the_span_that_is_compared_is_read_the_same(read_bytes: Read, contents: Any) -> None:
    export = Export(
        attributes={place: [(b"tool", *nested("map", 3))] for place in ("span", "resource", "scope", "event", "link")},
        status=b"why", code=2, dropped=3, parent_id=bytes(range(2, 10)), state=b"a=b", schema=b"https://schema",
    )  # fmt: skip
    spans, _ = read_bytes(export.protobuf())
    assert contents(spans) == contents(read_bytes(export.json())[0])
    assert spans[0].attributes == {"tool": {"k": {"k": {"k": "x"}}}}
    assert json.loads(export.json())


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["list", "map"])
@pytest.mark.parametrize("depth", [32, 33, 50, 99, 100, 101, 1_000, 5_000])
def test_depth_is_judged_alike_wherever_it_is(read_bytes: Read, place: str, kind: str, depth: int) -> None:
    protobuf, written = both(read_bytes, placed(place, nested(kind, depth)), wanted=TOOL)
    assert protobuf[0] == written[0]
    assert protobuf[0] == ("TOO_DEEP" if depth > 32 else "read")


TEXTS: list[tuple[str, dict[str, Any], str]] = [
    ("name", {"name": b"X\xffZ"}, "BAD_ENCODING"),
    ("status", {"status": b"X\xffZ"}, "BAD_ENCODING"),
    ("state", {"state": b"X\xffZ"}, "read"),
    ("schema", {"schema": b"X\xffZ"}, "read"),
    ("scope", {"scope": b"X\xffZ"}, "BAD_ENCODING"),
    ("version", {"version": b"X\xffZ"}, "BAD_ENCODING"),
    ("event name", {"event_name": b"X\xffZ"}, "BAD_ENCODING"),
    *((f"key in {place}", {"attributes": {place: [(b"X\xffZ", *text_value(b"x"))]}}, "BAD_ENCODING")
      for place in ("span", "resource", "scope", "event")),
    *((f"value in {place}", {"attributes": {place: [(b"tool", *text_value(b"X\xffZ"))]}}, "BAD_ENCODING")
      for place in ("span", "resource", "scope", "event")),
    *((f"value nobody wants in {place}", {"attributes": {place: [(b"other", *text_value(b"X\xffZ"))]}}, "read")
      for place in ("span", "resource", "scope", "event", "link")),
    ("key in link", {"attributes": {"link": [(b"X\xffZ", *text_value(b"x"))]}}, "read"),
    ("value in an event nobody wants",
     {"event_name": b"other", "attributes": {"event": [(b"tool", *text_value(b"X\xffZ"))]}}, "read"),
    ("key in an event nobody wants",
     {"event_name": b"other", "attributes": {"event": [(b"X\xffZ", *text_value(b"x"))]}}, "read"),
    ("in a list", {"attributes": {"span": [(b"tool", *nested("list", 3, b"X\xffZ"))]}}, "BAD_ENCODING"),
    ("in a map", {"attributes": {"span": [(b"tool", *nested("map", 3, b"X\xffZ"))]}}, "BAD_ENCODING"),
    ("in a list nobody wants", {"attributes": {"span": [(b"other", *nested("list", 3, b"X\xffZ"))]}}, "read"),
]  # fmt: skip


@pytest.mark.parametrize(("title", "fields", "code"), TEXTS, ids=[title for title, _, _ in TEXTS])
@pytest.mark.parametrize("bad", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"])
def test_text_that_is_not_utf_8_is_judged_alike(
    read_bytes: Read, title: str, fields: dict[str, Any], code: str, bad: bytes
) -> None:
    export = Export(**_with(fields, bad))
    protobuf, written = both(read_bytes, export, wanted=TOOL)
    assert (protobuf[0], written[0]) == (code, code)
    if code != "read" and title not in {"scope", "version"} and not title.endswith((" resource", " scope")):
        assert protobuf[1:] == written[1:] == (TRACE.hex(), (SPAN.hex(),))


def _with(value: Any, bad: bytes) -> Any:
    """The fields with other bytes in the place of the bad one; lengths in protobuf are written anew."""
    if isinstance(value, dict):
        return {key: _with(inner, bad) for key, inner in value.items()}
    if isinstance(value, list):
        return [(_with(key, bad), *_rewritten(raw, text, bad)) for key, raw, text in value]
    return value.replace(b"\xff", bad) if isinstance(value, bytes) else value


def _rewritten(raw: bytes, text: bytes, bad: bytes) -> tuple[bytes, bytes]:
    if b"\xff" not in raw:
        return raw, text
    for kind in ("list", "map"):
        for depth in (0, 3):
            if nested(kind, depth, b"X\xffZ") == (raw, text):
                return nested(kind, depth, b"X" + bad + b"Z")
    raise AssertionError(raw)


@pytest.mark.parametrize("field", ["trace_id", "span_id", "parent_id"])
@pytest.mark.parametrize("size", range(40))
@pytest.mark.parametrize("zero", [True, False])
def test_ids_of_any_length_are_judged_alike(read_bytes: Read, field: str, size: int, zero: bool) -> None:
    identifier = bytes(size) if zero else b"\xa5\x5a\x01\x7f\xff\x80\x10\x08" * 5
    protobuf, written = both(read_bytes, Export(**{field: identifier[:size]}))
    assert protobuf == written
    right = 16 if field == "trace_id" else 8
    zero_is_none = field == "parent_id" and zero
    fine = (size == right and (not zero or zero_is_none)) or (size == 0 and field == "parent_id")
    assert protobuf[0] == ("read" if fine else "BAD_ID")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"start": 0}, "BAD_TIME"),
        ({"start": TIME // 1_000}, "BAD_TIME"),
        ({"start": 946_684_799_999_999_999}, "BAD_TIME"),
        ({"start": 946_684_800_000_000_000}, "read"),
        ({"end": TIME // 1_000_000}, "BAD_TIME"),
        ({"end": 0}, "read"),
        ({"end": TIME - 1}, "read"),  # what it means is said of the run
        ({"end": 2**64 - 1}, "BAD_TIME"),
        ({"start": 2**63}, "BAD_TIME"),
        ({"event": 0}, "read"),
        ({"event": 2**64 - 1}, "read"),
        ({"kind": 0}, "read"),
        ({"kind": 17}, "read"),
        ({"kind": 2**31 - 1}, "read"),
        ({"code": 3}, "read"),
        ({"dropped": 2**32 - 1}, "read"),
    ],
    ids=str,
)
def test_numbers_are_judged_alike(read_bytes: Read, contents: Any, fields: dict[str, int], code: str) -> None:
    export = Export(**fields)
    protobuf, written = both(read_bytes, export)
    assert protobuf == written
    assert protobuf[0] == code
    if code == "read":
        assert contents(read_bytes(export.protobuf())[0]) == contents(read_bytes(export.json())[0])


@pytest.mark.parametrize("place", ["span", "resource", "scope", "event"])
def test_a_key_that_stands_twice_is_judged_alike(read_bytes: Read, place: str) -> None:
    for other, code in ((b"one", "read"), (b"two", "BAD_FIELD")):
        pairs = [(b"tool", *text_value(b"one")), (b"tool", *text_value(other))]
        protobuf, written = both(read_bytes, Export(attributes={place: pairs}), wanted=TOOL)
        assert (protobuf[0], written[0]) == (code, code)


@pytest.mark.parametrize("lines", [1, 2])
def test_one_message_that_is_too_large_is_judged_alike(read_bytes: Read, lines: int) -> None:
    """`max_span` is 1,000 bytes here, a message may have eight times as many."""
    for size, code in ((5_000, "read"), (9_000, "TOO_LARGE")):
        export = placed("unwanted attribute of the span", text_value(b"x" * size))
        protobuf = verdict(read_bytes, export.protobuf(), max_span=1_000)
        written = verdict(read_bytes, export.json() if lines == 1 else export.json()[:-1] + b"\n}", max_span=1_000)
        assert (protobuf[0], written[0]) == (code, code)


@pytest.mark.parametrize("place", ["span", "resource", "event"])
def test_nul_and_control_characters_are_characters_in_both(read_bytes: Read, contents: Any, place: str) -> None:
    text = "\x1b[2J\x00\x9b\u202e\n"
    value = (delimited(1, text.encode()), b'{"stringValue":%s}' % json.dumps(text).encode())
    export = placed(place, value)
    assert contents(read_bytes(export.protobuf())[0]) == contents(read_bytes(export.json())[0])


TEXT = st.sampled_from([b"", b"x", b"X\xffZ", "é🙂".encode(), b"*" * 200, b"2" * 200])
LENGTHS = st.sampled_from([0, 8, 12, 16, 24, 5])
MADE = st.tuples(st.sampled_from(["list", "map"]), st.sampled_from([0, 1, 32, 33, 60]), TEXT).map(
    lambda of: nested(*of)
)
PAIRS = st.lists(
    st.tuples(st.sampled_from([b"tool", b"other", b"X\xff"]), MADE).map(lambda of: (of[0], *of[1])), max_size=2
)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    fields=st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(["name", "state", "status", "scope", "version", "schema"], TEXT),
            "event_name": st.sampled_from([b"wanted", b"other", b"X\xff"]),
            "attributes": st.dictionaries(st.sampled_from(["span", "resource", "scope", "event", "link"]), PAIRS),
            "start": st.sampled_from([TIME, TIME, 0, TIME // 1_000]),
            "end": st.sampled_from([TIME, TIME + 5, 0, 5]),
            "parent_id": LENGTHS.map(lambda size: b"\xa5" * size),
            "kind": st.integers(0, 2**31 - 1),
            "dropped": st.integers(0, 2**32 - 1),
        },
    )
)
def test_any_faults_together_refuse_both_or_neither(read_bytes: Read, contents: Any, fields: dict[str, Any]) -> None:
    export = Export(**fields)
    protobuf, written = both(read_bytes, export, wanted=TOOL)
    assert (protobuf[0] == "read") is (written[0] == "read")
    if protobuf[0] == "read":
        spans = [read_bytes(data, wanted=TOOL)[0] for data in (export.protobuf(), export.json())]
        assert contents(spans[0]) == contents(spans[1])
