"""The typed parts of a tool's result: what it says it returned, beside the result as recorded.

Where each part comes from, in order: the lab's own attribute, the mapping's expression, the key of the same name in a
result that is an object. A part of the wrong type is refused where somebody declared it, and left out where only a
key happens to have the same name: `data` still holds it.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any, TypeAlias

from labadapt.adapters.expressions import Expression
from labadapt.adapters.observation import Call
from labadapt.schema.model import Result
from labadapt.schema.problems import Problem, Refusal
from msgspec import UNSET, UnsetType

Fields: TypeAlias = Mapping[str, Expression]

PARTS = ("metric", "window", "rows", "value", "source")
_EXPECTED = {
    "metric": "text or null",
    "window": "text or null",
    "rows": "an integer of at least 0, or null",
    "value": "a finite number or null",
    "source": "text or null",
}
_ROWS_LIMIT = 2**63


def result_of(call: Call, fields: Fields) -> Result | UnsetType:
    """The result of a call that went well; `UNSET` where nothing of it was recorded. Refused: `BAD_CONTENT`."""
    data = call.result
    if call.lab or fields:
        return _declared(call, fields)
    if type(data) is not dict:
        return Result(data=data) if data is not UNSET else UNSET
    get = data.get
    metric, window, source = get("metric", UNSET), get("window", UNSET), get("source", UNSET)
    rows, value = get("rows", UNSET), get("value", UNSET)
    return Result(
        metric=metric if type(metric) is str or metric is None else UNSET,
        window=window if type(window) is str or window is None else UNSET,
        rows=rows if rows is None or (type(rows) is int and 0 <= rows < _ROWS_LIMIT) else UNSET,
        value=value if value is None or (value is not UNSET and fits("value", value)) else UNSET,
        source=source if type(source) is str or source is None else UNSET,
        data=data,
    )


def fits(part: str, value: Any) -> bool:
    """Whether a value has the type of the part. `true` is no number here."""
    if value is None:
        return True
    kind = type(value)
    if part == "rows":
        return kind is int and 0 <= value < _ROWS_LIMIT
    if part == "value":
        return (kind is int and -_ROWS_LIMIT <= value < 2 * _ROWS_LIMIT) or (kind is float and isfinite(value))
    return kind is str


def _declared(call: Call, fields: Fields) -> Result | UnsetType:
    parts: dict[str, Any] = {}
    for part in PARTS:
        found, declared = _part(call, part, fields)
        if found is UNSET:
            continue
        if fits(part, found):
            parts[part] = found
        elif declared:
            raise Refusal(_wrong(part, found, declared))
    return Result(**parts, data=call.result) if parts or call.result is not UNSET else UNSET


def _part(call: Call, part: str, fields: Fields) -> tuple[Any, str]:
    """The value of a part, and who declared where it stands (nobody: it is a default key)."""
    if part in call.lab:
        return call.lab[part], f"lab.{part}"
    data = call.result
    if data is UNSET:
        return UNSET, ""
    expression = fields.get(part)
    if expression is not None:
        view = {"arguments": None if call.arguments is UNSET else call.arguments, "result": data}
        return expression.evaluate(view), f"{expression.text} (the mapping's {expression.place})"
    return (data.get(part, UNSET), "") if type(data) is dict else (UNSET, "")


def _wrong(part: str, found: Any, declared: str) -> Problem:
    return Problem(
        code="BAD_CONTENT",
        message=f"The {part} of a tool's result stands at {declared}, and is of the wrong type.",
        found=shown(found),
        expected=_EXPECTED[part],
    )


def shown(value: Any) -> str:
    """A short rendering of a value for a message."""
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:59] + '…'}"
