"""All producers of samples/producers against the truth of the scenario (samples/producers/expected.json).

The truth was written down by the program that drove the agents, not read from telemetry. Every folder and every file is
found by walking, so a producer that is added is tested.
"""

import io
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from labadapt.adapters.conversion import Conversion, Options
from labadapt.adapters.convert import convert
from labadapt.adapters.sources.otlp import SOURCE
from labadapt.adapters.span import Input
from labadapt.schema.model import Run, Step
from msgspec import UNSET, to_builtins

SAMPLES = Path(__file__).parents[2] / "samples" / "producers"
TRUTH: dict[str, Any] = json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))
NOW = 1_796_200_000_000_000_000  # 2026-12-02, after the samples were recorded
CONTENT_OFF = {"pydantic-ai@2.68.0-v5-nocontent"}
SEQUENTIAL = ("01", "02", "03", "04", "05", "06", "07", "08", "12", "13")
# The truth's episode ends early in these: the framework stops at an unknown tool.
STOPS_AT_UNKNOWN_TOOL = {"openai-agents-openinference@2.6.0-responses"}
# What producers write for calls that a framework rejected before it invoked them (12, 13): a span with an error.
REJECTED = ("error", "unknown")


def episodes() -> Iterator[tuple[str, str, list[Path]]]:
    """Give each producer's episodes with their files; an episode split over files is one."""
    found: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for path in sorted(SAMPLES.glob("*/*.pb")):
        found[path.parent.name, path.name.split(".")[0]].append(path)
    for (producer, episode), paths in sorted(found.items()):
        yield producer, episode, paths


ALL = list(episodes())


def of(*prefixes: str, content: bool | None = None) -> Any:
    """Parametrise over the episodes that begin with one of the prefixes."""
    rows = [
        pytest.param(producer, episode, paths, id=f"{producer}-{episode}")
        for producer, episode, paths in ALL
        if episode.split("_")[0] in prefixes and (content is None or content == (producer not in CONTENT_OFF))
    ]
    return pytest.mark.parametrize(("producer", "episode", "paths"), rows)


def converted(paths: list[Path], **options: Any) -> Conversion:
    inputs = [Input(path.name, io.BytesIO(path.read_bytes())) for path in paths]
    return convert(inputs, SOURCE, Options(now_ns=NOW, **options))


def only_run(conversion: Conversion) -> Run:
    assert [problem.message for refused in conversion.refused for problem in refused.problems] == []
    assert len(conversion.runs) == 1
    return conversion.runs[0]


def is_rejected(step: Step, truth: list[dict[str, Any]]) -> bool:
    """Say whether the step is a call that the model proposed and the framework rejected with an error."""
    rejected = [call for call in truth if not call["executed"]]
    return step.status in REJECTED and any(call["name"] == step.tool for call in rejected)


def executed_steps(run: Run, truth: list[dict[str, Any]]) -> list[Step]:
    executed = sum(call["executed"] for call in truth)
    if len(run.steps) == executed:
        return list(run.steps)
    return [step for step in run.steps if not (is_rejected(step, truth) and len(run.steps) > executed)]


def expected_calls(producer: str, episode: str) -> list[dict[str, Any]]:
    calls = TRUTH[episode]["calls"]
    if episode.startswith("13") and producer in STOPS_AT_UNKNOWN_TOOL:
        return [call for call in calls if not call["executed"]]
    return list(calls)


def outcome(step: Step) -> str:
    return "error" if step.status in {"error", "timeout"} else step.status


@of(*SEQUENTIAL)
def test_every_executed_call_is_found_in_order_and_nothing_else(producer: str, episode: str, paths: list[Path]) -> None:
    truth = expected_calls(producer, episode)
    run = only_run(converted(paths))
    executed = [call for call in truth if call["executed"]]
    if episode.startswith("12"):  # both calls have the same name: a rejected one may stand as an error before it
        steps = [step for step in run.steps if outcome(step) == "ok"]
        assert all(step.status in REJECTED for step in run.steps if step not in steps)
    else:
        steps = executed_steps(run, truth)
    assert [(step.tool, outcome(step)) for step in steps] == [(call["name"], call["outcome"]) for call in executed]


@of(*SEQUENTIAL, content=True)
def test_arguments_results_and_ids_are_as_they_were(producer: str, episode: str, paths: list[Path]) -> None:
    truth = {call["call_id"]: call for call in expected_calls(producer, episode)}
    run = only_run(converted(paths))
    for step in run.steps:
        if step.call_id is UNSET and is_rejected(step, list(truth.values())):
            continue  # the framework rejected it, and the record does not name it
        assert step.call_id in truth, f"{step.tool} has no call id of the truth: {step.call_id!r}"
        call = truth[step.call_id]
        assert step.tool == call["name"]
        assert step.arguments == call["arguments"]
        if step.status == "ok":
            assert call["outcome"] == "ok"
            assert step.result is not UNSET
            assert step.result.data == call["result"]
        else:
            assert step.result is UNSET


@of(*SEQUENTIAL, content=False)
def test_content_that_was_switched_off_is_not_recorded(producer: str, episode: str, paths: list[Path]) -> None:
    run = only_run(converted(paths))
    assert run.steps
    assert [step.arguments for step in run.steps] == [UNSET] * len(run.steps)
    assert [step.result for step in run.steps] == [UNSET] * len(run.steps)
    assert run.output is UNSET


@of("01", "02", "03", "04", "05", "06", "07", "08", content=True)
def test_the_output_is_what_the_agent_said(producer: str, episode: str, paths: list[Path]) -> None:
    final = TRUTH[episode]["final"]
    run = only_run(converted(paths))
    assert to_builtins(run.output) == final


@of("02", "03", content=True)
def test_a_timeout_is_told_from_an_error_where_the_record_names_it(
    producer: str, episode: str, paths: list[Path]
) -> None:
    # Two name no type: "Error details are redacted.", and a level with a message.
    redacts = {"openai-agents-openinference@2.6.0-responses", "langfuse-observe@5.0.4"}
    run = only_run(converted(paths))
    failed = [step.status for step in run.steps if step.status != "ok"]
    assert set(failed) == ({"error"} if producer in redacts else {"timeout"})


@of("09", "11")
def test_concurrent_calls_are_refused_with_both_spans(producer: str, episode: str, paths: list[Path]) -> None:
    conversion = converted(paths)
    assert conversion.runs == []
    (refused,) = conversion.refused
    assert {problem.code for problem in refused.problems} == {"CONCURRENT_STEPS"}
    assert len(refused.problems[0].where.span_ids) == 2


@of("10", "10b")
def test_nested_calls_are_refused_and_convert_on_request(producer: str, episode: str, paths: list[Path]) -> None:
    conversion = converted(paths)
    assert conversion.runs == []
    (refused,) = conversion.refused
    assert {problem.code for problem in refused.problems} == {"NESTED_STEPS"}
    assert len(refused.problems[0].where.span_ids) == 2
    assert len(only_run(converted(paths, nested="outer")).steps) == 1
    leaf = only_run(converted(paths, nested="leaf"))
    assert [step.tool for step in leaf.steps] == ["query_metric"]


@of("08b", "08c")
def test_a_write_that_awaits_approval_is_never_an_executed_write(
    producer: str, episode: str, paths: list[Path]
) -> None:
    run = only_run(converted(paths))
    steps = [step for step in run.steps if step.tool == "restart_service"]
    if episode.startswith("08b"):
        assert all(step.status in {"blocked", "unknown"} for step in steps)
        # A proposal without a span is said to be missing; it is not a run in which nothing was asked for.
        assert steps or run.status is not UNSET or producer in CONTENT_OFF
    else:
        assert all(step.status != "ok" for step in steps)
    # 08c is the resumed half of the episode in some producers: the read before it is in another trace.
    assert {step.tool for step in run.steps if step.status == "ok"} <= {"query_metric"}


@pytest.mark.parametrize(("producer", "episode", "paths"), ALL, ids=[f"{row[0]}-{row[1]}" for row in ALL])
def test_spans_read_are_spans_used_plus_spans_left_aside(producer: str, episode: str, paths: list[Path]) -> None:
    tally = converted(paths).tally
    assert tally.read > 0
    assert tally.read == tally.used + sum(tally.aside.values())
