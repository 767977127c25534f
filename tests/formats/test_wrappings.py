"""Each format in each wrapping: recognised by its content, and read the same."""

import gzip
import io
import json
import struct
from collections.abc import Callable
from typing import Any

import pytest
import zstandard
from labadapt.adapters.choice import choose
from labadapt.adapters.registry import sources
from labadapt.adapters.span import Input, Limits, Reading, Span, Tally, Wanted
from labadapt.schema.problems import Refusal

NOW = 1_796_200_000_000_000_000
PATHS = [
    "clickhouse-old.json", "clickhouse.jsonl", "go-stdout.txt", "go-structs.json", "jaeger-1.json", "jaeger-3.json",
    "java-logging.log", "mlflow-2.json", "mlflow-3.json", "phoenix-otlp.json", "phoenix.json", "protojson.json",
    "python-console.txt", "tempo-1.json", "tempo-2.json", "tempo-2.pb", "zipkin-collector.json", "zipkin-python.json",
]  # fmt: skip
every = pytest.mark.parametrize("path", PATHS)


def read(data: bytes) -> list[list[Any]]:
    """The spans, by the source that the content asks for, in an order of their own and without their places."""
    item = Input("traces", io.BufferedReader(io.BytesIO(data), 65_536))  # type: ignore[arg-type] # any raw stream
    reading = Reading(Wanted(everything=True), Tally(), Limits(), NOW)
    spans = choose(item, sources().admitted(), Limits()).decode(item, reading)
    return sorted(([span.span_id, repr(without_place(span))] for span in spans), key=repr)


def without_place(span: Span) -> list[Any]:
    return [getattr(span, field) for field in span.__struct_fields__ if field != "where"]


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def framed(*messages: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(message)) + message for message in messages)


WRAPPINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "gzip of many members": lambda data: b"".join(
        gzip.compress(data[at : at + 999]) for at in range(0, len(data), 999)
    ),
    "gzip padded with zeros": lambda data: gzip.compress(data) + bytes(512),
    "zstd": zstd,
    "zstd of many frames": lambda data: b"".join(zstd(data[at : at + 999]) for at in range(0, len(data), 999)),
    "zstd behind a frame without content": lambda data: b"\x50\x2a\x4d\x18\x03\0\0\0abc" + zstd(data),
    "gzip of zstd": lambda data: gzip.compress(zstd(data)),
    "framed": framed,
    "framed zstd": lambda data: framed(zstd(data)),
    "gzip of framed": lambda data: gzip.compress(framed(data)),
}
OF_TEXT: dict[str, Callable[[bytes], bytes]] = {
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "utf-16 le": lambda data: b"\xff\xfe" + data.decode().encode("utf-16-le"),
    "utf-16 be": lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"),
    "gzip of utf-16": lambda data: gzip.compress(data.decode().encode("utf-16")),
    "blank lines first": lambda data: b"\n \r\n" + data,
    "line feeds of Windows": lambda data: data.replace(b"\n", b"\r\n"),
    "no line feed at the end": lambda data: data.rstrip(),
}


@every
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_wrapped_file_is_the_same(sample: Callable[[str], bytes], path: str, wrapping: str) -> None:
    data = sample(f"formats/{path}")
    assert read(WRAPPINGS[wrapping](data)) == read(data)


@pytest.mark.parametrize("path", [path for path in PATHS if not path.endswith(".pb")])
@pytest.mark.parametrize("writing", OF_TEXT)
def test_text_in_another_writing_is_the_same(sample: Callable[[str], bytes], path: str, writing: str) -> None:
    data = sample(f"formats/{path}")
    assert read(OF_TEXT[writing](data)) == read(data)


@every
def test_two_messages_of_one_file_are_both_read(sample: Callable[[str], bytes], path: str) -> None:
    data = sample(f"formats/{path}")
    once = read(data)
    assert read(framed(data, zstd(data))) == sorted(once * 2, key=repr)
    assert read(zstd(data) + zstd(b"\n" * (not path.endswith(".pb")) + data)) == sorted(once * 2, key=repr)


@pytest.mark.parametrize("first", ["zipkin-python.json", "jaeger-1.json", "clickhouse.jsonl", "python-console.txt"])
@pytest.mark.parametrize("second", ["tempo-1.json", "protojson.json", "zipkin-collector.json", "go-stdout.txt"])
def test_another_format_behind_the_first_is_named(sample: Callable[[str], bytes], first: str, second: str) -> None:
    if first[:6] == second[:6]:
        pytest.skip("one format")
    with pytest.raises(Refusal) as refusal:
        read(sample(f"formats/{first}").rstrip() + b"\n" + sample(f"formats/{second}"))
    problem = refusal.value.problems[0]
    assert problem.code == "UNSUPPORTED_FORMAT"
    assert (problem.hint or "").startswith("`labadapt ")
    assert problem.where.line == sample(f"formats/{first}").rstrip().count(b"\n") + 2


@pytest.mark.parametrize("path", [path for path in PATHS if path.endswith((".json", ".jsonl"))])
def test_documents_with_anything_or_nothing_between(sample: Callable[[str], bytes], path: str) -> None:
    text = sample(f"formats/{path}").decode()
    decoder, at, documents = json.JSONDecoder(), 0, []
    while at < len(text.rstrip()):
        document, at = decoder.raw_decode(text, at + (len(text[at:]) - len(text[at:].lstrip())))
        documents.append(document)
    expected = sorted(read(text.encode()) * 2, key=repr)
    for layout in ({"indent": 2}, {"separators": (",", ":")}):
        for between in ("", "\n", "\n\n \n", " "):
            data = between.join(json.dumps(document, **layout) for document in documents * 2)
            assert read(data.encode()) == expected, (layout, between)


def test_other_signals_in_one_file_are_counted(sample: Callable[[str], bytes]) -> None:
    data = sample("producers/pydantic-ai@2.68.0-v5/02_timeout_recovered.pb")
    logs = b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}'
    metrics = b'{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"a","sum":{}}]}]}]}'
    assert read(framed(logs, data, metrics)) == read(data)
