"""One conversation over several traces, grouped by an attribute that a person named."""

from msgspec import UNSET


def turn(new_record, number: int, start: float, value: str | None = "chat-1", **parts):
    record = new_record(number)
    group = None if value is None else (0, value)
    root = record.add("agent", start, start + 50, case_id=(0, "a case"), policy=(0, "v1"), group=group, **parts)
    record.tool(start + 10, start + 20, root, call_id=f"call-{number}")
    return record


def test_the_turns_of_a_conversation_are_one_run_in_order_of_time(new_record) -> None:
    second = turn(new_record, 1, 200, output={"disposition": "answer", "evidence": ["call-1"]})
    first = turn(new_record, 2, 0, output="Which metric?")
    conversion = second.convert(first, group_by="session.id")
    [run] = conversion.runs
    assert [step.id for step in run.steps] == ["call-2", "call-1"]
    assert [(step.start_ms, step.end_ms) for step in run.steps] == [(10, 20), (210, 220)]
    assert (run.duration_ms, run.output.disposition, run.output.evidence) == (250, "answer", ["call-1"])
    assert run.status is UNSET
    assert run.provenance["groupedBy"] == "session.id"
    assert run.provenance["traceIds"] == [first.trace_id, second.trace_id]
    assert conversion.notes == [f"turns of one session.id are one run (trace {first.trace_id})"]
    assert (conversion.tally.used, conversion.tally.aside) == (4, {})


def test_the_order_of_traces_changes_nothing(new_record) -> None:
    turns = [turn(new_record, number, 100 * number, output="?") for number in (1, 2, 3)]
    one = turns[0].convert(turns[1], turns[2], group_by="session.id").runs
    assert turns[2].convert(turns[0], turns[1], group_by="session.id").runs == one
    assert len(one[0].steps) == 3


def test_without_being_asked_each_trace_is_a_run(new_record) -> None:
    first, second = turn(new_record, 1, 0, output="?"), turn(new_record, 2, 100, output="?")
    assert len(first.convert(second, trials=True).runs) == 2


def test_other_conversations_and_traces_without_the_attribute_stay_apart(new_record) -> None:
    records = [turn(new_record, 1, 0), turn(new_record, 2, 100, "chat-2"), turn(new_record, 3, 200, None)]
    conversion = records[0].convert(*records[1:], group_by="session.id", trials=True)
    assert [run.provenance["traceId"] for run in conversion.runs] == [record.trace_id for record in records]
    assert all("groupedBy" not in run.provenance for run in conversion.runs)
    assert (
        f"no span carries session.id, so the trace is a run of its own (trace {records[2].trace_id})"
        in conversion.notes
    )


def test_turns_that_overlap_are_refused_where_their_calls_do(new_record) -> None:
    first, second = turn(new_record, 1, 0), turn(new_record, 2, 5)
    conversion = first.convert(second, group_by="session.id")
    [refused] = conversion.refused
    assert [problem.code for problem in refused.problems] == ["CONCURRENT_STEPS"]


def test_a_span_id_in_two_traces_is_refused(new_record) -> None:
    first, second = turn(new_record, 1, 0), turn(new_record, 2, 100)
    second.add("model", 110, 120, second.spans[0].span_id, span_id=first.spans[1].span_id)
    [refused] = first.convert(second, group_by="k").refused
    assert [problem.code for problem in refused.problems] == ["CONFLICTING_DUPLICATE"]


def test_two_values_in_one_run_are_refused(new_record) -> None:
    record = turn(new_record, 1, 0)
    record.add("model", 30, 40, record.spans[0].span_id, group=(0, "chat-2"))
    [refused] = record.convert(group_by="session.id").refused
    [problem] = refused.problems
    assert (problem.code, problem.found) == ("BAD_CONTENT", "chat-1; chat-2")


def test_a_missing_root_of_one_turn_leaves_the_end_unknown(new_record) -> None:
    first, second = turn(new_record, 1, 0), turn(new_record, 2, 100)
    del second.spans[0]
    second.spans[0].group = (0, "chat-1")
    [run] = first.convert(second, group_by="session.id", trials=True).runs
    assert (len(run.steps), run.status.target) == (2, "unknown")


def test_a_conversation_whose_turn_is_refused_is_refused(new_record) -> None:
    first, second = turn(new_record, 1, 0), turn(new_record, 2, 100)
    second.spans[0].parent_id = second.spans[0].span_id
    conversion = first.convert(second, group_by="session.id")
    assert conversion.runs == []
    assert [problem.code for refused in conversion.refused for problem in refused.problems] == [
        "BAD_PARENT",
        "BAD_PARENT",
    ]


def test_a_turn_that_never_ended_is_not_hidden_by_a_later_one(new_record) -> None:
    first, second = turn(new_record, 1, 0), turn(new_record, 2, 100)
    second.spans[0].end_ns = 0
    assert [p.code for r in first.convert(second, group_by="k").refused for p in r.problems] == ["UNFINISHED_SPAN"]
