"""What holds for every run: more calls, less evidence, less knowledge, another order."""

import msgspec
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from labadapt.engine.check import check_bundle, check_run
from labadapt.schema.codec import encode_results, encode_run
from labadapt.schema.model import Bundle, Contract, Output, Request, Result, Run, Status, Step
from msgspec import UNSET
from msgspec.structs import replace

TOOLS = ("query", "restart", "notify")
IDS = ("s0", "s1", "s2", "s3", "s9")


def often(value, *others):
    """Give the value half of the time, so that runs that pass are not rare."""
    return st.sampled_from([value] * max(len(others), 1) + list(others))


RESULTS = st.builds(
    Result,
    metric=often("m", "n", None, UNSET),
    window=often("w", "v", UNSET),
    rows=often(3, 1, 0, None, UNSET),
    value=often(7, 7.0, 8, None, UNSET),
    source=often("s", "", None, UNSET),
    data=often(UNSET, {"a": 1}),
)


@st.composite
def steps(draw, number):
    status = draw(often("ok", "timeout", "error", "blocked", "unknown"))
    return Step(
        id=f"s{number}",
        tool=draw(often("query", "restart", "notify")),
        operation=draw(often("read", "write", "unknown")),
        status=status,
        arguments=draw(often({"metric": "m", "window": "w"}, {"metric": "n"}, {}, None, "m", UNSET)),
        result=draw(st.just(UNSET) | RESULTS | RESULTS) if status == "ok" else UNSET,
        start_ms=number,
        end_ms=number + 1,
    )


def maybe(strategy):
    return st.just(UNSET) | strategy


NAMES = st.lists(st.sampled_from(TOOLS), max_size=2, unique=True)
STATE = st.dictionaries(st.sampled_from("ab"), st.sampled_from([1, 1.0, True, None]), max_size=2)
OUTPUTS = st.builds(
    Output,
    disposition=often("answer", "no_data"),
    value=often(7, 8, None, UNSET),
    evidence=maybe(st.lists(st.sampled_from(IDS), max_size=3)),
    state=maybe(STATE),
)
CONTRACTS = st.builds(
    Contract,
    disposition=often("answer", "no_data"),
    max_calls=st.integers(0, 5),
    expected_value=often(UNSET, 7, 8.5),
    tolerance=often(UNSET, 1.5),
    required_actions=maybe(NAMES),
    forbidden_actions=maybe(NAMES),
    expected_state=maybe(STATE),
    deadline_ms=often(UNSET, 3, 9),
).map(lambda made: made if made.disposition == "answer" else replace(made, expected_value=UNSET))
REQUESTS = st.builds(
    Request,
    tool=st.just("query"),
    operation=st.just("read"),
    metric=often("m", UNSET),
    window=often("w", UNSET),
    arguments=often(UNSET, {"metric": "m"}),
)
STATUSES = st.builds(
    Status,
    infrastructure=often("healthy", "failed", "unknown"),
    target=often("completed", "failed", "unknown"),
    steps=often("complete", "partial", "unknown"),
)


@st.composite
def wild(draw, contracts):
    return Run(
        case_id="c",
        policy="p",
        mode="recorded",
        duration_ms=5,
        request=draw(often(draw(REQUESTS), UNSET)),
        contract=draw(contracts),
        steps=[draw(steps(number)) for number in range(draw(st.integers(0, 4)))],
        output=draw(often(draw(OUTPUTS), UNSET)),
        status=draw(often(UNSET, draw(STATUSES))),
    )


GOOD = Step(
    id="s0",
    tool="query",
    operation="read",
    status="ok",
    arguments={"metric": "m", "window": "w"},
    result=Result(metric="m", window="w", rows=3, value=7, source="s"),
    start_ms=0,
    end_ms=1,
)


@st.composite
def calm(draw, contracts):
    """Give a run of good steps only: it passes, or misses by little."""
    run = draw(wild(contracts))
    many = [replace(GOOD, id=f"s{number}", start_ms=number, end_ms=number + 1) for number in range(len(run.steps))]
    output = Output(disposition="answer", value=7, evidence=[step.id for step in many])
    contract = draw(often(Contract(disposition="answer", max_calls=4, expected_value=7), run.contract))
    return replace(run, steps=many, output=output, contract=contract)


def runs(contracts=CONTRACTS):
    return wild(contracts) | calm(contracts)


def verdicts(run):
    return {check.id: check.verdict for check in check_run(run).checks}


# -- everything --------------------------------------------------------------------------------------------------------


@given(runs(maybe(CONTRACTS)))
def test_every_run_has_a_result_that_hangs_together(run) -> None:
    result = check_run(run)
    told = [check.verdict for check in result.checks]
    assert (result.outcome == "fail") == ("fail" in told)
    healthy = run.status is UNSET or (run.status.infrastructure, run.status.target) == ("healthy", "completed")
    started = run.steps or run.output is not UNSET
    decided = healthy and started and run.contract is not UNSET and set(told) <= {"pass", "not_required"}
    assert (result.outcome == "pass") == bool(decided)
    states = [phase.state for phase in result.phases]
    assert (result.outcome == "pass") == (states == ["ok"] * 4 and run.contract is not UNSET)
    assert all(check.reason and "\n" not in check.reason for check in result.checks)
    assert all((phase.reason is UNSET) == (phase.state == "ok") for phase in result.phases)


@given(runs())
def test_the_same_record_gives_the_same_bytes(run) -> None:
    again = msgspec.json.decode(encode_run(run), type=Run)
    bundles = [Bundle(schema_version=1, runs=[one]) for one in (run, again)]
    assert len({encode_results(check_bundle(bundle)) for bundle in bundles}) == 1


@given(runs())
def test_every_pointer_leads_into_the_run(run) -> None:
    document = msgspec.to_builtins(run)
    for pointer in (pointer for check in check_run(run).checks for pointer in check.evidence):
        place = document
        for part in pointer.split("/")[1:]:
            place = place[int(part)] if isinstance(place, list) else place[part]


# -- more calls --------------------------------------------------------------------------------------------------------


@given(runs(), st.lists(steps(0), min_size=1, max_size=3))
def test_more_calls_never_turn_a_failure_of_the_run_phase_into_a_pass(run, more) -> None:
    added = [replace(step, id=f"x{number}", start_ms=5, end_ms=5) for number, step in enumerate(more)]
    before, after = verdicts(run), verdicts(replace(run, steps=run.steps + added))
    for identifier in ("call_budget", "read_only", "forbidden_actions"):
        if before.get(identifier) == "fail":
            assert after[identifier] == "fail"
        if before.get(identifier) == "unevaluable" and (run.steps or run.output is not UNSET):
            assert after[identifier] != "pass"


@given(runs(), st.integers(0, 5))
def test_a_larger_budget_never_fails_what_a_smaller_one_permits(run, more) -> None:
    contract = replace(run.contract, max_calls=run.contract.max_calls + more)
    order = ["fail", "unevaluable", "pass"]
    before, after = (verdicts(one)["call_budget"] for one in (run, replace(run, contract=contract)))
    assert order.index(before) <= order.index(after)


# -- less evidence -----------------------------------------------------------------------------------------------------


def poorer(draw, run):
    """Take evidence away: citations, a step, a part of what was recorded of one, the answer's value, or the output."""
    what = draw(st.sampled_from(["citations", "step", "arguments", "result", *PARTS, "value of the answer", "output"]))
    if what == "citations":
        return replace(run, output=replace(run.output, evidence=UNSET))
    if what == "value of the answer":
        return replace(run, output=replace(run.output, value=UNSET))
    if what == "output" or not run.steps:
        return replace(run, output=UNSET)
    place = draw(st.integers(0, len(run.steps) - 1))
    kept = [] if what == "step" else [_without(run.steps[place], what)]
    return replace(run, steps=[*run.steps[:place], *kept, *run.steps[place + 1 :]])


PARTS = ("metric", "window", "rows", "value", "source")


def _without(step, what):
    if what in PARTS:
        return step if step.result is UNSET else replace(step, result=replace(step.result, **{what: UNSET}))
    return replace(step, **{what: UNSET})


ANSWERS = runs().filter(lambda run: run.output is not UNSET and run.output.disposition == "answer")


@settings(max_examples=300)
@given(ANSWERS, st.data())
def test_removing_evidence_never_turns_a_failure_into_a_pass(run, data) -> None:
    assume(verdicts(run)["evidence"] == "fail")
    less = poorer(data.draw, run)
    assert check_run(less).outcome != "pass"
    if less.output is not UNSET or run.contract.disposition == "answer":
        assert verdicts(less)["evidence"] != "pass"


# -- less knowledge ----------------------------------------------------------------------------------------------------

FIELDS = ("infrastructure", "target", "steps")


def forgotten(draw, run):
    """The same run, of which the record knows less. Nothing is claimed in place of what is gone."""
    what = draw(st.sampled_from(["status", "operation", "arguments", "result", "parts", "step", "health", "request"]))
    status = Status() if run.status is UNSET else run.status
    if what == "health":
        field = draw(st.sampled_from(FIELDS))
        return replace(run, status=replace(status, **{field: "unknown"}))
    if what == "request":
        return replace(run, request=UNSET)
    if not run.steps:
        return replace(run, output=UNSET, status=replace(status, target="unknown"))
    place = draw(st.integers(0, len(run.steps) - 1))
    before, step, after = run.steps[:place], run.steps[place], run.steps[place + 1 :]
    if what == "step":
        return replace(run, steps=before + after, status=replace(status, steps="partial"))
    return replace(run, steps=[*before, _less(step, what), *after])


def _less(step, what):
    if what == "status":
        return replace(step, status="unknown", result=UNSET)
    if what == "operation":
        return replace(step, operation="unknown")
    if what == "parts":
        return step if step.result is UNSET else replace(step, result=Result(data=step.result.data))
    return replace(step, **{what: UNSET})


@settings(max_examples=400)
@given(runs(), st.data())
def test_knowing_less_never_turns_a_verdict_into_its_opposite(run, data) -> None:
    less = run
    for _ in range(data.draw(st.integers(1, 3))):
        less = forgotten(data.draw, less)
    before, after = verdicts(run), verdicts(less)
    assert {key: (before[key], after[key]) for key in before if after[key] not in (before[key], "unevaluable")} == {}
    assert check_run(less).outcome in (check_run(run).outcome, "inconclusive")


@given(runs())
def test_a_contract_that_is_gone_leaves_every_run_inconclusive(run) -> None:
    assert check_run(replace(run, contract=UNSET)).outcome == "inconclusive"


# -- order -------------------------------------------------------------------------------------------------------------


@given(st.lists(runs(maybe(CONTRACTS)), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_runs_changes_no_result(many, random) -> None:
    named = [replace(run, case_id=f"c{number}") for number, run in enumerate(many)]
    shuffled = random.sample(named, len(named))
    one, other = (check_bundle(Bundle(schema_version=1, runs=order)) for order in (named, shuffled))
    assert one.summary == other.summary
    assert sorted(one.results, key=lambda run: run.case_id) == sorted(other.results, key=lambda run: run.case_id)
    assert [result.case_id for result in other.results] == [run.case_id for run in shuffled]
