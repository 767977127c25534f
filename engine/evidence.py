"""The check of evidence: an answer is borne out by every step that it cites (docs/checks.md, evidence).

A cited step that is not recorded in full leaves the check open; a definite fault of any cited step fails it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from labadapt.engine.finding import Finding, Subject, step_pointers
from labadapt.engine.values import is_number, key_pointer, plain, same, shown
from labadapt.schema.model import Output, Request, Result, Step
from labadapt.schema.result import Verdict
from msgspec import UNSET, UnsetType

ANSWER = "answer"
_RULE = "an answer cites ok reads of the requested tool that match the request and hold its value"
_NO_VALUE = "no value is claimed"
_PARTS = ("metric", "window", "rows", "value", "source")


def evidence(subject: Subject) -> Finding:
    """An answer is borne out by every step that it cites; any other disposition claims no value."""
    output = subject.output
    if output is None:
        return _without_output(subject)
    if output.disposition == ANSWER:
        return _cited(subject, output)
    if isinstance(output.value, UnsetType) or output.value is None:
        why = f'no value is claimed with disposition "{output.disposition}"'
        return Finding("pass", _NO_VALUE, None, why, ("/output",))
    why = f'the value {shown(output.value)} is claimed with disposition "{output.disposition}"'
    return Finding("fail", _NO_VALUE, plain(output.value), why, ("/output/value", "/output/disposition"))


def _without_output(subject: Subject) -> Finding:
    if subject.contract.disposition == ANSWER:
        return Finding("fail", _RULE, None, "the run ended without an output, so no step is cited")
    return Finding("pass", _NO_VALUE, None, "the run ended without an output, so no value is claimed")


def _cited(subject: Subject, output: Output) -> Finding:
    names = [] if isinstance(output.evidence, UnsetType) else output.evidence
    faults = list(_faults(subject, output, names))
    if faults:
        return _told([fault for fault in faults if fault.verdict == "fail"] or faults)
    cited = [index for index, step in enumerate(subject.run.steps) if step.id in names]
    count = "the cited step bears" if len(cited) == 1 else f"the {len(cited)} cited steps bear"
    why = f"{count} the answer {shown(output.value)} out"
    return Finding("pass", _RULE, names, why, (*step_pointers(cited), "/output/value"))


def _told(faults: list[Finding]) -> Finding:
    """The first fault, and how many stand beside it."""
    first = faults[0]
    if len(faults) == 1:
        return first
    return replace(first, reason=f"{first.reason} (and {len(faults) - 1} more)")


def _faults(subject: Subject, output: Output, names: list[str]) -> Iterator[Finding]:
    """Why the answer is not borne out, or is left open: in the order of the citations, then the answer's own."""
    if not names:
        yield _fault("fail", "a cited step", [], "the answer cites no step", "/output")
    places = {step.id: index for index, step in enumerate(subject.run.steps)}
    for name in dict.fromkeys(names):
        if name in places:
            yield from _step(subject, output, places[name])
        else:
            yield _missing(subject, name, f"/output/evidence/{names.index(name)}")
    if isinstance(subject.run.request, UnsetType):
        yield _fault("unevaluable", "a request", None, "the run does not record what was requested")
    if isinstance(output.value, UnsetType) or not is_number(output.value):
        yield _fault("fail", "a finite value", None, "the answer holds no value", "/output")


def _fault(verdict: Verdict, expected: Any, observed: Any, reason: str, *at: str) -> Finding:
    return Finding(verdict, expected, observed, reason, at)


def _verdict(is_open: bool) -> Verdict:
    return "unevaluable" if is_open else "fail"


def _missing(subject: Subject, name: str, at: str) -> Finding:
    lacking = f", which may lack steps (status.steps is {subject.status.steps})" if subject.hidden else ""
    why = f"the cited step {shown(name)} is not in the record{lacking}"
    return _fault(_verdict(subject.hidden), "a step of the run", name, why, at)


def _step(subject: Subject, output: Output, index: int) -> Iterator[Finding]:
    """What a cited step lacks."""
    step, request, at = subject.run.steps[index], subject.run.request, f"/steps/{index}"
    name = shown(step.id)
    if step.status != "ok":
        why = f"the cited step {name} has status {step.status}, not ok"
        yield _fault(_verdict(step.status == "unknown"), "ok", step.status, why, f"{at}/status")
    if step.operation != "read":
        why = f"the operation of the cited step {name} is {step.operation}, not read"
        yield _fault(_verdict(step.operation == "unknown"), "read", step.operation, why, f"{at}/operation")
    if not isinstance(request, UnsetType):
        yield from _call(step, request, at)
    if step.status == "ok":
        yield from _result(step, request, output, at)


def _call(step: Step, request: Request, at: str) -> Iterator[Finding]:
    """Where the call differs from the request."""
    name = shown(step.id)
    if step.tool != request.tool:
        why = f"the cited step {name} calls {shown(step.tool)}, the request names {shown(request.tool)}"
        yield _fault("fail", request.tool, step.tool, why, f"{at}/tool", "/request/tool")
    wanted = list(_wanted(request))
    given = step.arguments
    if wanted and isinstance(given, UnsetType):
        why = f"the arguments of the cited step {name} were not recorded"
        yield _fault("unevaluable", "recorded arguments", None, why, at)
    elif wanted and given is not None and not isinstance(given, dict):
        why = f"the arguments of the cited step {name} are a bare value that names none of them: {shown(given)}"
        yield _fault("unevaluable", "named arguments", given, why, f"{at}/arguments")
    else:
        for key, value, place in wanted:
            yield from _argument(name, given or {}, key, value, (f"{at}/arguments", place))


def _wanted(request: Request) -> Iterator[tuple[str, Any, str]]:
    """The arguments that the request asks for: name, value, and where it asks."""
    for part in ("metric", "window"):
        asked = getattr(request, part)
        if not isinstance(asked, UnsetType):
            yield part, asked, f"/request/{part}"
    if not isinstance(request.arguments, UnsetType):
        for key in sorted(request.arguments):
            yield key, request.arguments[key], key_pointer("/request/arguments", key)


def _argument(name: str, given: dict[str, Any], key: str, value: Any, at: tuple[str, str]) -> Iterator[Finding]:
    if key not in given:
        why = f"the cited step {name} was called without {shown(key)}, the request asks for {shown(value)}"
        yield _fault("fail", value, None, why, *at)
    elif not same(given[key], value):
        why = f"the cited step {name} was called with {key} {shown(given[key])}, the request asks for {shown(value)}"
        yield _fault("fail", value, given[key], why, key_pointer(at[0], key), at[1])


def _result(step: Step, request: Request | UnsetType, output: Output, at: str) -> Iterator[Finding]:
    """What the result of an ok step lacks."""
    result, of = step.result, f"the result of the cited step {shown(step.id)}"
    if isinstance(result, UnsetType):
        yield _fault("unevaluable", "a recorded result", None, f"{of} was not recorded", at)
        return
    if all(getattr(result, part) is UNSET for part in _PARTS):
        why = f"{of} was recorded, and nobody has said which of it is {', '.join(_PARTS[:-1])} and {_PARTS[-1]}"
        yield _fault("unevaluable", list(_PARTS), None, why, f"{at}/result")
        return
    place = f"{at}/result"
    if not isinstance(request, UnsetType):
        yield from _identity(result, request, of, place)
    yield from _content(result, of, place)
    if is_number(result.value) and is_number(output.value) and not same(result.value, output.value):
        why = f"{of} holds {shown(result.value)}, the answer is {shown(output.value)}"
        yield _fault("fail", plain(result.value), plain(output.value), why, f"{place}/value", "/output/value")


def _identity(result: Result, request: Request, of: str, place: str) -> Iterator[Finding]:
    for part in ("metric", "window"):
        asked, found = getattr(request, part), getattr(result, part)
        if isinstance(asked, UnsetType) or found == asked:
            continue
        is_named = isinstance(found, str)
        why = f"is of {part} {shown(found)}" if is_named else f"names no {part}"
        why = f"{of} {why}, the request asks for {shown(asked)}"
        yield _fault("fail", asked, found if is_named else None, why, _part(result, part, place), f"/request/{part}")


def _part(result: Result, part: str, place: str) -> str:
    """Where a part of the result stands; the result itself where it does not."""
    return place if getattr(result, part) is UNSET else f"{place}/{part}"


def _content(result: Result, of: str, place: str) -> Iterator[Finding]:
    rows, value, source = result.rows, result.value, result.source
    if isinstance(rows, UnsetType) or rows is None:
        yield _fault("fail", "at least 1 row", None, f"{of} names no rows", _part(result, "rows", place))
    elif rows < 1:
        yield _fault("fail", "at least 1 row", plain(rows), f"{of} has {plain(rows)} rows", f"{place}/rows")
    if isinstance(value, UnsetType) or not is_number(value):
        yield _fault("fail", "a finite value", None, f"{of} holds no value", _part(result, "value", place))
    if isinstance(source, UnsetType) or source is None or not source.strip():
        yield _fault("fail", "a named source", None, f"{of} names no source", _part(result, "source", place))
