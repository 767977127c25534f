"""Files that people write, as plain JSON values with line numbers: YAML 1.2, TOML or JSON.

YAML is read by the core schema of YAML 1.2.2 (section 10.3): `no` and `2026-11-30` are text, `1_000` is text, `0o14`
is twelve. Keys are text as written, so that a case may be called `01`. Aliases are followed within a bound; merge
keys, foreign tags and complex keys are refused.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal, NoReturn, TypeAlias

import msgspec
from labadapt.schema.problems import Problem, Refusal, Where

Kind: TypeAlias = Literal["yaml", "toml", "json"]

LARGEST = 16 * 1024**2  # bytes; a file that people write and review is smaller
DEEPEST = 64
MOST_NODES = 1_000_000  # with aliases followed

_SUFFIXES: dict[str, Kind] = {".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".json": "json"}


@dataclass(frozen=True, slots=True)
class Document:
    """A file's value, and the line (from 1) on which each part of it stands, by RFC 6901 pointer."""

    value: Any
    file: str
    lines: Mapping[str, int] = field(default_factory=dict)

    def where(self, pointer: str) -> Where:
        """The place of a part: its own line, or that of the nearest part around it whose line is known."""
        around = pointer
        while around not in self.lines and around:
            around = around.rpartition("/")[0]
        return Where(file=self.file, line=self.lines.get(around), pointer=pointer)

    def placed(self, problem: Problem) -> Problem:
        """The problem with this file and the line of its pointer."""
        return msgspec.structs.replace(problem, where=self.where(problem.where.pointer or ""))


def read_document(data: bytes, file: str) -> Document:
    """Read a file by its suffix, or where that says nothing by its content.

    Refused: `BAD_ENCODING`, `TOO_LARGE`, `TOO_DEEP`, `NOT_YAML`, `NOT_JSON`, `DUPLICATE_KEY`, `OUT_OF_RANGE`,
    `WRONG_TYPE`; each with the line where it is known.
    """
    if len(data) > LARGEST:
        raise Refusal(_problem(file, "TOO_LARGE", f"The file is larger than {LARGEST} bytes.", found=str(len(data))))
    text = _decoded(data, file)
    suffix = re.search(r"\.[A-Za-z]+$", file)
    kind = _SUFFIXES.get(suffix.group().lower()) if suffix else None
    document = _READERS[kind](text, file) if kind else _by_content(text, file)
    _check(document)
    return document


def _by_content(text: str, file: str) -> Document:
    """JSON by its first character; TOML where YAML would take the text for one long scalar."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _read_json(text, file)
        except Refusal as refusal:
            if refusal.problems[0].code != "NOT_JSON":
                raise
    try:
        document = _read_yaml(text, file)
    except Refusal as refusal:
        return _toml_or(text, file, refusal)
    return document if isinstance(document.value, dict) else _toml_or(text, file, document)


def _toml_or(text: str, file: str, other: Document | Refusal) -> Document:
    """The text as TOML; where it is none, what YAML made of it."""
    try:
        return _read_toml(text, file)
    except Refusal:
        if isinstance(other, Document):
            return other
        raise other from None


def _decoded(data: bytes, file: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Refusal(_problem(file, "BAD_ENCODING", "The file is UTF-16.", found="UTF-16", expected="UTF-8", line=1))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise Refusal(_problem(file, "BAD_ENCODING", "The file is not UTF-8.", expected="UTF-8", line=line)) from fault


def _problem(
    file: str, code: str, message: str, *, line: int | None = None, found: str | None = None, **rest: Any
) -> Problem:
    where = Where(file=file, line=line, pointer=rest.pop("pointer", None))
    return Problem(code=code, message=message, where=where, found=found, **rest)


def escaped(key: str) -> str:
    """A key as a reference token of RFC 6901."""
    return key.replace("~", "~0").replace("/", "~1")


def quoted(text: str) -> str:
    """A text as a YAML double-quoted scalar on one line, whatever it holds."""
    plain = json.dumps(text, ensure_ascii=False)
    return "".join(
        c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 65536 else f"\\U{ord(c):08x}" for c in plain
    )


# -- what holds for all three ------------------------------------------------------------------------------------------


def _check(document: Document) -> None:
    """Refuse what JSON cannot say: numbers that are not finite, and values of other types."""
    waiting: list[tuple[str, Any, int]] = [("", document.value, 0)]
    nodes = 0
    while waiting:
        pointer, value, depth = waiting.pop()
        nodes += 1
        if depth > DEEPEST or nodes > MOST_NODES:
            code = "TOO_DEEP" if depth > DEEPEST else "TOO_LARGE"
            raise Refusal(document.placed(_problem("", code, "The file is nested or repeated without measure.")))
        if isinstance(value, dict):
            for key in value:
                _check_scalar(document, pointer, key)
            waiting.extend((f"{pointer}/{escaped(key)}", below, depth + 1) for key, below in value.items())
        elif isinstance(value, list):
            waiting.extend((f"{pointer}/{place}", below, depth + 1) for place, below in enumerate(value))
        else:
            _check_scalar(document, pointer, value)


def _check_scalar(document: Document, pointer: str, value: Any) -> None:
    if isinstance(value, float) and not isfinite(value):
        code, expected = "OUT_OF_RANGE", "a finite number"
    elif isinstance(value, int) and not -(2**63) <= value < 2**64:
        code, expected = "OUT_OF_RANGE", "an integer of 64 bits"
    elif isinstance(value, str) and not value.isascii() and _SURROGATE.search(value):
        code, expected = "BAD_ENCODING", "text without lone surrogates"
    elif value is None or isinstance(value, str | bool | int | float):
        return
    else:
        code, expected = "WRONG_TYPE", "text, in quotes"
    found = str(value)[:60].encode("utf-8", "backslashreplace").decode()
    problem = _problem("", code, "A value is none that the format can hold.", found=found, expected=expected)
    raise Refusal(document.placed(msgspec.structs.replace(problem, where=Where(pointer=pointer))))


_SURROGATE = re.compile("[\ud800-\udfff]")


# -- JSON --------------------------------------------------------------------------------------------------------------


class _DuplicateKey(ValueError):
    """A key stands twice in a JSON object."""


def _read_json(text: str, file: str) -> Document:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            seen: set[str] = set()
            raise _DuplicateKey(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]  # `add` returns None, which is false
        return value

    def no_constant(name: str) -> NoReturn:
        raise ValueError(name)

    try:
        value = json.loads(text, object_pairs_hook=once, parse_constant=no_constant)
    except json.JSONDecodeError as fault:
        message = f"The file is not JSON: {fault.msg}, at column {fault.colno}."
        raise Refusal(_problem(file, "NOT_JSON", message, line=fault.lineno)) from fault
    except _DuplicateKey as fault:
        key = str(fault)
        raise Refusal(_duplicate(file, key, _second_line(text, key))) from fault
    except ValueError as fault:
        message = "A number is not finite, or has too many digits."
        raise Refusal(_problem(file, "OUT_OF_RANGE", message, found=str(fault)[:60])) from fault
    except RecursionError as fault:
        raise Refusal(_problem(file, "TOO_DEEP", "The file is nested too deep.")) from fault
    return Document(value, file, _json_lines(text))


def _second_line(text: str, key: str) -> int | None:
    """The line of the second place where the key is written as a key; None where escapes hide it."""
    places = [match.start() for match in re.finditer(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:", text)]
    return text.count("\n", 0, places[1]) + 1 if len(places) == 2 else None


def _duplicate(file: str, key: str, line: int | None, pointer: str | None = None) -> Problem:
    message = f"The key {json.dumps(key, ensure_ascii=False)} stands twice in one object."
    return _problem(file, "DUPLICATE_KEY", message, line=line, pointer=pointer)


_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(slots=True)
class _Frame:
    """An object or list while its parts are counted: `index` is -1 in an object, `key` the pointer of its part."""

    pointer: str
    index: int
    key: str = ""

    def part(self) -> str:
        return self.key if self.index < 0 else f"{self.pointer}/{self.index}"


def _json_lines(text: str) -> dict[str, int]:
    """The line of each part of a text that is known to be JSON: that of its key, or of its start in a list."""
    lines = {"": 1}
    frames: list[_Frame] = []
    line, position = 1, 0
    for token in _JSON_TOKEN.finditer(text):
        line += text.count("\n", position, token.start())
        position, word = token.start(), token.group()
        frame = frames[-1] if frames else None
        if word in ("}", "]"):
            frames.pop()
        elif word == ",":
            _next_part(frames[-1])
        elif word != ":":
            if frame is not None and frame.index < 0 and not frame.key:
                frame.key = f"{frame.pointer}/{escaped(json.loads(word))}"
                lines[frame.key] = line
                continue
            here = "" if frame is None else frame.part()
            lines.setdefault(here, line)
            if word in ("{", "["):
                frames.append(_Frame(here, -1 if word == "{" else 0))
    return lines


def _next_part(frame: _Frame) -> None:
    frame.key = ""
    if frame.index >= 0:
        frame.index += 1


# -- TOML --------------------------------------------------------------------------------------------------------------


def _read_toml(text: str, file: str) -> Document:
    import tomllib

    from labadapt.adapters.tomllines import toml_lines

    try:
        return Document(tomllib.loads(text), file, toml_lines(text))
    except tomllib.TOMLDecodeError as fault:
        line = re.search(r"line (\d+)", str(fault))
        message = f"The file is not TOML: {fault}."
        raise Refusal(_problem(file, "NOT_YAML", message, line=int(line.group(1)) if line else None)) from fault
    except RecursionError as fault:
        raise Refusal(_problem(file, "TOO_DEEP", "The file is nested too deep.")) from fault
    except ValueError as fault:  # a number with more digits than Python converts
        raise Refusal(_problem(file, "OUT_OF_RANGE", "A number has too many digits.", found=str(fault)[:60])) from fault


# -- YAML --------------------------------------------------------------------------------------------------------------


def _read_yaml(text: str, file: str) -> Document:
    from labadapt.adapters.yaml12 import read_yaml

    return Document(*read_yaml(text, file))


_READERS: dict[Kind, Callable[[str, str], Document]] = {"yaml": _read_yaml, "toml": _read_toml, "json": _read_json}
