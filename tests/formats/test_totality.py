"""Whatever the bytes: spans, or a refusal that says where; never anything else."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from labadapt.adapters.span import Span, Tally
from labadapt.schema.problems import CODES, Refusal

Read = Callable[..., tuple[list[Span], Tally]]
FORMATS = Path(__file__).parents[2] / "samples" / "formats"
SOURCES = {
    "protojson.json": "protojson",
    "go-structs.json": "protojson",
    "tempo-1.json": "tempo",
    "tempo-2.json": "tempo",
    "tempo-2.pb": "tempo",
    "jaeger-1.json": "jaeger",
    "jaeger-3.json": "jaeger",
    "zipkin-collector.json": "zipkin",
    "zipkin-python.json": "zipkin",
    "clickhouse.jsonl": "clickhouse",
    "clickhouse-old.json": "clickhouse",
    "phoenix.json": "phoenix",
    "phoenix-otlp.json": "phoenix",
    "mlflow-3.json": "mlflow",
    "mlflow-2.json": "mlflow",
    "python-console.txt": "python-console",
    "go-stdout.txt": "go-stdout",
    "java-logging.log": "java-logging",
}
every = pytest.mark.parametrize("name", SOURCES)
some = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
PARTS = st.sampled_from(
    [
        b"",
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b",",
        b"null",
        b"0",
        b"\x00",
        b"\xff",
        b"\\ud800",
        b"\xef\xbb\xbf",
        b"\n",
        b"1e999",
    ]
) | st.binary(max_size=4)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40)
    | st.sampled_from(["0" * 32, "0x" + "a" * 16, "NaN", "1" * 400, "2026-13-41T99:99:99Z", "{}", 10**400])
    | st.just(-(2**63) - 1)
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner))


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def total(read_with: Read, source: str, data: bytes) -> None:
    try:
        spans, tally = read_with(source, data)
    except Refusal as refusal:
        for problem in refusal.problems:
            assert problem.code in CODES
            assert problem.code != "INTERNAL"
            assert problem.where.file == "traces"
    else:
        assert len(spans) == tally.read > 0
        for span in spans:
            assert len(span.trace_id) == 32
            assert len(span.span_id) == 16
            assert len(span.parent_id) in {0, 16}
            assert type(span.start_ns) is type(span.end_ns) is int


@every
@some
@given(data=st.data())
def test_damaged_bytes(read_with: Read, name: str, data: Any) -> None:
    whole = (FORMATS / name).read_bytes()
    at = data.draw(st.integers(0, len(whole)))
    gone = data.draw(st.integers(0, 40))
    total(read_with, SOURCES[name], whole[:at] + data.draw(PARTS) + whole[at + gone :])


@every
def test_a_file_that_is_cut(read_with: Read, name: str) -> None:
    whole = (FORMATS / name).read_bytes()
    for size in range(0, len(whole), len(whole) // 60):
        total(read_with, SOURCES[name], whole[:size])


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value within a document."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


def first_document(name: str) -> Any:
    text = (FORMATS / name).read_text()
    if name.endswith(".log"):
        return json.loads(next(line for line in text.splitlines() if "{" in line).removeprefix("INFO: "))
    return json.JSONDecoder().raw_decode(text)[0]


DOCUMENTS = {name: first_document(name) for name in SOURCES if not name.endswith(".pb")}
PLACES = {name: list(places(document)) for name, document in DOCUMENTS.items()}
json_only = pytest.mark.parametrize("name", DOCUMENTS)


@json_only
@some
@given(data=st.data())
def test_a_value_of_another_type_anywhere(read_with: Read, name: str, data: Any) -> None:
    path = data.draw(st.sampled_from(PLACES[name]))
    document = changed(DOCUMENTS[name], path, data.draw(VALUES))
    total(read_with, SOURCES[name], json.dumps(document).encode())


@json_only
@pytest.mark.parametrize(
    "new", [None, True, 0, -1, 2**64, 1.5, "", "x", [], {}, [[]], [{}], {"a": {}}, nested(40)], ids=repr
)
def test_any_field_of_another_type(read_with: Read, name: str, new: Any) -> None:
    seen = set()
    for path in PLACES[name]:
        kind = tuple(key if isinstance(key, str) else "[]" for key in path)
        if kind not in seen:
            seen.add(kind)
            total(read_with, SOURCES[name], json.dumps(changed(DOCUMENTS[name], path, new)).encode())


@pytest.mark.parametrize("source", sorted(set(SOURCES.values())))
@some
@given(data=st.binary(max_size=80) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_anything_at_all(read_with: Read, source: str, data: bytes) -> None:
    total(read_with, source, data)
