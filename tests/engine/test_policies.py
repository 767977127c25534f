"""Policies never see the contract: by what they are given, by what their modules know, and by what changes for them."""

import ast
import inspect
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import msgspec
import pytest
from labadapt.engine import playback, policies
from labadapt.engine.fixtures import CASES, perform
from labadapt.engine.playback import play
from labadapt.engine.policies import POLICIES, Reply, Tool, guarded
from labadapt.schema.model import Contract, Output, Request, Result

OTHERS = [
    Contract(disposition="refuse", max_calls=0),
    Contract(disposition="answer", max_calls=99, expected_value=-1, tolerance=3, required_actions=["notify"]),
]
READ = Request(tool="query", operation="read", metric="m", window="w")
GOOD = Result(metric="m", window="w", rows=1, value=7, source="s")


# -- what they are given -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_takes_a_request_and_a_tool_and_nothing_else(name) -> None:
    parameters = inspect.signature(POLICIES[name]).parameters.values()
    assert [(one.name, one.annotation) for one in parameters] == [("request", Request), ("tool", Tool)]
    assert inspect.getclosurevars(POLICIES[name]).nonlocals == {}


def reachable(value):
    """Yield all values that a value's own fields and members lead to."""
    yield value
    if isinstance(value, dict | list | tuple):
        parts = [*value.values()] if isinstance(value, dict) else value
    elif isinstance(value, msgspec.Struct):
        parts = msgspec.structs.astuple(value)
    else:
        parts = [getattr(value, field.name) for field in fields(value)] if is_dataclass(value) else []
    for part in parts:
        yield from reachable(part)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.case_id)
def test_no_contract_can_be_reached_from_what_a_policy_is_given(case) -> None:
    given = []

    def curious(request, tool):
        tool.call()
        given.extend(reachable([request, tool]))
        return Output(disposition="refuse")

    play(curious, case.request, case.replies)
    assert any(isinstance(value, Reply) for value in given)  # it looked deep enough to find the replies
    assert not any(isinstance(value, Contract) for value in given)


# -- what their modules know -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [policies, playback])
def test_the_modules_of_policies_know_of_no_contract(module) -> None:
    tree = ast.parse(Path(inspect.getfile(module)).read_text())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    sources = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {"Contract", "contract", "Run", "AuthoredCase", "CASES"} & names
    assert {name for name in sources if name.startswith("labadapt.")} <= {
        "labadapt.engine.policies",
        "labadapt.engine.values",
        "labadapt.schema.model",
    }
    assert not [value for value in vars(module).values() if value is Contract or isinstance(value, Contract)]


def test_playing_takes_no_contract() -> None:
    assert list(inspect.signature(play).parameters) == ["policy", "request", "replies"]


# -- what changes for them ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.case_id)
@pytest.mark.parametrize("contract", OTHERS, ids=["strict", "lax"])
def test_another_contract_gives_the_same_run(policy, case, contract) -> None:
    other = perform(replace(case, contract=contract), policy)
    assert other.contract == contract
    assert msgspec.structs.replace(other, contract=case.contract) == perform(case, policy)


# -- guarded, beside the authored cases --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "disposition"),
    [
        ({}, "answer"),
        ({"value": 0}, "answer"),
        ({"rows": 0}, "no_data"),
        ({"rows": msgspec.UNSET}, "no_data"),
        ({"value": None}, "no_data"),
        ({"value": msgspec.UNSET}, "no_data"),
        ({"metric": "other"}, "no_data"),
        ({"window": None}, "no_data"),
        ({"source": ""}, "no_data"),
    ],
)
def test_guarded_answers_only_from_evidence_that_matches(changes, disposition) -> None:
    reply = Reply("ok", took_ms=1, result=msgspec.structs.replace(GOOD, **changes))
    assert play(guarded, READ, [reply]).output.disposition == disposition


def test_guarded_need_not_match_what_the_request_does_not_name() -> None:
    request = Request(tool="query", operation="read", arguments={"service": "checkout"})
    played = play(guarded, request, [Reply("ok", took_ms=1, result=GOOD)])
    assert (played.output.disposition, played.output.value) == ("answer", 7)
    assert played.steps[0].arguments == {"service": "checkout"}


@pytest.mark.parametrize(("timeouts", "calls", "disposition"), [(2, 3, "answer"), (3, 3, "unavailable")])
def test_guarded_makes_at_most_three_attempts(timeouts, calls, disposition) -> None:
    replies = [Reply("timeout", took_ms=10)] * timeouts + [Reply("ok", took_ms=1, result=GOOD)]
    played = play(guarded, READ, replies)
    assert (len(played.steps), played.output.disposition) == (calls, disposition)
    assert played.duration_ms == 10 * timeouts + (disposition == "answer")


def test_a_gated_write_is_shown_and_is_no_invocation() -> None:
    played = play(guarded, Request(tool="restart", operation="write"), [Reply("ok", took_ms=9, result=GOOD)])
    assert [(step.status, step.operation, step.end_ms) for step in played.steps] == [("blocked", "write", 0)]
    assert played.duration_ms == 0
