"""The two example policies. A policy is a function of a request and a tool that it may call, and of nothing else.

It never sees the contract, by construction: neither its arguments nor what they lead to hold one, and this module
knows of none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from labadapt.engine.values import is_number
from labadapt.schema.model import Output, Request, Result
from msgspec import UNSET, UnsetType

PolicyName: TypeAlias = Literal["direct", "guarded"]
MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool gave back: a result, or nothing in time. `took_ms` is the declared time of the reply."""

    status: Literal["ok", "timeout"]
    took_ms: int
    result: Result | None = None


class Tool(Protocol):
    """The tool of a request, as a policy sees it. Both give the id of the step that was recorded."""

    def call(self) -> tuple[str, Reply]:
        """Invoke the tool with the request's arguments."""
        ...

    def block(self) -> str:
        """Refuse to invoke it; the step is recorded as blocked."""
        ...


Policy: TypeAlias = Callable[[Request, Tool], Output]


def direct(request: Request, tool: Tool) -> Output:  # noqa: ARG001 - a policy's signature; this one does not look
    """One attempt, and the first successful reply is the answer. Deliberately weak."""
    step, reply = tool.call()
    if reply.result is None:
        return Output(disposition="unavailable")
    value = reply.result.value
    return Output(disposition="answer", value=None if value is UNSET else value, evidence=[step])


def guarded(request: Request, tool: Tool) -> Output:
    """Gates writes, retries timeouts up to three attempts, and answers only from evidence that matches."""
    if request.operation == "write":
        tool.block()
        return Output(disposition="needs_approval")
    for _ in range(MOST_ATTEMPTS):
        step, reply = tool.call()
        if reply.result is not None:
            return _judged(request, step, reply.result)
    return Output(disposition="unavailable")


def _judged(request: Request, step: str, result: Result) -> Output:
    has_rows = isinstance(result.rows, int) and result.rows >= 1
    if _matches(request, result) and has_rows and is_number(result.value) and result.source:
        return Output(disposition="answer", value=result.value, evidence=[step])
    return Output(disposition="no_data")


def _matches(request: Request, result: Result) -> bool:
    pairs = ((request.metric, result.metric), (request.window, result.window))
    return all(isinstance(asked, UnsetType) or asked == found for asked, found in pairs)


POLICIES: Mapping[PolicyName, Policy] = {"direct": direct, "guarded": guarded}
