"""An experiment that the real SDK runs gives the same runs through OpenTelemetry as through the server's pages."""

import gzip
import io
import json
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from labadapt.adapters.conversion import Conversion, Options
from labadapt.adapters.convert import convert
from labadapt.adapters.langfuse.exports import read_pages
from labadapt.adapters.langfuse.pages import convert_pages
from labadapt.adapters.sources.otlp import SOURCE
from labadapt.adapters.span import Input
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

OPTIONS = Options(now_ns=4_000_000_000_000_000_000)


def task(client: Any, item: Any) -> Any:
    with client.start_as_current_observation(name="agent", as_type="agent", input=item.input) as agent:
        with client.start_as_current_observation(name="lookup_order", as_type="tool", input={"order": 42}) as tool:
            time.sleep(0.003)  # the server keeps milliseconds: what is shorter ties with its neighbour
            tool.update(output={"status": "shipped", "amount": "12345678901234567890"})
        with client.start_as_current_observation(name="llm", as_type="generation", model="gpt-x") as model:
            model.update(output="call refund", usage_details={"input": 10, "output": 3})
        with client.start_as_current_observation(name="refund", as_type="tool", input={"order": 42}) as tool:
            time.sleep(0.003)
            if item.id == "case-4":
                raise RuntimeError("refund backend down")
            tool.update(output={"ok": True})
        agent.update(output="done")
    return {"disposition": "answer", "value": 1}


def judge(client: Any) -> Any:
    from langfuse import Evaluation

    with client.start_as_current_observation(name="judge", as_type="generation", model="gpt-j") as model:
        model.update(output="yes", usage_details={"input": 7, "output": 1})
    return Evaluation(name="ok", value=1.0)


@pytest.fixture(scope="module")
def spans(lab: Any, recorded_rows: Any) -> Iterator[Sequence[ReadableSpan]]:
    from langfuse import Langfuse

    store = lab.Store(recorded_rows("v2-datasets.json"), recorded_rows("dataset-items.json"))
    memory = InMemorySpanExporter()
    with lab.Langfuse(store) as server:
        client = Langfuse(
            public_key=lab.PUBLIC_KEY,
            secret_key=lab.SECRET_KEY,
            base_url=server.address,
            span_exporter=memory,
            tracer_provider=TracerProvider(),
        )
        client.get_dataset("labadapt demo").run_experiment(
            name="pol",
            run_name="policy A",
            task=lambda *, item, **_: task(client, item),
            evaluators=[lambda **_: judge(client)],
            max_concurrency=1,
        )
        client.flush()
        yield memory.get_finished_spans()
        client.shutdown()


def written(nanoseconds: int) -> str:
    """A time as the server keeps it: in whole milliseconds."""
    return datetime.fromtimestamp(nanoseconds // 1_000_000 / 1000, UTC).isoformat(timespec="milliseconds")


def row(span: ReadableSpan) -> dict[str, Any]:
    """What the server shows of a span (compare samples/langfuse)."""
    attributes = dict(span.attributes or {})
    return {
        "id": f"{span.context.span_id:016x}",
        "traceId": f"{span.context.trace_id:032x}",
        "parentObservationId": f"{span.parent.span_id:016x}" if span.parent else None,
        "projectId": "proj1",
        "type": str(attributes["langfuse.observation.type"]).upper(),
        "name": span.name,
        "startTime": written(span.start_time or 0),
        "endTime": written(span.end_time or 0),
        "level": "ERROR" if span.status.status_code is StatusCode.ERROR else "DEFAULT",
        "statusMessage": attributes.get("langfuse.observation.status_message", span.status.description or ""),
        "input": attributes.get("langfuse.observation.input"),
        "output": attributes.get("langfuse.observation.output"),
        "model": attributes.get("langfuse.observation.model.name"),
        "usageDetails": json.loads(str(attributes.get("langfuse.observation.usage_details", "{}"))),
        "metadata": {
            key.removeprefix("langfuse.observation.metadata."): value
            for key, value in attributes.items()
            if key.startswith("langfuse.observation.metadata.")
        },
    }


def facts(conversion: Conversion) -> list[dict[str, Any]]:
    """What the runs say, without times, of which the server keeps milliseconds only, and where they were read."""
    kept = ("caseId", "policy", "output", "status", "usage")
    parts = ("id", "tool", "operation", "arguments", "status", "result", "error")
    return [
        {key: run.get(key) for key in kept} | {"steps": [{p: step.get(p) for p in parts} for step in run["steps"]]}
        for run in map(msgspec.to_builtins, conversion.runs)
    ]


@pytest.fixture
def exported(spans: Sequence[ReadableSpan]) -> Conversion:
    data = gzip.compress(encode_spans(spans).SerializeToString())
    return convert([Input("traces.pb", io.BytesIO(data))], SOURCE, OPTIONS)


def test_the_items_are_cases_and_the_experiment_is_the_policy(exported: Conversion) -> None:
    assert [(run.case_id, run.policy) for run in exported.runs] == [(f"case-{n}", "policy A") for n in range(1, 5)]
    assert [len(run.steps) for run in exported.runs] == [2, 2, 2, 2]


def test_the_run_is_the_item_without_its_evaluators(exported: Conversion, spans: Sequence[ReadableSpan]) -> None:
    tasks = {f"{span.context.span_id:016x}" for span in spans if span.name == "experiment-item-task"}
    assert {run.provenance["rootSpanId"] for run in exported.runs} == tasks


def test_a_failed_item_has_no_output(exported: Conversion) -> None:
    run = msgspec.to_builtins(exported.runs[3])
    assert "output" not in run
    assert (run["status"]["target"], run["status"]["reason"]) == ("failed", "refund backend down")


def test_evaluators_are_the_judges_of_the_item_beside_them(exported: Conversion) -> None:
    usage = msgspec.to_builtins(exported.runs[0])["usage"]
    assert usage == {
        "inputTokens": 10,
        "outputTokens": 3,
        "modelCalls": 1,
        "model": "gpt-x",
        "judge": {"inputTokens": 7, "outputTokens": 1, "modelCalls": 1, "model": "gpt-j"},
    }
    assert [len(run.steps) for run in exported.runs] == [2, 2, 2, 2]


def test_pages_give_the_same(exported: Conversion, spans: Sequence[ReadableSpan]) -> None:
    pages = read_pages([("observations.json", json.dumps([row(span) for span in spans]).encode())])
    assert facts(convert_pages(pages, OPTIONS)) == facts(exported)
