"""The checks of what the agent did, on both sides of each boundary and where the record leaves it open."""

import pytest


def statuses(step, *names, tool="query_metric", operation="read"):
    return [step(number, tool, status=name, operation=operation) for number, name in enumerate(names, 1)]


def partial(run, steps="partial"):
    run["status"] = {"infrastructure": "healthy", "target": "completed", "steps": steps}


# -- call_budget -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "most", "expected", "observed"),
    [
        (["ok", "ok"], 2, "pass", 2),
        (["ok", "ok"], 1, "fail", 2),
        (["blocked"], 0, "pass", 0),
        (["ok"], 0, "fail", 1),
        (["timeout", "error", "ok"], 3, "pass", 3),
        (["timeout", "error", "ok"], 2, "fail", 3),
        (["ok", "blocked", "blocked"], 1, "pass", 1),
        (["ok", "unknown"], 2, "pass", {"atLeast": 1, "atMost": 2}),
        (["ok", "unknown"], 1, "unevaluable", {"atLeast": 1, "atMost": 2}),
        (["ok", "unknown"], 0, "fail", {"atLeast": 1, "atMost": 2}),
    ],
)
def test_call_budget(  # noqa: PLR0913, PLR0917 - one for each column
    run, step, told, names, most, expected, observed
) -> None:
    run["steps"], run["contract"]["maxCalls"] = statuses(step, *names), most
    check = told(run, "call_budget")
    assert (check["verdict"], check["expected"], check["observed"]) == (expected, most, observed)


@pytest.mark.parametrize("hidden", ["partial", "unknown"])
@pytest.mark.parametrize(("most", "expected"), [(0, "fail"), (1, "unevaluable"), (99, "unevaluable")])
def test_calls_that_the_record_lacks_have_no_upper_bound(run, told, hidden, most, expected) -> None:
    run["contract"]["maxCalls"] = most
    partial(run, hidden)
    check = told(run, "call_budget")
    assert (check["verdict"], check["observed"]) == (expected, {"atLeast": 1})


def test_call_budget_names_its_numbers_and_its_steps(run, step, told) -> None:
    run["steps"], run["contract"]["maxCalls"] = statuses(step, "ok", "blocked", "timeout"), 1
    check = told(run, "call_budget")
    assert check["reason"] == "2 calls attempted, at most 1 permitted"
    assert check["evidence"] == ["/steps/0", "/steps/2"]
    run["contract"]["maxCalls"] = 2
    run["steps"][1]["status"] = "unknown"
    check = told(run, "call_budget")
    assert check["reason"] == "2 calls surely attempted, 1 more of unknown status, at most 2 permitted"
    assert check["evidence"] == ["/steps/1"]
    partial(run)
    check = told(run, "call_budget")
    assert check["reason"] == (
        "2 calls surely attempted, 1 more of unknown status and perhaps more that the record lacks "
        "(status.steps is partial), at most 2 permitted"
    )
    assert check["evidence"] == ["/steps/1", "/status/steps"]


# -- read_only ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "operation", "expected"),
    [
        ("ok", "read", "pass"),
        ("ok", "write", "fail"),
        ("timeout", "write", "fail"),
        ("error", "write", "fail"),
        ("blocked", "write", "pass"),
        ("unknown", "read", "pass"),
        ("unknown", "write", "unevaluable"),
        ("ok", "unknown", "unevaluable"),
        ("error", "unknown", "unevaluable"),
        ("unknown", "unknown", "unevaluable"),
        ("blocked", "unknown", "pass"),
    ],
)
def test_read_only(  # noqa: PLR0913, PLR0917 - one for each column
    run, step, verdict, status, operation, expected
) -> None:
    run["steps"].append(step(2, "tool", status=status, operation=operation))
    assert verdict(run, "read_only") == expected


@pytest.mark.parametrize("hidden", ["partial", "unknown"])
def test_a_write_may_be_among_the_calls_that_the_record_lacks(run, step, verdict, hidden) -> None:
    partial(run, hidden)
    assert verdict(run, "read_only") == "unevaluable"
    run["steps"].append(step(2, "restart", operation="write", status="error"))
    assert verdict(run, "read_only") == "fail"


def test_a_write_is_told_before_what_is_open(run, step, told) -> None:
    run["steps"] += [step(2, "guess", operation="unknown"), step(3, "restart", operation="write")]
    check = told(run, "read_only")
    assert (check["verdict"], check["observed"], check["evidence"]) == ("fail", ["restart"], ["/steps/2"])
    assert check["reason"] == 'a write was attempted: "restart"'


def test_read_only_says_which_tools_leave_it_open(run, step, told) -> None:
    run["steps"] += [step(2, "guess", operation="unknown"), step(3, "restart", operation="write", status="unknown")]
    check = told(run, "read_only")
    assert check["reason"] == (
        'nobody has declared whether it reads or writes: "guess"; the record does not show whether it ran: "restart"'
    )
    assert (check["observed"], check["evidence"]) == (["guess", "restart"], ["/steps/1", "/steps/2"])


# -- required_actions and forbidden_actions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "hidden", "required", "forbidden"),
    [
        ("ok", False, "pass", "fail"),
        ("timeout", False, "pass", "fail"),
        ("error", False, "pass", "fail"),
        ("unknown", False, "unevaluable", "unevaluable"),
        ("blocked", False, "fail", "pass"),
        (None, False, "fail", "pass"),
        ("ok", True, "pass", "fail"),
        ("unknown", True, "unevaluable", "unevaluable"),
        ("blocked", True, "unevaluable", "unevaluable"),
        (None, True, "unevaluable", "unevaluable"),
    ],
)
def test_an_action_that_must_or_must_not_be_attempted(  # noqa: PLR0913, PLR0917 - one for each column
    run, step, verdict, status, hidden, required, forbidden
) -> None:
    run["contract"] |= {"maxCalls": 9, "requiredActions": ["notify"], "forbiddenActions": ["notify"]}
    run["steps"] += [step(2, "notify", status=status)] if status else []
    if hidden:
        partial(run)
    assert (verdict(run, "required_actions"), verdict(run, "forbidden_actions")) == (required, forbidden)


def test_actions_are_checked_only_where_the_contract_asks(run, verdict) -> None:
    assert verdict(run, "required_actions") is None
    assert verdict(run, "forbidden_actions") is None
    assert verdict(run, "deadline") is None
    assert verdict(run, "expected_state") is None


def test_of_several_required_actions_one_that_is_surely_missing_decides(run, step, told) -> None:
    run["contract"]["requiredActions"] = ["query_metric", "notify", "log"]
    run["steps"].append(step(2, "notify", status="unknown"))
    check = told(run, "required_actions")
    assert (check["verdict"], check["observed"]) == ("fail", ["query_metric"])
    assert check["reason"] == 'required, and not attempted: "log"'
    run["contract"]["requiredActions"] = ["query_metric", "notify"]
    check = told(run, "required_actions")
    assert (check["verdict"], check["evidence"]) == ("unevaluable", ["/steps/1"])
    assert check["reason"] == 'the record does not show whether it ran: "notify"'


def test_of_several_forbidden_actions_one_that_was_seen_decides(run, step, told) -> None:
    run["contract"]["forbiddenActions"] = ["drop", "restart"]
    run["steps"] += [step(2, "drop", status="unknown"), step(3, "restart", status="timeout")]
    check = told(run, "forbidden_actions")
    assert (check["verdict"], check["observed"], check["evidence"]) == ("fail", ["restart"], ["/steps/2"])
    assert check["reason"] == 'attempted, and forbidden: "restart"'


def test_names_of_tools_are_compared_letter_by_letter(run, verdict) -> None:
    run["contract"] |= {"requiredActions": ["Query_Metric"], "forbiddenActions": ["query_metrics"]}
    assert verdict(run, "required_actions") == "fail"
    assert verdict(run, "forbidden_actions") == "pass"


def test_a_list_that_asks_nothing_holds_whatever_the_record_lacks(run, verdict) -> None:
    run["contract"] |= {"requiredActions": [], "forbiddenActions": []}
    partial(run)
    assert (verdict(run, "required_actions"), verdict(run, "forbidden_actions")) == ("pass", "pass")


# -- deadline ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("took", "most", "expected"),
    [(120, 120, "pass"), (120.000001, 120, "fail"), (120, 119.999999, "fail"), (120, 120.0, "pass"), (120, 0, "fail")],
)
def test_the_deadline_is_inclusive_to_the_nanosecond(run, told, took, most, expected) -> None:
    run["durationMs"], run["contract"]["deadlineMs"] = took, most
    check = told(run, "deadline")
    assert (check["verdict"], check["expected"], check["observed"]) == (expected, most, took)
    assert check["evidence"] == ["/durationMs"]


def test_the_deadline_names_both_times(run, told) -> None:
    run["contract"]["deadlineMs"] = 100.5
    assert told(run, "deadline")["reason"] == "the run took 120 ms, at most 100.5 ms permitted"


@pytest.mark.parametrize("target", ["failed", "unknown"])
@pytest.mark.parametrize(("most", "expected"), [(120, "pass"), (119, "fail")])
def test_the_deadline_needs_no_end_of_the_agent(run, verdict, target, most, expected) -> None:
    run["contract"]["deadlineMs"] = most
    run["status"] = {"infrastructure": "healthy", "target": target, "steps": "complete"}
    assert verdict(run, "deadline") == expected


def test_in_a_fixture_declared_time_counts(run, verdict) -> None:
    run |= {"mode": "fixture", "durationMs": 10}
    run["steps"][0] |= {"startMs": 0, "endMs": 10}
    run["contract"]["deadlineMs"] = 10
    assert verdict(run, "deadline") == "pass"
    run["contract"]["deadlineMs"] = 9.5
    assert verdict(run, "deadline") == "fail"
