"""The sample scenario from four producers, with its cases and mapping file: the same runs, whoever wrote the spans.

The truth (samples/producers/expected.json) was written down by the program that drove the agents.
"""

import io
import json
import random
from pathlib import Path

import msgspec
import pytest
from labadapt.adapters.cases import read_cases
from labadapt.adapters.conversion import Options
from labadapt.adapters.convert import convert
from labadapt.adapters.inspect import inspect
from labadapt.adapters.mapping import read_mapping
from labadapt.adapters.sources.otlp import SOURCE
from labadapt.adapters.span import Input
from labadapt.engine.check import check_run
from labadapt.schema.codec import encode_run
from labadapt.schema.validate import validate
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

SAMPLES = Path(__file__).parents[2] / "samples"
TRUTH = json.loads((SAMPLES / "producers" / "expected.json").read_text(encoding="utf-8"))
CASES = read_cases((SAMPLES / "metric-agent.cases.yaml").read_bytes(), "cases.yaml")
MAPPING = read_mapping((SAMPLES / "metric-agent.mapping.yaml").read_bytes(), "mapping.yaml")
NOW = 1_796_200_000_000_000_000  # 2026-12-02, after the samples were recorded
PRODUCERS = (
    "pydantic-ai@2.68.0-v5",
    "pydantic-ai@1.0.10-v1",
    "google-adk@2.13.0-schema2",
    "langchain-openinference@0.1.80",
)
SEQUENTIAL = sorted(name for name in TRUTH if name[:2] <= "08" and name[2] == "_")
WORDS = {"supported": "answer", "write_proposed": "needs_approval", "no_data": "no_data", "unavailable": "unavailable"}
WORDS |= dict.fromkeys(("missing_value", "wrong_metric", "wrong_window"), "no_data")


def data_of(producer, episode):
    return (SAMPLES / "producers" / producer / f"{episode}.pb").read_bytes()


def converted(files, episode, **options):
    inputs = [Input(f"{place}.pb", io.BytesIO(data)) for place, data in enumerate(files)]
    wish = Options(now_ns=NOW, cases=CASES, mapping=MAPPING, case=episode, policy="v1", version="1", **options)
    return convert(inputs, SOURCE, wish)


def run_of(producer, episode, **options):
    conversion = converted([data_of(producer, episode)], episode, **options)
    assert [problem.message for refused in conversion.refused for problem in refused.problems] == []
    (run,) = conversion.runs
    return run


@pytest.mark.parametrize("producer", PRODUCERS)
@pytest.mark.parametrize("episode", SEQUENTIAL)
def test_calls_and_output_are_the_true_ones(producer, episode):
    run = run_of(producer, episode)
    truth = TRUTH[episode]
    operations = {"query_metric": "read", "restart_service": "write"}
    assert [(step.id, step.call_id, step.tool, step.operation, step.arguments) for step in run.steps] == [
        (call["call_id"], call["call_id"], call["name"], operations[call["name"]], call["arguments"])
        for call in truth["calls"]
    ]
    for step, call in zip(run.steps, truth["calls"], strict=True):
        assert step.status == ("timeout" if call["outcome"] == "error" else "ok")
        if step.status == "ok":
            assert step.result.data == call["result"]
    final = truth["final"]
    assert run.output.disposition == WORDS[final["disposition"]]
    assert (run.output.value, run.output.evidence) == (final["value"], final["evidence"])


@pytest.mark.parametrize("producer", PRODUCERS)
@pytest.mark.parametrize("episode", ["09_parallel", "11_parallel_one_fails"])
def test_calls_at_once_are_refused_and_both_spans_named(producer, episode):
    (refused,) = converted([data_of(producer, episode)], episode).refused
    (problem,) = refused.problems
    assert (problem.code, refused.case_id, refused.policy) == ("CONCURRENT_STEPS", episode, "v1")
    assert len(problem.where.span_ids) == 2
    for span_id in problem.where.span_ids:
        assert f'"query_metric" (span {span_id})' in problem.message
        assert f"{span_id}: " in problem.found


@pytest.mark.parametrize("producer", PRODUCERS)
def test_a_sub_agents_call_is_refused_until_a_person_chooses(producer):
    (refused,) = converted([data_of(producer, "10_nested")], "10_nested").refused
    assert [problem.code for problem in refused.problems] == ["NESTED_STEPS"]
    outer, inner = TRUTH["10_nested"]["calls"]
    (step,) = run_of(producer, "10_nested", nested="outer").steps
    assert (step.id, step.tool, step.arguments) == (outer["call_id"], "investigate", outer["arguments"])
    (step,) = run_of(producer, "10_nested", nested="leaf").steps
    assert (step.id, step.tool, step.result.data) == (inner["call_id"], "query_metric", inner["result"])


EXPECTED = {
    "01_supported": "pass",
    "02_timeout_recovered": "pass",
    "03_timeout_persistent": "pass",
    "04_empty": "pass",
    "05_null_value": "pass",
    "06_wrong_metric": "pass",
    "07_wrong_window": "pass",
    "08_write": "fail",
    "12_bad_args": "pass",
}


@pytest.mark.parametrize("episode", EXPECTED)
def test_the_same_episode_from_four_producers_gives_the_same_checks(episode):
    results = [check_run(run_of(producer, episode)) for producer in PRODUCERS]
    told = {msgspec.json.encode([(check.id, check.verdict) for check in result.checks]) for result in results}
    assert len(told) == 1
    assert {result.outcome for result in results} == {EXPECTED[episode]}


def test_the_restart_that_nobody_approved_fails_for_its_own_reasons():
    result = check_run(run_of("google-adk@2.13.0-schema2", "08_write"))
    assert [check.id for check in result.checks if check.verdict == "fail"] == [
        "read_only",
        "evidence",
        "forbidden_actions",
    ]


@pytest.mark.parametrize("producer", PRODUCERS)
def test_every_bundle_is_valid(producer):
    runs = [run_of(producer, episode) for episode in SEQUENTIAL]
    lines = b",".join(encode_run(run) for run in runs)
    assert validate(b'{"schemaVersion":1,"runs":[' + lines + b"]}", require_contract=True) == []


@pytest.mark.parametrize("producer", PRODUCERS)
@pytest.mark.parametrize("seed", range(4))
def test_order_and_split_of_the_spans_change_no_byte(producer, seed):
    data = data_of(producer, "02_timeout_recovered")
    whole = encode_run(run_of(producer, "02_timeout_recovered"))
    conversion = converted(scattered(data, seed), "02_timeout_recovered")
    assert [encode_run(run) for run in conversion.runs] == [whole]


def scattered(data, seed):
    """The same spans over three files, one to a message, in another order."""
    files = [TracesData() for _ in range(3)]
    pieces = []
    for resource in TracesData.FromString(data).resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                piece = TracesData()
                part = piece.resource_spans.add(resource=resource.resource, schema_url=resource.schema_url)
                part.scope_spans.add(scope=scope.scope, schema_url=scope.schema_url).spans.add().CopyFrom(span)
                pieces.append(piece)
    generator = random.Random(seed)  # noqa: S311 - a seeded shuffle, no secret
    generator.shuffle(pieces)
    for place, piece in enumerate(pieces):
        files[place % 3].MergeFrom(piece)
    return [file.SerializeToString() for file in files]


@pytest.mark.parametrize("producer", PRODUCERS)
def test_no_word_of_a_prompt_reaches_a_bundle(producer):
    for episode in SEQUENTIAL:
        text = encode_run(run_of(producer, episode)).decode()
        assert "What was" not in text
        assert "You answer questions" not in text


def test_an_export_is_inspected():
    inputs = [Input("a.pb", io.BytesIO(data_of("google-adk@2.13.0-schema2", "09_parallel")))]
    inputs.append(Input("b.pb", io.BytesIO(data_of("pydantic-ai@2.68.0-v5-nocontent", "02_timeout_recovered"))))
    found = inspect(inputs, SOURCE, Options(now_ns=NOW))
    assert (found.files, found.sources, found.traces, found.runs) == (["a.pb", "b.pb"], ["otlp"], 2, 2)
    assert (found.concurrent, found.nested, found.missing_parents, found.content_off) == (1, 0, 0, False)
    (tool,) = found.tools
    assert (tool.name, tool.calls, tool.with_arguments, tool.with_call_ids) == ("query_metric", 4, 2, 4)
    assert [scope.name for scope in found.scopes] == ["gcp.vertex.agent", "pydantic-ai"]
    assert found.spans == sum(scope.spans for scope in found.scopes)


def test_an_export_without_content_says_so():
    inputs = [Input("b.pb", io.BytesIO(data_of("pydantic-ai@2.68.0-v5-nocontent", "01_supported")))]
    found = inspect(inputs, SOURCE, Options(now_ns=NOW))
    assert found.content_off
    assert any(convention.capture for convention in found.conventions)
