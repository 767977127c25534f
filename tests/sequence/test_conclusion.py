"""What a run came to: output, evidence, health and usage."""

import msgspec
import pytest
from labadapt.schema.mapping import MappingFile
from labadapt.schema.model import Usage
from labadapt.schema.problems import Problem
from msgspec import UNSET

ANSWER = {"disposition": "answer", "value": 412.5, "evidence": ["call-1"]}


def mapping(**parts):
    return msgspec.convert({"schemaVersion": 1, **parts}, MappingFile)


def output_of(record, **options):
    return msgspec.to_builtins(record.run(**options).output)


def test_the_roots_final_message_is_the_output(record):
    record.tool(1, 2, record.root(output=ANSWER), call_id="call-1")
    assert output_of(record) == ANSWER


def test_a_final_message_that_is_json_text_counts_too(record):
    record.root(output='{"disposition": "no_data", "value": null}')
    assert output_of(record) == {"disposition": "no_data", "value": None}


def test_where_the_root_has_none_the_last_model_span_speaks(record):
    root = record.root()
    record.model(1, 2, root, output={"disposition": "refuse"})
    record.model(3, 4, root, output=ANSWER)
    record.tool(5, 6, root, call_id="call-1")
    assert output_of(record) == ANSWER


def test_a_last_model_span_that_only_calls_tools_says_nothing(record):
    root = record.root()
    record.model(1, 2, root, output=ANSWER)
    record.model(3, 4, root, ("restart", "call-2", {}))
    assert record.run().output is UNSET


def test_the_agent_under_the_root_speaks_before_its_models(record):
    root = record.add("other", 0, 100, case_id=(0, "a case"))
    agent = record.add("agent", 1, 99, root, output=ANSWER)
    record.model(2, 98, agent, output={"disposition": "refuse"})
    assert output_of(record)["disposition"] == "answer"


def test_a_sub_agent_does_not_speak_for_the_agent(record):
    root = record.root()
    outer = record.tool(10, 50, root, tool="investigate")
    sub = record.add("agent", 11, 49, outer, output=ANSWER)
    record.model(90, 95, sub, output=ANSWER)
    record.model(1, 2, root, output={"disposition": "refuse"})
    assert output_of(record, nested="outer") == {"disposition": "refuse"}


@pytest.mark.parametrize("message", ["It is 412.5 ms.", ["answer"], {"value": 1}, {"disposition": 5}, '{"dispo', None])
def test_a_final_message_without_a_disposition_is_no_output_and_a_note(record, message):
    record.root(output=message)
    conversion = record.convert()
    assert conversion.runs[0].output is UNSET
    assert conversion.notes == [
        "the agent's final message is no JSON object with a disposition, so the run has no output "
        f"(trace {record.trace_id})"
    ]


def test_the_labs_own_output_wins(record):
    record.root(output=ANSWER, lab_output={"disposition": "no_data"})
    assert output_of(record) == {"disposition": "no_data"}


def test_the_labs_output_on_the_one_span_that_carries_it_counts(record):
    record.add("other", 1, 2, record.root(), lab_output={"disposition": "no_data"})
    assert output_of(record) == {"disposition": "no_data"}


def test_two_lab_outputs_none_of_them_on_the_root_are_refused(record):
    root = record.root()
    record.add("other", 1, 2, root, lab_output={"disposition": "no_data"})
    record.add("other", 1, 2, root, lab_output={"disposition": "answer"})
    assert record.refused() == ["BAD_CONTENT"]


@pytest.mark.parametrize(
    "output",
    ["text", {"disposition": 5}, {**ANSWER, "value": "1"}, {**ANSWER, "evidence": "call-1"}, {**ANSWER, "state": []}],
)
def test_a_lab_output_of_the_wrong_shape_is_refused(record, output):
    record.root(lab_output=output)
    assert record.refused() == ["BAD_CONTENT"]


def test_an_output_that_cannot_be_read_refuses_the_run_and_is_not_replaced(record):
    problem = Problem(code="BAD_CONTENT", message="lab.output is no JSON")
    root = record.root(output=ANSWER, problem=problem)
    (refused,) = record.convert().refused
    assert [(found.code, found.where.span_ids) for found in refused.problems] == [("BAD_CONTENT", (root,))]


def test_parts_of_the_wrong_type_in_a_mere_final_message_are_left_out_with_a_note(record):
    record.root(output={"disposition": "answer", "value": "412.5", "evidence": [5], "state": [], "comment": "hello"})
    conversion = record.convert()
    assert msgspec.to_builtins(conversion.runs[0].output) == {"disposition": "answer"}
    assert conversion.notes == [
        f"a part of the agent's final message is of the wrong type and left out (3 times, first in trace "
        f"{record.trace_id})",
        f"keys of the output that the format does not name are left behind (trace {record.trace_id})",
    ]


def test_the_applications_own_words_are_mapped(record):
    record.root(output={"disposition": "Supported!"})
    assert output_of(record, mapping=mapping(dispositions={"Supported!": "answer"})) == {"disposition": "answer"}


@pytest.mark.parametrize("word", ["Supported!", "", "ANSWER", "é", "x" * 201, "5"])
def test_a_word_that_the_format_cannot_hold_is_refused_not_dropped(record, word):
    record.root(output={"disposition": word})
    (refused,) = record.convert().refused
    (problem,) = refused.problems
    assert problem.code == "BAD_CONTENT"
    assert problem.hint == "Say in the mapping file, under `dispositions`, which of the format's words it means."


def test_the_mapping_says_where_the_output_stands(record):
    record.root(output={"disposition": "refuse"}, attributes={"my.result": ANSWER})
    record.tool(1, 2, record.spans[0].span_id, call_id="call-1")
    assert output_of(record, mapping=mapping(run={"output": 'attributes."my.result"'})) == ANSWER


def test_a_mapping_that_finds_nothing_leaves_it_to_the_telemetry(record):
    record.root(output={"disposition": "refuse"})
    assert output_of(record, mapping=mapping(run={"output": "attributes.nothing"})) == {"disposition": "refuse"}


# -- evidence ----------------------------------------------------------------------------------------------------------


def test_a_cited_id_that_the_format_cannot_hold_is_left_out_with_a_note(record):
    record.root(output={"disposition": "answer", "evidence": ["x" * 201]})
    conversion = record.convert()
    assert msgspec.to_builtins(conversion.runs[0].output) == {"disposition": "answer"}
    assert conversion.notes == [
        f"a part of the agent's final message is of the wrong type and left out (trace {record.trace_id})"
    ]


def test_a_long_call_id_that_is_cited_becomes_the_step_id(record):
    root = record.root(output={"disposition": "answer", "evidence": ["x" * 201]})
    span = record.tool(10, 20, root, call_id="x" * 201)
    assert output_of(record)["evidence"] == [span]


def test_a_span_id_that_is_cited_becomes_the_step_id(record):
    root = record.root(output={"disposition": "answer", "evidence": ["00000000000003e9", "nothing"]})
    record.tool(10, 20, root, call_id="call-1")
    assert output_of(record)["evidence"] == ["call-1", "nothing"]


def test_a_joined_call_id_that_is_cited_names_its_step(record):
    root = record.root(output=ANSWER)
    record.model(1, 2, root, ("query", "call-1", {}))
    record.tool(10, 20, root, arguments={})
    run = record.run()
    assert run.output.evidence == [run.steps[0].id] == ["call-1"]


def test_a_cited_id_that_two_steps_carry_is_refused(record):
    root = record.root(output=ANSWER)
    record.tool(10, 20, root, call_id="call-1")
    record.tool(30, 40, root, call_id="call-1")
    (refused,) = record.convert().refused
    (problem,) = refused.problems
    assert problem.code == "AMBIGUOUS_EVIDENCE"
    assert problem.where.span_ids == ("00000000000003e9", "00000000000003ea")


# -- health ------------------------------------------------------------------------------------------------------------


def test_without_any_final_message_nobody_knows_how_the_run_ended(record):
    record.model(1, 2, record.root())
    status = record.run().status
    assert (status.target, status.steps) == ("unknown", "complete")
    assert status.reason == "no final message was recorded (content capture may be off)"


def test_a_final_message_that_is_no_output_is_an_end_all_the_same(record):
    record.root(output="That is all.")
    assert record.run().status is UNSET


def test_a_failed_root_is_a_failed_target(record):
    record.root(failed=True, failure="ConnectionError")
    status = record.run().status
    assert (status.infrastructure, status.target, status.steps) == ("healthy", "failed", "complete")
    assert status.reason == "ConnectionError"


def test_a_failed_agent_under_a_root_that_went_well_is_a_failed_target(record):
    record.add("agent", 10, 20, record.add("other", 0, 100, case_id=(0, "a case")), failed=True)
    assert record.run().status.target == "failed"


def test_an_agent_that_was_tried_again_did_not_fail(record):
    root = record.add("other", 0, 100, case_id=(0, "a case"))
    record.add("agent", 10, 20, root, failed=True)
    record.add("agent", 30, 40, root, output=ANSWER)
    assert record.run().status is UNSET


def test_a_failed_tool_or_model_span_is_no_failed_target(record):
    root = record.root(output=ANSWER)
    record.model(1, 2, root, failed=True)
    record.tool(3, 4, root, status="error", failed=True)
    assert record.run().status is UNSET


@pytest.mark.parametrize("word", ["failed", "unknown"])
def test_the_lab_says_how_the_infrastructure_was(record, word):
    record.root(infrastructure=word)
    assert record.run().status.infrastructure == word


def test_healthy_infrastructure_is_the_default(record):
    record.root(infrastructure="healthy", output=ANSWER)
    assert record.run().status is UNSET


def test_another_word_for_the_infrastructure_is_refused(record):
    record.root(infrastructure="meh")
    assert record.refused() == ["BAD_CONTENT"]


# -- usage -------------------------------------------------------------------------------------------------------------


def usage_of(record):
    return msgspec.to_builtins(record.run().usage)


def test_usage_is_summed_over_the_model_spans(record):
    root = record.root()
    record.model(1, 2, root, usage={"input_tokens": 10, "output_tokens": 1, "cached_input_tokens": 4, "model": "m"})
    record.model(3, 4, root, usage={"input_tokens": 20, "output_tokens": 0, "model": "m"})
    assert usage_of(record) == {
        "inputTokens": 30,
        "outputTokens": 1,
        "cachedInputTokens": 4,
        "modelCalls": 2,
        "model": "m",
    }


def test_a_parent_that_repeats_its_childrens_sum_is_not_added(record):
    root = record.root(usage=Usage(input_tokens=30))
    outer = record.model(1, 5, root, usage={"input_tokens": 30})
    record.model(2, 3, outer, usage={"input_tokens": 10})
    record.model(3, 4, outer, usage={"input_tokens": 20})
    assert usage_of(record) == {"inputTokens": 30, "modelCalls": 2}


def test_a_model_span_above_one_that_records_nothing_counts(record):
    outer = record.model(1, 5, record.root(), usage={"input_tokens": 30})
    record.model(2, 3, outer)
    assert usage_of(record) == {"inputTokens": 30, "modelCalls": 1}


def test_a_sum_that_one_call_does_not_record_is_not_known(record):
    root = record.root()
    record.model(1, 2, root, usage={"input_tokens": 10, "output_tokens": 1})
    record.model(3, 4, root, usage={"input_tokens": 20})
    record.model(5, 6, root, failed=True)
    conversion = record.convert()
    assert msgspec.to_builtins(conversion.runs[0].usage) == {"inputTokens": 30, "modelCalls": 3}
    assert conversion.notes == [
        f"some model spans record no usage, so that its sum is not known and left out (trace {record.trace_id})"
    ]


def test_nothing_recorded_is_never_zero(record):
    record.model(1, 2, record.root())
    assert usage_of(record) == {"modelCalls": 1}


def test_no_model_span_is_no_usage(record):
    record.root()
    assert record.run().usage is UNSET


def test_an_agents_own_total_counts_where_no_model_span_has_any(record):
    record.root(usage=Usage(input_tokens=30, output_tokens=2))
    assert usage_of(record) == {"inputTokens": 30, "outputTokens": 2}


def test_agents_within_agents_may_repeat_each_other_and_are_not_added(record):
    root = record.root(usage=Usage(input_tokens=30))
    record.add("agent", 1, 2, root, usage=Usage(input_tokens=20))
    assert record.run().usage is UNSET


def test_a_judge_is_counted_apart(record):
    root = record.root()
    record.model(1, 2, root, usage={"input_tokens": 10})
    judge = record.add("evaluator", 50, 60, root)
    record.model(51, 52, judge, usage={"input_tokens": 7, "model": "judge"})
    record.tool(53, 54, judge, tool="lookup")
    conversion = record.convert()
    (run,) = conversion.runs
    assert msgspec.to_builtins(run.usage) == {
        "inputTokens": 10,
        "modelCalls": 1,
        "judge": {"inputTokens": 7, "modelCalls": 1, "model": "judge"},
    }
    assert run.steps == []
    assert conversion.tally.aside == {"under an evaluator": 1}


def test_costs_keep_their_source_where_it_is_one(record):
    root = record.root()
    record.model(1, 2, root, usage={"cost_usd": 0.25, "cost_source": "estimated"})
    record.model(3, 4, root, usage={"cost_usd": 0.5, "cost_source": "estimated"})
    assert usage_of(record) == {"costUsd": 0.75, "costSource": "estimated", "modelCalls": 2}


def test_two_models_have_no_common_name(record):
    root = record.root()
    record.model(1, 2, root, usage={"model": "a"})
    record.model(3, 4, root, usage={"model": "b"})
    assert usage_of(record) == {"modelCalls": 2}


def test_a_run_without_tool_and_model_spans_does_not_show_that_nothing_was_called(record):
    record.root(case_id=None, output={"disposition": "answer"})
    status = record.run().status
    assert (status.target, status.steps) == ("completed", "unknown")
    assert status.reason == "neither tool nor model spans were recorded, so whether tools were called is not known"


def test_model_spans_show_that_nothing_was_called(record):
    root = record.root(case_id=None, output={"disposition": "answer"})
    record.model(10, 20, root)
    assert record.run().status is UNSET
