"""Tool spans become steps: order, times, ids, results and what is not recorded."""

import msgspec
import pytest
from msgspec import UNSET


def test_a_run_with_two_calls_in_order(record):
    root = record.root(end=50.5, output={"disposition": "answer"})
    record.tool(20, 30.000001, root, call_id="call-2", arguments={"metric": "m"}, result={"rows": 0, "value": None})
    record.tool(5, 10, root, call_id="call-1", arguments={}, result="plain text")
    run = record.run()
    assert msgspec.to_builtins(run) == {
        "caseId": "a case",
        "policy": "a policy",
        "mode": "recorded",
        "durationMs": 50.5,
        "steps": [
            {
                "id": "call-1",
                "tool": "query",
                "operation": "unknown",
                "arguments": {},
                "status": "ok",
                "startMs": 5,
                "endMs": 10,
                "callId": "call-1",
                "result": {"data": "plain text"},
            },
            {
                "id": "call-2",
                "tool": "query",
                "operation": "unknown",
                "arguments": {"metric": "m"},
                "status": "ok",
                "startMs": 20,
                "endMs": 30.000001,
                "callId": "call-2",
                "result": {"rows": 0, "value": None, "data": {"rows": 0, "value": None}},
            },
        ],
        "output": {"disposition": "answer"},
        "provenance": {
            "source": "otlp",
            "adapter": "labadapt 1.2.3",
            "conventions": [],
            "traceId": "00000000000000000000000000000001",
            "spanIds": ["00000000000003ea", "00000000000003e9"],
            "recordedStart": "2026-09-21T14:13:20.000000000Z",
            "rootSpanId": "00000000000003e8",
        },
    }


def test_what_is_not_recorded_stays_absent_and_a_recorded_null_stays_null(record):
    root = record.root()
    record.tool(1, 2, root)
    record.tool(3, 4, root, arguments=None, result=None)
    first, second = record.run().steps
    assert (first.arguments, first.result, first.call_id) == (UNSET, UNSET, UNSET)
    assert second.arguments is None
    assert second.result is not UNSET
    assert second.result.data is None


def test_a_tool_span_without_a_call_id_is_called_by_its_span_id(record):
    root = record.root()
    span = record.tool(1, 2, root)
    assert record.run().steps[0].id == span


def test_a_call_id_that_two_steps_carry_names_neither(record):
    root = record.root()
    first = record.tool(1, 2, root, call_id="same")
    second = record.tool(3, 4, root, call_id="same")
    steps = record.run().steps
    assert [step.id for step in steps] == [first, second]
    assert [step.call_id for step in steps] == ["same", "same"]


def test_a_call_id_that_is_another_steps_span_id_names_no_step(record):
    root = record.root()
    first = record.tool(1, 2, root)
    second = record.tool(3, 4, root, call_id=first)
    assert [step.id for step in record.run().steps] == [first, second]


def test_a_call_id_too_long_for_the_format_is_left_out_with_a_note(record):
    root = record.root()
    span = record.tool(1, 2, root, call_id="x" * 201)
    conversion = record.convert()
    (step,) = conversion.runs[0].steps
    assert (step.id, step.call_id) == (span, UNSET)
    assert conversion.notes == [f"a call id of more than 200 characters is left out (trace {record.trace_id})"]


@pytest.mark.parametrize("status", ["error", "timeout"])
def test_a_failed_call_carries_its_error_and_no_result(record, status):
    record.tool(1, 2, record.root(), status=status, error_type="TimeoutError", error_message="late", result={"rows": 1})
    (step,) = record.run().steps
    assert step.status == status
    assert msgspec.to_builtins(step.error) == {"type": "TimeoutError", "message": "late"}
    assert step.result is UNSET


def test_a_failed_call_of_which_nothing_more_is_known_has_no_error_object(record):
    record.tool(1, 2, record.root(), status="error")
    assert record.run().steps[0].error is UNSET


@pytest.mark.parametrize("status", ["blocked", "unknown"])
def test_a_call_that_may_not_have_run_has_no_result(record, status):
    record.tool(1, 2, record.root(), status=status, result={"rows": 1})
    (step,) = record.run().steps
    assert (step.status, step.result, step.error) == (status, UNSET, UNSET)


def test_typed_parts_of_the_result_come_from_keys_of_the_same_name(record):
    result = {"metric": "m", "window": "w", "rows": 3, "value": 0, "source": "s", "more": [1]}
    record.tool(1, 2, record.root(), result=result)
    assert msgspec.to_builtins(record.run().steps[0].result) == {
        "metric": "m",
        "window": "w",
        "rows": 3,
        "value": 0,
        "source": "s",
        "data": result,
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("metric", 5),
        ("window", ["w"]),
        ("rows", -1),
        ("rows", 1.0),
        ("rows", True),
        ("rows", 2**63),
        ("value", "412.5"),
        ("value", True),
        ("value", float("inf")),
        ("source", {}),
    ],
)
def test_a_key_of_the_same_name_and_another_type_is_left_in_the_data_alone(record, key, value):
    record.tool(1, 2, record.root(), result={key: value})
    (step,) = record.run().steps
    assert getattr(step.result, key) is UNSET
    assert step.result.data == {key: value}


def test_the_labs_own_attributes_win_over_keys_of_the_result(record):
    record.tool(1, 2, record.root(), lab={"rows": 7, "value": None}, result={"rows": 1, "value": 2, "metric": "m"})
    result = record.run().steps[0].result
    assert (result.rows, result.value, result.metric) == (7, None, "m")


def test_a_lab_attribute_of_the_wrong_type_is_refused(record):
    span = record.tool(1, 2, record.root(), lab={"rows": "many"})
    (refused,) = record.convert().refused
    (problem,) = refused.problems
    assert problem.code == "BAD_CONTENT"
    assert problem.message == "The rows of a tool's result stands at lab.rows, and is of the wrong type."
    assert (problem.found, problem.where.span_ids) == ("str 'many'", (span,))


def test_an_empty_tool_name_is_refused(record):
    record.tool(1, 2, record.root(), tool="")
    assert record.refused() == ["BAD_CONTENT"]


def test_a_tool_name_too_long_for_the_format_is_refused_not_trimmed(record):
    record.tool(1, 2, record.root(), tool="t" * 201)
    assert record.refused() == ["BAD_CONTENT"]


def test_tools_whose_operation_nobody_declared_are_named_once(record):
    root = record.root()
    record.tool(1, 2, root, tool="b")
    record.tool(3, 4, root, tool="a")
    record.tool(5, 6, root, tool="b")
    record.tool(7, 8, root, tool="c", operation="read")
    assert record.convert().undeclared == ["a", "b"]


def test_a_run_of_a_tool_span_alone_starts_with_it(record):
    record.tool(0, 10, case_id=(0, "a case"), policy=(0, "a policy"))
    run = record.run()
    assert (run.duration_ms, run.steps[0].start_ms, run.steps[0].end_ms) == (10, 0, 10)


def test_nanoseconds_survive(record):
    root = record.root(end=1000.000001)
    record.tool(0.000001, 999.999999, root)
    run = record.run()
    assert (run.steps[0].start_ms, run.steps[0].end_ms, run.duration_ms) == (0.000001, 999.999999, 1000.000001)
