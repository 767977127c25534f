"""Which spans make a run: copies, missing and cyclic parents, several runs in a trace, traces without one."""

import io

import msgspec
import pytest
from labadapt.adapters.conversion import Options
from labadapt.adapters.convert import convert
from labadapt.adapters.span import Input, Origin, Source, Span
from labadapt.schema.problems import Refusal, Where
from msgspec import UNSET


def given(name):
    return Input(name, io.BytesIO())


def copy_of(record, number, **changes):
    record.spans.append(msgspec.structs.replace(record.spans[number], **changes))


def test_exact_duplicates_are_dropped_and_counted(record):
    record.tool(10, 20, record.root())
    copy_of(record, 1, where=Where(file="again.pb"))
    copy_of(record, 1)
    conversion = record.convert()
    assert len(conversion.runs[0].steps) == 1
    assert conversion.tally.aside == {"exact duplicate": 2}


def test_a_span_that_arrives_twice_with_other_content_refuses_its_run(record):
    span = record.tool(10, 20, record.root(), arguments={"n": 1})
    copy_of(record, 1, end_ns=record.spans[1].end_ns + 1, where=Where(file="other.pb", line=3))
    conversion = record.convert()
    (refused,) = conversion.refused
    (problem,) = refused.problems
    assert problem.code == "CONFLICTING_DUPLICATE"
    assert problem.message == f'Span {span} ("tool") arrived 2 times with different content.'
    assert problem.found == "other.pb, line 3; trace.pb"
    assert conversion.tally.aside == {"refused: CONFLICTING_DUPLICATE": 3}


def test_an_unfinished_copy_gives_way_to_the_finished_one(record):
    record.tool(10, 20, record.root())
    copy_of(record, 1, end_ns=0)
    conversion = record.convert()
    assert conversion.runs[0].steps[0].end_ms == 20
    assert conversion.tally.aside == {"unfinished copy of a finished span": 1}


def test_a_conflict_outside_every_run_refuses_nothing(record):
    top = record.add("other", 0, 100)
    record.root(parent=top)
    record.add("other", 1, 2, top)
    copy_of(record, 2, name="another")
    conversion = record.convert()
    assert conversion.refused == []
    assert conversion.tally.aside["conflicting copy of a span outside every run"] == 1


def test_a_pending_span_is_dropped_when_the_real_one_is_there(record):
    root = record.root()
    record.add("agent", 0, 0.000001, root, pending=True)
    conversion = record.convert()
    assert conversion.refused == []
    assert conversion.tally.aside == {"pending copy of a span that arrived": 1}


def test_a_pending_span_without_its_real_one_is_an_unfinished_run(record):
    record.add("agent", 0, 0.000001, "00000000000000aa", pending=True)
    record.tool(10, 20, "00000000000000aa")
    (refused,) = record.convert().refused
    (problem,) = refused.problems
    assert problem.code == "UNFINISHED_SPAN"
    assert problem.message.endswith("has no end. Only its pending copy arrived.")


# -- parents -----------------------------------------------------------------------------------------------------------


def test_without_its_root_a_run_is_not_known_to_have_completed(record):
    record.tool(10, 20, "00000000000000aa")
    record.model(30, 40, "00000000000000aa", output={"disposition": "done"})
    run = record.run(case="a case", policy="a policy")
    assert (run.status.target, run.status.steps) == ("unknown", "unknown")
    assert run.status.reason == "spans are missing from the input: 00000000000000aa"
    assert (run.steps[0].start_ms, run.duration_ms) == (0, 30)
    assert "rootSpanId" not in run.provenance


def test_a_span_whose_parent_is_missing_belongs_to_the_traces_one_run(record):
    root = record.root()
    record.tool(10, 20, root)
    record.tool(30, 40, "00000000000000aa")
    run = record.run()
    assert len(run.steps) == 2
    assert (run.status.target, run.status.steps) == ("unknown", "unknown")


def test_a_root_that_carries_the_case_id_needs_no_parent(record):
    record.root(parent="00000000000000aa", output={"disposition": "done"})
    conversion = record.convert()
    assert conversion.runs[0].status is UNSET
    assert conversion.notes == [
        f"the parent of the span that carries the case id is not in the input (trace {record.trace_id})"
    ]


def test_a_root_without_case_id_whose_parent_is_missing_is_not_known_to_have_completed(record):
    record.add("agent", 0, 100, "00000000000000aa")
    assert record.run().status.target == "unknown"


def test_a_span_that_is_its_own_parent_is_refused(record):
    span = record.add("agent", 0, 100, "00000000000000aa", span_id="00000000000000aa")
    (refused,) = record.convert().refused
    (problem,) = refused.problems
    assert problem.code == "BAD_PARENT"
    assert problem.message == f'Span {span} ("agent") names itself as its parent.'


def test_parents_in_a_circle_are_refused_without_hanging(record):
    ids = [f"{number:016x}" for number in range(1, 4)]
    for number, span_id in enumerate(ids):
        record.add("agent", number, 100, ids[number - 1], span_id=span_id)
    record.tool(10, 20, ids[0])
    conversion = record.convert()
    (refused,) = conversion.refused
    (problem,) = refused.problems
    assert problem.code == "BAD_PARENT"
    assert problem.message == "3 spans of the trace name each other as parents in a circle."
    assert problem.found == f"{ids[0]} -> {ids[2]} -> {ids[1]} -> {ids[0]}"
    assert conversion.tally.aside == {"refused: BAD_PARENT": 4}


def test_a_circle_beside_a_good_root_refuses_the_trace(record):
    record.root()
    record.add("tool", 1, 2, "00000000000000bb", span_id="00000000000000aa")
    record.add("tool", 1, 2, "00000000000000aa", span_id="00000000000000bb")
    assert record.refused() == ["BAD_PARENT"]


def test_a_chain_of_parents_may_be_deep(record):
    parent = record.root()
    for _ in range(20_000):
        parent = record.add("other", 0, 100, parent)
    record.tool(10, 20, parent)
    assert len(record.run().steps) == 1


def test_a_deep_chain_of_tools_is_nested_once_for_each(record):
    parent = record.root()
    for _ in range(5_000):
        parent = record.tool(10, 20, parent, tool="a")
    assert [step.tool for step in record.run(nested="leaf").steps] == ["a"]
    assert record.refused() == ["NESTED_STEPS"] * 20


# -- several runs ------------------------------------------------------------------------------------------------------


def test_several_case_ids_in_a_trace_are_several_runs(record):
    top = record.add("other", 0, 100, name="experiment")
    for number, start in ((1, 10), (2, 50)):
        root = record.add("agent", start, start + 30, top, case_id=(0, f"case {number}"), policy=(0, "p"))
        record.tool(start + 5, start + 10, root, tool=f"tool {number}")
    record.add("other", 95, 96, top)
    conversion = record.convert()
    assert [(run.case_id, run.steps[0].tool, run.steps[0].start_ms, run.duration_ms) for run in conversion.runs] == [
        ("case 1", "tool 1", 5, 30),
        ("case 2", "tool 2", 5, 30),
    ]
    assert conversion.tally.aside == {"outside of every run of its trace": 2}


def test_the_outermost_span_that_carries_the_case_id_is_the_root(record):
    top = record.add("other", 0, 100)
    root = record.add("agent", 10, 90, top, case_id=(0, "a case"))
    inner = record.add("agent", 20, 80, root, case_id=(0, "a case"))
    record.tool(30, 40, inner)
    run = record.run()
    assert (run.duration_ms, run.steps[0].start_ms, run.provenance["rootSpanId"]) == (80, 20, root)


def test_a_better_case_attribute_deeper_down_decides_what_a_run_is(record):
    top = record.add("other", 0, 100, case_id=(2, "a pytest test"))
    record.add("agent", 10, 90, top, case_id=(0, "a case"))
    run = record.run()
    assert (run.case_id, run.duration_ms) == ("a case", 80)


def test_another_case_id_within_a_run_is_a_note(record):
    root = record.root()
    record.add("agent", 10, 20, root, case_id=(0, "another"))
    conversion = record.convert()
    assert conversion.runs[0].case_id == "a case"
    assert conversion.notes == [
        f"a span within the run carries another case id; the outermost one counts (trace {record.trace_id})"
    ]


def test_a_case_id_on_the_resource_does_not_split_a_run_whose_spans_are_missing(record):
    case = {"case_id": (0, "a case")}
    record.add("agent", 0, 100, **case)
    record.tool(10, 20, "00000000000000aa", **case)
    record.tool(30, 40, "00000000000000bb", **case)
    run = record.run()
    assert len(run.steps) == 2
    assert run.status.target == "unknown"


def test_orphans_that_carry_one_case_id_are_one_run_without_its_root(record):
    case = {"case_id": (0, "a case")}
    record.tool(10, 20, "00000000000000aa", **case)
    record.tool(30, 40, "00000000000000aa", **case)
    run = record.run()
    assert (len(run.steps), run.status.target) == (2, "unknown")


def test_orphans_in_a_trace_of_several_runs_are_left_aside_and_make_their_steps_unknown(record):
    top = record.add("other", 0, 100)
    for number in (1, 2):
        record.add("agent", number, 50, top, case_id=(0, f"case {number}"))
    record.tool(10, 20, "00000000000000aa")
    conversion = record.convert()
    assert [run.status.steps for run in conversion.runs] == ["unknown", "unknown"]
    assert conversion.tally.aside["its parent is missing, and its trace holds several runs"] == 1


def test_a_span_that_carries_the_case_id_beside_its_run_is_left_aside(record):
    top = record.add("other", 0, 100)
    record.add("other", 1, 2, top, case_id=(0, "a case"), name="set up")
    root = record.add("agent", 10, 90, top, case_id=(0, "a case"))
    record.tool(20, 30, root)
    conversion = record.convert()
    assert len(conversion.runs) == 1
    assert conversion.tally.aside["carries a case id, and its run is another span of the trace"] == 1


def test_two_roots_in_one_trace_are_two_runs(record):
    for start in (0, 50):
        root = record.add("agent", start, start + 40)
        record.tool(start + 10, start + 20, root)
    record.add("other", 95, 99)
    conversion = record.convert(case="a case", trials=True)
    assert [run.duration_ms for run in conversion.runs] == [40, 40]
    assert conversion.tally.aside == {"in a trace without an agent, model or tool span": 1}


# -- traces without a run ----------------------------------------------------------------------------------------------


def test_traces_without_a_run_are_left_aside_with_the_reason(record, new_record):
    health = new_record(2)
    health.add("other", 0, 1, name="GET /health")
    create = new_record(3)
    create.add("aside", 0, 1, reason="an agent is created, none runs")
    record.root()
    conversion = record.convert(health, create)
    assert len(conversion.runs) == 1
    assert conversion.tally.aside == {
        "in a trace without an agent, model or tool span": 1,
        "an agent is created, none runs": 1,
    }


def test_a_tool_servers_own_trace_is_no_run(record):
    record.tool(0, 10, conventions=("mcp",))
    conversion = record.convert()
    assert (conversion.runs, conversion.refused) == ([], [])
    assert conversion.tally.aside == {"a tool server's own trace: no agent in it": 1}


def test_a_root_that_carries_a_case_id_is_a_run_even_if_nothing_happened(record):
    record.add("other", 0, 10, case_id=(0, "a case"))
    run = record.run()
    assert (run.steps, run.output, run.status.target) == ([], UNSET, "unknown")


def test_no_span_at_all_is_refused_with_what_was_seen():
    def decode(_, reading):
        reading.tally.leave_records("log records", 3)
        return iter(())

    source = Source("empty", "nothing", len, decode)
    with pytest.raises(Refusal) as caught:
        convert([given("a")], source, Options(now_ns=0), conventions=())
    (problem,) = caught.value.problems
    assert (problem.code, problem.found) == ("NO_SPANS", "3 log records")


def spans_of(*names):
    origin = Origin(resource={}, scope_name="web", scope_version="", scope_attributes={})

    def decode(item, reading):
        for number, name in enumerate(names, 1):
            reading.tally.read += 1
            yield Span("1" * 32, f"{number:016x}", "", name, 10, 20, origin, {}, where=Where(file=item.name))

    return Source("made-up", "spans", len, decode)


def test_spans_without_a_run_are_refused_with_what_they_are():
    with pytest.raises(Refusal) as caught:
        convert([given("a file")], spans_of("GET /", "GET /health"), Options(now_ns=0), conventions=())
    (problem,) = caught.value.problems
    assert problem.code == "NO_RUNS"
    assert problem.message == "None of the 2 spans belongs to a run of an agent."
    assert problem.found == "2 in a trace without an agent, model or tool span"


def test_each_input_may_have_its_own_source():
    asked = []

    def choose(item):
        asked.append(item.name)
        return spans_of(f"GET /{item.name}")

    with pytest.raises(Refusal):
        convert([given("one"), given("two")], choose, Options(now_ns=0), conventions=())
    assert asked == ["one", "two"]
