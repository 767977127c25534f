"""The same bytes are recognised and read alike, however they arrive."""

import gzip
import io
import json
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import zstandard
from labadapt.adapters.reading.layers import is_framed, payloads
from labadapt.adapters.registry import sources
from labadapt.adapters.span import Input, Limits, Span, Tally
from labadapt.schema.problems import Problem, Refusal

Read = Callable[..., tuple[list[Span], Tally]]
ROOT = Path(__file__).parents[2]
PYDANTIC = "producers/pydantic-ai@2.68.0-v5/02_timeout_recovered.pb"


@pytest.mark.parametrize(
    "path",
    ["clickhouse.jsonl", "tempo-2.pb", "java-logging.log", "jaeger-3.json", "zipkin-python.json.gz"],
)
def test_a_slow_pipe_is_recognised_as_a_file_is(sample: Callable[[str], bytes], path: str) -> None:
    data = sample(f"formats/{path.removesuffix('.gz')}")
    data = gzip.compress(data, mtime=0) if path.endswith(".gz") else data
    command = [sys.executable, "-m", "labadapt", "convert", "-", "--case", "one", "--policy", "p"]
    whole = subprocess.run(command, input=data, capture_output=True, check=False, cwd=ROOT)
    assert whole.returncode == 0
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as slow:
        assert slow.stdin is not None
        for piece in (data[:1], data[1:3], data[3:100], data[100:]):
            slow.stdin.write(piece)
            slow.stdin.flush()
            time.sleep(0.05)
        out, _ = slow.communicate()
    assert (slow.returncode, out) == (0, whole.stdout)


def test_members_of_a_few_bytes_are_recognised(
    chosen_for: Callable[[bytes], str], sample: Callable[[str], bytes]
) -> None:
    data = sample("formats/clickhouse.jsonl")
    pieces = [data[at : at + 40] for at in range(0, len(data), 40)]
    assert chosen_for(b"".join(gzip.compress(piece) for piece in pieces)) == "clickhouse"
    assert chosen_for(b"".join(zstandard.ZstdCompressor().compress(piece) for piece in pieces)) == "clickhouse"


@pytest.mark.parametrize(
    ("head", "framed"),
    [
        (b"\x00\x00\x10\x00\x0a\x05", True),
        (b"\x0a\x7b\x00\x00\x28\xb5\x2f\xfd", True),  # 175 MB of zstd
        (b"\x0b\x00\x00\x00\x0a\x90\x4e\x0a\x80\x02", True),  # 184 MB of protobuf
        (b"\x0a\x34\x56\x78\x0a\x90\x4e\x0a\x80\x02", True),  # 171 MB of protobuf
        (b"\x0a\x90\x4e\x0a\x80\x02\x0a\x10", False),
        (b"\n{\n\n{", False),
        (b'{"resourceSpans":[]}', False),
        (b"\x28\xb5\x2f\xfd\x00\x00", False),
    ],
)
def test_the_length_of_a_large_message_is_told_from_what_follows(head: bytes, framed: bool) -> None:
    assert is_framed(head) is framed


def test_a_message_of_more_than_160_megabytes_is_read_in_pieces(sample: Callable[[str], bytes]) -> None:
    """Its length begins with a byte that protobuf begins with as well. Nothing of it is held whole."""
    one = sample(PYDANTIC)
    count = 170 * 2**20 // len(one) + 1
    size = struct.pack(">I", len(one) * count)

    class Stream(io.RawIOBase):
        def __init__(self) -> None:
            self.left, self.data = count, size

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray) -> int:  # type: ignore[override] # any buffer
            if not self.data and self.left:
                self.left, self.data = self.left - 1, one
            piece, self.data = self.data[: len(buffer)], self.data[len(buffer) :]
            buffer[: len(piece)] = piece
            return len(piece)

    found = payloads(Input("traces", io.BufferedReader(Stream())), Limits())
    payload = next(found)
    assert (payload.kind, payload.offset) == ("protobuf", 4)
    read = 0
    while piece := payload.stream.read(2**20):
        read += len(piece)
    assert read == len(one) * count
    assert list(found) == []


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_utf_16_that_is_broken_is_refused_with_its_byte(refused: Callable[[str, bytes], Problem], order: str) -> None:
    mark = "\ufeff".encode(order)
    text = json.dumps([{"traceId": "1", "id": "2", "name": "x" * 100_000}])
    half = b"\x00\xdc" if order == "utf-16-le" else b"\xdc\x00"
    problem = refused("zipkin", mark + text.encode(order)[:160_000] + half + b"\0" * 8)
    assert (problem.code, problem.where.offset) == ("BAD_ENCODING", 160_002)
    problem = refused("zipkin", mark + text.encode(order)[:-1])
    assert (problem.code, problem.where.offset) == ("BAD_ENCODING", len(text) * 2)


@pytest.mark.parametrize(
    "head",
    [b'{"' + b'\\"' * 32_000, b'x{"resource":' * 5_000, b"{" * 65_536, b'":' * 32_000, b'"\\' * 32_000, b"\n" * 65_536],
)
def test_recognition_takes_no_time_on_any_head(head: bytes) -> None:
    began = time.monotonic()
    for source in sources().admitted():
        source.claims(head)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("value", ["|{}" * 300_000, "|{" * 300_000 + "|5", "|5" * 500_000, "{" * 1_000_000])
def test_the_name_of_a_zipkin_event_takes_no_time(read_with: Read, value: str) -> None:
    span = {"traceId": "1" * 32, "id": "2" * 16, "name": "x", "timestamp": 1_796_000_000_000_000, "duration": 5}
    span["annotations"] = [{"timestamp": 1_796_000_000_000_001, "value": value}]
    began = time.monotonic()
    spans, _ = read_with("zipkin", json.dumps([span]).encode())
    assert spans[0].events[0].name == value
    assert time.monotonic() - began < 2


def test_the_name_of_a_zipkin_event_ends_where_its_attributes_begin(read_with: Read) -> None:
    span = {"traceId": "1" * 32, "id": "2" * 16, "name": "x", "timestamp": 1_796_000_000_000_000, "duration": 5}
    span["annotations"] = [{"timestamp": 1_796_000_000_000_001, "value": 'exception|{"exception.message":"a|{}|0"}|0'}]
    spans, _ = read_with("zipkin", json.dumps([span]).encode())
    assert spans[0].events[0].name == "exception"
    assert spans[0].events[0].attributes == {"exception.message": "a|{}|0"}


def test_a_cut_message_is_told_before_it_is_looked_into(refused: Callable[[str, bytes], Problem]) -> None:
    with pytest.raises(Refusal) as refusal:
        list(payloads(Input("traces", io.BytesIO(struct.pack(">I", 2**20) + b"\x0a" * 9)), Limits()))
    assert (refusal.value.problems[0].code, refusal.value.problems[0].where.offset) == ("UNKNOWN_FORMAT", 0)


@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("squeeze", [gzip.compress, zstandard.ZstdCompressor(level=19).compress], ids=["gzip", "zstd"])
def test_a_bomb_within_another_archive_is_measured_from_outside(
    refused: Callable[[str, bytes], Problem], layers: int, squeeze: Callable[[bytes], bytes]
) -> None:
    """Each layer alone stays below a thousandfold."""
    data = b'{"resourceSpans":[' + b" " * 2**25
    for _ in range(layers):
        data = squeeze(data)
    problem = refused("otlp", data)
    assert (problem.code, problem.expected) == ("TOO_LARGE", "at most 1000 times")


def test_an_export_that_was_compressed_twice_is_read(read_with: Read) -> None:
    span = {"traceId": "1" * 32, "name": "x", "startTimeUnixNano": "1796000000000000001"}
    text = Random(0)  # noqa: S311 - content that does not compress, the same each time
    lines = [
        json.dumps(
            {
                "resourceSpans": [
                    {"scopeSpans": [{"spans": [{**span, "spanId": f"{n:016x}", "x": text.randbytes(4_500).hex()}]}]}
                ]
            }
        )
        for n in range(1, 1_001)
    ]
    data = "\n".join(lines).encode()
    assert len(data) > Limits().ratio_floor
    assert len(read_with("otlp", gzip.compress(gzip.compress(data, 1)))[0]) == 1_000
