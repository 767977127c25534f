"""YAML 1.2 by its core schema, from the parser's events, so that every part keeps its line and nothing is constructed.

The scanner and parser are ruamel.yaml's; the values are made here, by the table of section 10.3.2 of YAML 1.2.2.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from labadapt.adapters.documents import DEEPEST, MOST_NODES, escaped
from labadapt.schema.problems import Problem, Refusal, Where

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBERS: tuple[tuple[re.Pattern[str], Callable[[str], int | float]], ...] = (
    (re.compile(r"[-+]?[0-9]+"), int),
    (re.compile(r"0o[0-7]+"), lambda text: int(text[2:], 8)),
    (re.compile(r"0x[0-9a-fA-F]+"), lambda text: int(text, 16)),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
)
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_LONGEST_NUMBER = 400  # digits; Python converts no integer of more than 4300, and no format needs this many

_TAG = "tag:yaml.org,2002:"


@dataclass(slots=True)
class _Node:
    """A mapping or sequence that is being filled, where it stands, and how many nodes it holds."""

    pointer: str
    value: Any
    anchor: str | None
    size: int = 1
    key: str | None = None


@dataclass(slots=True)
class _Reader:
    file: str
    lines: dict[str, int] = field(default_factory=lambda: {"": 1})
    open: list[_Node] = field(default_factory=list)
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)
    value: Any = None
    documents: int = 0

    def refuse(self, code: str, message: str, event: Any, found: str | None = None) -> Refusal:
        """A refusal at the event's line."""
        line = event.start_mark.line + 1
        pointer = self.open[-1].pointer if self.open else ""
        where = Where(file=self.file, line=line, pointer=pointer or None)
        return Refusal(Problem(code=code, message=message, where=where, found=found))


def read_yaml(text: str, file: str) -> tuple[Any, str, dict[str, int]]:
    """The value of the one document, the file, and the line of each part by pointer. Refused as `read_document`."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reader = _Reader(file)
    yaml = YAML(typ="safe", pure=True)
    try:
        for event in yaml.parse(text):
            _take(reader, event)
    except MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        raise Refusal(_not_yaml(file, str(fault.problem or fault.context), mark.line + 1 if mark else None)) from fault
    except YAMLError as fault:
        raise Refusal(_not_yaml(file, str(fault).splitlines()[0], None)) from fault
    except (ValueError, IndexError, AttributeError, RecursionError, AssertionError) as fault:
        # the scanner meets some malformed escapes, directives and tags with these
        raise Refusal(_not_yaml(file, "it cannot be scanned", None)) from fault
    return reader.value, file, reader.lines


def _not_yaml(file: str, why: str, line: int | None) -> Problem:
    return Problem(code="NOT_YAML", message=f"The file is not YAML: {why}.", where=Where(file=file, line=line))


def _take(reader: _Reader, event: Any) -> None:
    kind = type(event).__name__
    if kind == "DocumentStartEvent":
        reader.documents += 1
        if reader.documents > 1:
            raise reader.refuse("NOT_YAML", "The file holds more than one YAML document.", event)
    elif kind in ("MappingStartEvent", "SequenceStartEvent"):
        _start(reader, event, {} if kind == "MappingStartEvent" else [])
    elif kind in ("MappingEndEvent", "SequenceEndEvent"):
        _end(reader, event)
    elif kind == "ScalarEvent":
        _scalar(reader, event)
    elif kind == "AliasEvent":
        _alias(reader, event)


def _start(reader: _Reader, event: Any, value: Any) -> None:
    default = "map" if isinstance(value, dict) else "seq"
    if event.tag not in (None, "!", _TAG + default) and str(event.tag) != _TAG + default:
        raise reader.refuse("NOT_YAML", "A tag that YAML's core schema does not have.", event, str(event.tag))
    if _awaits_key(reader):
        raise reader.refuse("WRONG_TYPE", "A key is a mapping or a list; keys are text.", event)
    if len(reader.open) >= DEEPEST:
        raise reader.refuse("TOO_DEEP", "The file is nested too deep.", event)
    pointer = _pointer(reader)
    reader.lines.setdefault(pointer, event.start_mark.line + 1)
    reader.open.append(_Node(pointer, value, event.anchor))


def _end(reader: _Reader, event: Any) -> None:
    node = reader.open.pop()
    if node.anchor:
        reader.anchors[node.anchor] = (node.value, node.size)
    _put(reader, node.value, node.size, event)


def _scalar(reader: _Reader, event: Any) -> None:
    if _awaits_key(reader):
        _set_key(reader, event)
        return
    reader.lines.setdefault(_pointer(reader), event.start_mark.line + 1)
    value = _value(reader, event)
    if event.anchor:
        reader.anchors[event.anchor] = (value, 1)
    _put(reader, value, 1, event)


def _alias(reader: _Reader, event: Any) -> None:
    if _awaits_key(reader) or event.anchor not in reader.anchors:
        raise reader.refuse("NOT_YAML", "An alias of nothing that stands before it as a value.", event, event.anchor)
    value, size = reader.anchors[event.anchor]
    reader.lines.setdefault(_pointer(reader), event.start_mark.line + 1)
    _put(reader, value, size, event)


def _awaits_key(reader: _Reader) -> bool:
    return bool(reader.open) and isinstance(reader.open[-1].value, dict) and reader.open[-1].key is None


def _pointer(reader: _Reader) -> str:
    if not reader.open:
        return ""
    node = reader.open[-1]
    return f"{node.pointer}/{len(node.value) if isinstance(node.value, list) else escaped(node.key or '')}"


def _set_key(reader: _Reader, event: Any) -> None:
    node = reader.open[-1]
    if event.value == "<<" and event.style is None:
        raise reader.refuse("NOT_YAML", "YAML 1.2 has no merge key.", event, "<<")
    if event.value in node.value:
        raise reader.refuse("DUPLICATE_KEY", f'The key "{event.value}" stands twice in one mapping.', event)
    node.key = event.value
    reader.lines[f"{node.pointer}/{escaped(event.value)}"] = event.start_mark.line + 1


def _put(reader: _Reader, value: Any, size: int, event: Any) -> None:
    if not reader.open:
        reader.value = value
        return
    node = reader.open[-1]
    node.size += size
    if node.size > MOST_NODES:
        raise reader.refuse("TOO_LARGE", "Aliases make the file larger than any that a person reviews.", event)
    if isinstance(node.value, list):
        node.value.append(value)
    else:
        node.value[node.key] = value
        node.key = None


def _value(reader: _Reader, event: Any) -> Any:
    text: str = event.value
    tag = None if event.tag is None else str(event.tag)
    if tag == "!" or tag == _TAG + "str" or (tag is None and event.style is not None):
        return text
    plain = _resolved(reader, text, event)
    wanted = {"null": type(None), "bool": bool, "int": int, "float": float}
    if tag is None:
        return plain
    kind = wanted.get(tag.removeprefix(_TAG)) if tag.startswith(_TAG) else None
    if kind is float and type(plain) is int:
        return float(plain)
    if kind is None or type(plain) is not kind:
        raise reader.refuse(
            "NOT_YAML", "A tag that YAML's core schema does not have, or that does not fit.", event, tag
        )
    return plain


def _resolved(reader: _Reader, text: str, event: Any) -> Any:
    """A plain scalar by the core schema."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) <= _LONGEST_NUMBER:
        for pattern, made in _NUMBERS:
            if pattern.fullmatch(text):
                return made(text)
    if _NOT_FINITE.fullmatch(text):
        raise reader.refuse("OUT_OF_RANGE", "A number is not finite; quote it if it is text.", event, text)
    return text
