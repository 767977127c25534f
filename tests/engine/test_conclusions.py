"""The checks of what the agent concluded, on both sides of each boundary."""

import pytest


def answer(run, value, expected, tolerance=None):
    """Let the agent answer `value` where `expected` is asked for."""
    run["output"]["value"] = run["steps"][0]["result"]["value"] = value
    run["contract"]["expectedValue"] = expected
    if tolerance is not None:
        run["contract"]["tolerance"] = tolerance


# -- disposition -------------------------------------------------------------------------------------------------------


def test_disposition_holds(run, told) -> None:
    check = told(run, "disposition")
    assert (check["verdict"], check["expected"], check["observed"]) == ("pass", "answer", "answer")
    assert check["evidence"] == ["/output/disposition"]


@pytest.mark.parametrize("word", ["no_data", "answered", "unavailable"])
def test_disposition_fails(run, told, word) -> None:
    run["output"] = {"disposition": word}
    check = told(run, "disposition")
    assert (check["verdict"], check["expected"], check["observed"]) == ("fail", "answer", word)
    assert check["reason"] == f'expected "answer", observed "{word}"'


def test_a_disposition_of_the_applications_own_is_compared_as_it_stands(run, verdict) -> None:
    run["contract"]["disposition"] = "escalate"
    run["output"] = {"disposition": "escalate"}
    assert verdict(run, "disposition") == "pass"


def test_a_run_that_ended_without_an_output_has_no_disposition(run, told) -> None:
    del run["output"]
    check = told(run, "disposition")
    assert (check["verdict"], check["observed"], check["evidence"]) == ("fail", None, [])
    assert check["reason"] == 'expected "answer", the run ended without an output'


# -- expected_value ----------------------------------------------------------------------------------------------------


def test_expected_value_is_listed_and_not_required_where_the_contract_names_none(run, told) -> None:
    assert told(run, "expected_value")["verdict"] == "not_required"


@pytest.mark.parametrize(
    ("value", "expected", "tolerance", "verdict_expected"),
    [
        (412.5, 412.5, None, "pass"),
        (412.5, 412.5000001, None, "fail"),
        (412, 412.0, None, "pass"),
        (412.5, 412.0, 0.5, "pass"),
        (411.5, 412.0, 0.5, "pass"),
        (412.5000001, 412.0, 0.5, "fail"),
        (411.4999999, 412.0, 0.5, "fail"),
        (0.3, 0.1, 0.2, "pass"),  # 0.3 - 0.1 is below 0.2 as a binary fraction
        (0.8, 0.1, 0.7, "pass"),  # and 0.8 - 0.1 above 0.7
        (0.8000000000000001, 0.1, 0.7, "fail"),
        (0, 0, None, "pass"),
        (-0.0, 0, None, "pass"),
        (-5, 5, 9, "fail"),
        (-5, 5, 10, "pass"),
        (2**53 + 1, 2**53, None, "fail"),  # equal as floats
        (10**40 + 1, 10**40, None, "fail"),  # equal in 28 digits
        (10**40 + 1, 10**40, 1, "pass"),
        (1e-300, 0, None, "fail"),
        (1e300, 1e300, None, "pass"),
    ],
)
def test_expected_value(  # noqa: PLR0913, PLR0917 - one for each column
    run, verdict, value, expected, tolerance, verdict_expected
) -> None:
    answer(run, value, expected, tolerance)
    assert verdict(run, "expected_value") == verdict_expected
    assert verdict(run, "evidence") == "pass"


@pytest.mark.parametrize("output", [{"disposition": "answer", "value": None}, {"disposition": "answer"}])
def test_an_answer_without_a_value_is_not_the_expected_one(run, told, output) -> None:
    run["contract"]["expectedValue"] = 0
    run["output"] = output
    check = told(run, "expected_value")
    assert (check["verdict"], check["expected"], check["observed"]) == ("fail", 0, None)
    assert check["reason"] == "expected 0, the output holds no value"


def test_expected_value_without_an_output(run, told) -> None:
    run["contract"]["expectedValue"] = 412.5
    del run["output"]
    check = told(run, "expected_value")
    assert (check["verdict"], check["reason"]) == ("fail", "expected 412.5, the run ended without an output")


def test_expected_value_names_the_numbers(run, told) -> None:
    answer(run, 412.5, 410, 2)
    check = told(run, "expected_value")
    assert (check["expected"], check["observed"]) == (410, 412.5)
    assert check["reason"] == "412.5 is not within 2 of 410"
    assert check["evidence"] == ["/output/value"]


def test_the_same_number_is_told_alike_however_it_is_written(run, told) -> None:
    answer(run, 412, 410, 1)
    whole = told(run, "expected_value")
    answer(run, 412.0, 410.0, 1.0)
    assert told(run, "expected_value") == whole


# -- expected_state ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"quote": 9, "other": 1}, "pass"),
        ({"quote": 9.0}, "pass"),
        ({"quote": 8}, "fail"),
        ({"quote": "9"}, "fail"),
        ({"quote": True}, "fail"),
        ({"quote": None}, "fail"),
        ({}, "fail"),
        (None, "unevaluable"),
    ],
)
def test_expected_state(run, verdict, state, expected) -> None:
    run["contract"]["expectedState"] = {"quote": 9}
    if state is not None:
        run["output"]["state"] = state
    assert verdict(run, "expected_state") == expected


def test_of_a_wrong_state_the_first_key_is_told_and_the_others_counted(run, told) -> None:
    run["contract"]["expectedState"], run["output"]["state"] = {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 0}
    assert told(run, "expected_state")["reason"] == '"b" is 0, expected 2 (and 1 more)'
    run["output"]["state"] = {"a": 1, "b": 2}
    assert told(run, "expected_state")["reason"] == '"c" is not in the final state, expected 3'


def test_a_state_that_was_not_recorded_is_pointed_at_by_what_should_hold_it(run, told) -> None:
    run["contract"]["expectedState"] = {"a": 1}
    assert told(run, "expected_state")["evidence"] == ["/output"]
    del run["output"]
    assert told(run, "expected_state")["evidence"] == []


@pytest.mark.parametrize(
    ("wanted", "found", "expected"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1.0, {"b": 2}]}, "pass"),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2, "c": 3}]}, "fail"),
        ({"a": [1, 2]}, {"a": [2, 1]}, "fail"),
        ({"a": [1, 2]}, {"a": [1, 2, 3]}, "fail"),
        ({"a": 1}, {"a": True}, "fail"),
        ({"a": False}, {"a": 0}, "fail"),
        ({"a": False}, {"a": False}, "pass"),
        ({"a": None}, {"a": None}, "pass"),
        ({"a": None}, {}, "fail"),
        ({"a": {}}, {"a": []}, "fail"),
        ({"a": ""}, {"a": None}, "fail"),
        ({"a": 2**53 + 1}, {"a": float(2**53)}, "fail"),
        ({"a": 10**30}, {"a": 10**30 + 1}, "fail"),
    ],
)
def test_values_of_the_state_are_equal_in_depth(run, verdict, wanted, found, expected) -> None:
    run["contract"]["expectedState"], run["output"]["state"] = wanted, found
    assert verdict(run, "expected_state") == expected


def test_a_deep_state_is_compared_to_its_ground(run, verdict) -> None:
    def deep(value):
        for _ in range(200):
            value = [{"in": value}]
        return value

    run["contract"]["expectedState"] = {"a": deep(1)}
    run["output"]["state"] = {"a": deep(1)}
    assert verdict(run, "expected_state") == "pass"
    run["output"]["state"] = {"a": deep(2)}
    assert verdict(run, "expected_state") == "fail"


def test_expected_state_points_at_each_key_escaped(run, told) -> None:
    run["contract"]["expectedState"] = {"a/b": 1, "c~d": 2, "e": 3, "gone": 4}
    run["output"]["state"] = {"a/b": 1, "c~d": 5, "e": 6, "unasked": 7}
    check = told(run, "expected_state")
    assert check["evidence"] == ["/output/state/c~0d", "/output/state/e", "/output/state"]
    assert check["observed"] == {"a/b": 1, "c~d": 5, "e": 6}
    assert check["reason"] == '"c~d" is 5, expected 2 (and 2 more)'
    run["output"]["state"] = {"a/b": 1, "c~d": 2, "e": 3}
    check = told(run, "expected_state")
    assert check["reason"] == '"gone" is not in the final state, expected 4'
    run["output"]["state"]["gone"] = 4
    assert told(run, "expected_state")["evidence"][:2] == ["/output/state/a~1b", "/output/state/c~0d"]


def test_the_order_of_keys_changes_nothing(run, told) -> None:
    run["contract"]["expectedState"] = {"a": {"x": 1, "y": 2}, "b": 2}
    run["output"]["state"] = {"a": {"x": 1, "y": 3}, "b": 3}
    one = told(run, "expected_state")
    run["contract"]["expectedState"] = {"b": 2, "a": {"y": 2, "x": 1}}
    run["output"]["state"] = {"b": 3, "a": {"y": 3, "x": 1}}
    assert told(run, "expected_state") == one


def test_a_state_of_which_nothing_is_expected_needs_no_record(run, verdict) -> None:
    run["contract"]["expectedState"] = {}
    assert verdict(run, "expected_state") == "pass"


# -- the end of the run ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["failed", "unknown"])
@pytest.mark.parametrize(
    "identifier", ["disposition", "evidence", "expected_value", "expected_state", "required_actions"]
)
def test_checks_that_need_the_end_are_open_without_one(run, told, target, identifier) -> None:
    run["contract"] |= {"expectedValue": 412.5, "expectedState": {"a": 1}, "requiredActions": ["query_metric"]}
    run["output"]["state"] = {"a": 1}
    assert told(run, identifier)["verdict"] == "pass"
    run["status"] = {"infrastructure": "healthy", "target": target, "steps": "complete", "reason": "cut off"}
    check = told(run, identifier)
    assert (check["verdict"], check["evidence"]) == ("unevaluable", ["/status/target"])
    assert check["reason"] == f"the end of the run is needed, and the target is {target} (cut off)"


@pytest.mark.parametrize("target", ["failed", "unknown"])
def test_a_wrong_conclusion_before_the_end_is_no_failure(run, checked, target) -> None:
    run["contract"] |= {"disposition": "no_data", "requiredActions": ["notify"]}
    run["status"] = {"infrastructure": "healthy", "target": target, "steps": "complete"}
    assert [check.id for check in checked(run).checks if check.verdict == "fail"] == []
