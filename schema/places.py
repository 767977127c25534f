"""Places in a JSON document: pointers, and the order of problems by them."""

from collections.abc import Iterable
from typing import Any

from labadapt.schema.problems import Problem


def printable(text: str) -> str:
    """The text with halves of surrogate pairs as ``\\udXXX``: they have no UTF-8, so no output could hold them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def pointer(path: Iterable[Any], start: str = "") -> str:
    """The RFC 6901 JSON pointer of a path of keys and indexes."""
    return start + "".join(f"/{printable(str(part)).replace('~', '~0').replace('/', '~1')}" for part in path)


def by_place(problems: Iterable[Problem]) -> list[Problem]:
    """Each problem once, in the order of their pointers, list indexes by number; those without a pointer first.

    A version that is not read comes before all, because it explains the others. The order in which the keys of an
    object stand never shows.
    """
    return sorted(dict.fromkeys(problems), key=_place)


def _place(problem: Problem) -> list[tuple[int, int, str]]:
    text = problem.where.pointer
    if text is None or problem.code == "UNSUPPORTED_VERSION":
        return [(-1, text is not None, "")]
    return [_part(part) for part in text.split("/")]


def _part(part: str) -> tuple[int, int, str]:
    # A key may be digits too, of any script and length: an index is short and ASCII.
    return (0, int(part), "") if part.isascii() and part.isdigit() and len(part) < 16 else (1, 0, part)
