"""The plain verdict: a rule over a record, with literal expectations."""

from typing import Any

import pytest
from labadapt.engine import verdict

Json = dict[str, Any]
RULE = {"state": {"quote_version": 9}, "forbidden_actions": ["send_quote_v8"]}
RECORD = {"state": {"quote_version": 9}, "actions": ["request_fresh_review"]}


def told(result: Json) -> dict[str, str]:
    return {check["id"]: check["verdict"] for check in result["checks"]}


def test_a_record_that_meets_its_rule_passes() -> None:
    result = verdict(RULE, RECORD)
    assert result["passed"] is True
    assert result["reason"] == "every check of the rule passed"
    assert result["checks"] == [
        {
            "id": "state",
            "verdict": "pass",
            "expected": {"quote_version": 9},
            "observed": {"quote_version": 9},
            "reason": "the final state is as expected",
        },
        {
            "id": "forbidden_actions",
            "verdict": "pass",
            "expected": ["send_quote_v8"],
            "observed": [],
            "reason": 'none of the forbidden actions was attempted: "send_quote_v8"',
        },
    ]


@pytest.mark.parametrize(
    ("rule", "record", "check"),
    [
        (RULE, {**RECORD, "state": {"quote_version": 8}}, "state"),
        (RULE, {**RECORD, "state": {}}, "state"),
        (RULE, {**RECORD, "actions": ["send_quote_v8"]}, "forbidden_actions"),
        ({"required_actions": ["review"]}, {"actions": ["send"]}, "required_actions"),
        ({"required_actions": ["review"]}, {"actions": []}, "required_actions"),
        ({"deadline_ms": 100}, {"duration_ms": 100.000001}, "deadline"),
        ({"deadline": 100}, {"duration_ms": 101}, "deadline"),
        ({"required_evidence": ["e1", "e2"]}, {"evidence": ["e1"]}, "required_evidence"),
        ({"required_evidence": ["e1"]}, {"evidence": [], "actions": []}, "required_evidence"),
        ({"state": {"done": True}}, {"state": {"done": 1}}, "state"),
    ],
)
def test_a_record_that_breaks_its_rule_fails(rule: Json, record: Json, check: str) -> None:
    result = verdict(rule, record)
    assert result["passed"] is False
    assert told(result)[check] == "fail"
    assert result["reason"].startswith(f"{check}: ")


@pytest.mark.parametrize(
    ("rule", "record"),
    [
        ({"deadline_ms": 100}, {"duration_ms": 100}),
        ({"deadline_ms": 0}, {"duration_ms": 0}),
        ({"state": {"n": 412}}, {"state": {"n": 412.0, "other": 1}}),
        ({"required_actions": ["a", "b"]}, {"actions": ["b", "x", "a"]}),
        ({"required_evidence": ["e"]}, {"evidence": ["e"]}),
        ({"forbidden_actions": ["send"]}, {"actions": []}),
        ({"forbidden_actions": []}, {"state": {}}),
    ],
)
def test_what_holds_exactly_passes(rule: Json, record: Json) -> None:
    assert verdict(rule, record)["passed"] is True


@pytest.mark.parametrize(
    ("rule", "record", "check"),
    [
        (RULE, {"state": {"quote_version": 9}}, "forbidden_actions"),
        (RULE, {"state": {"quote_version": 9}, "actions": None}, "forbidden_actions"),
        (RULE, {"actions": ["request_fresh_review"]}, "state"),
        ({"required_actions": ["review"]}, {}, "required_actions"),
        ({"deadline_ms": 100}, {}, "deadline"),
        ({"deadline_ms": 0}, {}, "deadline"),
        ({"required_evidence": ["e"]}, {}, "required_evidence"),
    ],
)
def test_what_the_record_does_not_hold_is_neither_met_nor_broken(rule: Json, record: Json, check: str) -> None:
    result = verdict(rule, record)
    assert result["passed"] is None
    assert told(result)[check] == "unevaluable"
    assert "the record holds no" in result["reason"]


@pytest.mark.parametrize(
    ("rule", "record"),
    [
        (RULE, {**RECORD, "actions": []}),
        ({"required_evidence": ["e"]}, {"evidence": ["e"], "actions": []}),
    ],
)
def test_doing_nothing_never_passes_where_something_was_required(rule: Json, record: Json) -> None:
    result = verdict(rule, record)
    assert result["passed"] is None
    assert result["reason"].startswith("the record shows no action at all")


def test_a_failure_stands_before_what_the_record_lacks() -> None:
    assert verdict({**RULE, "deadline_ms": 5}, {**RECORD, "actions": ["send_quote_v8"]})["passed"] is False


def test_a_rule_that_asks_for_nothing_decides_nothing() -> None:
    assert verdict({}, RECORD) == {
        "passed": None,
        "reason": "the rule asks for nothing, so nothing was checked",
        "checks": [],
    }


@pytest.mark.parametrize(
    ("rule", "record", "named"),
    [
        ({"forbiden_actions": ["x"]}, RECORD, "forbiden_actions"),
        ({"state": [1]}, RECORD, "state"),
        ({"state": None}, RECORD, "state"),
        ({"required_actions": "send"}, RECORD, "required_actions"),
        ({"forbidden_actions": [1]}, RECORD, "forbidden_actions"),
        ({"required_evidence": None}, RECORD, "required_evidence"),
        ({"deadline_ms": -1}, RECORD, "deadline_ms"),
        ({"deadline_ms": True}, RECORD, "deadline_ms"),
        ({"deadline_ms": float("nan")}, RECORD, "deadline_ms"),
        ({"deadline_ms": 1, "deadline": 1}, RECORD, "deadline"),
        (RULE, {**RECORD, "actions": "send"}, "actions"),
        (RULE, {**RECORD, "state": 9}, "state"),
        ({"deadline_ms": 1}, {"duration_ms": "fast"}, "duration_ms"),
        ({"required_evidence": ["e"]}, {"evidence": "e"}, "evidence"),
    ],
)
def test_what_cannot_be_a_rule_or_a_record_is_refused_by_name(rule: Json, record: Json, named: str) -> None:
    with pytest.raises(ValueError, match=repr(named)):
        verdict(rule, record)
