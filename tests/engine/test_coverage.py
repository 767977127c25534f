"""Loops by classes of failure, what results count, and which cases ask nearly the same."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labadapt.engine.coverage import coverage
from labadapt.engine.digests import record_digest
from labadapt.engine.likeness import similar
from labadapt.schema.cases import Case, CasesFile
from labadapt.schema.model import Contract, Request
from labadapt.schema.result import RunResult
from msgspec import UNSET

CONTRACT = Contract(disposition="answer", max_calls=2)
CLASSES = [
    "stale_data",
    "duplicate_input",
    "identity_ambiguity",
    "missing_evidence",
    "provider_timeout",
    "denied_permission",
    "budget_exhaustion",
    "hostile_content",
]


def file_of(**cases):
    return CasesFile(schema_version=1, cases={name: Case(**fields) for name, fields in cases.items()})


def asking(metric, loop="triage", failure_class="stale_data", **more):
    request = Request(tool="query", operation="read", metric=metric)
    return {"loop": loop, "failure_class": failure_class, "request": request, "contract": CONTRACT} | more


def ran(case, outcome, fields, **more):
    """A result that was held to the case's own request and contract."""
    held = {"request_digest": record_digest(fields["request"]), "contract_digest": record_digest(CONTRACT)}
    rest = {"mode": "recorded", "reason": "", "phases": [], "checks": []}
    return RunResult(case_id=case, policy="p", outcome=outcome, **(held | rest | more))


def cell(report, loop="triage", failure_class="stale_data"):
    (found,) = [one for one in report.cells if (one.loop, one.failure_class) == (loop, failure_class)]
    return found


# -- cells -------------------------------------------------------------------------------------------------------------


def test_every_loop_is_asked_about_every_class_and_the_cases_own() -> None:
    report = coverage(file_of(a=asking("a"), b=asking("b", "reply", "angry_customer")))
    assert report.loops == ["reply", "triage"]
    assert report.failure_classes == [*CLASSES, "angry_customer"]
    assert report.own_classes == ["angry_customer"]
    assert len(report.cells) == 18
    assert len(report.empty) == 16
    assert ("triage", "stale_data") not in report.empty
    assert ("reply", "stale_data") in report.empty
    assert ("triage", "angry_customer") in report.empty


def test_the_holdout_is_kept_apart() -> None:
    cases = {"a": asking("a"), "b": asking("b", holdout=True), "c": asking("c", failure_class="hostile_content")}
    cases["d"] = asking("d", failure_class="denied_permission", holdout=True)
    report = coverage(file_of(**cases), [ran("a", "pass", cases["a"]), ran("b", "fail", cases["b"])])
    one = cell(report)
    assert (one.open.cases, one.open.passed, one.open.failed) == (["a"], 1, 0)
    assert (one.holdout.cases, one.holdout.passed, one.holdout.failed) == (["b"], 0, 1)
    assert report.holdout_only == [("triage", "denied_permission")]
    assert ("triage", "denied_permission") in report.empty


@pytest.mark.parametrize(
    ("outcomes", "state", "not_run", "undecided"),
    [
        ({}, "not run", ["a", "b"], []),
        ({"a": ["inconclusive"]}, "undecided", ["b"], ["a"]),
        ({"a": ["inconclusive", "fail"]}, "decided", ["b"], []),
        ({"a": ["pass"], "b": ["inconclusive"]}, "decided", [], ["b"]),
    ],
)
def test_the_state_of_a_cell(outcomes, state, not_run, undecided) -> None:
    cases = {"a": asking("a"), "b": asking("b")}
    results = [ran(name, outcome, cases[name]) for name, its in outcomes.items() for outcome in its]
    one = cell(coverage(file_of(**cases), results)).open
    assert (one.state, one.not_run, one.undecided) == (state, not_run, undecided)
    assert cell(coverage(file_of(**cases)), failure_class="hostile_content").open.state == "no case"


def test_cases_that_no_cell_holds_are_told() -> None:
    report = coverage(file_of(a={"loop": "triage"}, b={"failure_class": "stale_data"}, c={}))
    assert [(part.reason, part.ids) for part in report.unplaced] == [
        ("no failureClass", ["a"]),
        ("no loop", ["b"]),
        ("no loop and no failureClass", ["c"]),
    ]


def test_a_result_counts_only_for_what_the_file_asks_now() -> None:
    cases = {"a": asking("a")}
    other = record_digest(Contract(disposition="answer", max_calls=3))
    results = [
        ran("a", "pass", cases["a"], contract_digest=other),
        ran("a", "pass", cases["a"], contract_digest=UNSET),
        ran("a", "pass", cases["a"], request_digest=other),
        ran("z", "pass", cases["a"]),
    ]
    report = coverage(file_of(**cases), results)
    assert cell(report).open.state == "not run"
    assert [(part.reason, part.ids) for part in report.uncounted] == [
        ("held to another contract than the cases file's", ["a (p)"]),
        ("held to another request than the cases file's", ["a (p)"]),
        ("not in the cases file", ["z (p)"]),
        ("the contract it was held to is not recorded", ["a (p)"]),
    ]


def test_a_class_that_is_misspelt_is_pointed_out_and_stays_its_own() -> None:
    report = coverage(file_of(a=asking("a", failure_class="Stale data"), b=asking("b", failure_class="stale_date")))
    assert report.alike_spellings == [("Stale data", "stale_data")]
    assert report.own_classes == ["Stale data", "stale_date"]


# -- cases that are alike ----------------------------------------------------------------------------------------------


def alike(**cases):
    report = coverage(file_of(**cases))
    return [(one.cases, one.reason, one.across_holdout) for one in report.near_duplicates]


def test_the_same_request_but_for_case_and_white_space() -> None:
    equal = "the same request after normalising"
    assert alike(a=asking("Latency"), b=asking(" latency  ")) == [(["a", "b"], equal, False)]
    assert alike(a=asking("x"), b=asking("x", holdout=True), c=asking("x")) == [(["a", "b", "c"], equal, True)]


def test_the_same_request_under_another_failure_is_another_case() -> None:
    assert alike(a=asking("x"), b=asking("x", failure_class="hostile_content"), c=asking("x", "reply")) == []


def test_words_that_are_mostly_shared() -> None:
    """Of query, read and the words of the metric, eight of ten are shared."""
    one, other = asking("one two three four five six seven"), asking("one two three four five six eight")
    assert alike(a=one, b=other) == [(["a", "b"], "0.80 of their words are shared", False)]
    assert alike(a=asking("one two three four five six"), b=asking("one two three four five seven")) == []


def test_each_case_is_named_with_the_most_alike_one_before_it() -> None:
    texts = {"a": "1 2 3 4 5 6 7 8 9", "b": "1 2 3 4 5 6 7 8 x", "c": "1 2 3 4 5 6 7 8 9 y", "d": "1 2 3"}
    assert list(similar(texts)) == [("a", "b", 0.8), ("a", "c", 0.9)]


def test_cases_that_say_nothing_are_not_alike() -> None:
    assert alike(a={"loop": "l", "failure_class": "c"}, b={"loop": "l", "failure_class": "c"}) == []
    told = {"loop": "l", "failure_class": "c", "description": "The feed is a day old."}
    assert alike(a=told, b=told) == [(["a", "b"], "the same request after normalising", False)]


WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8).map(" ".join)


@given(st.dictionaries(st.text("xyz", min_size=1, max_size=3), WORDS, max_size=10), st.sampled_from([0.5, 0.8, 1.0]))
def test_no_likeness_is_overlooked(texts, threshold) -> None:
    every = {}
    for one, other in combinations(sorted(texts), 2):
        left, right = set(texts[one].split()), set(texts[other].split())
        likeness = len(left & right) / len(left | right)
        if likeness >= threshold and likeness > every.get(other, ("", 0))[1]:
            every[other] = one, likeness
    assert {other: (one, likeness) for one, other, likeness in similar(texts, threshold)} == every


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_of_cases_and_results_changes_nothing(order) -> None:
    cases = {"a": asking("x"), "b": asking("X"), "c": asking("y", holdout=True), "d": {}}
    results = [ran("a", "pass", cases["a"]), ran("a", "fail", cases["a"]), ran("c", "pass", cases["c"])]
    expected = coverage(file_of(**cases), results)
    assert coverage(file_of(**{name: cases[name] for name in order}), reversed(results)) == expected
