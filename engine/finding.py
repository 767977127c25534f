"""What a check is asked about, and what it comes to."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from labadapt.schema.model import Contract, Output, Run, Status
from labadapt.schema.result import Verdict
from msgspec import UnsetType


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check came to, before it is named. `evidence` holds RFC 6901 JSON pointers into the run."""

    verdict: Verdict
    expected: Any
    observed: Any
    reason: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """A run that has a contract, with what its record says of each step and what it leaves open.

    `sure` are the indexes of the steps that are attempted invocations, `unsure` of those that may be: their status is
    unknown. A blocked step is in neither.
    """

    run: Run
    contract: Contract
    status: Status
    sure: tuple[int, ...]
    unsure: tuple[int, ...]

    @property
    def hidden(self) -> bool:
        """Whether the record may lack steps."""
        return self.status.steps != "complete"

    @property
    def output(self) -> Output | None:
        """The output, or none where the run ended without one."""
        return None if isinstance(self.run.output, UnsetType) else self.run.output


def subject_of(run: Run, contract: Contract) -> Subject:
    """The run as the checks see it."""
    sure = tuple(index for index, step in enumerate(run.steps) if step.status not in ("blocked", "unknown"))
    unsure = tuple(index for index, step in enumerate(run.steps) if step.status == "unknown")
    return Subject(run, contract, status_of(run), sure, unsure)


def status_of(run: Run) -> Status:
    """The run's status; absent means healthy, completed, and every step recorded."""
    return Status() if isinstance(run.status, UnsetType) else run.status


def is_blank(run: Run) -> bool:
    """Whether the record shows no action and no output of the agent at all. A blocked step is an action."""
    return not run.steps and isinstance(run.output, UnsetType)


def step_pointers(indexes: Iterable[int]) -> tuple[str, ...]:
    """The JSON pointers of steps."""
    return tuple(f"/steps/{index}" for index in indexes)
