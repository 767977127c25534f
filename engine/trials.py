"""Trials: the same case under the same policy, made several times. Where they come from, and which are missing."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from labadapt.schema.model import Milliseconds, Mode, RunUsage, Status
from labadapt.schema.problems import Problem, Refusal
from labadapt.schema.result import CheckId, Outcome, Results, Verdict
from msgspec import UNSET, UnsetType

Checks: TypeAlias = tuple[tuple[CheckId, Verdict], ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial. `label` tells it from the others of its case and policy; `status` None: not recorded.

    `mode` None: the trial comes from a table of outcomes, which knows neither durations nor usage. `request`,
    `contract` and `target` are the digests of the result file.
    """

    case: str
    policy: str | None
    label: str
    outcome: Outcome
    status: Status | None = None
    checks: Checks = ()
    mode: Mode | None = None
    duration_ms: Milliseconds | UnsetType = UNSET
    usage: RunUsage | UnsetType = UNSET
    request: str | UnsetType = UNSET
    contract: str | UnsetType = UNSET
    target: str | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class Slot:
    """A trial that was scheduled or made; `trial` is None where it is missing. `name` is ``case#trial``."""

    case: str
    name: str
    trial: Trial | None


def trials_of(results: Results, label: str) -> Iterator[Trial]:
    """The trials of a result file. Each pair's later entries are further trials: ``label``, ``label#2``, and so on."""
    seen: dict[tuple[str, str], int] = defaultdict(int)
    known: dict[Checks, Checks] = {}  # most runs come to the same verdicts, which are then held once
    for result in results.results:
        pair = (result.case_id, result.policy)
        seen[pair] += 1
        checks: Checks = tuple((check.id, check.verdict) for check in result.checks)
        yield Trial(
            case=result.case_id,
            policy=result.policy,
            label=label if seen[pair] == 1 else f"{label}#{seen[pair]}",
            outcome=result.outcome,
            status=None if isinstance(result.status, UnsetType) else result.status,
            checks=known.setdefault(checks, checks),
            mode=result.mode,
            duration_ms=result.duration_ms,
            usage=result.usage,
            request=result.request_digest,
            contract=result.contract_digest,
            target=result.target_digest,
        )


def by_policy(trials: Iterable[Trial]) -> dict[str | None, list[Trial]]:
    """The trials of each policy, by name, each by case and label, whatever order they came in.

    Raises `Refusal` (``REPEATED_TRIAL``) where a trial stands twice.
    """
    groups: dict[str | None, list[Trial]] = defaultdict(list)
    for trial in sorted(trials, key=_place):
        group = groups[trial.policy]
        if group and _place(group[-1]) == _place(trial):
            raise Refusal(_repeated(trial))
        group.append(trial)
    return dict(groups)


def _place(trial: Trial) -> tuple[str, str, str]:
    return (trial.policy or "", trial.case, trial.label)


def _repeated(trial: Trial) -> Problem:
    under = f" under {trial.policy!r}" if trial.policy is not None else ""
    return Problem(
        code="REPEATED_TRIAL",
        message=f"trial {trial.label!r} of case {trial.case!r}{under} stands twice",
        hint="Name each file once, and give each trial of a case its own name.",
    )


def slots_by_case(trials: Sequence[Trial], cases: Iterable[str], scheduled: int | None) -> Mapping[str, Sequence[Slot]]:
    """For each case its trials, and where a schedule is known, a slot for each trial that is missing.

    Raises `Refusal` (``BAD_VALUE``) where a case has more trials than were scheduled.
    """
    slots: dict[str, list[Slot]] = {case: [] for case in sorted(cases)}
    for trial in trials:
        slots[trial.case].append(Slot(trial.case, f"{trial.case}#{trial.label}", trial))
    if scheduled is not None:
        for case, made in slots.items():
            if len(made) > scheduled:
                raise Refusal(_too_many(case, len(made), scheduled))
            made += [Slot(case, f"{case}#missing {number}", None) for number in range(1, scheduled - len(made) + 1)]
    return slots


def _too_many(case: str, made: int, scheduled: int) -> Problem:
    return Problem(
        code="BAD_VALUE",
        message=f"case {case!r} has more trials than were scheduled",
        found=str(made),
        expected=f"at most {scheduled}",
        hint="Give --scheduled the number of trials of each case, or leave files out.",
    )
