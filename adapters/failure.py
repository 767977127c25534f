"""Whether a tool call failed, and how: read from all the places where a record may say so (telemetry.md).

The status of the span, `error.type`, an exception event, an attribute like a status, and the result itself where it is
the producer's own form of an error. What is not known to have failed is `ok`: in half of the producers an unset status
is success.
"""

from typing import Any, Literal, NamedTuple

from labadapt.adapters.span import Failing, Span
from labadapt.adapters.tables import Fails, Plan, Slot, Unreadable, Values
from labadapt.adapters.values import direct_causes, inside, is_timeout, named_error
from labadapt.schema.model import StepStatus
from msgspec import UNSET

ERROR_KEYS = ("error.type", "error.message", "exception.type", "exception.message", "exception.stacktrace")
# Names that tell nothing: a better one may stand in the message, the text of the result, or the stack trace.
_VAGUE = frozenset({"", "Exception", "Error", "_OTHER", "TOOL_ERROR", "tool_error", "ToolException"})
_ABSENT = "<absent>"


class Outcome(NamedTuple):
    """How a call came out; type and message of its error, empty where they are not recorded."""

    status: StepStatus
    error_type: str = ""
    error_message: str = ""


OK = Outcome("ok")


def outcome_of(plan: Plan, values: Values, result: Any) -> Outcome:
    """How the call of a span came out. `result`: as it was unwrapped, UNSET where it is not recorded."""
    span = values.span
    said = _said(plan, values)
    if said is not None and said != "failure":
        return Outcome(said)
    if said is None and span.status_code != 2 and not _text(span.attributes, "error.type") and not _exception(span):
        return OK
    return _error(plan, values, result if said else UNSET)


def _said(plan: Plan, values: Values) -> Literal["blocked", "unknown", "failure"] | None:
    """What the first of the tables' own rules says that holds."""
    places: tuple[Slot, ...] | None = None
    recorded: Any = UNSET
    for fails in plan.fails:
        rule = fails.rule
        if rule.key and rule.key != _ABSENT:
            if fails.results is not places:  # the rules of one table look at the same places
                places, recorded = fails.results, _recorded(fails.results, values)
            if type(recorded) is dict and _counts(inside(recorded, fails.envelopes, fails.path), rule):
                return rule.status
        elif not rule.key or _is_absent(fails, values):
            return rule.status
    return None


def _recorded(places: tuple[Slot, ...], values: Values) -> Any:
    """The result in its envelope, as the first place that holds one has it."""
    for slot in places:
        try:
            value = values.of(slot)
        except Unreadable:
            return UNSET
        if value is not UNSET:
            return value
    return UNSET


def _is_absent(fails: Fails, values: Values) -> bool:
    """Whether no result was recorded at all, not even a redacted one, of a call that is not said to have failed."""
    return values.span.status_code != 2 and all(slot.raw(values.span) is UNSET for slot in fails.results)


def _counts(value: Any, rule: Failing) -> bool:
    if rule.values:
        return value in rule.values
    if not isinstance(value, str):
        return False
    return any(text in value for text in rule.containing) if rule.containing else bool(value)


# -- type and message --------------------------------------------------------------------------------------------------


def _error(plan: Plan, values: Values, result: Any) -> Outcome:
    span = values.span
    exception = _exception(span)
    told = [
        _text(exception, "exception.type"),
        _text(span.attributes, "error.type"),
        _declared("error_type", plan, values),
    ]
    texts = [
        _text(exception, "exception.message"),
        _text(span.attributes, "error.message"),
        _declared("error_message", plan, values),
        _result_text(result),
        span.status_message,
    ]
    message = next((text for text in texts if text), "")
    kind = next((name for name in told if name not in _VAGUE), "")
    for text in filter(None, texts):
        named, rest = named_error(text)
        if named and (not kind or is_timeout(named)):
            kind = kind or named
            told.append(named)
            message = rest or message if text == message else message
    told += direct_causes(_text(exception, "exception.stacktrace"))
    kind = kind or next((name for name in told if name), "")
    return Outcome("timeout" if any(map(is_timeout, told)) else "error", kind, message)


def _declared(part: str, plan: Plan, values: Values) -> str:
    """What the tables themselves name as type or message."""
    for read in plan.reads[part]:
        try:
            value = read.of(values)
        except Unreadable:
            continue
        if isinstance(value, str) and value:
            return value
    return ""


def _exception(span: Span) -> dict[str, Any]:
    for event in span.events:
        if event.name == "exception":
            return dict(event.attributes)
    return {}


def _text(attributes: Any, key: str) -> str:
    """A text, or a status code such as 504, as text."""
    value = attributes.get(key)
    return str(value) if isinstance(value, str) or type(value) is int else ""


def _result_text(result: Any) -> str:
    """The text of a result that is an error."""
    if isinstance(result, dict):
        for key in ("error", "message", "content"):
            if isinstance(result.get(key), str):
                return str(result[key])
    return result if isinstance(result, str) else ""
