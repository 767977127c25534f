"""Promote, block, or not enough evidence: each thing asked by itself."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labadapt.engine.digests import record_digest
from labadapt.engine.gate import decide
from labadapt.schema.cases import Case, CasesFile
from labadapt.schema.gate import GateFile
from labadapt.schema.model import Contract, RunUsage
from labadapt.schema.problems import Refusal
from labadapt.schema.result import CheckResult, RunResult
from msgspec import UNSET

WORDS = {"p": "pass", "f": "fail", "i": "inconclusive"}
ASKED_FOR = "sha256:" + "a" * 64
PLAIN = Contract(disposition="answer", max_calls=2)
CRITICAL = Contract(disposition="answer", max_calls=2, severity="critical")


def contract_of(name):
    return CRITICAL if name.startswith("critical") else PLAIN


def file_of(names, **more):
    """A cases file; a case whose name begins so is critical. `more`: further fields of a case."""
    cases = {name: Case(contract=contract_of(name), **more.get(name, {})) for name in names}
    return CasesFile(schema_version=1, cases=cases)


def ran(case, letter, policy="new", **more):
    contract = contract_of(case)
    facts = {
        "mode": "recorded",
        "request_digest": ASKED_FOR,
        "contract_digest": record_digest(contract),
        "reason": "why",
    }
    rest = {"phases": [], "checks": [], "severity": contract.severity}
    return RunResult(case_id=case, policy=policy, outcome=WORDS[letter], **(facts | rest | more))


def runs(policy="new", **cases):
    return [ran(case, letter, policy) for case, letters in cases.items() for letter in letters]


def gate(**asked):
    return GateFile(schema_version=1, **({"at_least": 0.5} | asked))


def decided(asked=None, baseline=None, cases=None, **ran_cases):
    read = file_of(ran_cases) if cases is None else cases
    before = None if baseline is None else runs("old", **baseline)
    return decide(runs(**ran_cases), read, asked or gate(), baseline=before)


def part(decision, name):
    (found,) = [one for one in decision.parts if one.name == name]
    return found.state, found.reason


ROUTINE = {f"c{number}": "p" for number in range(10)}


# -- critical failures -------------------------------------------------------------------------------------------------


def test_a_candidate_that_shows_everything_is_promoted() -> None:
    decision = decided(**ROUTINE, critical="p")
    assert decision.decision == "promote"
    assert part(decision, "critical failures") == ("met", "no failure of 1 critical case")
    assert part(decision, "routine quality") == ("met", "the rate is at least 0.5: its lower bound is 0.741")


def test_a_critical_failure_blocks_whatever_the_mean_is() -> None:
    decision = decided(**ROUTINE, critical="pppf")
    assert decision.decision == "block"
    assert part(decision, "critical failures") == ("not met", "1 critical case failed, 0 of them new")
    (failure,) = decision.critical_failures
    assert (failure.case_id, failure.severity, failure.failed, failure.trials) == ("critical", "critical", 1, 4)
    assert (failure.new, failure.reasons) == (None, ["why"])


@pytest.mark.parametrize(("before", "new"), [("pp", True), ("pf", False), ("pi", None), ("", None)])
def test_whether_a_critical_failure_is_new(before, new) -> None:
    """A better mean promotes over none of them: the baseline fails every routine case."""
    baseline = dict.fromkeys(ROUTINE, "f") | {"critical": before}
    decision = decided(baseline=baseline, **ROUTINE, critical="f")
    assert (decision.decision, decision.critical_failures[0].new) == ("block", new)
    assert decision.comparison.summary.improvement == 10


def test_the_reasons_are_those_of_the_checks_that_failed() -> None:
    verdicts = [("disposition", "fail", "said answer"), ("evidence", "pass", "cited"), ("read_only", "fail", "wrote")]
    checks = [
        CheckResult(id=name, phase="run", verdict=word, expected=None, observed=None, reason=why, evidence=[])
        for name, word, why in verdicts
    ]
    decision = decide([ran("critical", "f", checks=checks)], file_of(["critical"]), gate())
    assert decision.critical_failures[0].reasons == ["disposition: said answer", "read_only: wrote"]


@pytest.mark.parametrize(
    ("letters", "scheduled", "expected"),
    [
        ("", UNSET, ["critical"]),
        ("i", UNSET, ["critical"]),
        ("ppi", UNSET, ["critical"]),
        ("pp", 3, ["critical"]),
        ("ppp", 3, []),
        ("p", UNSET, []),
    ],
)
def test_a_critical_failure_that_cannot_be_ruled_out_is_not_enough_evidence(letters, scheduled, expected) -> None:
    trials = dict.fromkeys(ROUTINE, "ppp")
    decision = decided(gate(scheduled=scheduled), **trials, critical=letters)
    assert decision.critical_open == expected
    assert decision.decision == ("not enough evidence" if expected else "promote")


def test_a_critical_failure_under_another_contract_is_not_forgotten() -> None:
    other = record_digest(Contract(disposition="answer", max_calls=9, severity="critical"))
    results = [*runs(**ROUTINE, critical="p"), ran("critical", "f", contract_digest=other)]
    decision = decide(results, file_of([*ROUTINE, "critical"]), gate())
    assert (decision.decision, decision.critical_open) == ("not enough evidence", ["critical"])
    assert [(left.reason, left.ids) for left in decision.uncounted] == [
        ("held to another contract than the cases file's", ["critical (new)"])
    ]


def test_severities_that_are_critical_are_named_by_the_gate_file() -> None:
    decision = decided(gate(critical_severities=("other",)), **ROUTINE, critical="f")
    assert part(decision, "critical failures") == ("not asked for", "no case has a critical severity")
    assert decision.routine.rate.trials == 11


# -- quality in aggregate ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passes", "fails", "state"),
    [
        (22, 0, "not enough evidence"),  # 0.05 ** (1 / 22) is 0.873
        (29, 0, "met"),  # 0.05 ** (1 / 29) is 0.902
        (0, 2, "not met"),
        (20, 9, "not met"),
        (27, 2, "not enough evidence"),
    ],
)
def test_routine_quality_is_held_to_its_exact_bounds(passes, fails, state) -> None:
    cases = {f"c{number}": "p" if number < passes else "f" for number in range(passes + fails)}
    decision = decided(gate(at_least=0.9), **cases)
    assert part(decision, "routine quality")[0] == state


def test_what_is_missing_or_inconclusive_is_no_evidence_for_either_side() -> None:
    decision = decided(gate(at_least=0.9), a="i", b="")
    rate = decision.routine.rate
    assert (rate.successes, rate.open, rate.trials, rate.value) == (0, 2, 2, None)
    assert (decision.routine.lower, decision.routine.upper) == (0, 1)
    assert decision.decision == "not enough evidence"


def test_without_a_rate_routine_quality_is_undecided() -> None:
    decision = decided(gate(at_least=UNSET), **ROUTINE)
    assert decision.decision == "not enough evidence"
    assert part(decision, "routine quality")[0] == "not enough evidence"
    assert decided(gate(at_least=UNSET), critical="p").decision == "promote"


def test_held_out_cases_are_counted_apart() -> None:
    cases = file_of([*ROUTINE, "h"], h={"holdout": True})
    decision = decided(cases=cases, **ROUTINE, h="f")
    assert (decision.routine.rate.trials, decision.holdout.rate.trials) == (10, 1)
    assert decision.decision == "promote"
    decision = decided(gate(holdout_at_least=0.99), cases=cases, **ROUTINE, h="f")
    assert part(decision, "holdout quality") == ("not met", "the rate is below 0.99: its upper bound is 0.950")
    assert decision.decision == "block"


def test_no_case_at_all_promotes_nothing() -> None:
    decision = decided(cases=file_of([]), a="p")
    assert decision.decision == "not enough evidence"
    assert [(left.reason, left.ids) for left in decision.uncounted] == [("not in the cases file", ["a (new)"])]


def test_the_results_are_of_one_policy() -> None:
    with pytest.raises(Refusal, match="BAD_VALUE: the results are of several policies"):
        decide([ran("a", "p", "x"), ran("a", "p", "y")], file_of("a"), gate())
    with pytest.raises(Refusal, match="BAD_VALUE: case 'a' has more trials than were scheduled"):
        decided(gate(scheduled=1), a="pp")


# -- coverage ----------------------------------------------------------------------------------------------------------

PLACED = {"loop": "triage", "failure_class": "stale_data"}


def covering(letters="p", held=False, **asked):
    cases = file_of([*ROUTINE, "x"], x=PLACED | {"holdout": held})
    asked = msgspec.convert({"schemaVersion": 1, "atLeast": 0.5, **asked}, GateFile)
    return decided(asked, cases=cases, **ROUTINE, x=letters)


CELL = {"loop": "triage", "failureClass": "stale_data"}


@pytest.mark.parametrize(
    ("letters", "held", "cell", "decision"),
    [
        ("p", False, {}, "promote"),
        ("f", False, {}, "promote"),
        ("i", False, {}, "not enough evidence"),
        ("", False, {}, "not enough evidence"),
        ("p", True, {}, "not enough evidence"),
        ("p", False, {"cases": 2}, "not enough evidence"),
        ("p", False, {"failureClass": "hostile_content"}, "not enough evidence"),
        ("p", False, {"loop": "nowhere"}, "not enough evidence"),
    ],
)
def test_a_required_cell_must_be_covered(letters, held, cell, decision) -> None:
    made = covering(letters, held, requiredCells=[CELL | cell])
    assert made.decision == decision
    assert len(made.gaps) == (decision != "promote")


def test_a_gap_that_a_person_has_accepted_is_told_and_resolved() -> None:
    hostile = {"loop": "triage", "failureClass": "hostile_content"}
    accepted = [hostile | {"reason": "no text from outside"}, CELL | {"reason": "covered"}]
    made = covering(requiredCells=[CELL, hostile], acceptedGaps=accepted)
    assert made.decision == "promote"
    assert [(gap.failure_class, gap.accepted) for gap in made.gaps] == [("hostile_content", "no text from outside")]
    assert made.accepted_in_vain == [("triage", "stale_data")]


def test_every_cell_can_be_required() -> None:
    made = covering(everyCell=True)
    assert (made.decision, len(made.gaps), made.empty_cells) == ("not enough evidence", 7, 7)
    assert covering().decision == "promote"


# -- comparison, review, cost ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "before", "decision"),
    [
        (UNSET, ROUTINE, "promote"),
        ("strict", ROUTINE, "promote"),
        ("strict", None, "not enough evidence"),
        ("strict", ROUTINE | {"c0": "i"}, "not enough evidence"),
        ("regressions-only", ROUTINE | {"c0": "i"}, "promote"),
        ("strict", ROUTINE | {"lost": "p"}, "block"),
        ("report-only", ROUTINE | {"lost": "p"}, "promote"),
    ],
)
def test_what_is_asked_of_the_comparison(asked, before, decision) -> None:
    candidate = ROUTINE | ({"lost": "f"} if before and "lost" in before else {})
    assert decided(gate(comparison=asked), before, **candidate).decision == decision


@pytest.mark.parametrize(
    ("minutes", "limit", "state"),
    [(UNSET, UNSET, "not asked for"), (UNSET, 5, "not enough evidence"), (20, 2, "met"), (20.5, 2, "not met")],
)
def test_review_beside_success(minutes, limit, state) -> None:
    decision = decided(gate(review_minutes=minutes, max_review_minutes_per_success=limit), **ROUTINE)
    assert part(decision, "review")[0] == state
    assert decision.effort.review_minutes == (None if minutes is UNSET else minutes)


@pytest.mark.parametrize(
    ("usages", "each", "state"),
    [
        ([0.1, 0.2], 0.15, "met"),
        ([0.3, 0.2], 0.25, "not met"),
        ([0.1, None], None, "not enough evidence"),
        ([], None, "not enough evidence"),
    ],
)
def test_cost_beside_success(usages, each, state) -> None:
    results = [
        ran(f"c{n}", "p", usage=UNSET if cost is None else RunUsage(cost_usd=cost, cost_source="billed"))
        for n, cost in enumerate(usages)
    ] or runs(c0="p")
    decision = decide(results, file_of(["c0", "c1"]), gate(max_cost_usd_per_success=0.2))
    assert (decision.effort.cost_usd_per_success, part(decision, "cost")[0]) == (each, state)


def test_billed_and_estimated_costs_are_never_added_up() -> None:
    results = [
        ran("c0", "p", usage=RunUsage(cost_usd=1, cost_source="billed")),
        ran("c1", "p", usage=RunUsage(cost_usd=2, cost_source="estimated")),
    ]
    effort = decide(results, file_of(["c0", "c1"]), gate()).effort
    assert (effort.cost_usd.billed, effort.cost_usd.estimated, effort.cost_usd_per_success) == (1, 2, None)


# -- properties --------------------------------------------------------------------------------------------------------

CASES = st.dictionaries(
    st.sampled_from(["critical-1", "critical-2", "a", "b", "c", "d"]), st.text("pfi", max_size=4), min_size=1
).filter(lambda cases: any(cases.values()))
ASKED = st.builds(
    gate,
    at_least=st.one_of(st.just(UNSET), st.floats(0, 1)),
    comparison=st.sampled_from([UNSET, "strict", "regressions-only", "report-only"]),
)


@given(ASKED, CASES, st.one_of(st.none(), CASES))
def test_nothing_is_promoted_over_a_critical_failure(asked, cases, before) -> None:
    decision = decided(asked, before, file_of({**cases, **(before or {})}), **cases)
    critical = [letters for case, letters in cases.items() if case.startswith("critical")]
    if any("f" in letters for letters in critical):
        assert decision.decision == "block"
    elif any("i" in letters or not letters for letters in critical):
        assert decision.decision != "promote"


@given(ASKED, CASES, st.randoms())
def test_the_order_of_results_changes_nothing(asked, cases, chance) -> None:
    results = runs(**cases)
    chance.shuffle(results)
    assert decide(results, file_of(cases), asked) == decided(asked, **cases)
