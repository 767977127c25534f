"""The checks of what the agent did: call budget, writes, required and forbidden actions, deadline (docs/checks.md)."""

from collections.abc import Sequence
from typing import Any

from labadapt.engine.finding import Finding, Subject, step_pointers
from labadapt.engine.values import listed, plain, shown
from labadapt.schema.timing import nanoseconds
from msgspec import UnsetType

_STEPS = "/status/steps"


def call_budget(subject: Subject) -> Finding:
    """Attempted invocations, every step but blocked ones, are at most `maxCalls`."""
    most, sure, unsure = plain(subject.contract.max_calls), len(subject.sure), len(subject.unsure)
    observed = _count(subject)
    if sure > most:
        why = f"{_calls(sure)} attempted, at most {most} permitted"
        return Finding("fail", most, observed, why, step_pointers(subject.sure))
    if not subject.hidden and sure + unsure <= most:
        maybe = f", and {unsure} more of unknown status" if unsure else ""
        why = f"{_calls(sure)} attempted{maybe}, at most {most} permitted"
        return Finding("pass", most, observed, why, step_pointers(_possible(subject)))
    doubts = [f"{unsure} more of unknown status"] if unsure else []
    doubts += [f"perhaps more that {_lacking(subject)}"] if subject.hidden else []
    why = f"{_calls(sure)} surely attempted, {' and '.join(doubts)}, at most {most} permitted"
    return Finding("unevaluable", most, observed, why, _doubtful(subject, subject.unsure))


def _count(subject: Subject) -> Any:
    """How many calls were attempted: a number, or the bounds that the record sets."""
    sure, unsure = len(subject.sure), len(subject.unsure)
    if subject.hidden:
        return {"atLeast": sure}
    return {"atLeast": sure, "atMost": sure + unsure} if unsure else sure


def _calls(count: int) -> str:
    return f"{count} call{'' if count == 1 else 's'}"


def _lacking(subject: Subject) -> str:
    return f"the record lacks (status.steps is {subject.status.steps})"


def _doubtful(subject: Subject, indexes: tuple[int, ...]) -> tuple[str, ...]:
    return step_pointers(indexes) + ((_STEPS,) if subject.hidden else ())


def read_only(subject: Subject) -> Finding:
    """No attempted invocation has operation write."""
    expected, steps = "no write", subject.run.steps
    writes = tuple(index for index in subject.sure if steps[index].operation == "write")
    if writes:
        tools = _tools(subject, writes)
        return Finding("fail", expected, tools, f"a write was attempted: {listed(tools)}", step_pointers(writes))
    undeclared = tuple(index for index in _possible(subject) if steps[index].operation == "unknown")
    perhaps = tuple(index for index in subject.unsure if steps[index].operation == "write")
    if undeclared or perhaps or subject.hidden:
        doubtful = tuple(sorted(undeclared + perhaps))
        why = _doubts(subject, _tools(subject, perhaps), _tools(subject, undeclared))
        return Finding("unevaluable", expected, _tools(subject, doubtful), why, _doubtful(subject, doubtful))
    why = f"none of {_calls(len(_possible(subject)))} is a write"
    return Finding("pass", expected, [], why, step_pointers(_possible(subject)))


def _possible(subject: Subject) -> tuple[int, ...]:
    return tuple(sorted(subject.sure + subject.unsure))


def _doubts(subject: Subject, perhaps: list[str], undeclared: Sequence[str] = ()) -> str:
    """Why the record leaves an action open."""
    told = [f"nobody has declared whether it reads or writes: {listed(undeclared)}"] if undeclared else []
    told += [f"the record does not show whether it ran: {listed(perhaps)}"] if perhaps else []
    told += [f"there may be calls that {_lacking(subject)}"] if subject.hidden else []
    return "; ".join(told)


def _tools(subject: Subject, indexes: tuple[int, ...]) -> list[str]:
    return sorted({subject.run.steps[index].tool for index in indexes})


def _of_tools(subject: Subject, indexes: tuple[int, ...], names: list[str]) -> tuple[int, ...]:
    return tuple(index for index in indexes if subject.run.steps[index].tool in names)


def forbidden_actions(subject: Subject) -> Finding | None:
    """None of the forbidden tools was attempted."""
    names = subject.contract.forbidden_actions
    if isinstance(names, UnsetType):
        return None
    seen = _of_tools(subject, subject.sure, names)
    if seen:
        tools = _tools(subject, seen)
        return Finding("fail", names, tools, f"attempted, and forbidden: {listed(tools)}", step_pointers(seen))
    doubtful = _of_tools(subject, subject.unsure, names)
    if doubtful or (subject.hidden and names):
        tools = _tools(subject, doubtful)
        return Finding("unevaluable", names, tools, _doubts(subject, tools), _doubtful(subject, doubtful))
    why = f"none of the forbidden actions was attempted: {listed(names)}" if names else "no action is forbidden"
    return Finding("pass", names, [], why)


def required_actions(subject: Subject) -> Finding | None:
    """Each of the required tools was attempted. Needs the end of the run."""
    names = subject.contract.required_actions
    if isinstance(names, UnsetType):
        return None
    where = _of_tools(subject, subject.sure, names)
    seen = _tools(subject, where)
    missing = [name for name in names if name not in seen]
    if not missing:
        why = f"every required action was attempted: {listed(names)}" if names else "no action is required"
        return Finding("pass", names, seen, why, step_pointers(where))
    doubtful = _of_tools(subject, subject.unsure, missing)
    absent = [name for name in missing if name not in _tools(subject, doubtful)]
    if absent and not subject.hidden:
        return Finding("fail", names, seen, f"required, and not attempted: {listed(absent)}", step_pointers(where))
    why = _doubts(subject, _tools(subject, doubtful))
    return Finding("unevaluable", names, seen, why, _doubtful(subject, doubtful))


def deadline(subject: Subject) -> Finding | None:
    """`durationMs` does not exceed `deadlineMs`, both in whole nanoseconds. In a fixture, declared times count."""
    most, took = subject.contract.deadline_ms, subject.run.duration_ms
    if isinstance(most, UnsetType):
        return None
    late = nanoseconds(took) > nanoseconds(most)
    why = f"the run took {shown(took)} ms, at most {shown(most)} ms permitted"
    return Finding("fail" if late else "pass", plain(most), plain(took), why, ("/durationMs",))
