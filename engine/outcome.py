"""From checks to the outcome of a run and its four phases (docs/checks.md, Outcome and Phases)."""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from labadapt.engine.finding import is_blank, status_of
from labadapt.schema.model import Contract, Run, Status
from labadapt.schema.result import CheckId, CheckResult, Outcome, Phase, PhaseName, PhaseState
from msgspec import UNSET

NO_CONTRACT = "the run has no contract"
BLANK = "the record shows no action and no output of the agent: most often the run never started"
NEEDS_END: frozenset[CheckId] = frozenset(
    {"disposition", "evidence", "expected_value", "expected_state", "required_actions"}
)

Word = TypeVar("Word")
Rule: TypeAlias = tuple[Word, str | None]  # the word that holds where there is a reason for it


def _first(*rules: Rule[Word]) -> Rule[Word]:
    """The first rule that has a reason; else the last."""
    return next((rule for rule in rules if rule[1] is not None), rules[-1])


def outcome_of(run: Run, checks: list[CheckResult]) -> tuple[Outcome, str]:
    """The outcome and the one sentence that says why.

    A failed check stands before the health of infrastructure and target: what was seen cannot be unseen.
    """
    status = status_of(run)
    told: Rule[Outcome] = _first(
        ("inconclusive", _no_contract(run)),
        ("fail", _told(checks, "fail")),
        ("inconclusive", _infrastructure(status, "failed", "unknown")),
        ("inconclusive", _blank(run)),
        ("inconclusive", _target(status, "failed", "unknown")),
        ("inconclusive", _told(checks, "unevaluable")),
        ("pass", None),
    )
    return told[0], told[1] or "every required check passed"


def _no_contract(run: Run) -> str | None:
    return None if isinstance(run.contract, Contract) else NO_CONTRACT


def _blank(run: Run) -> str | None:
    return BLANK + because(status_of(run)) if is_blank(run) else None


def _infrastructure(status: Status, *words: str) -> str | None:
    return f"the infrastructure is {status.infrastructure}{because(status)}" if status.infrastructure in words else None


def _target(status: Status, *words: str) -> str | None:
    return f"the target is {status.target}{because(status)}" if status.target in words else None


def because(status: Status) -> str:
    """The status's own reason, to end a sentence with."""
    return f" ({status.reason})" if isinstance(status.reason, str) else ""


def _told(checks: list[CheckResult], verdict: str, phase: PhaseName | None = None) -> str | None:
    """The first check with a verdict, and how many more have it."""
    found = [check for check in checks if check.verdict == verdict and phase in (None, check.phase)]
    if not found:
        return None
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{found[0].id}: {found[0].reason}{more}"


# -- phases ------------------------------------------------------------------------------------------------------------


def phases_of(run: Run, checks: list[CheckResult]) -> list[Phase]:
    """prepare, run, verify and record, each with its state and its checks.

    ok: the record shows that the phase ended well. failed: it shows that it did not. not_reached: neither; the phase,
    or a decision that belongs to it, was not reached.
    """
    return [_phase(name, state_of(run, checks), checks) for name, state_of in _PHASES]


def _phase(name: PhaseName, state: Rule[PhaseState], checks: list[CheckResult]) -> Phase:
    own: list[CheckId] = [check.id for check in checks if check.phase == name]
    return Phase(name=name, state=state[0], checks=own, reason=UNSET if state[1] is None else state[1])


def _prepare(run: Run, checks: list[CheckResult]) -> Rule[PhaseState]:  # noqa: ARG001 - one signature for all
    status = status_of(run)
    return _first(
        ("failed", _no_contract(run)),
        ("failed", _infrastructure(status, "failed") if is_blank(run) else None),
        ("not_reached", _infrastructure(status, "unknown") if is_blank(run) else None),
        ("ok", None),
    )


def _run(run: Run, checks: list[CheckResult]) -> Rule[PhaseState]:
    status = status_of(run)
    return _first(
        ("not_reached", _blank(run)),
        ("failed", _told(checks, "fail", "run")),
        ("failed", _infrastructure(status, "failed")),
        ("failed", _target(status, "failed")),
        ("not_reached", _no_contract(run)),
        ("not_reached", _infrastructure(status, "unknown")),
        ("not_reached", _target(status, "unknown")),
        ("not_reached", _told(checks, "unevaluable", "run")),
        ("ok", None),
    )


def _verify(run: Run, checks: list[CheckResult]) -> Rule[PhaseState]:
    return _first(
        ("not_reached", _no_contract(run)),
        ("not_reached", _blank(run)),
        ("not_reached", _target(status_of(run), "failed", "unknown")),
        ("failed", _told(checks, "fail", "verify")),
        ("not_reached", _told(checks, "unevaluable", "verify")),
        ("ok", None),
    )


def _record(run: Run, checks: list[CheckResult]) -> Rule[PhaseState]:
    """The record is complete enough: it lacks no step, shows how the run ended, and decides every check."""
    status = status_of(run)
    steps = f"status.steps is {status.steps}{because(status)}" if status.steps != "complete" else None
    return _first(
        ("failed", steps),
        ("not_reached", _blank(run)),
        ("failed", _infrastructure(status, "unknown")),
        ("failed", _target(status, "unknown")),
        ("not_reached", _no_contract(run)),
        ("failed", _told([check for check in checks if _is_by_record(check, status)], "unevaluable")),
        ("ok", None),
    )


def _is_by_record(check: CheckResult, status: Status) -> bool:
    """Whether only the record can have left the check open: not the end that the target never came to."""
    return check.id not in NEEDS_END or status.target == "completed"


_PHASES: tuple[tuple[PhaseName, Callable[[Run, list[CheckResult]], Rule[PhaseState]]], ...] = (
    ("prepare", _prepare),
    ("run", _run),
    ("verify", _verify),
    ("record", _record),
)
