"""Concurrency, nesting and impossible times: refused with both spans and their times, or not a fault at all."""

import pytest


def problems_of(record, **options):
    (refused,) = record.convert(**options).refused
    return refused.problems


def test_two_calls_that_overlap_are_refused_with_both_named(record):
    root = record.root()
    first = record.tool(10, 20, root, tool="query_metric")
    second = record.tool(15.5, 30, root, tool="read_log")
    (problem,) = problems_of(record)
    assert problem.code == "CONCURRENT_STEPS"
    assert problem.message == (
        f'Tool calls "query_metric" (span {first}) and "read_log" (span {second}) overlap by 4.5 ms.'
    )
    assert problem.found == f"{first}: 10 to 20 ms; {second}: 15.5 to 30 ms"
    assert problem.where.trace_id == record.trace_id
    assert problem.where.span_ids == (first, second)
    assert problem.where.file == "trace.pb"
    assert problem.where.run == "a case / a policy"


def test_every_overlapping_pair_is_named(record):
    root = record.root()
    record.tool(10, 50, root)
    record.tool(20, 30, root)
    record.tool(40, 60, root)
    record.tool(60, 70, root)
    assert record.refused() == ["CONCURRENT_STEPS", "CONCURRENT_STEPS"]


def test_a_thousand_calls_at_once_are_not_a_thousand_messages(record):
    root = record.root()
    for _ in range(1000):
        record.tool(10, 50, root)
    problems = problems_of(record)
    assert len(problems) == 20
    assert problems[-1].message.endswith("979 more pairs do.")


@pytest.mark.parametrize(
    "times",
    [
        [(10, 20), (20, 30)],
        [(10, 20), (20, 20), (20, 30)],
        [(10, 10), (10, 20)],
        [(10, 20), (20, 20)],
    ],
    ids=["touching", "zero-length between", "zero-length before", "zero-length after"],
)
def test_touching_and_zero_length_calls_are_in_sequence(record, times):
    root = record.root()
    for start, end in times:
        record.tool(start, end, root)
    assert [(step.start_ms, step.end_ms) for step in record.run().steps] == times


def test_a_zero_length_call_within_another_cannot_stand_in_sequence(record):
    root = record.root()
    record.tool(10, 20, root)
    record.tool(15, 15, root)
    (problem,) = problems_of(record)
    assert problem.code == "CONCURRENT_STEPS"
    assert problem.message.endswith("overlap: the second lies within the first.")


def test_spans_that_are_no_tool_calls_do_not_make_calls_concurrent(record):
    root = record.root()
    record.tool(10, 20, root)
    record.model(5, 40, root)
    record.add("other", 12, 35, root)
    record.tool(30, 40, root)
    assert len(record.run().steps) == 2


def test_calls_of_equal_times_are_ordered_by_their_proposals(record):
    root = record.root()
    record.model(1, 2, root, ("query", "first", {"n": 1}), ("query", "second", {"n": 2}))
    record.tool(10, 10, root, call_id="second", arguments={"n": 2})
    record.tool(10, 10, root, call_id="first", arguments={"n": 1})
    conversion = record.convert()
    assert [step.id for step in conversion.runs[0].steps] == ["first", "second"]
    assert conversion.notes == []


def test_a_tie_that_nothing_decides_is_a_note(record):
    root = record.root()
    record.tool(10, 10, root)
    record.tool(10, 10, root)
    conversion = record.convert()
    assert conversion.notes == [
        f"two steps carry the same times; which came first is not in the record (trace {record.trace_id})"
    ]


# -- nesting -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def nested(record):
    """`investigate` runs a sub-agent, which calls `query` twice; afterwards the agent calls `restart`."""
    root = record.root()
    outer = record.tool(10, 60, root, tool="investigate", call_id="outer")
    sub_agent = record.add("agent", 12, 58, outer)
    record.tool(20, 30, sub_agent, call_id="inner-1")
    record.tool(40, 50, sub_agent, call_id="inner-2")
    record.tool(70, 80, root, tool="restart", call_id="last")
    return record


def test_a_call_inside_another_is_refused_with_both_named(nested):
    first, second = problems_of(nested)
    assert (first.code, second.code) == ("NESTED_STEPS", "NESTED_STEPS")
    assert first.message == (
        'Tool call "query" (span 00000000000003eb) runs inside tool call "investigate" (span 00000000000003e9).'
    )
    assert first.found == "00000000000003e9: 10 to 60 ms; within it 00000000000003eb: 20 to 30 ms"
    assert first.where.span_ids == ("00000000000003e9", "00000000000003eb")


def test_outer_keeps_what_this_agent_called(nested):
    conversion = nested.convert(nested="outer")
    assert [step.id for step in conversion.runs[0].steps] == ["outer", "last"]
    assert conversion.tally.aside == {"inside another tool call (--nested outer)": 2}


def test_leaf_keeps_what_was_called_in_the_end(nested):
    conversion = nested.convert(nested="leaf")
    assert [step.id for step in conversion.runs[0].steps] == ["inner-1", "inner-2", "last"]
    assert conversion.tally.aside == {"encloses other tool calls (--nested leaf)": 1}


def test_nesting_over_three_levels(record):
    first = record.tool(10, 60, record.root(), tool="a")
    second = record.tool(20, 50, first, tool="b")
    record.tool(30, 40, second, tool="c")
    assert [step.tool for step in record.run(nested="outer").steps] == ["a"]
    assert [step.tool for step in record.run(nested="leaf").steps] == ["c"]


def test_concurrent_leaves_are_still_refused(record):
    outer = record.tool(10, 60, record.root(), tool="a")
    record.tool(20, 40, outer, tool="b")
    record.tool(30, 50, outer, tool="c")
    assert record.refused(nested="leaf") == ["CONCURRENT_STEPS"]
    assert [step.tool for step in record.run(nested="outer").steps] == ["a"]


# -- times that cannot be ----------------------------------------------------------------------------------------------


def test_a_call_that_ends_before_it_starts_is_refused_never_swapped(record):
    span = record.tool(20, 10, record.root())
    (problem,) = problems_of(record)
    assert problem.code == "REVERSED_TIMING"
    assert problem.message == f'Span {span} ("tool") ends 10 ms before it starts.'


def test_a_run_that_ends_before_it_starts_is_refused(record):
    record.root(end=-5)
    assert record.refused() == ["REVERSED_TIMING"]


def test_a_reversed_span_that_is_not_needed_refuses_nothing(record):
    record.add("other", 20, 10, record.root())
    assert record.run().steps == []


def test_a_call_before_its_run_is_refused_never_clamped(record):
    root = record.root()
    span = record.tool(-1.25, 2, root)
    (problem,) = problems_of(record)
    assert problem.code == "OUT_OF_RANGE_TIMING"
    assert problem.message == f'Tool call "query" (span {span}) starts 1.25 ms before its run.'
    assert problem.found == f"{span}: -1.25 to 2 ms"


def test_a_call_that_outlives_its_run_extends_it_with_a_note(record):
    record.tool(90, 120, record.root(end=100))
    conversion = record.convert()
    assert conversion.runs[0].duration_ms == 120
    assert conversion.notes == [f"a step ends after the root span of its run (trace {record.trace_id})"]


@pytest.mark.parametrize("role", ["tool", "agent", "model"])
def test_a_span_without_an_end_refuses_the_run(record, role):
    root = record.root()
    span = record.tool(10, 0, root) if role == "tool" else record.add(role, 10, 0, root)
    (problem,) = problems_of(record)
    assert problem.code == "UNFINISHED_SPAN"
    assert problem.where.span_ids == (span,)


def test_a_root_without_an_end_refuses_the_run(record):
    record.root(end=0)
    assert record.refused() == ["UNFINISHED_SPAN"]
