"""A policy played against declared replies, on a clock that only the replies move.

Nothing here knows what is expected of the policy: a contract is put beside the record afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from labadapt.engine.policies import Policy, Reply
from labadapt.schema.model import Output, Request, Result, Step, StepStatus
from msgspec import UNSET, UnsetType


@dataclass(frozen=True, slots=True)
class Playback:
    """What a policy did: its steps, its output, and the sum of the declared times in milliseconds."""

    steps: list[Step]
    output: Output
    duration_ms: int


def play(policy: Policy, request: Request, replies: Sequence[Reply]) -> Playback:
    """Let a policy answer a request. Each call takes the next reply; the last one repeats. At least one reply."""
    tool = _DeclaredTool(request, tuple(replies))
    output = policy(request, tool)
    return Playback(tool.steps, output, tool.now_ms)


@dataclass(slots=True)
class _DeclaredTool:
    """A tool that replies as declared, and records each step."""

    request: Request
    replies: tuple[Reply, ...]
    now_ms: int = 0
    steps: list[Step] = field(default_factory=list)

    def call(self) -> tuple[str, Reply]:
        attempts = sum(step.status != "blocked" for step in self.steps)
        reply = self.replies[min(attempts, len(self.replies) - 1)]
        return self._record(reply.status, reply.took_ms, reply.result), reply

    def block(self) -> str:
        return self._record("blocked", 0, None)

    def _record(self, status: StepStatus, took_ms: int, result: Result | None) -> str:
        start, self.now_ms = self.now_ms, self.now_ms + took_ms
        step = Step(
            id=f"step-{len(self.steps) + 1}",
            tool=self.request.tool,
            operation=self.request.operation,
            status=status,
            start_ms=start,
            end_ms=self.now_ms,
            arguments=_arguments(self.request),
            result=UNSET if result is None else result,
        )
        self.steps.append(step)
        return step.id


def _arguments(request: Request) -> dict[str, Any]:
    named = {"metric": request.metric, "window": request.window}
    given: dict[str, Any] = {key: value for key, value in named.items() if value is not UNSET}
    return given if isinstance(request.arguments, UnsetType) else {**given, **request.arguments}
