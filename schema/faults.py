"""JSON Schema violations as problems: every fault of a parsed value, with pointer, found, expected and hint."""

import difflib
import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from labadapt.schema.places import by_place, pointer, printable
from labadapt.schema.problems import Problem, Where
from labadapt.schema.schemas import SchemaName, definition, json_schema

Violation: TypeAlias = Any  # a jsonschema ValidationError; the stubs type the parts of it that are needed as unset

_VERDICTS = frozenset(
    {"verdict", "verdicts", "outcome", "outcomes", "result", "results", "checks", "passed", "summary"}
)
_CODES = {
    "type": "WRONG_TYPE",
    "enum": "BAD_VALUE",
    "const": "BAD_VALUE",
    "pattern": "BAD_VALUE",
    "minimum": "OUT_OF_RANGE",
    "maximum": "OUT_OF_RANGE",
    "exclusiveMinimum": "OUT_OF_RANGE",
    "exclusiveMaximum": "OUT_OF_RANGE",
    "minLength": "OUT_OF_RANGE",
    "maxLength": "OUT_OF_RANGE",
    "minItems": "OUT_OF_RANGE",
    "maxItems": "OUT_OF_RANGE",
}


def shown(value: Any, width: int = 80) -> str:
    """A value as short JSON, for a message."""
    text = printable(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= width else text[: width - 1] + "…"


def faults(value: Any, name: SchemaName, file: str | None, *, key: str | None = None, start: str = "") -> list[Problem]:
    """Every violation of a format by a parsed value, in the order of `by_place`.

    `key` names a definition of the format (``Run``) that the value is held to instead of the whole; `start` is then
    the value's own JSON pointer.
    """
    from jsonschema import Draft202012Validator

    schema = json_schema(name) if key is None else definition(name, key)
    errors: Iterator[Violation] = Draft202012Validator(schema).iter_errors(value)
    # There is an error for each missing field, of which `_missing` tells all: each problem is kept once.
    return by_place(problem for error in errors for problem in _problems(error, file, start))


def _problems(error: Violation, file: str | None, start: str) -> Iterator[Problem]:
    at = pointer(error.absolute_path, start)
    keyword = error.validator
    if keyword == "additionalProperties":
        yield from _unknown(error, file, at)
    elif keyword == "required":
        yield from _missing(error, file, at)
    elif keyword == "if":
        yield _conditional(error, file, at)
    elif keyword == "anyOf":
        yield from _union(error, file, at, start)
    elif at == "/schemaVersion":
        yield Problem(
            code="UNSUPPORTED_VERSION",
            message="the schemaVersion is none that is read",
            where=Where(file=file, pointer=at),
            found=shown(error.instance),
            expected="1",
        )
    else:
        yield _plain(error, file, at)


def _unknown(error: Violation, file: str | None, at: str) -> Iterator[Problem]:
    known = list(error.schema.get("properties", {}))
    for key in sorted(set(error.instance) - set(known)):
        yield Problem(
            code="UNKNOWN_FIELD",
            message=f'the field "{printable(key)}" is not part of the format',
            where=Where(file=file, pointer=pointer([key], at)),
            found=shown(error.instance[key]),
            expected=", ".join(known),
            hint=_field_hint(key, known),
        )


def _field_hint(key: str, known: list[str]) -> str | None:
    verdict = key.lower() in _VERDICTS
    near = _near(key, known, 0.9 if verdict else 0.6)
    if near is not None:
        return f'Did you mean "{near}"?'
    return "Verdicts are recomputed from the records; a saved one is never read. Remove it." if verdict else None


def _near(word: str, known: list[str], likeness: float) -> str | None:
    """Which of the known words was most likely meant, whatever the case of its letters."""
    folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(word.casefold(), folded, 1, likeness)
    return folded[near[0]] if near else None


def _missing(error: Violation, file: str | None, at: str) -> Iterator[Problem]:
    for key in error.validator_value:
        if key not in error.instance:
            code = "UNSUPPORTED_VERSION" if key == "schemaVersion" else "MISSING_FIELD"
            yield Problem(
                code=code,
                message=f'the field "{key}" is missing',
                where=Where(file=file, pointer=pointer([key], at)),
                found="nothing",
                expected=error.schema["properties"].get(key, {}).get("description"),
            )


def _conditional(error: Violation, file: str | None, at: str) -> Problem:
    (field,) = error.validator_value["required"]
    ((key, rule),) = error.schema["then"]["properties"].items()
    return Problem(
        code="BAD_VALUE",
        message=str(error.schema.get("$comment", f"{field} does not go with this {key}")),
        where=Where(file=file, pointer=pointer([field], at)),
        found=f"{key} {shown(error.instance.get(key))}",
        expected=f"{key} one of {', '.join(rule['enum'])}",
    )


def _union(error: Violation, file: str | None, at: str, start: str) -> Iterator[Problem]:
    """A value that fits no branch. Numbers are unions of integer and number: the one fault that both have is told."""
    branches = list(error.context or ())
    told = [branch for branch in branches if branch.validator != "type" or branch.absolute_path != error.absolute_path]
    if told:
        first = told[0].schema_path[0]
        for branch in told:
            if branch.schema_path[0] == first:
                yield from _problems(branch, file, start)
        return
    types = sorted({str(branch.validator_value) for branch in branches})
    yield Problem(
        code="WRONG_TYPE",
        message=_MESSAGES["type"],
        where=Where(file=file, pointer=at),
        found=shown(error.instance),
        expected=" or ".join(types),
    )


def _plain(error: Violation, file: str | None, at: str) -> Problem:
    keyword = str(error.validator)
    hint = None
    if keyword == "enum" and isinstance(error.instance, str):
        near = _near(error.instance, [str(value) for value in error.validator_value], 0.6)
        hint = None if near is None else f'Did you mean "{near}"?'
    return Problem(
        code=_CODES.get(keyword, "BAD_VALUE"),
        message=_MESSAGES.get(keyword, "the value is not permitted"),
        where=Where(file=file, pointer=at),
        found=shown(error.instance),
        expected=_expected(keyword, error.validator_value),
        hint=hint,
    )


_MESSAGES = {
    "type": "the value is of another type than the format says",
    "enum": "the value is not one of those permitted",
    "pattern": "the text has characters that are not permitted",
    "minimum": "the number is too small",
    "maximum": "the number is too large",
    "exclusiveMinimum": "the number is too small",
    "exclusiveMaximum": "the number is too large",
    "maxLength": "the text is too long",
    "minLength": "the text is empty",
    "minItems": "the list is too short",
}


_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "minLength": "at least",
    "maxLength": "at most",
}


def _expected(keyword: str, value: Any) -> str:
    if keyword == "enum":
        return ", ".join(str(one) for one in value)
    if keyword == "pattern":
        return "no control characters" if "x00" in value else "a lower-case word: letters, digits, _ . -"
    if keyword in _BOUNDS:
        return f"{_BOUNDS[keyword]} {value}{' characters' if 'Length' in keyword else ''}"
    return f"at least {value} of them" if keyword == "minItems" else str(value)
