"""The keys with which JSON begins, read from the first bytes alone: what a format is recognised by.

The head may stop anywhere. Only the first document counts, and of a list only the first item.
"""

import re
from functools import lru_cache
from typing import NamedTuple

# A string that the head cuts is a token too: else each quote within it would be looked at to the end.
_TOKEN = re.compile(rb'[{}\[\]:,]|"((?:[^"\\]|\\.)*)"?|[^\s{}\[\]:,"]+', re.DOTALL)
_DEEPEST = 5  # levels of keys that recognition asks about


class _Level(NamedTuple):
    """An open object or list: where its members stand."""

    path: str
    is_list: bool


@lru_cache(maxsize=8)
def first_paths(head: bytes) -> frozenset[str]:
    """Every path that leads to something in the first document, as far as the head goes: ``data.[].spans``.

    A dot within a key is written as NUL. Never raises; what is no JSON leads nowhere.
    """
    found: set[str] = set()
    open_levels: list[_Level] = []
    key = ""
    before = b""
    for token in _TOKEN.finditer(head):
        text = token.group()
        if text in {b"}", b"]"}:
            open_levels = open_levels[:-1]
        elif text in {b"{", b"["}:
            open_levels.append(_Level(_path(open_levels, key, found, before), text == b"["))
        elif text == b":":
            key = before[1:-1].decode("utf-8", "replace").replace(".", "\0")
            _path(open_levels, key, found, before)
        if not open_levels:
            break
        before = text
    return frozenset(found)


def _path(open_levels: list[_Level], key: str, found: set[str], before: bytes) -> str:
    """The path of the value that begins here, noted; of items of a list only the first has one."""
    if not open_levels:
        return ""
    outer = open_levels[-1]
    if outer.path == "\0" or len(open_levels) > _DEEPEST or (outer.is_list and before != b"["):
        return "\0"
    path = f"{outer.path}.{'[]' if outer.is_list else key}".removeprefix(".")
    found.add(path)
    return path
