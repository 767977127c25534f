"""What a run came to: its output and its health, read from the spans that may say so."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import msgspec
from labadapt.adapters.join import RunSpans
from labadapt.adapters.observation import Observation
from labadapt.adapters.structure import place
from labadapt.adapters.toolresult import fits, shown
from labadapt.schema.model import Output, Status
from labadapt.schema.problems import Problem, Refusal
from msgspec import UNSET, UnsetType

NO_OUTPUT = "the agent's final message is no JSON object with a disposition, so the run has no output"
WRONG_PARTS = "a part of the agent's final message is of the wrong type and left out"
OTHER_PARTS = "keys of the output that the format does not name are left behind"

_TOKEN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_.-")
_PARTS = {
    "value": "a finite number or null",
    "evidence": "a list of call ids",
    "state": "an object",
}


def final_message(
    run: RunSpans, agents: list[Observation], models: list[Observation]
) -> tuple[Any, Observation | None]:
    """The last message of the root; where it has none, of the run's agent, else of its last model span.

    `agents` and `models` are those of the agent itself, not of one inside a tool call.
    """
    root = run.root
    if root is not None and root.output is not UNSET:
        return root.output, root
    for spans in (agents, models):
        last = _last(spans)
        if last is not None and last.output is not UNSET:
            return last.output, last
    return UNSET, None


def _last(spans: list[Observation]) -> Observation | None:
    return max(spans, key=lambda span: (span.end_ns, span.start_ns, span.span_id), default=None)


def decoded(message: Any) -> Any:
    """A final message as the JSON object that it is, or as it stands."""
    if type(message) is str and message.lstrip()[:1] == "{":
        try:
            return msgspec.json.decode(message)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return message
    return message


def output_of(
    message: Any, span: Observation | None, words: Mapping[str, str], notes: list[str], *, declared: bool
) -> Output | UnsetType:
    """The output that a message holds, and notes on what it does not. Refused: `BAD_CONTENT`.

    `declared`: somebody said that this is the output (`lab.output`, the mapping); then each part must be right. A
    message that merely looks like one loses the parts that are not.
    """
    if type(message) is not dict or type(message.get("disposition")) is not str:
        if declared:
            raise Refusal(_wrong("output", message, "an object with a disposition", span))
        notes.append(NO_OUTPUT)
        return UNSET
    parts: dict[str, Any] = {"disposition": _disposition(message["disposition"], words, span)}
    for part, expected in _PARTS.items():
        value = message.get(part, UNSET)
        if value is UNSET:
            continue
        if _is_right(part, value):
            parts[part] = value
        elif declared:
            raise Refusal(_wrong(f"{part} of the output", value, expected, span))
        else:
            notes.append(WRONG_PARTS)
    if len(parts) < len(message) and any(key != "disposition" and key not in _PARTS for key in message):
        notes.append(OTHER_PARTS)
    return Output(**parts)


def _is_right(part: str, value: Any) -> bool:
    if part == "value":
        return fits("value", value) and not (type(value) is float and not isfinite(value))
    if part == "evidence":
        return type(value) is list and all(type(item) is str for item in value)
    return type(value) is dict


def _disposition(word: str, words: Mapping[str, str], span: Observation | None) -> str:
    token = words.get(word, word)
    if 0 < len(token) <= 200 and "a" <= token[0] <= "z" and _TOKEN.issuperset(token):
        return token
    problem = _wrong("disposition of the output", word, "a lower-case word such as answer or no_data", span)
    raise Refusal(
        msgspec.structs.replace(
            problem, hint="Say in the mapping file, under `dispositions`, which of the format's words it means."
        )
    )


def _wrong(what: str, found: Any, expected: str, span: Observation | None) -> Problem:
    problem = Problem(
        code="BAD_CONTENT", message=f"The {what} is not what it must be.", found=shown(found), expected=expected
    )
    return problem if span is None else msgspec.structs.replace(problem, where=place(span))


# -- health ------------------------------------------------------------------------------------------------------------

_INFRASTRUCTURE = ("healthy", "failed", "unknown")


def status_of(  # noqa: PLR0913 - each is another ground for doubt
    run: RunSpans, agents: list[Observation], reporting: list[Observation], unseen: int, *, silent: bool, bare: bool
) -> Status | UnsetType:
    """The health of a run; `UNSET` where nothing is wrong with it.

    `reporting`: the spans that carry `lab.infrastructure`. `unseen`: how many proposals no span shows. `silent`: no
    final message was recorded at all, so that how the run ended is not known. (An absent output says in the native
    format that the run ended without one, which such a record does not show.) `bare`: neither tool nor model spans
    were recorded, and the application names neither case nor output itself, so that nobody says that no call was made.
    """
    infrastructure = _infrastructure(run, reporting) if reporting else "healthy"
    failed = _failure(run, agents)
    broken = bool(run.missing) or run.root is None
    if not (infrastructure != "healthy" or failed is not None or broken or unseen or run.stray or silent or bare):
        return UNSET
    reasons = []
    target, steps = "completed", "complete"
    if broken:
        target = steps = "unknown"
        reasons.append(_missing(run))
    if silent and failed is None:
        target = "unknown"
        reasons.append("no final message was recorded (content capture may be off)")
    if bare:
        steps = "unknown"
        reasons.append("neither tool nor model spans were recorded, so whether tools were called is not known")
    if run.stray:
        steps = "unknown"
        reasons.append("spans of the trace whose parents are missing may belong to this run")
    if failed is not None:
        target = "failed"
        reasons.append(failed)
    if unseen:
        steps = "partial"
        reasons.append(f"{_counted(unseen, 'call')} that the model proposed {'has' if unseen == 1 else 'have'} no span")
    return msgspec.convert(
        {"infrastructure": infrastructure, "target": target, "steps": steps, **_reason(reasons)}, Status
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _reason(reasons: list[str]) -> dict[str, str]:
    return {"reason": "; ".join(reasons)} if reasons else {}


def _missing(run: RunSpans) -> str:
    return f"spans are missing from the input: {', '.join(run.missing[:10])}" + (" …" if len(run.missing) > 10 else "")


def _failure(run: RunSpans, agents: list[Observation]) -> str | None:
    """Why the target failed: its root did, or the last of its agents. None: it did not, as far as is recorded."""
    last = _last(agents)
    for span in (run.root, last):
        if span is not None and span.failed:
            return span.failure or f"span {span.span_id} reports an error"
    return None


def _infrastructure(run: RunSpans, reporting: list[Observation]) -> str:
    """What `lab.infrastructure` says, on the root or, where that says nothing, on the spans that do."""
    said = [run.root] if run.root is not None and run.root.infrastructure else reporting
    words = {span.infrastructure for span in said}
    if len(words) > 1 or not words <= set(_INFRASTRUCTURE):
        raise Refusal(_wrong("lab.infrastructure", ", ".join(sorted(words)), " or ".join(_INFRASTRUCTURE), said[0]))
    return words.pop()
