"""What models proposed, joined to the spans that show it."""

import pytest
from msgspec import UNSET

ONE, TWO = {"n": 1}, {"n": 2}
DONE = {"disposition": "done"}


def ids(record):
    return [step.call_id for step in record.run().steps]


def test_missing_call_ids_come_from_the_proposals(record):
    root = record.root(output=DONE)
    record.model(1, 5, root, ("query", "call-1", ONE))
    record.tool(10, 20, root, arguments=ONE)
    record.model(25, 26, root, ("query", "call-2", ONE))
    record.tool(30, 40, root, arguments=ONE)
    run = record.run()
    assert [step.id for step in run.steps] == ["call-1", "call-2"]
    assert run.status is UNSET


def test_two_equal_proposals_of_one_turn_take_the_order_of_the_calls(record):
    root = record.root(output=DONE)
    record.model(1, 5, root, ("query", "call-1", ONE), ("query", "call-2", ONE))
    record.tool(10, 20, root, arguments=ONE)
    record.tool(30, 40, root, arguments=ONE)
    assert ids(record) == ["call-1", "call-2"]


def test_which_of_two_equal_proposals_ran_is_not_guessed(record):
    root = record.root(output=DONE)
    record.model(1, 5, root, ("query", "call-1", ONE))
    record.model(6, 7, root, ("query", "call-2", ONE))
    record.tool(10, 20, root, arguments=ONE)
    run = record.run()
    assert [step.call_id for step in run.steps] == [UNSET]
    assert (run.status.steps, run.status.target) == ("partial", "completed")
    assert run.status.reason == "1 call that the model proposed has no span"


@pytest.mark.parametrize(
    "proposal",
    [("query", "call-1", TWO), ("query", "call-1", UNSET), ("query", "call-1", {"n": 1.0})],
    ids=["other arguments", "no arguments", "another number"],
)
def test_a_proposal_that_does_not_fit_gives_no_id_and_claims_nothing_missing(record, proposal):
    root = record.root(output=DONE)
    record.model(1, 5, root, proposal)
    record.tool(10, 20, root, arguments=ONE)
    run = record.run()
    assert run.steps[0].call_id is UNSET
    assert run.status is UNSET


def test_a_proposal_of_another_tool_gives_no_id_and_is_missing(record):
    root = record.root(output=DONE)
    record.model(1, 5, root, ("restart", "call-1", ONE))
    record.tool(10, 20, root, arguments=ONE)
    run = record.run()
    assert run.steps[0].call_id is UNSET
    assert run.status.steps == "partial"


def test_a_model_span_that_started_later_proposed_another_call(record):
    root = record.root(output=DONE)
    record.tool(10, 20, root, arguments=ONE)
    record.model(30, 35, root, ("query", "call-1", ONE))
    run = record.run()
    assert run.steps[0].call_id is UNSET
    assert run.status.steps == "partial"


def test_a_call_that_awaits_approval_in_the_last_turn_is_missing_from_the_steps(record):
    root = record.root(output=DONE)
    record.model(1, 5, root, ("query", "call-1", ONE))
    record.tool(10, 20, root, call_id="call-1", arguments=ONE)
    record.model(30, 35, root, ("restart", "call-2", {}))
    assert record.run().status.steps == "partial"


def test_recorded_call_ids_need_no_arguments_to_match(record):
    root = record.root(output=DONE)
    record.model(1, 5, root, ("query", "call-1", UNSET))
    record.tool(10, 20, root, call_id="call-1")
    run = record.run()
    assert (run.steps[0].id, run.status) == ("call-1", UNSET)


def test_content_off_claims_nothing_missing(record):
    root = record.root(output=DONE)
    record.model(1, 5, root)
    record.tool(10, 20, root, call_id="call-1")
    assert record.run().status is UNSET


@pytest.mark.parametrize("tool", ["final_result", "final_answer", "final_result_Report"])
def test_the_way_in_which_a_framework_takes_the_final_answer_is_no_call(record, tool):
    root = record.root(output=DONE)
    record.model(1, 5, root, (tool, "call-1", {"disposition": "answer"}))
    assert record.run().status is UNSET


def test_a_proposal_that_is_the_runs_output_is_no_call(record):
    final = {"disposition": "answer", "value": 1}
    root = record.root(output=final)
    record.model(1, 5, root, ("report", "call-1", final))
    assert record.run().status is UNSET


def test_a_proposal_shown_by_a_span_left_aside_is_not_missing(record):
    from labadapt.adapters.observation import Call

    root = record.root(output=DONE)
    record.model(1, 5, root, ("hand_over", "call-1", {}))
    record.add("aside", 10, 11, root, reason="a hand-over", call=Call(tool="hand_over", call_id="call-1"))
    assert record.run().status is UNSET


def test_the_bare_string_of_openinference_langchain_gets_its_name_from_the_proposal(record):
    root = record.root(output=DONE)
    record.model(1, 5, root, ("restart_service", "call-1", {"service": "checkout"}))
    scope = "openinference.instrumentation.langchain"
    record.tool(10, 20, root, tool="restart_service", arguments="checkout", scope=scope)
    (step,) = record.run().steps
    assert (step.call_id, step.arguments) == ("call-1", {"service": "checkout"})


def test_a_bare_string_of_another_producer_stays_as_recorded(record):
    root = record.root(output=DONE)
    record.model(1, 5, root, ("restart_service", "call-1", {"service": "checkout"}))
    record.tool(10, 20, root, tool="restart_service", arguments="checkout")
    (step,) = record.run().steps
    assert (step.call_id, step.arguments) == (UNSET, "checkout")


def test_a_bare_string_without_a_proposal_stays_as_recorded(record):
    scope = "openinference.instrumentation.langchain"
    record.tool(10, 20, record.root(output=DONE), arguments="checkout", scope=scope)
    assert record.run().steps[0].arguments == "checkout"


def test_what_a_sub_agent_proposed_is_not_missing_where_only_outer_calls_count(record):
    root = record.root(output=DONE)
    record.model(1, 5, root, ("investigate", "outer", ONE))
    outer = record.tool(10, 50, root, tool="investigate", call_id="outer", arguments=ONE)
    record.model(11, 12, outer, ("query", "inner", ONE), ("query", "unseen", TWO))
    record.tool(20, 30, outer, call_id="inner", arguments=ONE)
    assert record.run(nested="outer").status is UNSET
    assert record.run(nested="leaf").status.steps == "partial"


def test_the_same_proposal_recorded_by_two_spans_is_one(record):
    root = record.root(output=DONE)
    outer = record.model(1, 5, root, ("query", "call-1", ONE))
    record.model(2, 4, outer, ("query", "call-1", ONE))
    record.tool(10, 20, root, arguments=ONE)
    run = record.run()
    assert (run.steps[0].call_id, run.status) == ("call-1", UNSET)


def test_a_model_span_that_cannot_be_read_is_a_note_not_a_refusal(record):
    from labadapt.schema.problems import Problem

    root = record.root(output=DONE)
    record.model(1, 5, root, problem=Problem(code="TRUNCATED_CONTENT", message="cut"))
    record.tool(10, 20, root)
    conversion = record.convert()
    assert conversion.refused == []
    assert conversion.notes == [
        f"a model span could not be read in full, so calls that it proposed may be missing (trace {record.trace_id})"
    ]


@pytest.mark.parametrize("code", ["TRUNCATED_CONTENT", "BAD_CONTENT", "AMBIGUOUS_CONVENTION"])
def test_a_tool_span_that_cannot_be_read_refuses_its_run(record, code):
    from labadapt.schema.problems import Problem

    span = record.tool(10, 20, record.root(output=DONE), problem=Problem(code=code, message="wrong"))
    (refused,) = record.convert().refused
    (problem,) = refused.problems
    assert (problem.code, problem.message, problem.where.span_ids) == (code, "wrong", (span,))
    assert (problem.where.file, problem.where.trace_id) == ("trace.pb", record.trace_id)


def test_an_unreadable_tool_span_that_is_not_needed_refuses_nothing(record):
    from labadapt.schema.problems import Problem

    outer = record.tool(10, 50, record.root(output=DONE), tool="investigate")
    record.tool(20, 30, outer, problem=Problem(code="TRUNCATED_CONTENT", message="cut"))
    assert len(record.run(nested="outer").steps) == 1
