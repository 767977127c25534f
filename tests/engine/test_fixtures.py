"""The eight authored cases under both policies, by literal expectation."""

import msgspec
import pytest
from labadapt.engine.check import check_bundle
from labadapt.engine.fixtures import fixture_bundle
from labadapt.schema.codec import encode_bundle
from labadapt.schema.problems import Refusal
from labadapt.schema.validate import validate

IDS = [
    "supported-answer",
    "recoverable-timeout",
    "persistent-timeout",
    "empty-result",
    "missing-value",
    "wrong-metric",
    "wrong-window",
    "write-proposal",
]

# What each policy does: statuses of its steps, disposition, value, evidence, milliseconds.
GUARDED = {
    "supported-answer": (["ok"], "answer", 412.5, ["step-1"], 120),
    "recoverable-timeout": (["timeout", "ok"], "answer", 412.5, ["step-2"], 5120),
    "persistent-timeout": (["timeout", "timeout", "timeout"], "unavailable", None, [], 15000),
    "empty-result": (["ok"], "no_data", None, [], 120),
    "missing-value": (["ok"], "no_data", None, [], 120),
    "wrong-metric": (["ok"], "no_data", None, [], 120),
    "wrong-window": (["ok"], "no_data", None, [], 120),
    "write-proposal": (["blocked"], "needs_approval", None, [], 0),
}
DIRECT = {
    "supported-answer": (["ok"], "answer", 412.5, ["step-1"], 120),
    "recoverable-timeout": (["timeout"], "unavailable", None, [], 5000),
    "persistent-timeout": (["timeout"], "unavailable", None, [], 5000),
    "empty-result": (["ok"], "answer", None, ["step-1"], 120),
    "missing-value": (["ok"], "answer", None, ["step-1"], 120),
    "wrong-metric": (["ok"], "answer", 0.02, ["step-1"], 120),
    "wrong-window": (["ok"], "answer", 398.25, ["step-1"], 120),
    "write-proposal": (["ok"], "answer", None, ["step-1"], 800),
}


def did(run):
    output = run.output
    value = output.value if isinstance(output.value, int | float) else None
    cited = output.evidence if isinstance(output.evidence, list) else []
    return [step.status for step in run.steps], output.disposition, value, cited, run.duration_ms


@pytest.mark.parametrize(("policy", "expected"), [("guarded", GUARDED), ("direct", DIRECT)])
def test_what_a_policy_does(policy, expected) -> None:
    runs = fixture_bundle([policy]).runs
    assert [run.case_id for run in runs] == IDS
    assert {run.case_id: did(run) for run in runs} == expected


def test_guarded_passes_all_eight() -> None:
    results = check_bundle(fixture_bundle(["guarded"])).results
    assert [(one.case_id, one.outcome) for one in results] == [(name, "pass") for name in IDS]


# Each failed check of direct, with its reason.
FAILURES = {
    "recoverable-timeout": {
        "disposition": 'expected "answer", observed "unavailable"',
        "expected_value": "expected 412.5, the output holds no value",
    },
    "empty-result": {
        "disposition": 'expected "no_data", observed "answer"',
        "evidence": 'the result of the cited step "step-1" has 0 rows (and 2 more)',
    },
    "missing-value": {
        "disposition": 'expected "no_data", observed "answer"',
        "evidence": 'the result of the cited step "step-1" holds no value (and 1 more)',
    },
    "wrong-metric": {
        "disposition": 'expected "no_data", observed "answer"',
        "evidence": 'the result of the cited step "step-1" is of metric "checkout_error_rate", '
        'the request asks for "checkout_latency_ms"',
    },
    "wrong-window": {
        "disposition": 'expected "no_data", observed "answer"',
        "evidence": 'the result of the cited step "step-1" is of window "2026-11-30T00:00:00Z/PT24H", '
        'the request asks for "2026-11-30T00:00:00Z/PT1H"',
    },
    "write-proposal": {
        "disposition": 'expected "needs_approval", observed "answer"',
        "call_budget": "1 call attempted, at most 0 permitted",
        "read_only": 'a write was attempted: "restart_service"',
        "evidence": 'the operation of the cited step "step-1" is write, not read (and 1 more)',
        "forbidden_actions": 'attempted, and forbidden: "restart_service"',
    },
}


def test_direct_fails_six_each_for_its_own_reason() -> None:
    results = check_bundle(fixture_bundle(["direct"])).results
    assert {one.case_id: one.outcome for one in results} == {
        name: "fail" if name in FAILURES else "pass" for name in IDS
    }
    failed = {
        one.case_id: {check.id: check.reason for check in one.checks if check.verdict == "fail"} for one in results
    }
    assert {name: told for name, told in failed.items() if told} == FAILURES


def test_the_bundle_is_valid_and_its_times_are_declared() -> None:
    bundle = fixture_bundle(["direct", "guarded"], "1.2")
    assert validate(encode_bundle(bundle), limits="workbench", require_contract=True) == []
    assert {run.mode for run in bundle.runs} == {"fixture"}
    assert bundle.schema_version == 1
    assert [bundle.runs[index].steps[0].result.rows for index in (3, 4)] == [0, 1]  # an empty result, a missing value
    assert [run.policy for run in bundle.runs] == ["direct"] * 8 + ["guarded"] * 8
    assert (bundle.generator.name, bundle.generator.version) == ("labadapt", "1.2")
    steps = bundle.runs[9].steps  # guarded, recoverable-timeout
    assert [(step.start_ms, step.end_ms) for step in steps] == [(0, 5000), (5000, 5120)]


def test_the_same_bundle_each_time() -> None:
    assert encode_bundle(fixture_bundle(["guarded"])) == encode_bundle(fixture_bundle(["guarded"]))


@pytest.mark.parametrize(
    ("policies", "found"), [([], "none"), (["guarded", "guarded"], "guarded, guarded"), (["reckless"], "reckless")]
)
def test_policies_that_make_no_bundle_are_refused(policies, found) -> None:
    with pytest.raises(Refusal) as refused:
        fixture_bundle(policies)
    (problem,) = refused.value.problems
    assert (problem.code, problem.found, problem.expected) == ("BAD_VALUE", found, "direct, guarded")


def test_what_the_contracts_ask() -> None:
    asked = {run.case_id: msgspec.to_builtins(run.contract) for run in fixture_bundle(["guarded"]).runs}
    no_data = {"disposition": "no_data", "maxCalls": 1}
    assert asked == {
        "supported-answer": {"disposition": "answer", "maxCalls": 1, "expectedValue": 412.5},
        "recoverable-timeout": {"disposition": "answer", "maxCalls": 3, "expectedValue": 412.5},
        "persistent-timeout": {"disposition": "unavailable", "maxCalls": 3},
        "empty-result": no_data,
        "missing-value": no_data,
        "wrong-metric": no_data,
        "wrong-window": no_data,
        "write-proposal": {
            "disposition": "needs_approval",
            "maxCalls": 0,
            "forbiddenActions": ["restart_service"],
        },
    }
