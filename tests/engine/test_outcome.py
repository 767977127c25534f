"""From checks to the outcome of a run, and its four phases."""

import pytest


def outcome(result):
    return result.outcome, result.reason


def status(run, infrastructure="healthy", target="completed", steps="complete", **more):
    run["status"] = {"infrastructure": infrastructure, "target": target, "steps": steps, **more}


def phases(result):
    return {phase.name: phase.state for phase in result.phases}


OK = {"prepare": "ok", "run": "ok", "verify": "ok", "record": "ok"}


def test_a_run_passes(run, checked) -> None:
    result = checked(run)
    assert outcome(result) == ("pass", "every required check passed")
    assert [(check.id, check.verdict) for check in result.checks] == [
        ("disposition", "pass"),
        ("call_budget", "pass"),
        ("read_only", "pass"),
        ("evidence", "pass"),
        ("expected_value", "not_required"),
    ]
    assert phases(result) == OK


def test_every_check_stands_with_its_phase(run, checked) -> None:
    run["contract"] |= {"requiredActions": [], "forbiddenActions": [], "expectedState": {}, "deadlineMs": 500}
    result = checked(run)
    assert [(phase.name, phase.checks) for phase in result.phases] == [
        ("prepare", []),
        ("run", ["call_budget", "read_only", "required_actions", "forbidden_actions", "deadline"]),
        ("verify", ["disposition", "evidence", "expected_value", "expected_state"]),
        ("record", []),
    ]
    assert {check.id: check.phase for check in result.checks} == {
        name: phase.name for phase in result.phases for name in phase.checks
    }


@pytest.mark.parametrize(
    ("contract", "failing"),
    [
        ({"disposition": "no_data"}, "disposition"),
        ({"maxCalls": 0}, "call_budget"),
        ({"expectedValue": 400}, "expected_value"),
        ({"requiredActions": ["notify"]}, "required_actions"),
        ({"forbiddenActions": ["query_metric"]}, "forbidden_actions"),
        ({"expectedState": {"a": 1}}, "expected_state"),
        ({"deadlineMs": 119}, "deadline"),
    ],
)
def test_one_failed_check_fails_the_run(run, checked, contract, failing) -> None:
    run["output"]["state"] = {"a": 2}
    run["contract"] |= contract
    result = checked(run)
    assert [check.id for check in result.checks if check.verdict == "fail"] == [failing]
    assert result.outcome == "fail"
    assert result.reason.startswith(f"{failing}: ")


def test_further_failures_are_counted(run, checked) -> None:
    run["contract"] |= {"maxCalls": 0, "expectedValue": 1, "deadlineMs": 1}
    assert outcome(checked(run)) == ("fail", "call_budget: 1 call attempted, at most 0 permitted (and 2 more)")


def test_a_check_that_the_record_does_not_decide_is_inconclusive(run, checked) -> None:
    del run["steps"][0]["result"]
    expected = 'evidence: the result of the cited step "s1" was not recorded'
    assert outcome(checked(run)) == ("inconclusive", expected)


def test_a_failure_stands_before_a_doubt(run, checked) -> None:
    del run["steps"][0]["result"]
    run["contract"]["maxCalls"] = 0
    assert checked(run).outcome == "fail"


def test_severity_goes_with_the_result(run, checked) -> None:
    run["contract"]["severity"] = "commercial_misstatement"
    assert checked(run).severity == "commercial_misstatement"


# -- contract, infrastructure, target ----------------------------------------------------------------------------------


def test_without_a_contract_nothing_is_decided(run, checked) -> None:
    del run["contract"]
    run["steps"][0]["operation"] = "write"
    result = checked(run)
    assert outcome(result) == ("inconclusive", "the run has no contract")
    assert [(check.id, check.verdict) for check in result.checks] == [
        (name, "unevaluable") for name in ("disposition", "call_budget", "read_only", "evidence", "expected_value")
    ]
    assert phases(result) == {
        "prepare": "failed",
        "run": "not_reached",
        "verify": "not_reached",
        "record": "not_reached",
    }


@pytest.mark.parametrize("word", ["failed", "unknown"])
def test_infrastructure_that_is_not_healthy_is_inconclusive(run, checked, word) -> None:
    status(run, infrastructure=word, reason="connection lost")
    assert outcome(checked(run)) == ("inconclusive", f"the infrastructure is {word} (connection lost)")


@pytest.mark.parametrize("word", ["failed", "unknown"])
def test_a_target_that_did_not_complete_is_inconclusive(run, checked, word) -> None:
    status(run, target=word)
    assert outcome(checked(run)) == ("inconclusive", f"the target is {word}")


def test_an_absent_status_is_healthy_completed_and_complete(run, checked) -> None:
    status(run)
    with_status = checked(run)
    del run["status"]
    assert checked(run) == with_status


@pytest.mark.parametrize("infrastructure", ["failed", "unknown"])
@pytest.mark.parametrize("target", ["completed", "failed", "unknown"])
@pytest.mark.parametrize("steps", ["complete", "partial", "unknown"])
@pytest.mark.parametrize("seen", ["overrun", "write", "forbidden", "late"])
def test_what_was_seen_cannot_be_unseen(  # noqa: PLR0913, PLR0917 - one for each column
    run, checked, infrastructure, target, steps, seen
) -> None:
    status(run, infrastructure, target, steps)
    if seen == "write":
        run["steps"][0]["operation"] = "write"
    changes = {"overrun": {"maxCalls": 0}, "forbidden": {"forbiddenActions": ["query_metric"]}}
    run["contract"] |= changes.get(seen, {"deadlineMs": 1} if seen == "late" else {})
    assert checked(run).outcome == "fail"


def test_a_wrong_answer_fails_though_the_infrastructure_failed_later(run, checked) -> None:
    status(run, infrastructure="failed")
    run["contract"]["expectedValue"] = 400
    assert checked(run).outcome == "fail"


# -- a run that shows nothing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", ["complete", "partial", "unknown"])
def test_a_run_that_shows_no_action_and_no_output_is_inconclusive(run, checked, steps) -> None:
    del run["output"]
    run["steps"] = []
    run["contract"] |= {"deadlineMs": 1, "requiredActions": ["query_metric"], "expectedState": {"a": 1}}
    status(run, steps=steps)
    result = checked(run)
    assert result.outcome == "inconclusive"
    assert result.reason.startswith("the record shows no action and no output of the agent")
    assert {check.verdict for check in result.checks} == {"unevaluable", "not_required"}


def test_a_run_without_an_output_that_acted_fails(run, checked) -> None:
    del run["output"]
    assert outcome(checked(run)) == (
        "fail",
        'disposition: expected "answer", the run ended without an output (and 1 more)',
    )


def test_a_blocked_step_is_an_action(run, checked) -> None:
    del run["output"]
    run["steps"] = [{"id": "a", "tool": "t", "operation": "write", "status": "blocked", "startMs": 0, "endMs": 0}]
    assert checked(run).outcome == "fail"


def test_an_output_without_any_action_is_checked(run, checked) -> None:
    run |= {"steps": [], "output": {"disposition": "refuse"}}
    run["contract"] = {"disposition": "refuse", "maxCalls": 0}
    assert checked(run).outcome == "pass"


# -- phases ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("health", "expected"),
    [
        ({"infrastructure": "failed"}, OK | {"run": "failed"}),
        ({"infrastructure": "unknown"}, OK | {"run": "not_reached", "record": "failed"}),
        ({"target": "failed"}, OK | {"run": "failed", "verify": "not_reached"}),
        ({"target": "unknown"}, OK | {"run": "not_reached", "verify": "not_reached", "record": "failed"}),
        ({"steps": "partial"}, OK | {"run": "not_reached", "record": "failed"}),
        ({"steps": "unknown"}, OK | {"run": "not_reached", "record": "failed"}),
    ],
)
def test_the_phase_in_which_the_health_of_the_run_shows(run, checked, health, expected) -> None:
    status(run, **health)
    assert phases(checked(run)) == expected


def test_a_failed_check_fails_its_phase_and_says_so(run, checked) -> None:
    run["contract"]["maxCalls"] = 0
    result = checked(run)
    assert phases(result) == OK | {"run": "failed"}
    assert result.phases[1].reason == "call_budget: 1 call attempted, at most 0 permitted"
    run["contract"] = {"disposition": "no_data", "maxCalls": 2}
    assert phases(checked(run)) == OK | {"verify": "failed"}


def test_content_that_was_not_recorded_fails_the_record(run, checked) -> None:
    del run["steps"][0]["result"]
    result = checked(run)
    assert phases(result) == OK | {"verify": "not_reached", "record": "failed"}
    assert result.phases[3].reason == 'evidence: the result of the cited step "s1" was not recorded'


def test_an_undeclared_operation_fails_the_record(run, checked) -> None:
    run["steps"][0]["operation"] = "unknown"
    assert phases(checked(run)) == OK | {"run": "not_reached", "verify": "not_reached", "record": "failed"}


@pytest.mark.parametrize(
    ("infrastructure", "prepare"), [("healthy", "ok"), ("failed", "failed"), ("unknown", "not_reached")]
)
def test_the_phases_of_a_run_that_never_started(run, checked, infrastructure, prepare) -> None:
    run["steps"] = []
    del run["output"]
    status(run, infrastructure=infrastructure)
    result = phases(checked(run))
    assert result == {"prepare": prepare, "run": "not_reached", "verify": "not_reached", "record": "not_reached"}


def test_a_target_that_failed_with_everything_recorded_leaves_the_record_whole(run, checked) -> None:
    status(run, target="failed")
    run["contract"] |= {"requiredActions": ["notify"], "expectedState": {"a": 1}}
    assert phases(checked(run)) == OK | {"run": "failed", "verify": "not_reached"}


def test_a_target_that_failed_does_not_hide_what_the_record_leaves_open(run, checked) -> None:
    status(run, target="failed")
    run["steps"][0]["operation"] = "unknown"
    result = checked(run)
    assert phases(result) == OK | {"run": "failed", "verify": "not_reached", "record": "failed"}
    assert result.phases[3].reason == 'read_only: nobody has declared whether it reads or writes: "query_metric"'


BLANK = "the record shows no action and no output of the agent: most often the run never started"


def reasons(result):
    return {phase.name: phase.reason for phase in result.phases if phase.state != "ok"}


def test_each_phase_names_its_own_cause(run, checked) -> None:
    status(run, target="failed", reason="cut off")
    assert reasons(checked(run)) == {
        "run": "the target is failed (cut off)",
        "verify": "the target is failed (cut off)",
    }
    status(run, steps="partial", reason="a proposal has no span")
    open_calls = "perhaps more that the record lacks (status.steps is partial)"
    assert reasons(checked(run)) == {
        "run": f"call_budget: 1 call surely attempted, {open_calls}, at most 2 permitted (and 1 more)",
        "record": "status.steps is partial (a proposal has no span)",
    }


def test_without_a_contract_the_phases_say_so(run, checked) -> None:
    del run["contract"]
    assert reasons(checked(run)) == dict.fromkeys(["prepare", "run", "verify", "record"], "the run has no contract")


def test_without_a_start_the_phases_say_so(run, checked) -> None:
    run["steps"] = []
    del run["output"]
    assert reasons(checked(run)) == dict.fromkeys(["run", "verify", "record"], BLANK)
