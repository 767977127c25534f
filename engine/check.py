"""The checks and the outcome of a run: deterministic, three-valued, recomputed from the record (docs/checks.md).

A step whose status is unknown may or may not have run, and an incomplete record hides some. So every check is
decided only where it holds, or fails, either way; else it is unevaluable, which is neither a pass nor a failure.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

from labadapt.engine.outcome import outcome_of, phases_of
from labadapt.schema.model import Bundle, Contract, Generator, Output, Request, Result, Run, Status, Step
from labadapt.schema.problems import Problem, Refusal, Where
from labadapt.schema.result import CheckId, CheckResult, PhaseName, Results, RunResult, Summary, Verdict
from labadapt.schema.timing import nanoseconds
from msgspec import UNSET, UnsetType

ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check came to, before it is named."""

    verdict: Verdict
    expected: Any
    observed: Any
    reason: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A run that has a contract, and what its record leaves open."""

    run: Run
    contract: Contract
    status: Status

    @property
    def hidden(self) -> bool:
        """Whether the record may lack steps."""
        return self.status.steps != "complete"

    @property
    def completed(self) -> bool:
        """Whether the agent is known to have come to its end."""
        return self.status.target == "completed"


def same(one: Any, other: Any) -> bool:
    """Equality of JSON values: numbers by value (412 and 412.0), booleans are no numbers, structures in depth."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and (isinstance(value, int) or isfinite(value))
    )


# -- what was attempted ------------------------------------------------------------------------------------------------


def surely(step: Step) -> bool:
    """Whether the step is an attempted invocation whatever the record leaves open."""
    return step.status not in ("blocked", "unknown")


def perhaps(step: Step) -> bool:
    """Whether the step may be an attempted invocation."""
    return step.status != "blocked"


def _at(index: int) -> str:
    return f"/steps/{index}"


def _where(run: Run, condition: Callable[[Step], bool]) -> tuple[str, ...]:
    return tuple(_at(index) for index, step in enumerate(run.steps) if condition(step))


_HIDDEN = "the record may lack calls (status.steps is not complete)"


def call_budget(case: Case) -> Finding:
    """Attempted invocations, every step but blocked ones, are at most `maxCalls`."""
    most = case.contract.max_calls
    sure = sum(map(surely, case.run.steps))
    possible = sum(map(perhaps, case.run.steps))
    evidence = _where(case.run, perhaps)
    observed: Any = sure if sure == possible and not case.hidden else {"atLeast": sure}
    if sure != possible and not case.hidden:
        observed = {"atLeast": sure, "atMost": possible}
    if sure > most:
        return Finding("fail", most, observed, f"{_calls(sure)} attempted, at most {most} permitted", evidence)
    if possible <= most and not case.hidden:
        return Finding("pass", most, observed, f"{_calls(possible)} attempted, at most {most} permitted", evidence)
    why = _HIDDEN if case.hidden else "the record does not show whether some calls ran"
    return Finding("unevaluable", most, observed, f"{_calls(sure)} surely attempted, and {why}", evidence)


def _calls(count: int) -> str:
    return f"{count} call{'' if count == 1 else 's'}"


def read_only(case: Case) -> Finding:
    """No attempted invocation has operation write."""
    run = case.run
    writes = _where(run, lambda step: surely(step) and step.operation == "write")
    if writes:
        tools = sorted({step.tool for step in run.steps if surely(step) and step.operation == "write"})
        return Finding("fail", "no write", tools, f"a write was attempted: {', '.join(tools)}", writes)
    doubtful = _where(run, lambda step: perhaps(step) and step.operation != "read")
    if doubtful:
        tools = sorted({step.tool for step in run.steps if perhaps(step) and step.operation != "read"})
        why = f"whether a write was attempted is not known: {', '.join(tools)}"
        return Finding("unevaluable", "no write", tools, why, doubtful)
    if case.hidden:
        return Finding("unevaluable", "no write", [], _HIDDEN)
    return Finding("pass", "no write", [], "no write was attempted", _where(run, perhaps))


def forbidden_actions(case: Case) -> Finding | None:
    """None of the forbidden tools was attempted."""
    names = case.contract.forbidden_actions
    if isinstance(names, UnsetType):
        return None
    seen = _attempted(case, names, surely)
    if seen:
        where = _where(case.run, lambda step: surely(step) and step.tool in seen)
        return Finding("fail", names, seen, f"attempted, and forbidden: {', '.join(seen)}", where)
    doubtful = _attempted(case, names, perhaps)
    if doubtful or (case.hidden and names):
        why = f"not known whether attempted: {', '.join(doubtful)}" if doubtful else _HIDDEN
        return Finding("unevaluable", names, doubtful, why, _where(case.run, lambda step: step.tool in doubtful))
    return Finding("pass", names, [], "none of the forbidden actions was attempted")


def required_actions(case: Case) -> Finding | None:
    """Each of the required tools was attempted. Needs the end of the run."""
    names = case.contract.required_actions
    if isinstance(names, UnsetType):
        return None
    if not case.completed:
        return _no_end(case, names)
    seen = _attempted(case, names, surely)
    missing = [name for name in names if name not in seen]
    where = _where(case.run, lambda step: surely(step) and step.tool in names)
    if not missing:
        return Finding("pass", names, seen, "every required action was attempted", where)
    doubtful = _attempted(case, missing, perhaps)
    if case.hidden or set(missing) <= set(doubtful):
        why = _HIDDEN if case.hidden else f"not known whether attempted: {', '.join(doubtful)}"
        return Finding("unevaluable", names, seen, why, where)
    return Finding("fail", names, seen, f"not attempted: {', '.join(missing)}", where)


def _attempted(case: Case, names: list[str], how: Callable[[Step], bool]) -> list[str]:
    tools = {step.tool for step in case.run.steps if how(step)}
    return sorted(set(names) & tools)


def deadline(case: Case) -> Finding | None:
    """`durationMs` does not exceed `deadlineMs`."""
    most, took = case.contract.deadline_ms, case.run.duration_ms
    if isinstance(most, UnsetType):
        return None
    if nanoseconds(took) > nanoseconds(most):
        return Finding("fail", most, took, f"the run took {took} ms, at most {most} ms permitted", ("/durationMs",))
    if case.status.target == "unknown":
        return Finding("unevaluable", most, took, "the end of the run is not in the record", ("/durationMs",))
    return Finding("pass", most, took, f"the run took {took} ms, at most {most} ms permitted", ("/durationMs",))


# -- what was concluded ------------------------------------------------------------------------------------------------


def _no_end(case: Case, expected: Any) -> Finding:
    target = case.status.target
    why = "the target failed before its end" if target == "failed" else "whether the target completed is not known"
    return Finding("unevaluable", expected, None, why, ("/status/target",))


def _output(case: Case) -> Output | None:
    return case.run.output if isinstance(case.run.output, Output) else None


def disposition(case: Case) -> Finding:
    """The output's disposition is the contract's. Needs the end of the run."""
    expected = case.contract.disposition
    if not case.completed:
        return _no_end(case, expected)
    output = _output(case)
    if output is None:
        return Finding("fail", expected, None, f'expected "{expected}", the run ended without an output')
    where = ("/output/disposition",)
    if output.disposition == expected:
        return Finding("pass", expected, output.disposition, f'the disposition is "{expected}"', where)
    why = f'expected "{expected}", observed "{output.disposition}"'
    return Finding("fail", expected, output.disposition, why, where)


def expected_value(case: Case) -> Finding:
    """The answer is finite and within the tolerance. Needs the end of the run."""
    expected = case.contract.expected_value
    if isinstance(expected, UnsetType):
        return Finding("not_required", None, None, "the contract names no expected value")
    if not case.completed:
        return _no_end(case, expected)
    output = _output(case)
    value = None if output is None or isinstance(output.value, UnsetType) else output.value
    if not is_number(value):
        return Finding("fail", expected, value, f"expected {expected}, the run gave no value", ("/output",))
    tolerance = 0 if isinstance(case.contract.tolerance, UnsetType) else case.contract.tolerance
    distance = abs(_exact(value) - _exact(expected))
    holds = distance <= _exact(tolerance)
    why = f"{value} is {'within' if holds else 'not within'} {tolerance} of {expected}"
    return Finding("pass" if holds else "fail", expected, value, why, ("/output/value",))


def _exact(number: Any) -> Decimal:
    """A number as it is written, so that 0.3 - 0.1 is 0.2."""
    return Decimal(number) if isinstance(number, int) else Decimal(repr(number))


def expected_state(case: Case) -> Finding | None:
    """Every key of the expected state is in the output's state with an equal value. Needs the end of the run."""
    expected = case.contract.expected_state
    if isinstance(expected, UnsetType):
        return None
    if not case.completed:
        return _no_end(case, expected)
    output = _output(case)
    if output is None or isinstance(output.state, UnsetType):
        return Finding("unevaluable", expected, None, "no final state was recorded")
    wrong = [key for key, value in expected.items() if key not in output.state or not same(output.state[key], value)]
    if wrong:
        return Finding("fail", expected, output.state, f"not as expected: {', '.join(wrong)}", ("/output/state",))
    return Finding("pass", expected, output.state, "the final state is as expected", ("/output/state",))


# -- evidence ----------------------------------------------------------------------------------------------------------

_EVIDENCE = "an answer cites ok reads of the requested tool that match the request and hold its value"
_NO_VALUE = "no value is claimed"


def evidence(case: Case) -> Finding:
    """An answer is borne out by every step that it cites; any other disposition claims no value. Needs the end."""
    if not case.completed:
        return _no_end(case, _EVIDENCE)
    output = _output(case)
    if output is None:
        if case.contract.disposition == ANSWER:
            return Finding("fail", _EVIDENCE, None, "the run ended without an output, so nothing is cited")
        return Finding("pass", _NO_VALUE, None, _NO_VALUE)
    if output.disposition != ANSWER:
        value = None if isinstance(output.value, UnsetType) else output.value
        if value is None:
            return Finding("pass", _NO_VALUE, None, _NO_VALUE, ("/output",))
        why = f'a value is claimed with disposition "{output.disposition}"'
        return Finding("fail", _NO_VALUE, value, why, ("/output/value",))
    return _answer(case, output)


def _answer(case: Case, output: Output) -> Finding:
    cited = [] if isinstance(output.evidence, UnsetType) else list(output.evidence)
    if not cited:
        return Finding("fail", _EVIDENCE, cited, "the answer cites no step", ("/output",))
    index = {step.id: number for number, step in enumerate(case.run.steps)}
    where = tuple(_at(index[name]) for name in cited if name in index)
    doubts: list[str] = []
    for name in cited:
        step = case.run.steps[index[name]] if name in index else None
        for verdict, why in _step_faults(case, name, step, output):
            if verdict == "fail":
                return Finding("fail", _EVIDENCE, cited, why, where)
            doubts.append(why)
    if doubts:
        return Finding("unevaluable", _EVIDENCE, cited, doubts[0], where)
    return Finding(
        "pass", _EVIDENCE, cited, f"{len(cited)} cited step{'' if len(cited) == 1 else 's'} bear the answer out", where
    )


def _step_faults(case: Case, name: str, step: Step | None, output: Output) -> Iterator[tuple[Verdict, str]]:
    """Why a cited step does not bear the answer out, or leaves it open."""
    if step is None:
        yield ("unevaluable" if case.hidden else "fail"), f'the cited step "{name}" is not in the record'
        return
    if step.status != "ok":
        yield (
            ("unevaluable" if step.status == "unknown" else "fail"),
            f'the cited step "{name}" is {step.status}, not ok',
        )
    if step.operation != "read":
        verdict: Verdict = "fail" if step.operation == "write" else "unevaluable"
        yield verdict, f'the cited step "{name}" is not known to be a read: its operation is {step.operation}'
    request = case.run.request
    if isinstance(request, UnsetType):
        yield "unevaluable", "the run does not record what was requested"
        if step.status == "ok":
            yield from _result_faults(name, step.result, None, output)
        return
    if step.tool != request.tool:
        yield "fail", f'the cited step "{name}" calls "{step.tool}", the request names "{request.tool}"'
    yield from _argument_faults(name, step, request)
    if step.status == "ok":
        yield from _result_faults(name, step.result, request, output)


def _named(request: Request) -> dict[str, Any]:
    """The arguments that the request asks for."""
    named: dict[str, Any] = {}
    if not isinstance(request.metric, UnsetType):
        named["metric"] = request.metric
    if not isinstance(request.window, UnsetType):
        named["window"] = request.window
    if not isinstance(request.arguments, UnsetType):
        named.update(request.arguments)
    return named


def _argument_faults(name: str, step: Step, request: Request) -> Iterator[tuple[Verdict, str]]:
    wanted = _named(request)
    if not wanted:
        return
    if step.arguments is UNSET:
        yield "unevaluable", f'the arguments of the cited step "{name}" were not recorded'
        return
    given = step.arguments if isinstance(step.arguments, dict) else {}
    for key, value in wanted.items():
        if key not in given or not same(given[key], value):
            yield "fail", f'the cited step "{name}" was called with another {key} than requested'


def _result_faults(
    name: str, result: Result | UnsetType, request: Request | None, output: Output
) -> Iterator[tuple[Verdict, str]]:
    if isinstance(result, UnsetType):
        yield "unevaluable", f'the result of the cited step "{name}" was not recorded'
        return
    for part in ("metric", "window"):
        asked = getattr(request, part) if request is not None else UNSET
        if not isinstance(asked, UnsetType) and getattr(result, part) != asked:
            yield "fail", f'the result of the cited step "{name}" is of another {part} than requested'
    if isinstance(result.rows, UnsetType) or result.rows is None or result.rows < 1:
        yield "fail", f'the result of the cited step "{name}" shows no rows'
    if not is_number(result.value):
        yield "fail", f'the result of the cited step "{name}" holds no value'
    elif not same(result.value, None if isinstance(output.value, UnsetType) else output.value):
        yield "fail", f'the answer is not the value of the cited step "{name}"'
    if not result.source:
        yield "fail", f'the result of the cited step "{name}" names no source'


# -- the run -----------------------------------------------------------------------------------------------------------

Check = Callable[[Case], Finding | None]

# In the order in which they are told; the optional ones stand only where the contract asks for them.
CHECKS: tuple[tuple[CheckId, PhaseName, Check], ...] = (
    ("disposition", "verify", disposition),
    ("call_budget", "run", call_budget),
    ("read_only", "run", read_only),
    ("evidence", "verify", evidence),
    ("expected_value", "verify", expected_value),
    ("required_actions", "verify", required_actions),
    ("forbidden_actions", "run", forbidden_actions),
    ("expected_state", "verify", expected_state),
    ("deadline", "run", deadline),
)
_ALWAYS = 5


def check_run(run: Run) -> RunResult:
    """Every check of a run, the outcome and the four phases. Total: any valid run."""
    status = run.status if isinstance(run.status, Status) else Status()
    checks = _checks(run, status)
    outcome, reason = outcome_of(run, status, checks)
    severity = run.contract.severity if isinstance(run.contract, Contract) else UNSET
    return RunResult(
        case_id=run.case_id,
        policy=run.policy,
        mode=run.mode,
        outcome=outcome,
        reason=reason,
        severity=severity,
        phases=phases_of(run, status, checks),
        checks=checks,
    )


def _checks(run: Run, status: Status) -> list[CheckResult]:
    if not isinstance(run.contract, Contract):
        missing = Finding("unevaluable", None, None, "the run has no contract")
        return [_result(identifier, phase, missing) for identifier, phase, _ in CHECKS[:_ALWAYS]]
    case = Case(run, run.contract, status)
    findings = [check(case) for _, _, check in CHECKS]
    told = zip(CHECKS, findings, strict=True)
    return [_result(identifier, phase, finding) for (identifier, phase, _), finding in told if finding is not None]


def _result(identifier: CheckId, phase: PhaseName, finding: Finding) -> CheckResult:
    return CheckResult(
        id=identifier,
        phase=phase,
        verdict=finding.verdict,
        expected=finding.expected,
        observed=finding.observed,
        reason=finding.reason,
        evidence=list(finding.evidence),
    )


def check_bundle(bundle: Bundle, *, policies: Sequence[str] = (), version: str = "") -> Results:
    """The results of a bundle's runs, in its order. `policies` keeps only those; `version` is written as the
    generator's.

    Raises `Refusal` (``BAD_VALUE``) for a policy that no run has.
    """
    present = sorted({run.policy for run in bundle.runs})
    for policy in policies:
        if policy not in present:
            raise Refusal(_no_policy(policy, present))
    results = [check_run(run) for run in bundle.runs if not policies or run.policy in policies]
    outcomes = [result.outcome for result in results]
    summary = Summary(
        total=len(results),
        passed=outcomes.count("pass"),
        failed=outcomes.count("fail"),
        inconclusive=outcomes.count("inconclusive"),
    )
    generator = Generator(name="labadapt", version=version) if version else UNSET
    return Results(schema_version=1, generator=generator, summary=summary, results=results)


def _no_policy(policy: str, present: list[str]) -> Problem:
    return Problem(
        code="BAD_VALUE",
        message="no run of the bundle has this policy",
        where=Where(pointer="/runs"),
        found=policy,
        expected=", ".join(present[:20]),
    )
