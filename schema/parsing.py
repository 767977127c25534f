"""JSON text to plain values, strictly: UTF-8, no duplicate keys, no NaN, bounded depth; each fault with its place."""

import json
from typing import Any

from labadapt.schema.problems import Problem, Where

_BOMS = {
    b"\xef\xbb\xbf": "a UTF-8 byte order mark",
    b"\xff\xfe": "UTF-16 (a PowerShell redirection writes it)",
    b"\xfe\xff": "UTF-16",
}


class _DuplicateKey(ValueError):
    pass


class _NotFinite(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKey(key)
            seen.add(key)
    return made


def _constant(name: str) -> Any:
    raise _NotFinite(name)


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _NotFinite(text[:40])
    return value


def parse(data: bytes, file: str | None) -> tuple[Any, list[Problem]]:
    """The value that JSON text holds, or the one problem that keeps it from being read. Total: any bytes."""
    for mark, what in _BOMS.items():
        if data.startswith(mark):
            problem = Problem(
                code="BAD_ENCODING",
                message=f"the file begins with {what}",
                where=Where(file=file, offset=0),
                expected="UTF-8 without a mark",
                hint="Write the file with --out instead of a redirection.",
            )
            return None, [problem]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        where = Where(file=file, offset=error.start, line=data.count(b"\n", 0, error.start) + 1)
        problem = Problem(
            code="BAD_ENCODING",
            message="the file is not UTF-8",
            where=where,
            found=data[error.start : error.start + 1].hex(),
        )
        return None, [problem]
    return _parse_text(text, file)


def _parse_text(text: str, file: str | None) -> tuple[Any, list[Problem]]:
    where = Where(file=file)
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_constant, parse_float=_float)
    except json.JSONDecodeError as error:
        placed = Where(file=file, line=error.lineno, offset=len(text[: error.pos].encode("utf-8", "surrogatepass")))
        found = text[error.pos : error.pos + 20] or "the end of the file"
        return None, [Problem(code="NOT_JSON", message=f"the file is not JSON: {error.msg}", where=placed, found=found)]
    except RecursionError:
        return None, [Problem(code="TOO_DEEP", message="the JSON is nested too deep", where=where)]
    except _DuplicateKey as error:
        return None, [
            Problem(code="DUPLICATE_KEY", message=f'the key "{error}" stands twice in one object', where=where)
        ]
    except _NotFinite as error:
        problem = Problem(
            code="OUT_OF_RANGE",
            message="a number is not finite",
            where=where,
            found=str(error),
            expected="a finite number",
        )
        return None, [problem]
    except ValueError as error:  # an integer of more digits than Python converts
        return None, [Problem(code="OUT_OF_RANGE", message=f"a number cannot be read: {error}", where=where)]
    return value, []
