"""A candidate against a baseline: what is compared, what it comes to, and what a gate makes of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labadapt.engine.compare import compare, gated
from labadapt.schema.problems import Refusal
from labadapt.schema.result import RunResult
from msgspec import UNSET, structs

A, B = "sha256:" + "a" * 64, "sha256:" + "b" * 64


def one(case, outcome, policy="old", **more):
    """A result as the comparison reads it."""
    facts = {"mode": "recorded", "request_digest": A, "contract_digest": A, "reason": "", "phases": [], "checks": []}
    return RunResult(case_id=case, policy=policy, outcome=outcome, **(facts | more))


def side(policy="old", **cases):
    """Trials of cases: each letter is one trial that passes, fails or is inconclusive."""
    words = {"p": "pass", "f": "fail", "i": "inconclusive"}
    return [one(case, words[letter], policy) for case, letters in cases.items() for letter in letters]


def compared(baseline, candidate, **more):
    return compare(side(**baseline), side("new", **candidate), **more)


def changes(comparison):
    return {case.case_id: (case.change, case.reason) for case in comparison.cases}


# -- one trial on each side --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ("p", "f", ("regression", "passed before, failed now")),
        ("f", "p", ("improvement", "failed before, passed now")),
        ("p", "p", ("unchanged", "passed on both sides")),
        ("f", "f", ("unchanged", "failed on both sides")),
        ("p", "i", ("inconclusive", "passed before, inconclusive now; what is inconclusive could go either way")),
        ("i", "i", ("inconclusive", "inconclusive before, inconclusive now; what is inconclusive could go either way")),
        ("i", "f", ("inconclusive", "inconclusive before, failed now; what is inconclusive could go either way")),
    ],
)
def test_a_case_changes(before, now, expected) -> None:
    assert changes(compared({"c": before}, {"c": now})) == {"c": expected}


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("request_digest", B, "the request differs"),
        ("contract_digest", B, "the contract differs"),
        ("mode", "fixture", "the mode differs"),
        ("request_digest", UNSET, "the request is not recorded in the candidate"),
        ("contract_digest", UNSET, "the contract is not recorded in the candidate"),
    ],
)
def test_what_is_not_the_same_is_unmatched(field, value, reason) -> None:
    comparison = compare([one("c", "pass")], [one("c", "pass", "new", **{field: value})])
    assert changes(comparison) == {"c": ("unmatched", reason)}
    assert comparison.cases[0].difference is None
    assert comparison.suite.left_out[0].ids == ["c"]


def test_two_digests_that_are_absent_are_not_equal() -> None:
    sides = [[one("c", "pass", policy, request_digest=UNSET)] for policy in ("old", "new")]
    reason = "the request is not recorded in the baseline and the candidate"
    assert changes(compare(*sides)) == {"c": ("unmatched", reason)}


def test_every_difference_is_named() -> None:
    comparison = compare([one("c", "pass")], [one("c", "pass", "new", request_digest=B, mode="fixture")])
    assert changes(comparison) == {"c": ("unmatched", "the request differs; the mode differs")}


def test_trials_of_one_side_that_differ_are_no_trials_of_one_case() -> None:
    baseline = [one("c", "pass"), one("c", "pass", contract_digest=B)]
    reason = "the contract differs between trials of the baseline"
    assert changes(compare(baseline, [one("c", "pass", "new")])) == {"c": ("unmatched", reason)}


def test_a_case_of_one_side_is_unmatched() -> None:
    comparison = compared({"a": "p", "b": "p"}, {"b": "p", "c": "p"})
    assert changes(comparison) == {
        "a": ("unmatched", "missing in the candidate"),
        "b": ("unchanged", "passed on both sides"),
        "c": ("unmatched", "missing in the baseline"),
    }


def test_a_side_has_one_policy() -> None:
    with pytest.raises(Refusal, match="BAD_VALUE: the candidate has several policies"):
        compare(side(c="p"), [one("c", "pass", "x"), one("c", "pass", "y")])
    with pytest.raises(Refusal, match="BAD_VALUE: the baseline has no run"):
        compare([], side(c="p"))


# -- repeated trials ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "now", "expected", "p", "smallest"),
    [
        ("ppppp", "fffff", ("regression", "difference shown"), 2 / 252, 2 / 252),
        ("ppp", "fff", ("regression", "insufficient evidence"), 0.1, 0.1),  # seen of every trial, and told as so few
        ("pppppppp", "pfffffff", ("regression", "difference shown"), 18 / 12870, 2 / 12870),
        ("ppppp", "ppppf", ("inconclusive", "no difference shown"), 1.0, 2 / 252),
        ("pp", "pf", ("inconclusive", "insufficient evidence"), 1.0, 2 / 6),
        ("pf", "fp", ("unchanged", "insufficient evidence"), 1.0, 2 / 6),
        ("pppp", "pp", ("unchanged", "insufficient evidence"), 1.0, 1 / 15),
        ("pppi", "ffff", ("inconclusive", "no difference shown"), 10 / 70, 2 / 70),
    ],
)
def test_repeated_trials_of_a_case(before, now, expected, p, smallest) -> None:
    case = compared({"c": before}, {"c": now}).cases[0]
    assert (case.change, case.test.evidence) == expected
    assert (case.test.p, case.test.smallest_p) == pytest.approx((p, smallest))


def test_a_difference_has_bounds_where_trials_are_open() -> None:
    case = compared({"c": "pppp"}, {"c": "ppfi"}).cases[0]
    assert (case.difference, case.bounds, case.interval) == (None, (-0.5, -0.25), None)


def test_the_interval_of_a_case_is_newcombes() -> None:
    """Newcombe 1998, table II, row (a): 56/70 and 48/80 give 0.0524 to 0.3339."""
    case = compared({"c": "p" * 48 + "f" * 32}, {"c": "p" * 56 + "f" * 14}).cases[0]
    assert case.interval == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_many_cases_are_corrected_for() -> None:
    """5 of 5 against 1 of 5 has p 0.0476, which is shown alone and not as one of two."""
    alone = compared({"a": "ppppp"}, {"a": "pffff"})
    beside = compared({"a": "ppppp", "b": "ppppp"}, {"a": "pffff", "b": "ppppp"})
    assert [case.change for case in alone.cases] == ["regression"]
    assert [case.change for case in beside.cases] == ["inconclusive", "unchanged"]
    assert beside.cases[0].test.adjusted_p == pytest.approx(2 * 12 / 252)


# -- over all cases ----------------------------------------------------------------------------------------------------


def test_single_trials_are_mcnemars() -> None:
    before = {f"c{number}": "p" for number in range(8)} | {"x": "f", "y": "f", "z": "i"}
    now = {f"c{number}": "f" if number < 6 else "p" for number in range(8)} | {"x": "p", "y": "f", "z": "p"}
    suite = compared(before, now).suite
    assert (suite.method, suite.cases, suite.better, suite.worse, suite.both_pass) == ("McNemar exact", 10, 1, 6, 2)
    assert suite.p == 2 * (1 + 7) / 128
    assert (suite.evidence, suite.interval_method) == ("no difference shown", "Newcombe paired")
    assert (suite.baseline_rate, suite.candidate_rate, suite.difference) == (0.8, 0.3, -0.5)
    assert [(part.reason, part.ids) for part in suite.left_out] == [("inconclusive trials", ["z"])]


def test_five_cases_could_not_have_shown_anything() -> None:
    suite = compared(dict.fromkeys("abcde", "f"), dict.fromkeys("abcde", "p")).suite
    assert (suite.p, suite.smallest_p, suite.evidence) == (0.0625, 0.0625, "insufficient evidence")
    suite = compared(dict.fromkeys("abcdef", "f"), dict.fromkeys("abcdef", "p")).suite
    assert (suite.p, suite.smallest_p, suite.evidence) == (0.03125, 0.03125, "difference shown")


def test_repeated_trials_are_a_sign_test_over_cases() -> None:
    suite = compared(dict.fromkeys("abcdef", "pf"), dict.fromkeys("abcdef", "pp")).suite
    assert (suite.method, suite.better, suite.worse, suite.p) == ("sign test over cases", 6, 0, 0.03125)
    assert suite.interval_method == "Newcombe of rates clustered by case"
    assert suite.interval[0] < suite.difference == 0.5 < suite.interval[1]


def test_nothing_compared_is_no_evidence() -> None:
    suite = compared({"a": "p"}, {"b": "p"}).suite
    assert (suite.cases, suite.p, suite.difference, suite.interval) == (0, None, None, None)
    assert suite.evidence == "insufficient evidence"


# -- control -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "now", "source", "control"),
    [
        (A, A, "control", True),
        (A, B, "different targets", False),
        (A, UNSET, "not recorded", None),
        (UNSET, UNSET, "not recorded", None),
    ],
)
def test_the_same_target_on_both_sides_is_a_control(before, now, source, control) -> None:
    comparison = compare([one("c", "pass", target_digest=before)], [one("c", "pass", "new", target_digest=now)])
    assert (comparison.source, comparison.cases[0].control) == (source, control)


def test_some_cases_of_the_same_target_are_mixed() -> None:
    baseline = [one("a", "pass", target_digest=A), one("b", "pass", target_digest=A)]
    candidate = [one("a", "pass", "new", target_digest=A), one("b", "pass", "new", target_digest=B)]
    assert compare(baseline, candidate).source == "mixed"


# -- gates -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "now", "strict", "regressions_only", "report_only"),
    [
        ({"a": "p"}, {"a": "p"}, "passes", "passes", "passes"),
        ({"a": "p"}, {"a": "f"}, "fails", "fails", "passes"),
        ({"a": "f"}, {"a": "p"}, "passes", "passes", "passes"),
        ({"a": "p", "b": "p"}, {"a": "p", "b": "i"}, "could not evaluate", "could not evaluate", "passes"),
        ({"a": "p", "b": "f"}, {"a": "p", "b": "i"}, "could not evaluate", "passes", "passes"),
        ({"a": "p", "b": "i"}, {"a": "p", "b": "p"}, "could not evaluate", "passes", "passes"),
        ({"a": "p", "b": "i"}, {"a": "p", "b": "f"}, "could not evaluate", "could not evaluate", "passes"),
        ({"a": "p", "b": "p"}, {"a": "p"}, "could not evaluate", "could not evaluate", "passes"),
        ({"a": "p"}, {"a": "p", "b": "f"}, "could not evaluate", "passes", "passes"),
        ({"a": "p"}, {"b": "p"}, "could not evaluate", "could not evaluate", "could not evaluate"),
        ({"a": "i"}, {"a": "i"}, "could not evaluate", "could not evaluate", "could not evaluate"),
        ({"a": "p", "b": "p"}, {"a": "f", "b": "i"}, "fails", "fails", "passes"),
    ],
)
def test_a_gate(before, now, strict, regressions_only, report_only) -> None:
    comparison = compared(before, now)
    states = [gated(comparison, gate).gate.state for gate in ("strict", "regressions-only", "report-only")]
    assert states == [strict, regressions_only, report_only]


@pytest.mark.parametrize(
    ("before", "now", "state", "reason"),
    [
        ({"a": "ppppp"}, {"a": "ppppf"}, "passes", "no regression is shown; 1 case lower by what may be chance"),
        ({"a": "pp"}, {"a": "pf"}, "could not evaluate", "1 case in which a regression cannot be ruled out"),
        (
            {"a": "ppppp", "b": "ppppp"},
            {"a": "ppppi", "b": "ppppp"},
            "could not evaluate",
            "1 case in which a regression cannot be ruled out",
        ),
        ({"a": "ppppf"}, {"a": "ppppp"}, "passes", "no regression, and nothing that leaves room for one"),
        (
            dict.fromkeys("abcdef", "pp"),
            dict.fromkeys("bcdef", "pp") | {"a": "pf"},
            "passes",  # six cases together could have shown a loss
            "no regression is shown; 1 case lower by what may be chance",
        ),
        (
            dict.fromkeys("abcde", "pp"),
            dict.fromkeys("bcde", "pp") | {"a": "pf"},
            "could not evaluate",
            "1 case in which a regression cannot be ruled out",
        ),
    ],
)
def test_a_lower_rate_of_repeated_trials(before, now, state, reason) -> None:
    gate = compared(before, now, gate="regressions-only").gate
    assert (gate.state, gate.reason, gate.cases) == (state, reason, [] if "nothing" in reason else ["a"])
    assert compared(before, now).gate.state == "could not evaluate"  # strict asks that every case is decided


def test_the_design_of_many_cases_is_corrected_for_too() -> None:
    """Two cases of four trials: 2/70 each, and 4/70 after the correction, whatever they had come to."""
    tests = [case.test for case in compared({"a": "pppp", "b": "pppp"}, {"a": "ffff", "b": "ffff"}).cases]
    assert [test.smallest_p for test in tests] == pytest.approx([4 / 70, 4 / 70])
    assert {test.evidence for test in tests} == {"insufficient evidence"}


def test_a_loss_over_all_cases_fails_though_no_case_shows_it() -> None:
    comparison = compared(dict.fromkeys("abcdef", "ppp"), dict.fromkeys("abcdef", "ppf"), gate="regressions-only")
    assert {case.change for case in comparison.cases} == {"inconclusive"}
    assert (comparison.gate.state, comparison.gate.reason) == ("fails", "a loss is shown over all cases")


# -- properties --------------------------------------------------------------------------------------------------------

SIDES = st.dictionaries(st.sampled_from("abcdefg"), st.text("pfi", min_size=1, max_size=5), min_size=1)
MIRROR = {"regression": "improvement", "improvement": "regression"}


@given(SIDES, SIDES)
def test_swapping_the_sides_swaps_regressions_and_improvements(before, now) -> None:
    forth, back = compared(before, now), compared(now, before)
    assert [MIRROR.get(case.change, case.change) for case in forth.cases] == [case.change for case in back.cases]
    assert (forth.suite.better, forth.suite.worse) == (back.suite.worse, back.suite.better)
    assert (forth.suite.p, forth.suite.evidence) == (back.suite.p, back.suite.evidence)
    if forth.suite.interval:
        assert [-bound for bound in reversed(forth.suite.interval)] == pytest.approx(back.suite.interval)


@given(SIDES, SIDES, st.randoms())
def test_the_order_of_results_changes_nothing(before, now, chance) -> None:
    shuffled = [side(**before), side("new", **now)]
    for results in shuffled:
        chance.shuffle(results)
    assert compare(*shuffled) == compared(before, now)


@given(SIDES, SIDES)
def test_a_gate_changes_no_evidence_and_passes_nothing_that_it_did_not_see(before, now) -> None:
    comparison = compared(before, now)
    for gate in ("strict", "regressions-only", "report-only"):
        other = gated(comparison, gate)
        assert structs.replace(other, gate=comparison.gate) == comparison
        if other.gate.state == "passes":
            assert any(case.difference is not None or case.change in MIRROR for case in other.cases)
        if other.gate.state == "passes" and gate == "strict":
            assert not {"regression", "inconclusive", "unmatched"} & {case.change for case in other.cases}
    summary = comparison.summary
    assert sum(getattr(summary, change) for change in summary.__struct_fields__) == len(before.keys() | now.keys())
