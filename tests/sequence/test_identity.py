"""Case and policy of a run: the first place that says so, and what happens where none or two do."""

import msgspec
import pytest
from labadapt.schema.cases import CasesFile
from labadapt.schema.mapping import MappingFile


def cases(**by_id):
    return msgspec.convert({"schemaVersion": 1, "cases": by_id}, CasesFile)


def mapping(**run):
    return msgspec.convert({"schemaVersion": 1, "run": run}, MappingFile)


def named(record, **options):
    run = record.run(**options)
    return run.case_id, run.policy


def test_fixed_names_win_over_all(record):
    record.root()
    assert named(record, case="fixed", policy="v2", mapping=mapping(case="name", policy="name")) == ("fixed", "v2")


def test_the_mapping_wins_over_the_conventions_attributes(record):
    record.root(name="root's name", attributes={"my.policy": 7})
    found = named(record, mapping=mapping(case="name", policy='attributes."my.policy"'))
    assert found == ("root's name", "7")


def test_a_mapping_that_finds_nothing_leaves_it_to_the_attributes(record):
    record.root(attributes={"empty": ""})
    assert named(record, mapping=mapping(case="attributes.empty", policy="attributes.none")) == ("a case", "a policy")


def test_a_mapping_that_yields_no_name_is_refused(record):
    record.root(attributes={"list": [1]})
    (refused,) = record.convert(mapping=mapping(case="attributes.list")).refused
    (problem,) = refused.problems
    assert (problem.code, problem.message) == (
        "BAD_CONTENT",
        "The mapping's expression at run.case yields no name.",
    )


def test_the_better_attribute_wins_wherever_it_stands_and_the_outermost_among_equals(record):
    root = record.add("other", 0, 100, case_id=(0, "a case"), policy=(4, "service"))
    record.add("agent", 1, 90, root, policy=(3, "main agent"))
    record.add("agent", 2, 80, root, policy=(3, "sub-agent"))
    assert named(record) == ("a case", "main agent")


def test_without_any_name_the_trace_id_is_the_case_with_a_note(record):
    record.add("agent", 0, 100)
    conversion = record.convert()
    (run,) = conversion.runs
    assert (run.case_id, run.policy) == (record.trace_id, "default")
    assert conversion.notes == [
        f"nothing names the case, so the case id is the trace id (trace {record.trace_id})",
        f'nothing names the policy, so it is "default" (trace {record.trace_id})',
    ]


@pytest.mark.parametrize("name", ["x" * 201, "a\nb", "\x1b[31m", "\x85"])
def test_a_name_that_the_format_cannot_hold_is_refused_never_trimmed(record, name):
    record.add("agent", 0, 100, case_id=(0, name))
    assert record.refused() == ["BAD_CONTENT"]
    assert record.refused(case="a case", policy=name) == ["BAD_CONTENT"]


# -- match -------------------------------------------------------------------------------------------------------------

ASKED = "What was the latency over the last hour?"


@pytest.mark.parametrize(
    "match",
    [
        {"inputEquals": ASKED},
        {"inputContains": "latency"},
        {"expression": "contains(input, 'latency') && length(calls) == `1`"},
        {"inputContains": "last hour", "expression": "calls[0].tool == 'query'"},
    ],
)
def test_a_case_recognises_its_run(record, match):
    record.tool(1, 2, record.add("agent", 0, 100, input=ASKED))
    assert named(record, cases=cases(other={"match": {"inputEquals": "?"}}, mine={"match": match}))[0] == "mine"


@pytest.mark.parametrize(
    "match",
    [
        {"inputEquals": ASKED + " "},
        {"inputContains": "Latency"},
        {"expression": "length(calls)"},
        {"inputContains": "latency", "expression": "`false`"},
        {},
    ],
)
def test_a_run_that_no_case_recognises_keeps_its_trace_id_and_is_missing_there(record, match):
    record.tool(1, 2, record.add("agent", 0, 100, input=ASKED))
    (refused,) = record.convert(cases=cases(mine={"match": match})).refused
    (problem,) = refused.problems
    assert (problem.code, refused.case_id) == ("MISSING_CASE", record.trace_id)


def test_a_run_that_two_cases_recognise_is_given_neither(record):
    record.add("agent", 0, 100, input=ASKED)
    both = cases(one={"match": {"inputEquals": ASKED}}, two={"match": {"inputContains": "hour"}})
    (refused,) = record.convert(cases=both).refused
    (problem,) = refused.problems
    assert (problem.code, problem.found) == ("AMBIGUOUS_CASE", "str 'one', str 'two'")


def test_a_recorded_case_id_needs_no_match(record):
    record.root(input=ASKED)
    both = cases(**{"a case": {}, "other": {"match": {"inputEquals": ASKED}}})
    assert named(record, cases=both)[0] == "a case"


def test_an_expression_that_fails_over_a_run_refuses_that_run(record):
    record.add("agent", 0, 100, input=ASKED)
    (refused,) = record.convert(cases=cases(mine={"match": {"expression": "abs(input)"}})).refused
    (problem,) = refused.problems
    assert problem.code == "BAD_EXPRESSION"
    assert problem.message.startswith("The expression at cases.mine.match.expression fails:")


# -- repetitions -------------------------------------------------------------------------------------------------------


def test_a_case_and_policy_that_stand_twice_are_refused_both(record, new_record):
    again = new_record(2)
    record.root()
    again.root()
    conversion = record.convert(again)
    assert conversion.runs == []
    assert [refused.problems[0].code for refused in conversion.refused] == ["DUPLICATE_PAIR", "DUPLICATE_PAIR"]
    assert conversion.refused[0].problems[0].message == 'Case "a case" under policy "a policy" stands 2 times.'
    assert conversion.tally.aside == {"refused: DUPLICATE_PAIR": 2}


def test_trials_are_kept_in_order_of_their_start(record, new_record):
    again = new_record(2)
    record.add("agent", 50, 100, case_id=(0, "a case"))
    again.add("agent", 10, 20, case_id=(0, "a case"))
    assert [run.duration_ms for run in record.convert(again, trials=True).runs] == [10, 50]


def test_the_same_case_under_two_policies_is_two_runs(record, new_record):
    other = new_record(2)
    record.root(policy=(0, "direct"))
    other.root(policy=(0, "guarded"))
    assert [run.policy for run in other.convert(record).runs] == ["direct", "guarded"]


def test_one_refused_run_leaves_the_others(record, new_record):
    good = new_record(2)
    good.root(case_id=(0, "good"))
    root = record.root()
    record.tool(1, 5, root)
    record.tool(2, 6, root)
    conversion = record.convert(good)
    assert [run.case_id for run in conversion.runs] == ["good"]
    (refused,) = conversion.refused
    assert (refused.trace_id, refused.case_id, refused.policy, refused.spans) == (
        record.trace_id,
        "a case",
        "a policy",
        3,
    )
    assert conversion.tally.aside == {"refused: CONCURRENT_STEPS": 3}
