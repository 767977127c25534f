"""Rates of trials with literal counts: what each counts, what leaves it, and what stays open."""

import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labadapt.engine.check import check_bundle
from labadapt.engine.reliability import reliability
from labadapt.engine.trials import Trial, trials_of
from labadapt.schema.model import Bundle, RunUsage, Status
from labadapt.schema.problems import Refusal
from labadapt.schema.reliability import PolicyReliability, Rate

Json = dict[str, Any]
HEALTHY = Status()
CHECKS = (("disposition", "pass"), ("deadline", "not_required"))


def trial(case: str, label: str, outcome: str = "pass", status: Status | None = HEALTHY, **facts: Any) -> Trial:
    return Trial(case, "p", label, outcome, status, **({"checks": CHECKS, "mode": "recorded"} | facts))


def four_kinds() -> list[Trial]:
    """Two cases of five scheduled: seven passes, a failure, and an infrastructure that failed; one is missing."""
    return [
        *(trial("a", str(number)) for number in range(4)),
        trial("a", "4", "fail", checks=(("disposition", "fail"), ("deadline", "pass"))),
        *(trial("b", str(number)) for number in range(3)),
        trial("b", "3", "inconclusive", Status(infrastructure="failed"), checks=(("disposition", "unevaluable"),)),
    ]


def only(trials: list[Trial], **asked: Any) -> PolicyReliability:
    [policy] = reliability(trials, **asked).policies
    return policy


def rates(policy: PolicyReliability) -> dict[str, Rate]:
    return {rate.name: rate for rate in (*policy.rates, *policy.checks)}


def counts(rate: Rate) -> tuple[int, int, int]:
    return rate.successes, rate.open, rate.trials


def left(rate: Rate) -> dict[str, list[str]]:
    return {part.reason: part.ids for part in rate.left_out}


def test_each_rate_has_its_own_denominator_and_says_what_left_it() -> None:
    found = rates(only(four_kinds(), scheduled=5))
    assert {name: counts(rate) for name, rate in found.items()} == {
        "end-to-end success": (7, 1, 10),
        "behavioural success": (7, 0, 8),
        "infrastructure availability": (8, 0, 9),
        "target completion": (8, 0, 8),
        "disposition": (7, 0, 8),
        "deadline": (1, 0, 1),
    }
    assert {name: rate.of for name, rate in found.items()} == {
        "end-to-end success": "all scheduled trials",
        "behavioural success": "trials with healthy infrastructure and a completed target",
        "infrastructure availability": "trials whose infrastructure is known",
        "target completion": "trials with healthy infrastructure whose target is known",
        "disposition": "trials in which it could be evaluated",
        "deadline": "trials in which it could be evaluated",
    }
    assert left(found["end-to-end success"]) == {}
    assert left(found["behavioural success"]) == {"missing": ["b#missing 1"], "infrastructure failed": ["b#3"]}
    assert left(found["infrastructure availability"]) == {"missing": ["b#missing 1"]}
    assert left(found["target completion"]) == {"missing": ["b#missing 1"], "infrastructure failed": ["b#3"]}
    assert left(found["disposition"]) == {"missing": ["b#missing 1"], "unevaluable": ["b#3"]}
    assert left(found["deadline"]) == {
        "missing": ["b#missing 1"],
        "not asked for by the contract": ["a#0", "a#1", "a#2", "a#3", "b#0", "b#1", "b#2", "b#3"],
    }


def test_what_could_go_either_way_bounds_the_figure_and_takes_its_value() -> None:
    rate = rates(only(four_kinds(), scheduled=5))["end-to-end success"]
    assert (rate.value, rate.lower, rate.upper) == (None, 0.7, 0.8)
    decided = rates(only(four_kinds()[:5], scheduled=5))["end-to-end success"]
    assert (decided.value, decided.lower, decided.upper) == (0.8, 0.8, 0.8)


def test_an_interval_of_open_trials_spans_from_that_of_the_least_to_that_of_the_most() -> None:
    trials = [trial("a", str(n)) for n in range(9)]
    assert only([*trials, trial("a", "9", "fail")]).rates[0].interval == pytest.approx((0.5958500, 0.9821238))
    spanned = only([*trials, trial("a", "9", "inconclusive")]).rates[0].interval
    assert spanned == pytest.approx((0.5958500, 1.0))


def test_the_interval_of_a_suite_is_by_case_where_cases_have_several_trials() -> None:
    repeated = [trial(case, label) for case in "abcd" for label in "12"]
    once = [trial(case, "1") for case in "abcd"]
    assert only(repeated).rates[0].method == "clustered by case"
    assert only(once).rates[0].method == "wilson"
    assert only(repeated[:2]).rates[0].method == "wilson"


def test_without_a_schedule_nothing_is_known_to_be_missing() -> None:
    policy = only(four_kinds())
    success = policy.rates[0]
    assert (success.of, success.trials) == ("all trials made (no schedule is known)", 9)
    assert policy.missing is None
    assert policy.trials_by_case == (4, 5)
    assert {one.missing_as_failure for case in policy.by_case for one in case.pass_k} == {None}


def test_a_case_that_one_policy_never_ran_is_missing_where_it_was_scheduled() -> None:
    other = msgspec_replace(trial("b", "1"), policy="q")
    report = reliability([trial("a", "1"), other], scheduled=2)
    assert [(one.policy, one.cases, one.made, one.missing) for one in report.policies] == [
        ("p", 2, 1, 3),
        ("q", 2, 1, 3),
    ]
    assert [one.cases for one in reliability([trial("a", "1"), other]).policies] == [1, 1]
    [chosen] = reliability([trial("a", "1"), other], scheduled=2, policies=["q"]).policies
    assert (chosen.policy, chosen.cases, chosen.missing) == ("q", 2, 3)


def msgspec_replace(one: Trial, **changes: Any) -> Trial:
    return Trial(**{name: changes.get(name, getattr(one, name)) for name in Trial.__slots__})


@pytest.mark.parametrize(
    ("status", "infrastructure", "target", "behavioural"),
    [
        (Status(), (1, 1), (1, 1), (1, 1)),
        (Status(target="failed"), (1, 1), (0, 1), (0, 0)),
        (Status(target="unknown"), (1, 1), (0, 0), (0, 0)),
        (Status(infrastructure="failed"), (0, 1), (0, 0), (0, 0)),
        (Status(infrastructure="unknown"), (0, 0), (0, 0), (0, 0)),
        (None, (0, 0), (0, 0), (0, 0)),
    ],
)
def test_health_decides_what_a_trial_counts_in(
    status: Status | None, infrastructure: tuple[int, int], target: tuple[int, int], behavioural: tuple[int, int]
) -> None:
    found = rates(only([trial("a", "1", "pass", status)]))
    names = ("infrastructure availability", "target completion", "behavioural success")
    shown = [(found[name].successes, found[name].trials) for name in names]
    assert shown == [infrastructure, target, behavioural]


def test_a_rate_of_nothing_is_unavailable() -> None:
    rate = rates(only([trial("a", "1", "pass", None)]))["target completion"]
    assert (rate.value, rate.lower, rate.upper, rate.interval, rate.method) == (None,) * 5
    assert left(rate) == {"health not recorded": ["a#1"]}


def test_trials_that_repeat_different_things_are_pointed_out() -> None:
    trials = [
        trial("a", "1", request="r", contract="c"),
        trial("a", "2", request="r", contract="d", target="t"),
        trial("b", "1", request="r", target="t"),
        trial("b", "2", request="s", target="t", mode="fixture"),
        trial("c", "1", target="t"),
        trial("c", "2", target="u"),
        trial("d", "1", request="r"),
        trial("d", "2"),
    ]
    assert [(part.reason, part.ids) for part in only(trials).differing] == [
        ("not the same contract in every trial", ["a"]),
        ("not the same mode in every trial", ["b"]),
        ("not the same request in every trial", ["b"]),
        ("not the same target in every trial", ["c"]),
    ]


# -- pass^k ------------------------------------------------------------------------------------------------------------


def suite(policy: PolicyReliability) -> dict[tuple[int, str], tuple[int, float | None, float | None, float | None]]:
    return {(one.k, one.missing): (one.cases, one.value, one.lower, one.upper) for one in policy.pass_k}


def test_pass_k_under_both_conventions_for_missing_trials() -> None:
    """One case: 3 of 4 made succeed, of 5 scheduled."""
    trials = [*(trial("a", str(number)) for number in range(3)), trial("a", "3", "fail")]
    assert suite(only(trials, scheduled=5, k=5)) == {
        (1, "missing counted as failure"): (1, 0.6, 0.6, 0.6),
        (1, "missing left out"): (1, 0.75, 0.75, 0.75),
        (2, "missing counted as failure"): (1, 0.3, 0.3, 0.3),
        (2, "missing left out"): (1, 0.5, 0.5, 0.5),
        (3, "missing counted as failure"): (1, 0.1, 0.1, 0.1),
        (3, "missing left out"): (1, 0.25, 0.25, 0.25),
        (4, "missing counted as failure"): (1, 0.0, 0.0, 0.0),
        (4, "missing left out"): (1, 0.0, 0.0, 0.0),
        (5, "missing counted as failure"): (1, 0.0, 0.0, 0.0),
        (5, "missing left out"): (0, None, None, None),
    }


def test_a_suite_is_the_mean_over_cases_and_names_those_with_too_few_trials() -> None:
    """Case a: 2 of 2; b: 1 of 2; c has one trial, so no pass^2."""
    trials = [trial("a", "1"), trial("a", "2"), trial("b", "1"), trial("b", "2", "fail"), trial("c", "1")]
    policy = only(trials, k=2)
    assert suite(policy)[(1, "missing left out")] == (3, 2.5 / 3, 2.5 / 3, 2.5 / 3)
    assert suite(policy)[(2, "missing left out")] == (2, 0.5, 0.5, 0.5)
    [part] = next(one for one in policy.pass_k if (one.k, one.missing) == (2, "missing left out")).left_out
    assert (part.reason, part.ids) == ("fewer than k trials", ["c"])
    [part] = policy.pass_k[0].left_out
    assert (part.reason, part.ids) == ("no schedule is known", ["a", "b", "c"])


def test_pass_k_is_told_up_to_the_fewest_trials_where_nobody_says() -> None:
    trials = [trial(case, str(number)) for case in "ab" for number in range(3)]
    assert {one.k for one in only(trials).pass_k} == {1, 2, 3}
    assert {one.k for one in only(trials[:-1]).pass_k} == {1, 2}
    assert {one.k for one in only([trial("a", str(n)) for n in range(30)]).pass_k} == set(range(1, 9))


def test_inconclusive_trials_bound_pass_k() -> None:
    trials = [*(trial("a", str(number)) for number in range(3)), trial("a", "3", "inconclusive")]
    assert suite(only(trials))[(2, "missing left out")] == (1, None, 0.5, 1.0)


# -- the gate ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passed", "failed", "open_", "at_least", "state"),
    [
        (29, 0, 0, 0.9, "met"),  # 0.05^(1/29) = 0.9018
        (28, 0, 0, 0.9, "not enough evidence"),  # 0.05^(1/28) = 0.8985
        (28, 0, 1, 0.9, "not enough evidence"),
        (29, 0, 1, 0.9, "not enough evidence"),
        (20, 10, 0, 0.9, "not met"),
        (20, 0, 10, 0.9, "not enough evidence"),
        (20, 0, 10, 0.1, "met"),
        (0, 10, 0, 0.3, "not met"),  # 1 - 0.05^(1/10) = 0.2589
        (0, 10, 0, 0.25, "not enough evidence"),
        (0, 10, 0, 0.0, "met"),
        (10, 0, 0, 1.0, "not enough evidence"),
    ],
)
def test_a_gate_is_met_not_met_or_not_decided(
    passed: int, failed: int, open_: int, at_least: float, state: str
) -> None:
    outcomes = ["pass"] * passed + ["fail"] * failed + ["inconclusive"] * open_
    trials = [trial("a", str(number), outcome) for number, outcome in enumerate(outcomes)]
    report = reliability(trials, at_least=at_least)
    assert report.gates
    [gate] = report.gates
    assert (gate.state, gate.successes, gate.open, gate.trials) == (state, passed, open_, len(trials))


def test_what_is_missing_does_not_help_to_meet_a_gate() -> None:
    trials = [trial("a", str(number)) for number in range(29)]
    report = reliability(trials, scheduled=31, at_least=0.9)
    assert report.gates
    assert report.gates[0].state == "not enough evidence"


# -- where trials come from --------------------------------------------------------------------------------------------


def test_trials_of_a_result_file_keep_what_is_counted(run: Json, checked: Callable[[Json], Any]) -> None:
    run["usage"] = {"inputTokens": 3}
    bundle = msgspec.convert({"schemaVersion": 1, "runs": [run]}, Bundle)
    results = check_bundle(bundle)
    twice = msgspec.structs.replace(results, results=results.results * 2)
    first, second = trials_of(twice, "t.json")
    assert (first.label, second.label) == ("t.json", "t.json#2")
    assert (first.case, first.policy, first.outcome, first.mode) == ("case", "v1", "pass", "recorded")
    assert (first.status, first.duration_ms, first.usage) == (Status(), 120, RunUsage(input_tokens=3))
    assert dict(first.checks)["call_budget"] == "pass"


def test_a_trial_that_stands_twice_is_refused() -> None:
    with pytest.raises(Refusal) as caught:
        reliability([trial("a", "1"), trial("b", "1"), trial("a", "1", "fail")])
    assert [(one.code, one.message) for one in caught.value.problems] == [
        ("REPEATED_TRIAL", "trial '1' of case 'a' under 'p' stands twice")
    ]


def test_more_trials_than_scheduled_are_refused() -> None:
    with pytest.raises(Refusal) as caught:
        reliability([trial("a", "1"), trial("a", "2")], scheduled=1)
    [problem] = caught.value.problems
    assert (problem.code, problem.found, problem.expected) == ("BAD_VALUE", "2", "at most 1")


TRIALS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["pass", "fail", "inconclusive"]),
        st.sampled_from([None, Status(), Status(infrastructure="failed"), Status(target="unknown")]),
    ),
    min_size=1,
    max_size=20,
)


@given(drawn=TRIALS, seed=st.integers(0, 10))
def test_order_changes_nothing_and_every_trial_is_somewhere(drawn: list[tuple[Any, ...]], seed: int) -> None:
    trials = [trial(case, str(number), outcome, status) for number, (case, outcome, status) in enumerate(drawn)]
    shuffled = random.Random(seed).sample(trials, len(trials))  # noqa: S311 - no secret
    report = reliability(trials, scheduled=20, at_least=0.5)
    assert msgspec.json.encode(report) == msgspec.json.encode(reliability(shuffled, scheduled=20, at_least=0.5))
    for rate in (*report.policies[0].rates, *report.policies[0].checks):
        gone = sum(len(part.ids) for part in rate.left_out)
        assert rate.trials + gone == 20 * report.policies[0].cases
        assert rate.successes + rate.open <= rate.trials
        if rate.interval and rate.lower is not None and rate.upper is not None:
            assert 0 <= rate.interval[0] <= rate.lower <= rate.upper <= rate.interval[1] <= 1
