"""From checks to the outcome of a run and its four phases (format.md, Outcome)."""

from labadapt.schema.model import Contract, Output, Run, Status
from labadapt.schema.result import CheckId, CheckResult, Outcome, Phase, PhaseName, PhaseState
from msgspec import UNSET


def outcome_of(  # noqa: PLR0911 - one return for each rule, in their order
    run: Run, status: Status, checks: list[CheckResult]
) -> tuple[Outcome, str]:
    """The outcome and the one sentence that says why.

    fail: a required check failed, whatever happened to the infrastructure: what was seen cannot be unseen.
    inconclusive: nothing failed, and no trustworthy decision can be made. pass: everything required passed.
    """
    if not isinstance(run.contract, Contract):
        return "inconclusive", "the run has no contract"
    failed = [check for check in checks if check.verdict == "fail"]
    if never_started(run) and all(check.phase == "verify" for check in failed):
        return "inconclusive", "the record shows no action and no output: most often the run never started"
    if failed:
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        return "fail", f"{failed[0].id}: {failed[0].reason}{more}"
    if status.infrastructure != "healthy":
        return "inconclusive", f"the infrastructure is {status.infrastructure}{_because(status)}"
    if status.target != "completed":
        return "inconclusive", f"the target is {status.target}{_because(status)}"
    open_checks = [check for check in checks if check.verdict == "unevaluable"]
    if open_checks:
        return "inconclusive", f"{open_checks[0].id}: {open_checks[0].reason}"
    return "pass", "every required check passed"


def _because(status: Status) -> str:
    return f": {status.reason}" if isinstance(status.reason, str) else ""


def never_started(run: Run) -> bool:
    """Whether the record shows no action and no output of the agent at all."""
    return not run.steps and not isinstance(run.output, Output)


def phases_of(run: Run, status: Status, checks: list[CheckResult]) -> list[Phase]:
    """prepare, run, verify and record, each with its state and its checks."""
    states = {
        "prepare": _prepare(run, status),
        "run": _run(run, status, checks),
        "verify": _verify(run, status, checks),
        "record": _record(status, checks),
    }
    return [_phase(name, states[name], checks) for name in ("prepare", "run", "verify", "record")]


def _phase(name: PhaseName, state: tuple[PhaseState, str], checks: list[CheckResult]) -> Phase:
    own: list[CheckId] = [check.id for check in checks if check.phase == name]
    return Phase(name=name, state=state[0], checks=own, reason=state[1] or UNSET)


def _prepare(run: Run, status: Status) -> tuple[PhaseState, str]:
    if not isinstance(run.contract, Contract):
        return "failed", "the run has no contract"
    if status.infrastructure == "failed" and never_started(run):
        return "failed", f"the infrastructure failed before any action{_because(status)}"
    return "ok", ""


def _run(run: Run, status: Status, checks: list[CheckResult]) -> tuple[PhaseState, str]:
    failed = _first(checks, "run", "fail")
    if failed is not None:
        return "failed", f"{failed.id}: {failed.reason}"
    if never_started(run):
        return "not_reached", "the record shows no action and no output"
    if status.infrastructure == "failed":
        return "failed", f"the infrastructure failed{_because(status)}"
    if status.target == "failed":
        return "failed", f"the target failed{_because(status)}"
    return "ok", ""


def _verify(run: Run, status: Status, checks: list[CheckResult]) -> tuple[PhaseState, str]:
    if not isinstance(run.contract, Contract):
        return "not_reached", "there is no contract to verify against"
    if never_started(run):
        return "not_reached", "the record shows no action and no output"
    if status.target != "completed":
        return "not_reached", f"the target is {status.target}"
    failed = _first(checks, "verify", "fail")
    if failed is not None:
        return "failed", f"{failed.id}: {failed.reason}"
    unsure = _first(checks, "verify", "unevaluable")
    return ("not_reached", f"{unsure.id}: {unsure.reason}") if unsure is not None else ("ok", "")


def _record(status: Status, checks: list[CheckResult]) -> tuple[PhaseState, str]:
    if status.steps != "complete":
        return "failed", f"the record of steps is {status.steps}{_because(status)}"
    unsure = next((check for check in checks if check.verdict == "unevaluable"), None)
    if unsure is not None and status.target == "completed":
        return "failed", f"the record does not decide {unsure.id}"
    return "ok", ""


def _first(checks: list[CheckResult], phase: PhaseName, verdict: str) -> CheckResult | None:
    return next((check for check in checks if check.phase == phase and check.verdict == verdict), None)
