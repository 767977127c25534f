"""The check of evidence: each condition of the rule broken alone, and each part of the record missing alone."""

import pytest

PASS, FAIL, OPEN = "pass", "fail", "unevaluable"


def change(run, path, value):
    """Set what stands at a path, or remove it where the value is `...`."""
    *parents, last = path.split(".")
    place = run
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value


def test_an_answer_that_is_borne_out(run, told) -> None:
    check = told(run, "evidence")
    assert (check["verdict"], check["observed"]) == (PASS, ["s1"])
    assert check["reason"] == "the cited step bears the answer 412.5 out"
    assert check["evidence"] == ["/steps/0", "/output/value"]


# Each row breaks one condition of the rule, and nothing else.
BROKEN = [
    ("output.evidence", [], "the answer cites no step", ["/output"]),
    ("output.evidence", ..., "the answer cites no step", ["/output"]),
    ("output.evidence", ["s1", "s9"], 'the cited step "s9" is not in the record', ["/output/evidence/1"]),
    (
        "steps.0.operation",
        "write",
        'the operation of the cited step "s1" is write, not read',
        ["/steps/0/operation"],
    ),
    (
        "steps.0.tool",
        "guess",
        'the cited step "s1" calls "guess", the request names "query_metric"',
        ["/steps/0/tool", "/request/tool"],
    ),
    (
        "steps.0.arguments.metric",
        "errors",
        'the cited step "s1" was called with metric "errors", the request asks for "latency_ms"',
        ["/steps/0/arguments/metric", "/request/metric"],
    ),
    (
        "steps.0.arguments.metric",
        ...,
        'the cited step "s1" was called without "metric", the request asks for "latency_ms"',
        ["/steps/0/arguments", "/request/metric"],
    ),
    (
        "steps.0.arguments.window",
        "LAST HOUR",
        'the cited step "s1" was called with window "LAST HOUR", the request asks for "last hour"',
        ["/steps/0/arguments/window", "/request/window"],
    ),
    (
        "steps.0.arguments",
        None,
        'the cited step "s1" was called without "metric", the request asks for "latency_ms" (and 1 more)',
        ["/steps/0/arguments", "/request/metric"],
    ),
    (
        "steps.0.result.metric",
        "errors",
        'the result of the cited step "s1" is of metric "errors", the request asks for "latency_ms"',
        ["/steps/0/result/metric", "/request/metric"],
    ),
    (
        "steps.0.result.metric",
        None,
        'the result of the cited step "s1" names no metric, the request asks for "latency_ms"',
        ["/steps/0/result/metric", "/request/metric"],
    ),
    (
        "steps.0.result.metric",
        ...,
        'the result of the cited step "s1" names no metric, the request asks for "latency_ms"',
        ["/steps/0/result", "/request/metric"],
    ),
    (
        "steps.0.result.window",
        "last day",
        'the result of the cited step "s1" is of window "last day", the request asks for "last hour"',
        ["/steps/0/result/window", "/request/window"],
    ),
    (
        "steps.0.result.window",
        ...,
        'the result of the cited step "s1" names no window, the request asks for "last hour"',
        ["/steps/0/result", "/request/window"],
    ),
    ("steps.0.result.rows", 0, 'the result of the cited step "s1" has 0 rows', ["/steps/0/result/rows"]),
    ("steps.0.result.rows", None, 'the result of the cited step "s1" names no rows', ["/steps/0/result/rows"]),
    ("steps.0.result.rows", ..., 'the result of the cited step "s1" names no rows', ["/steps/0/result"]),
    ("steps.0.result.value", None, 'the result of the cited step "s1" holds no value', ["/steps/0/result/value"]),
    ("steps.0.result.value", ..., 'the result of the cited step "s1" holds no value', ["/steps/0/result"]),
    (
        "steps.0.result.value",
        412,
        'the result of the cited step "s1" holds 412, the answer is 412.5',
        ["/steps/0/result/value", "/output/value"],
    ),
    ("steps.0.result.source", "", 'the result of the cited step "s1" names no source', ["/steps/0/result/source"]),
    ("steps.0.result.source", "  ", 'the result of the cited step "s1" names no source', ["/steps/0/result/source"]),
    ("steps.0.result.source", None, 'the result of the cited step "s1" names no source', ["/steps/0/result/source"]),
    ("steps.0.result.source", ..., 'the result of the cited step "s1" names no source', ["/steps/0/result"]),
    ("output.value", None, "the answer holds no value", ["/output"]),
    ("output.value", ..., "the answer holds no value", ["/output"]),
]


@pytest.mark.parametrize(("path", "value", "reason", "evidence"), BROKEN)
def test_each_condition_broken_alone_fails(  # noqa: PLR0913, PLR0917 - one for each column
    run, told, path, value, reason, evidence
) -> None:
    change(run, path, value)
    check = told(run, "evidence")
    assert (check["verdict"], check["reason"], check["evidence"]) == (FAIL, reason, evidence)


def test_one_row_is_enough(run, verdict) -> None:
    change(run, "steps.0.result.rows", 1)
    assert verdict(run, "evidence") == PASS


@pytest.mark.parametrize(
    ("status", "expected"),
    [("timeout", FAIL), ("error", FAIL), ("blocked", FAIL), ("unknown", OPEN)],
)
def test_a_cited_step_is_ok(run, told, status, expected) -> None:
    del run["steps"][0]["result"]  # a result stands only with ok
    run["steps"][0]["status"] = status
    check = told(run, "evidence")
    assert (check["verdict"], check["observed"]) == (expected, status)
    assert check["reason"] == f'the cited step "s1" has status {status}, not ok'


def test_expected_and_observed_are_those_of_the_fault(run, told) -> None:
    change(run, "steps.0.result.metric", "errors")
    check = told(run, "evidence")
    assert (check["expected"], check["observed"]) == ("latency_ms", "errors")


# -- what the record leaves open ---------------------------------------------------------------------------------------

LEFT_OPEN = [
    ("steps.0.arguments", ..., 'the arguments of the cited step "s1" were not recorded'),
    ("steps.0.result", ..., 'the result of the cited step "s1" was not recorded'),
    ("steps.0.operation", "unknown", 'the operation of the cited step "s1" is unknown, not read'),
    ("request", ..., "the run does not record what was requested"),
    (
        "steps.0.arguments",
        "latency_ms, last hour",
        'the arguments of the cited step "s1" are a bare value that names none of them: "latency_ms, last hour"',
    ),
    (
        "steps.0.result",
        {"data": {"p95": 412.5}},
        'the result of the cited step "s1" was recorded, and nobody has said which of it is metric, window, rows, '
        "value and source",
    ),
]


@pytest.mark.parametrize(("path", "value", "reason"), LEFT_OPEN)
def test_each_part_that_was_not_recorded_leaves_it_open(run, told, path, value, reason) -> None:
    change(run, path, value)
    check = told(run, "evidence")
    assert (check["verdict"], check["reason"]) == (OPEN, reason)


@pytest.mark.parametrize(("path", "value", "reason"), LEFT_OPEN)
def test_what_is_open_does_not_hide_a_definite_fault(  # noqa: PLR0913, PLR0917 - one for each column
    run, step, verdict, path, value, reason
) -> None:
    change(run, path, value)
    run["output"]["evidence"] = ["s1", "s2"]
    run["steps"].append(step(2, "query_metric", status="timeout"))
    assert verdict(run, "evidence") == FAIL


def test_a_definite_fault_is_told_before_what_is_open(run, step, told) -> None:
    del run["steps"][0]["result"]
    run["steps"].append(step(2, status="error"))
    run["output"]["evidence"] = ["s1", "s2"]
    check = told(run, "evidence")
    assert check["reason"] == 'the cited step "s2" has status error, not ok'


def test_an_answer_without_a_value_fails_whatever_was_recorded(run, verdict) -> None:
    del run["steps"][0]["result"]
    run["output"]["value"] = None
    assert verdict(run, "evidence") == FAIL


@pytest.mark.parametrize(("steps", "expected"), [("complete", FAIL), ("partial", OPEN), ("unknown", OPEN)])
def test_a_cited_step_may_be_among_those_that_the_record_lacks(run, verdict, steps, expected) -> None:
    run["output"]["evidence"] = ["s1", "s9"]
    run["status"] = {"infrastructure": "healthy", "target": "completed", "steps": steps}
    assert verdict(run, "evidence") == expected


def test_steps_that_are_not_cited_do_not_matter(run, step, verdict) -> None:
    run["steps"] += [step(2, "restart", operation="write", status="error"), step(3, "guess", status="unknown")]
    run["status"] = {"infrastructure": "healthy", "target": "completed", "steps": "partial"}
    assert verdict(run, "evidence") == PASS


def test_every_cited_step_must_hold_the_value(run, step, verdict) -> None:
    second = {**run["steps"][0], "id": "s2", "startMs": 20, "endMs": 30}
    run["steps"].append(second)
    run["output"]["evidence"] = ["s1", "s2", "s1"]
    assert verdict(run, "evidence") == PASS
    second["result"] = {**second["result"], "value": 412.4}
    assert verdict(run, "evidence") == FAIL


def test_a_step_that_is_cited_twice_is_judged_once(run, told) -> None:
    run["output"]["evidence"] = ["s1", "s1"]
    run["steps"][0]["result"]["rows"] = 0
    assert told(run, "evidence")["reason"] == 'the result of the cited step "s1" has 0 rows'


# -- what the request asks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["metric", "window"])
def test_a_part_that_the_request_does_not_name_need_not_match(run, verdict, part) -> None:
    del run["request"][part]
    run["steps"][0]["arguments"][part] = "another"
    run["steps"][0]["result"][part] = "and another"
    assert verdict(run, "evidence") == PASS
    del run["steps"][0]["arguments"][part], run["steps"][0]["result"][part]
    assert verdict(run, "evidence") == PASS


def test_a_request_that_names_no_arguments_needs_none_recorded(run, verdict) -> None:
    run["request"] = {"tool": "query_metric", "operation": "read"}
    del run["steps"][0]["arguments"]
    assert verdict(run, "evidence") == PASS
    run["request"]["arguments"] = {}
    assert verdict(run, "evidence") == PASS
    run["request"]["arguments"] = {"service": "checkout"}
    assert verdict(run, "evidence") == OPEN


@pytest.mark.parametrize(
    ("asked", "given", "expected"),
    [
        ({"limit": 5}, {"limit": 5.0}, PASS),
        ({"limit": 5}, {"limit": "5"}, FAIL),
        ({"limit": 1}, {"limit": True}, FAIL),
        ({"limit": None}, {"limit": None}, PASS),
        ({"limit": None}, {}, FAIL),
        ({"by": {"zone": ["a", "b"]}}, {"by": {"zone": ["a", "b"]}}, PASS),
        ({"by": {"zone": ["a", "b"]}}, {"by": {"zone": ["b", "a"]}}, FAIL),
        ({}, {"limit": 7}, PASS),
    ],
)
def test_each_of_the_requests_arguments_matches(run, verdict, asked, given, expected) -> None:
    run["request"]["arguments"] = asked
    run["steps"][0]["arguments"] |= given
    assert verdict(run, "evidence") == expected


def test_a_key_of_an_argument_is_escaped_in_the_pointer(run, told) -> None:
    run["request"]["arguments"] = {"a/b~c": 1}
    run["steps"][0]["arguments"]["a/b~c"] = 2
    check = told(run, "evidence")
    assert check["evidence"] == ["/steps/0/arguments/a~1b~0c", "/request/arguments/a~1b~0c"]


@pytest.mark.parametrize(
    ("result", "answer", "expected"),
    [
        (412, 412.0, PASS),
        (0, -0.0, PASS),
        (2**53 + 1, float(2**53), FAIL),
        (10**30, 10**30, PASS),
        (10**30, 10**30 + 1, FAIL),
        (0.1, 0.1, PASS),
        (0.30000000000000004, 0.3, FAIL),
    ],
)
def test_the_value_equals_the_answer_by_value(run, verdict, result, answer, expected) -> None:
    run["steps"][0]["result"]["value"], run["output"]["value"] = result, answer
    assert verdict(run, "evidence") == expected


# -- no answer ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["no_data", "unavailable", "needs_approval", "refuse", "escalate"])
def test_any_other_disposition_claims_no_value(run, told, word) -> None:
    run["output"] = {"disposition": word, "value": None}
    assert told(run, "evidence")["verdict"] == PASS
    run["output"] = {"disposition": word}
    assert told(run, "evidence")["verdict"] == PASS
    run["output"] = {"disposition": word, "value": 0, "evidence": ["s1"]}
    check = told(run, "evidence")
    assert (check["verdict"], check["observed"]) == (FAIL, 0)
    assert check["reason"] == f'the value 0 is claimed with disposition "{word}"'
    assert check["evidence"] == ["/output/value", "/output/disposition"]


@pytest.mark.parametrize(("wanted", "expected"), [("answer", FAIL), ("no_data", PASS)])
def test_without_an_output_what_the_contract_expects_decides(run, verdict, wanted, expected) -> None:
    del run["output"]
    run["contract"]["disposition"] = wanted
    assert verdict(run, "evidence") == expected


def test_long_values_are_cut_in_the_sentence_and_whole_beside_it(run, told) -> None:
    run["steps"][0]["result"]["metric"] = "m" * 5000
    check = told(run, "evidence")
    assert check["observed"] == "m" * 5000
    assert len(check["reason"]) < 250
    assert "mmm…" in check["reason"]
