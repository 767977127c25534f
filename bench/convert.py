"""How fast conversion is, beside bare parsing of the same bytes: one run, medians, ratios, peak memory.

    python bench/convert.py [--traces N] [--rounds N]

The workload: traces of ten spans in the OpenTelemetry GenAI convention. One agent, four model spans with about 2 KB of
text each, five tool spans with arguments and results as JSON. Every figure is of a process that does one way once,
after a warm-up on a single trace: so it pays for its memory as a command does. Times are CPU times. Every round takes
all ways in turn, so that a busy machine hurts them alike.
"""

import argparse
import io
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOW_NS = 1_796_200_000_000_000_000
START_NS = 1_796_000_000_000_000_000
TEXT = "The latency of the checkout service rose after the second deployment; the queue was drained by hand. " * 10
PER_GROUP = 50  # traces in one ResourceSpans, as a Collector batches them
SPANS = 10
MS = 1_000_000
BARE = frozenset({"TracesData.FromString", "msgspec, typed"})


# -- the workload ------------------------------------------------------------------------------------------------------


def spans_of(trace: int, draw: random.Random) -> list[dict[str, Any]]:
    """The spans of one trace: id, parent, name, start, end, attributes."""
    root = draw.randbytes(8)
    at = START_NS + trace * 1_000 * MS
    made = []
    for turn in range(5):
        call = {"id": f"call-{trace}-{turn}", "name": "query_metric", "arguments": {"metric": "p95", "window": turn}}
        if turn < 4:
            at += 2 * MS
            made.append(model_span(draw.randbytes(8), root, at, call))
        at += 2 * MS
        made.append(tool_span(draw.randbytes(8), root, at, call))
    made.append(agent_span(root, START_NS + trace * 1_000 * MS, at + 2 * MS, trace))
    draw.shuffle(made)
    return made


def model_span(span: bytes, parent: bytes, at: int, call: dict[str, Any]) -> dict[str, Any]:
    asked = [{"role": "user", "parts": [{"type": "text", "content": TEXT}]}]
    answered = [{"role": "assistant", "parts": [{"type": "text", "content": TEXT}, {"type": "tool_call", **call}]}]
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "model-1",
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps(answered),
        "gen_ai.usage.input_tokens": 512,
        "gen_ai.usage.output_tokens": 64,
    }
    return {"id": span, "parent": parent, "name": "chat model-1", "at": (at, at + MS), "attributes": attributes}


def tool_span(span: bytes, parent: bytes, at: int, call: dict[str, Any]) -> dict[str, Any]:
    result = {**call["arguments"], "rows": 1, "value": 398.0, "source": "warehouse"}
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call["name"],
        "gen_ai.tool.call.id": call["id"],
        "gen_ai.tool.call.arguments": json.dumps(call["arguments"]),
        "gen_ai.tool.call.result": json.dumps(result),
    }
    name = f"execute_tool {call['name']}"
    return {"id": span, "parent": parent, "name": name, "at": (at, at + MS), "attributes": attributes}


def agent_span(span: bytes, start: int, end: int, trace: int) -> dict[str, Any]:
    said = json.dumps({"disposition": "answer", "value": 398.0, "evidence": [f"call-{trace}-4"]})
    answered = [{"role": "assistant", "parts": [{"type": "text", "content": said}]}]
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "analyst",
        "gen_ai.output.messages": json.dumps(answered),
    }
    return {"id": span, "parent": b"", "name": "invoke_agent analyst", "at": (start, end), "attributes": attributes}


def workload(traces: int) -> tuple[bytes, bytes]:
    """The same spans as protobuf and as JSON Lines."""
    draw = random.Random(20_000)  # noqa: S311 - the workload is the same on every run, and no secret
    groups, lines = [], []
    for first in range(0, traces, PER_GROUP):
        spans = []
        for trace in range(first, min(traces, first + PER_GROUP)):
            trace_id = draw.randbytes(16)
            spans += [(trace_id, span) for span in spans_of(trace, draw)]
        groups.append(as_protobuf(spans))
        lines.append(as_json(spans))
    return b"".join(groups), b"\n".join(lines) + b"\n"


def as_protobuf(spans: list[tuple[bytes, dict[str, Any]]]) -> bytes:
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    traces = TracesData()
    group = traces.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = "bench"
    scoped = group.scope_spans.add()
    scoped.scope.name = "bench.instrumentation"
    for trace_id, span in spans:
        added = scoped.spans.add(trace_id=trace_id, span_id=span["id"], parent_span_id=span["parent"])
        added.name, added.kind = span["name"], 1
        added.start_time_unix_nano, added.end_time_unix_nano = span["at"]
        for key, value in span["attributes"].items():
            pair = added.attributes.add(key=key)
            if isinstance(value, int):
                pair.value.int_value = value
            else:
                pair.value.string_value = value
    return traces.SerializeToString()


def as_json(spans: list[tuple[bytes, dict[str, Any]]]) -> bytes:
    resource_ = {"attributes": [{"key": "service.name", "value": {"stringValue": "bench"}}]}
    scope = {"name": "bench.instrumentation"}
    scoped = {"scope": scope, "spans": [span_as_json(trace_id, span) for trace_id, span in spans]}
    document = {"resourceSpans": [{"resource": resource_, "scopeSpans": [scoped]}]}
    return json.dumps(document, separators=(",", ":")).encode()


def span_as_json(trace_id: bytes, span: dict[str, Any]) -> dict[str, Any]:
    pairs = [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
        for key, value in span["attributes"].items()
    ]
    written = {
        "traceId": trace_id.hex(),
        "spanId": span["id"].hex(),
        "parentSpanId": span["parent"].hex(),
        "name": span["name"],
        "kind": 1,
        "startTimeUnixNano": str(span["at"][0]),
        "endTimeUnixNano": str(span["at"][1]),
        "attributes": pairs,
        "status": {},
    }
    return {key: value for key, value in written.items() if value != ""}


# -- the ways ----------------------------------------------------------------------------------------------------------


def bare_protobuf(data: bytes) -> None:
    """One parse by the generated classes; nothing is read from it."""
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    TracesData.FromString(data)


def bare_json() -> Callable[[bytes], None]:
    """A typed decode of each line by msgspec, into structs that hold every field the workload has."""
    import msgspec

    class Value(msgspec.Struct, rename="camel"):
        string_value: str | None = None
        int_value: int | str | None = None

    class Pair(msgspec.Struct):
        key: str
        value: Value

    class Status(msgspec.Struct):
        code: int = 0

    class Span(msgspec.Struct, rename="camel"):
        trace_id: str
        span_id: str
        name: str
        kind: int
        start_time_unix_nano: int | str
        end_time_unix_nano: int | str
        attributes: list[Pair]
        status: Status
        parent_span_id: str | None = None

    class Attributed(msgspec.Struct):
        name: str | None = None
        attributes: list[Pair] | None = None

    class ScopeSpans(msgspec.Struct):
        scope: Attributed
        spans: list[Span]

    class ResourceSpans(msgspec.Struct, rename="camel"):
        resource: Attributed
        scope_spans: list[ScopeSpans]

    class Document(msgspec.Struct, rename="camel"):
        resource_spans: list[ResourceSpans]

    decode = msgspec.json.Decoder(Document).decode

    def run(data: bytes) -> None:
        for line in data.splitlines():
            decode(line)

    return run


def read(data: bytes) -> None:
    """Every span through the source, with what the installed conventions want."""
    from labadapt.adapters.recognise import Recogniser
    from labadapt.adapters.registry import conventions
    from labadapt.adapters.sources.otlp import SOURCE
    from labadapt.adapters.span import Input, Limits, Reading, Tally

    wanted = Recogniser(conventions().admitted()).wanted
    reading = Reading(wanted=wanted, tally=Tally(), limits=Limits(), now_ns=NOW_NS)
    for _ in SOURCE.decode(Input("workload", io.BytesIO(data)), reading):
        pass


def convert(data: bytes) -> bytes:
    """The whole way to the bytes of the bundle."""
    from labadapt.adapters.conversion import Options
    from labadapt.adapters.convert import convert as converted
    from labadapt.adapters.sources.otlp import SOURCE
    from labadapt.adapters.span import Input
    from labadapt.schema.codec import bundle_parts, encode_run

    conversion = converted([Input("workload", io.BytesIO(data))], SOURCE, Options(now_ns=NOW_NS))
    if conversion.refused:
        raise SystemExit(f"a run of the workload is refused: {conversion.refused[0].problems[0]}")
    return b"".join(bundle_parts(map(encode_run, conversion.runs), None))


def ways() -> dict[str, tuple[str, Callable[[bytes], object]]]:
    """Each way by its name, and which bytes it is given."""
    return {
        "TracesData.FromString": ("protobuf", bare_protobuf),
        "read protobuf": ("protobuf", read),
        "convert protobuf": ("protobuf", convert),
        "msgspec, typed": ("json", bare_json()),
        "read JSON Lines": ("json", read),
        "convert JSON Lines": ("json", convert),
    }


# -- measuring ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Taken:
    """What one way took: CPU seconds, and the peak memory of its process in bytes, its input among them."""

    seconds: float
    peak: int


def in_child(*arguments: str) -> str:
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def measure(folder: Path, rounds: int) -> dict[str, list[Taken]]:
    taken: dict[str, list[Taken]] = {name: [] for name in ways()}
    for _ in range(rounds):
        for name, results in taken.items():
            results.append(Taken(**json.loads(in_child("--child", name, "--folder", str(folder)))))
    return taken


def child(name: str, folder: Path) -> None:
    kind, run = ways()[name]
    run((folder / f"{kind}-small").read_bytes())
    data = (folder / kind).read_bytes()
    began = time.process_time()
    run(data)
    seconds = time.process_time() - began
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    print(json.dumps({"seconds": seconds, "peak": peak}))


def write(folder: Path, traces: int) -> None:
    """Write the workload, and check that both encodings give the same bundle.

    In a process of its own: on Linux the peak of a child counts from what its parent held.
    """
    for suffix, count in (("", traces), ("-small", 1)):
        protobuf, lines = workload(count)
        (folder / f"protobuf{suffix}").write_bytes(protobuf)
        (folder / f"json{suffix}").write_bytes(lines)
        if convert(protobuf) != convert(lines):
            raise SystemExit("the two encodings do not give the same bundle")


def report(traces: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        in_child("--child", "write", "--folder", name, "--traces", str(traces))
        sizes = ", ".join(f"{(folder / kind).stat().st_size / 1e6:.1f} MB as {kind}" for kind in ("protobuf", "json"))
        print(f"{traces} traces of {SPANS} spans: {sizes}; medians of {rounds} rounds; Python {sys.version.split()[0]}")
        taken = measure(folder, rounds)
    print(f"{'way':24}{'ms':>9}{'spans/s':>12}{'x bare':>9}{'peak MB':>10}")
    bare = 0.0
    for name, results in taken.items():
        seconds = statistics.median(one.seconds for one in results)
        peak = statistics.median(one.peak for one in results) / 1e6
        bare = seconds if name in BARE else bare
        print(f"{name:24}{seconds * 1e3:9.1f}{traces * SPANS / seconds:12,.0f}{seconds / bare:9.2f}{peak:10.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child == "write":
        write(given.folder, given.traces)
    elif given.child:
        child(given.child, given.folder)
    else:
        report(given.traces, given.rounds)


if __name__ == "__main__":
    main()
