"""JSON text to plain values, strictly: UTF-8, no key twice, finite numbers, bounded depth; each fault with its place.

A text that breaks the syntax has one fault, where it breaks. Faults that leave the rest readable (a key twice, a number
that is not finite, half of a surrogate pair) are all told, and what can be read is read, so that none hides another.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from labadapt.schema.places import by_place, pointer, printable
from labadapt.schema.problems import Problem, Where

# Levels of lists and objects in a file. Adapters take 500 in one value, and a bundle holds it six levels down; where
# the decoders stop by themselves differs between versions of Python.
MOST_LEVELS = 512
_BOMS = {
    b"\xef\xbb\xbf": "a UTF-8 byte order mark",
    b"\xff\xfe": "UTF-16 (a PowerShell redirection writes it)",
    b"\xfe\xff": "UTF-16",
}
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TEXT_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)  # a text may break off
_Pairs: TypeAlias = list[tuple[str, Any]]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a text holds. `readable`: there is a `value`, whatever `problems` there are beside it."""

    value: Any
    problems: list[Problem]
    readable: bool


class _Irregular(ValueError):
    """The text needs the slow reading, which finds the places."""


class _Doubled(dict[str, Any]):
    """An object in which keys stand twice; the last of each is kept."""

    keys_twice: tuple[str, ...] = ()


class Unread(float):
    """A number that is not finite, or has more digits than are read, with its text. Fits no type of the format."""

    text: str = ""
    digits: int = 0  # of an integer that has too many


def _unique(pairs: _Pairs) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Irregular
    return made


def _irregular(_: str) -> Any:
    raise _Irregular


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _Irregular
    return value


def _doubled(pairs: _Pairs) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    doubled, seen, twice = _Doubled(made), set[str](), dict[str, None]()
    for key, _ in pairs:
        if key in seen:
            twice[key] = None
        seen.add(key)
    doubled.keys_twice = tuple(twice)
    return doubled


def _unread(text: str) -> Unread:
    made = Unread("nan")
    made.text = text if len(text) <= 40 else f"{text[:39]}…"
    return made


def _any_float(text: str) -> float:
    value = float(text)
    return _unread(text) if value in (float("inf"), float("-inf")) else value


def _any_int(text: str) -> float:
    try:
        return int(text)
    except ValueError:  # more digits than Python converts
        made = _unread(text)
        made.digits = len(text.lstrip("-"))
        return made


def parse(data: bytes, file: str | None) -> Parsed:
    """What JSON text holds, with every lexical fault in it. Total: any bytes."""
    for mark, what in _BOMS.items():
        if data.startswith(mark):
            return _unreadable(_marked(what, file))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _unreadable(_not_utf8(data, error, file))
    return _parsed(text, file)


def _parsed(text: str, file: str | None) -> Parsed:
    try:
        value, regular = _loaded(text)
    except json.JSONDecodeError as error:
        return _unreadable(_deep(text, error.pos, file) or _not_json(text, error, file))
    except RecursionError:
        return _unreadable(_deep(text, len(text), file) or _too_deep(Where(file=file)))
    if _is_deep(value):
        return _unreadable(_deep(text, len(text), file) or _too_deep(Where(file=file)))
    if regular and not _SURROGATE_ESCAPE.search(text):
        return Parsed(value, [], readable=True)
    return Parsed(value, by_place(_irregularities(value, file)), readable=True)


def _loaded(text: str) -> tuple[Any, bool]:
    """The value of a text, and whether it is free of the faults that leave it readable, as far as parsing shows."""
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_irregular, parse_float=_finite)
    except json.JSONDecodeError:
        raise
    except ValueError:  # irregular, or an integer of more digits than Python converts
        return json.loads(
            text, object_pairs_hook=_doubled, parse_constant=_unread, parse_float=_any_float, parse_int=_any_int
        ), False
    return value, True


def _unreadable(problem: Problem) -> Parsed:
    return Parsed(None, [problem], readable=False)


def _marked(what: str, file: str | None) -> Problem:
    return Problem(
        code="BAD_ENCODING",
        message=f"the file begins with {what}",
        where=Where(file=file, offset=0),
        expected="UTF-8 without a mark",
        hint="Write the file with --out instead of a redirection.",
    )


def _not_utf8(data: bytes, error: UnicodeDecodeError, file: str | None) -> Problem:
    where = Where(file=file, offset=error.start, line=data.count(b"\n", 0, error.start) + 1)
    found = data[error.start : error.start + 1].hex()
    return Problem(code="BAD_ENCODING", message="the file is not UTF-8", where=where, found=found)


def _at(text: str, position: int, file: str | None) -> Where:
    before = text[:position]
    return Where(file=file, line=before.count("\n") + 1, offset=len(before.encode()))


def _not_json(text: str, error: json.JSONDecodeError, file: str | None) -> Problem:
    found = text[error.pos : error.pos + 20] or "the end of the file"
    message = f"the file is not JSON: {error.msg} (column {error.colno})"
    return Problem(code="NOT_JSON", message=message, where=_at(text, error.pos, file), found=found)


# -- depth -------------------------------------------------------------------------------------------------------------


def _is_deep(value: Any) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MOST_LEVELS):
        level = [inner for container in level for inner in _members(container) if isinstance(inner, (dict, list))]
        if not level:
            return False
    return True


def _members(container: Any) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container


def _deep(text: str, end: int, file: str | None) -> Problem | None:
    """The fault of a text that opens too many levels before `end`, at the first bracket that is too many."""
    depth = 0
    for found in _TEXT_OR_BRACKET.finditer(text, 0, end):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if depth > MOST_LEVELS:
            return _too_deep(_at(text, found.start(), file))
    return None


def _too_deep(where: Where) -> Problem:
    expected = f"at most {MOST_LEVELS} levels of lists and objects"
    return Problem(code="TOO_DEEP", message="the JSON is nested too deep", where=where, expected=expected)


# -- faults that leave the rest readable -------------------------------------------------------------------------------


def _irregularities(value: Any, file: str | None) -> Iterator[Problem]:
    waiting: list[tuple[Any, str]] = [(value, "")]
    while waiting:
        node, at = waiting.pop()
        if isinstance(node, dict):
            yield from _of_keys(node, at, file)
            waiting += [(inner, pointer([key], at)) for key, inner in node.items()]
        elif isinstance(node, list):
            waiting += [(inner, f"{at}/{index}") for index, inner in enumerate(node)]
        elif isinstance(node, Unread):
            yield _not_read(node, at, file)
        elif isinstance(node, str) and _SURROGATE.search(node):
            yield _lone(node, at, file)


def _of_keys(node: dict[str, Any], at: str, file: str | None) -> Iterator[Problem]:
    for key in node.keys_twice if isinstance(node, _Doubled) else ():
        message = f'the key "{printable(key)}" stands twice in one object'
        yield Problem(code="DUPLICATE_KEY", message=message, where=Where(file=file, pointer=pointer([key], at)))
    for key in node:
        if _SURROGATE.search(key):
            yield _lone(key, pointer([key], at), file)


def _not_read(node: Unread, at: str, file: str | None) -> Problem:
    message = f"a number has {node.digits} digits, more than are read" if node.digits else "a number is not finite"
    expected = "a number of at most 4300 digits" if node.digits else "a finite number"
    where = Where(file=file, pointer=at)
    return Problem(code="OUT_OF_RANGE", message=message, where=where, found=node.text, expected=expected)


def _lone(text: str, at: str, file: str | None) -> Problem:
    return Problem(
        code="BAD_ENCODING",
        message="a text holds one half of a surrogate pair, which is no character",
        where=Where(file=file, pointer=at),
        found=printable(text[:40]),
    )
