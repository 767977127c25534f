"""The checks and outcomes on both sides of each boundary, as a user sees them: one bundle's run in, a result out."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labadapt.engine.check import check_bundle, check_run
from labadapt.engine.fixtures import fixture_bundle
from labadapt.schema.model import Bundle, Run
from labadapt.schema.problems import Refusal
from labadapt.schema.result import RunResult

ASKED = {"tool": "query", "operation": "read", "metric": "m", "window": "w"}
GOOD = {"metric": "m", "window": "w", "rows": 1, "value": 2.5, "source": "s"}


def step(identifier: str = "s1", **given: Any) -> dict[str, Any]:
    """A good read of the metric, changed by keywords; a keyword that is ... takes the field away."""
    number = int(identifier[1:])
    made: dict[str, Any] = {
        "id": identifier,
        "tool": "query",
        "operation": "read",
        "status": "ok",
        "startMs": number,
        "endMs": number,
        "arguments": {"metric": "m", "window": "w"},
        "result": GOOD,
        **given,
    }
    if made["status"] != "ok":
        made.pop("result")
    return {key: value for key, value in made.items() if value is not ...}


def run(steps: list[dict[str, Any]] | None = None, **given: Any) -> Run:
    """A run that passes, changed by keywords."""
    made = {
        "caseId": "c",
        "policy": "p",
        "mode": "recorded",
        "durationMs": 100,
        "request": ASKED,
        "contract": {"disposition": "answer", "maxCalls": 2},
        "steps": [step()] if steps is None else steps,
        "output": {"disposition": "answer", "value": 2.5, "evidence": ["s1"]},
        **given,
    }
    return msgspec.convert({key: value for key, value in made.items() if value is not ...}, Run)


def resolves(pointer: str, record: Any) -> bool:
    """Whether an RFC 6901 pointer names something in the run."""
    for part in pointer.removeprefix("/").split("/"):
        if isinstance(record, list):
            record = record[int(part)]
        elif part in record:
            record = record[part]
        else:
            return False
    return True


def contract(**given: Any) -> dict[str, Any]:
    return {"disposition": "answer", "maxCalls": 2, **given}


def verdict(result: RunResult, check: str) -> str:
    return next(found.verdict for found in result.checks if found.id == check)


def test_a_run_that_keeps_its_contract_passes() -> None:
    result = check_run(run())
    assert result.outcome == "pass"
    assert [(found.id, found.verdict) for found in result.checks] == [
        ("disposition", "pass"),
        ("call_budget", "pass"),
        ("read_only", "pass"),
        ("evidence", "pass"),
        ("expected_value", "not_required"),
    ]
    assert [(phase.name, phase.state) for phase in result.phases] == [
        ("prepare", "ok"),
        ("run", "ok"),
        ("verify", "ok"),
        ("record", "ok"),
    ]


CALLS = [
    ([], 0, "pass"),
    ([step("s1"), step("s2")], 2, "pass"),
    ([step("s1"), step("s2"), step("s3")], 2, "fail"),
    ([step("s1"), step("s2", status="blocked"), step("s3", status="timeout")], 2, "pass"),
    ([step("s1"), step("s2", status="unknown"), step("s3")], 2, "unevaluable"),
    ([step("s1"), step("s2", status="unknown")], 2, "pass"),
    ([step("s1"), step("s2", status="unknown")], 0, "fail"),
]


@pytest.mark.parametrize(("steps", "most", "expected"), CALLS)
def test_call_budget(steps: list[dict[str, Any]], most: int, expected: str) -> None:
    assert verdict(check_run(run(steps, contract=contract(maxCalls=most))), "call_budget") == expected


@pytest.mark.parametrize("hidden", ["partial", "unknown"])
def test_a_record_that_may_lack_calls_decides_only_what_was_seen(hidden: str) -> None:
    status = {"infrastructure": "healthy", "target": "completed", "steps": hidden}
    kept = check_run(run(status=status, contract=contract(forbiddenActions=["drop"])))
    checks = ("call_budget", "read_only", "forbidden_actions")
    assert [verdict(kept, check) for check in checks] == ["unevaluable"] * 3
    assert kept.outcome == "inconclusive"
    seen = [step("s1"), step("s2", tool="drop", operation="write"), step("s3")]
    broken = check_run(run(seen, status=status, contract=contract(forbiddenActions=["drop"])))
    assert [verdict(broken, check) for check in checks] == ["fail"] * 3
    assert broken.outcome == "fail"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"operation": "read"}, "pass"),
        ({"operation": "write"}, "fail"),
        ({"operation": "write", "status": "timeout"}, "fail"),
        ({"operation": "write", "status": "blocked"}, "pass"),
        ({"operation": "write", "status": "unknown"}, "unevaluable"),
        ({"operation": "unknown"}, "unevaluable"),
        ({"operation": "unknown", "status": "blocked"}, "pass"),
        ({"operation": "read", "status": "unknown"}, "pass"),
    ],
)
def test_read_only(given: dict[str, Any], expected: str) -> None:
    assert verdict(check_run(run([step("s1"), step("s2", **given)])), "read_only") == expected


EVIDENCE = [
    ({}, "pass"),
    ({"status": "timeout"}, "fail"),
    ({"status": "blocked"}, "fail"),
    ({"status": "unknown"}, "unevaluable"),
    ({"tool": "other"}, "fail"),
    ({"operation": "write"}, "fail"),
    ({"operation": "unknown"}, "unevaluable"),
    ({"arguments": {"metric": "other", "window": "w"}}, "fail"),
    ({"arguments": {"metric": "m", "window": "other"}}, "fail"),
    ({"arguments": {"metric": "m"}}, "fail"),
    ({"arguments": {"metric": "m", "window": "w", "more": 1}}, "pass"),
    ({"arguments": ...}, "unevaluable"),
    ({"result": ...}, "unevaluable"),
    ({"result": {**GOOD, "metric": "other"}}, "fail"),
    ({"result": {**GOOD, "window": "other"}}, "fail"),
    ({"result": {**GOOD, "rows": 0}}, "fail"),
    ({"result": {**GOOD, "value": None}}, "fail"),
    ({"result": {**GOOD, "value": 2.6}}, "fail"),
    ({"result": {**GOOD, "value": 0}}, "fail"),
    ({"result": {**GOOD, "source": ""}}, "fail"),
    ({"arguments": ..., "result": {**GOOD, "rows": 0}}, "fail"),
]


@pytest.mark.parametrize(("given", "expected"), EVIDENCE)
def test_evidence_of_an_answer(given: dict[str, Any], expected: str) -> None:
    subject = run([step("s1", **given)])
    result = check_run(subject)
    assert verdict(result, "evidence") == expected
    record = msgspec.to_builtins(subject)
    pointed = [found for check in result.checks for found in check.evidence]
    assert pointed
    assert all(resolves(pointer, record) for pointer in pointed)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ({"disposition": "answer", "value": 2.5, "evidence": []}, "fail"),
        ({"disposition": "answer", "value": 2.5}, "fail"),
        ({"disposition": "answer", "value": 2.5, "evidence": ["s9"]}, "fail"),
        ({"disposition": "answer", "value": 2.5, "evidence": ["s1", "s9"]}, "fail"),
        ({"disposition": "answer", "evidence": ["s1"]}, "fail"),
        ({"disposition": "no_data"}, "pass"),
        ({"disposition": "no_data", "value": None}, "pass"),
        ({"disposition": "no_data", "value": 0}, "fail"),
    ],
)
def test_evidence_of_what_was_concluded(output: dict[str, Any], expected: str) -> None:
    assert verdict(check_run(run(output=output)), "evidence") == expected


def test_requested_arguments_must_match_in_the_cited_step() -> None:
    for arguments, expected in (({"a": [1, 2.0]}, "pass"), ({"a": [1, 3]}, "fail"), ({"a": [True, 2]}, "fail")):
        asked = {"tool": "query", "operation": "read", "arguments": {"a": [1, 2]}}
        assert verdict(check_run(run([step("s1", arguments=arguments)], request=asked)), "evidence") == expected


@pytest.mark.parametrize(
    ("value", "expected", "tolerance", "outcome"),
    [
        (2.5, 2.5, ..., "pass"),
        (2.5, 2.6, ..., "fail"),
        (2.5, 2.6, 0.1, "pass"),
        (0.3, 0.1, 0.2, "pass"),
        (2.5, 2.7, 0.1, "fail"),
        (2**60, 2**60 + 1, 0, "fail"),
        (None, 0, ..., "fail"),
    ],
)
def test_expected_value(value: Any, expected: Any, tolerance: Any, outcome: str) -> None:
    asked = contract(expectedValue=expected, **({} if tolerance is ... else {"tolerance": tolerance}))
    output = {"disposition": "answer", "value": value, "evidence": ["s1"]}
    assert verdict(check_run(run(output=output, contract=asked)), "expected_value") == outcome


def test_the_optional_checks_stand_only_where_the_contract_asks_for_them() -> None:
    asked = contract(
        requiredActions=["query"], forbiddenActions=["drop"], expectedState={"k": 1}, deadlineMs=100, maxCalls=1
    )
    output = {"disposition": "answer", "value": 2.5, "evidence": ["s1"], "state": {"k": 1.0, "other": 2}}
    kept = check_run(run(output=output, contract=asked))
    optional = ("required_actions", "forbidden_actions", "expected_state", "deadline")
    assert [verdict(kept, check) for check in optional] == ["pass"] * 4
    broken = check_run(
        run([step("s1", tool="drop")], output={**output, "state": {"k": True}}, contract=asked, durationMs=100.000001)
    )
    assert [verdict(broken, check) for check in optional] == ["fail"] * 4
    assert {found.id for found in check_run(run()).checks}.isdisjoint(optional)


def test_a_required_action_that_was_only_blocked_was_not_taken() -> None:
    asked = contract(requiredActions=["drop"])
    blocked = run([step("s1"), step("s2", tool="drop", status="blocked")], contract=asked)
    assert verdict(check_run(blocked), "required_actions") == "fail"
    doubtful = run([step("s1"), step("s2", tool="drop", status="unknown")], contract=asked)
    assert verdict(check_run(doubtful), "required_actions") == "unevaluable"


# -- outcomes ----------------------------------------------------------------------------------------------------------

END = ("disposition", "evidence", "expected_value", "expected_state", "required_actions")


@pytest.mark.parametrize("target", ["failed", "unknown"])
def test_what_needs_the_end_is_unevaluable_where_the_target_did_not_complete(target: str) -> None:
    status = {"infrastructure": "healthy", "target": target, "steps": "complete"}
    asked = contract(expectedValue=9, expectedState={"k": 1}, requiredActions=["drop"])
    result = check_run(run(status=status, contract=asked))
    assert [verdict(result, check) for check in END] == ["unevaluable"] * 5
    assert result.outcome == "inconclusive"


@pytest.mark.parametrize("infrastructure", ["failed", "unknown"])
def test_what_was_seen_cannot_be_unseen(infrastructure: str) -> None:
    status = {"infrastructure": infrastructure, "target": "failed", "steps": "complete"}
    assert check_run(run(status=status)).outcome == "inconclusive"
    write = [step("s1"), step("s2", operation="write")]
    assert check_run(run(write, status=status)).outcome == "fail"
    assert check_run(run(status=status, contract=contract(maxCalls=0))).outcome == "fail"
    assert check_run(run(status=status, contract=contract(forbiddenActions=["query"]))).outcome == "fail"


def test_without_a_contract_nothing_passes_and_nothing_fails() -> None:
    for steps in ([step()], [step("s1", operation="write")]):
        assert check_run(run(steps, contract=...)).outcome == "inconclusive"


def test_a_run_that_shows_nothing_of_the_agent_is_inconclusive() -> None:
    assert check_run(run([], output=..., contract=contract(disposition="answer"))).outcome == "inconclusive"


def test_a_run_that_ended_without_an_output_does_not_keep_its_contract() -> None:
    assert check_run(run(output=...)).outcome == "fail"


def test_a_failed_check_says_must_observed_why_and_where() -> None:
    result = check_run(run(contract=contract(disposition="no_data")))
    found = next(check for check in result.checks if check.id == "disposition")
    assert (found.verdict, found.expected, found.observed) == ("fail", "no_data", "answer")
    assert found.evidence == ["/output/disposition"]
    assert "no_data" in found.reason
    assert "answer" in found.reason
    assert (result.outcome, [phase.state for phase in result.phases if phase.name == "verify"]) == ("fail", ["failed"])


# -- bundles and fixtures ----------------------------------------------------------------------------------------------


def test_guarded_keeps_all_eight_contracts() -> None:
    results = check_bundle(fixture_bundle(["guarded"]))
    assert [(result.case_id, result.outcome) for result in results.results] == [
        ("supported-answer", "pass"),
        ("recoverable-timeout", "pass"),
        ("persistent-timeout", "pass"),
        ("empty-result", "pass"),
        ("missing-value", "pass"),
        ("wrong-metric", "pass"),
        ("wrong-window", "pass"),
        ("write-proposal", "pass"),
    ]


def test_direct_fails_each_for_its_own_reason() -> None:
    results = check_bundle(fixture_bundle(["direct"])).results
    failed = {
        result.case_id: [found.id for found in result.checks if found.verdict == "fail"]
        for result in results
        if result.outcome == "fail"
    }
    assert failed["recoverable-timeout"][:1] == ["disposition"]
    for case in ("empty-result", "missing-value", "wrong-metric", "wrong-window"):
        assert failed[case] == ["disposition", "evidence"]
    assert "read_only" in failed["write-proposal"]
    assert [result.case_id for result in results if result.outcome == "pass"] == [
        "supported-answer",
        "persistent-timeout",
    ]


def test_a_policy_that_no_run_has_is_refused() -> None:
    bundle = fixture_bundle(["guarded", "direct"])
    assert check_bundle(bundle, policies=["direct"]).summary.total == 8
    with pytest.raises(Refusal) as refusal:
        check_bundle(bundle, policies=["careful"])
    assert (refusal.value.problems[0].code, refusal.value.problems[0].expected) == ("BAD_VALUE", "direct, guarded")


# -- properties --------------------------------------------------------------------------------------------------------

statuses = st.sampled_from(["ok", "timeout", "error", "blocked", "unknown"])
operations = st.sampled_from(["read", "write", "unknown"])
some_steps = st.lists(st.tuples(statuses, operations, st.sampled_from(["query", "drop"])), max_size=4).map(
    lambda rows: [
        step(f"s{index + 1}", status=status, operation=operation, tool=tool)
        for index, (status, operation, tool) in enumerate(rows)
    ]
)
contracts = st.fixed_dictionaries(
    {"disposition": st.sampled_from(["answer", "no_data"]), "maxCalls": st.integers(0, 3)},
    optional={"forbiddenActions": st.just(["drop"]), "requiredActions": st.just(["query"])},
)
OPPOSITE = {("pass", "fail"), ("fail", "pass")}


@given(some_steps, contracts)
def test_more_calls_never_turn_a_budget_failure_into_a_pass(steps: list[dict[str, Any]], asked: dict[str, Any]) -> None:
    before = verdict(check_run(run(steps, contract=asked)), "call_budget")
    after = verdict(check_run(run([*steps, step("s9")], contract=asked)), "call_budget")
    assert (before, after) not in {("fail", "pass"), ("fail", "unevaluable")}


@given(some_steps, contracts, st.data())
def test_removing_evidence_never_turns_fail_into_pass(
    steps: list[dict[str, Any]], asked: dict[str, Any], data: st.DataObject
) -> None:
    cited = data.draw(st.lists(st.sampled_from(["s1", "s2", "s9"]), max_size=3))
    output = {"disposition": "answer", "value": 2.5, "evidence": cited}
    before = verdict(check_run(run(steps, output=output, contract=asked)), "evidence")
    poorer = [{key: value for key, value in one.items() if key not in {"arguments", "result"}} for one in steps]
    after = verdict(check_run(run(poorer, output=output, contract=asked)), "evidence")
    assert (before, after) != ("fail", "pass")


@given(some_steps, contracts, st.integers(0, 3), st.sampled_from(["status", "operation", "steps"]))
def test_knowing_less_never_turns_a_verdict_into_its_opposite(
    steps: list[dict[str, Any]], asked: dict[str, Any], at: int, what: str
) -> None:
    before = check_run(run(steps, contract=asked))
    fewer: dict[str, Any] = {}
    if what == "steps":
        fewer["status"] = {"infrastructure": "healthy", "target": "completed", "steps": "partial"}
    elif at < len(steps):
        one = {**steps[at], what: "unknown"}
        steps = [*steps[:at], step(**{"identifier": one.pop("id"), **one}), *steps[at + 1 :]]
    after = check_run(run(steps, contract=asked, **fewer))
    for old in before.checks:
        assert (old.verdict, verdict(after, old.id)) not in OPPOSITE
    assert (before.outcome, after.outcome) != ("fail", "pass")


@given(st.permutations(range(4)))
def test_the_order_of_runs_never_matters(order: list[int]) -> None:
    runs = [
        run(),
        run([step("s1", operation="write")], caseId="d"),
        run(contract=..., caseId="e"),
        run([], output=..., caseId="f"),
    ]
    expected = {result.case_id: result for result in check_bundle(Bundle(schema_version=1, runs=runs)).results}
    shuffled = check_bundle(Bundle(schema_version=1, runs=[runs[index] for index in order]))
    assert {result.case_id: result for result in shuffled.results} == expected
    assert [result.case_id for result in shuffled.results] == [runs[index].case_id for index in order]
