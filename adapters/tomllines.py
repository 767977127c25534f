"""On which line of a TOML file each of its keys stands; `tomllib` reads values and tells no lines."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

# What may hold a bracket, an equals sign or a line feed that separates nothing; each of these; and all between.
_TOKEN = re.compile(
    r'#[^\n]*|"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}" + r'|"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'"
    r"|[\[\]{}=\n]|[^\[\]{}=\n\"'#]+|.",
    re.DOTALL,
)


def toml_lines(text: str) -> dict[str, int]:
    """The line (from 1) of each table and key by RFC 6901 pointer. `text` is valid TOML.

    What stands inside an array or an inline table has the line of its key.
    """
    lines: dict[str, int] = {}
    entries: dict[str, int] = defaultdict(int)  # pointer of an array of tables → tables so far
    table = ""
    for line, head in _heads(text):
        if head.startswith("["):
            table = _table(head, entries)
            lines.setdefault(table, line)
        else:
            at = table
            for key in _path(f"{head} = 0"):
                at += f"/{_escaped(key)}"
                lines.setdefault(at, line)
    return lines


def _heads(text: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each table's header, and of each key before its equals sign."""
    line, depth, start, head, closed = 1, 0, 1, "", False
    for match in _TOKEN.finditer(text):
        piece = match[0]
        depth += (piece in ("[", "{")) - (piece in ("]", "}"))
        if piece == "\n" and depth == 0:
            if head.strip():
                yield start, head.strip()
            head, closed, start = "", False, line + 1
        elif piece == "=":
            closed = True
        elif not closed and not piece.startswith("#"):
            head += piece
        line += piece.count("\n")
    if head.strip():
        yield start, head.strip()


def _table(head: str, entries: dict[str, int]) -> str:
    """The pointer of a header's table; of arrays of tables on the way, the last table."""
    path = _path(head)
    at = ""
    for place, key in enumerate(path):
        at += f"/{_escaped(key)}"
        if head.startswith("[[") and place == len(path) - 1:
            entries[at] += 1
        if entries.get(at):
            at += f"/{entries[at] - 1}"
    return at


def _path(statement: str) -> Sequence[str]:
    """The keys that a header, or a key with a value, nests; quoted ones as TOML reads them."""
    value: Any = tomllib.loads(statement)
    path: list[str] = []
    while isinstance(value, (dict, list)) and value:
        if isinstance(value, list):
            value = value[0]
        else:
            ((key, value),) = value.items()
            path.append(key)
    return path


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
