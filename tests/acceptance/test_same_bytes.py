"""The same spans give the same bytes, however they are written, ordered and split: through the real command."""

import gzip
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

SAMPLES = Path(__file__).parents[2] / "samples" / "producers"
SEVERAL = ("01_supported", "03_timeout_persistent", "08_write")
Written = dict[str, bytes]


def single(traces: TracesData) -> list[TracesData]:
    """Each span as a message of its own, with its resource and scope."""
    made = []
    for group in traces.resource_spans:
        for scoped in group.scope_spans:
            for span in scoped.spans:
                one = TracesData()
                kept = one.resource_spans.add()
                kept.resource.CopyFrom(group.resource)
                inner = kept.scope_spans.add()
                inner.scope.CopyFrom(scoped.scope)
                inner.spans.add().CopyFrom(span)
                made.append(one)
    return made


def shuffled(traces: TracesData) -> list[TracesData]:
    spans = single(traces)
    random.Random(7).shuffle(spans)  # noqa: S311 - an order, no secret
    return spans


def protobuf(traces: list[TracesData]) -> bytes:
    return b"".join(one.SerializeToString() for one in traces)


def json_lines(traces: list[TracesData]) -> bytes:
    """By the protobuf library's own mapping: ids in base64, enums as names, 64-bit integers as text."""
    return b"".join(MessageToJson(one, indent=None).encode() + b"\n" for one in traces)


WAYS: dict[str, Callable[[TracesData], Written]] = {
    "json": lambda traces: {"one.json": MessageToJson(traces).encode()},
    "json lines": lambda traces: {"one.jsonl": json_lines(single(traces))},
    "gzip": lambda traces: {"one.gz": gzip.compress(traces.SerializeToString())},
    "zstd": lambda traces: {"one.zst": zstandard.ZstdCompressor().compress(traces.SerializeToString())},
    "shuffled": lambda traces: {"one.pb": protobuf(shuffled(traces))},
    "three files": lambda traces: {
        "a.pb": protobuf(shuffled(traces)[0::3]),
        "b.jsonl": json_lines(shuffled(traces)[1::3]),
        "c.pb.gz": gzip.compress(protobuf(shuffled(traces)[2::3])),
    },
    "every span twice": lambda traces: {"a.pb": traces.SerializeToString(), "b.jsonl": json_lines(single(traces))},
}


def bundle(folder: Path, written: Written) -> bytes:
    folder.mkdir()
    for name, data in written.items():
        (folder / name).write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-m", "labadapt", "otlp", "--quiet", str(folder)], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize(
    "producer", ["pydantic-ai@2.68.0-v5", "strands@1.62.0-legacy", "langchain-openinference@0.1.80"]
)
def test_encoding_order_and_split_change_no_byte(tmp_path: Path, producer: str) -> None:
    traces = TracesData()
    for episode in SEVERAL:
        traces.MergeFromString((SAMPLES / producer / f"{episode}.pb").read_bytes())
    expected = bundle(tmp_path / "plain", {"one.pb": traces.SerializeToString()})
    assert expected.count(b'"caseId"') == 3
    for name, way in WAYS.items():
        assert bundle(tmp_path / name, way(traces)) == expected, name
