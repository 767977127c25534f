"""A plain table of outcomes, for results that were made elsewhere: CSV or JSON Lines (docs/results.md).

A line has `case`, `trial` and `outcome`, and may have `policy`, `infrastructure` and `target`. Nothing is guessed: a
column that is not one of these, or a word that no outcome has, is refused with its line.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

import msgspec
from labadapt.engine.trials import Trial
from labadapt.engine.values import shown
from labadapt.schema.model import Status
from labadapt.schema.parsing import parse
from labadapt.schema.problems import Problem, Refusal, Where
from labadapt.schema.result import Outcome

REQUIRED = ("case", "trial", "outcome")
OPTIONAL = ("policy", "infrastructure", "target")
COLUMNS = (*REQUIRED, *OPTIONAL)
_OUTCOMES: dict[Any, Outcome] = {
    **{word: word for word in get_args(Outcome)},
    **dict.fromkeys((1, "1", "1.0", "true"), "pass"),  # 1 stands for True and 1.0 as well, which are equal
    **dict.fromkeys((0, "0", "0.0", "false"), "fail"),
}
_HEALTH = {"infrastructure": ("healthy", "failed", "unknown"), "target": ("completed", "failed", "unknown")}
_BOM = b"\xef\xbb\xbf"
_LONGEST = 200
_CONTROLS = frozenset(map(chr, (*range(0x20), *range(0x7F, 0xA0))))


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the table: its number from 1, and what it holds by column."""

    line: int
    cells: dict[str, Any]


def read_outcomes(data: bytes, file: str | None = None) -> list[Trial]:
    """The trials of a table, in its order.

    Raises `Refusal` with every line that is not one of a table (``NOT_OUTCOMES``, ``NOT_JSON``, ``MISSING_FIELD``,
    ``UNKNOWN_FIELD``, ``WRONG_TYPE``, ``BAD_VALUE``, ``OUT_OF_RANGE``) or that repeats a trial (``REPEATED_TRIAL``).
    """
    rows = _of_lines(data, file) if data.removeprefix(_BOM).lstrip().startswith(b"{") else _of_csv(data, file)
    trials: list[Trial] = []
    problems: list[Problem] = []
    seen: dict[tuple[str | None, str, str], int] = {}
    for row in rows:
        found = list(_faults(row, file))
        if found:
            problems += found
            continue
        trial = _trial(row)
        first = seen.setdefault((trial.policy, trial.case, trial.label), row.line)
        if first != row.line:
            problems.append(_repeated(trial, row.line, first, file))
        trials.append(trial)
    if problems:
        raise Refusal(problems)
    if not trials:
        raise Refusal(_no_table(None, "the table has no trial", file))
    return trials


def _trial(row: _Row) -> Trial:
    cells = row.cells
    health = {name: cells[name] for name in _HEALTH if cells.get(name) not in (None, "")}
    return Trial(
        case=cells["case"],
        policy=cells.get("policy") or None,
        label=str(cells["trial"]),
        outcome=_OUTCOMES[cells["outcome"]],
        status=msgspec.convert({"infrastructure": "unknown", "target": "unknown"} | health, Status) if health else None,
    )


# -- the two forms -----------------------------------------------------------------------------------------------------


def _of_lines(data: bytes, file: str | None) -> Iterator[_Row]:
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        parsed = parse(line, file)
        if parsed.problems:
            raise Refusal(_on_line(problem, number, file) for problem in parsed.problems)
        if not isinstance(parsed.value, dict):
            raise Refusal(_no_table(number, "the line is no JSON object", file))
        yield _Row(number, parsed.value)


def _on_line(problem: Problem, number: int, file: str | None) -> Problem:
    """The problem of a line, placed in its file."""
    where = Where(file=file, line=number, pointer=problem.where.pointer)
    return msgspec.structs.replace(problem, where=where)


def _of_csv(data: bytes, file: str | None) -> Iterator[_Row]:
    try:
        text = data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Refusal(_no_table(line, "the line is not UTF-8", file)) from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    for line, cells in _records(reader, file):
        if header is None:
            header = _header(line, cells, file)
        elif len(cells) != len(header):
            raise Refusal(_no_table(line, f"the line has {len(cells)} cells, and the header {len(header)}", file))
        else:
            yield _Row(line, dict(zip(header, cells, strict=True)))


def _records(reader: Any, file: str | None) -> Iterator[tuple[int, list[str]]]:
    """The records that are not blank, each with the line on which it starts."""
    start = 1
    try:
        for cells in reader:
            if cells:
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise Refusal(_no_table(start, f"the line is no CSV: {error}", file)) from None


def _header(line: int, cells: list[str], file: str | None) -> list[str]:
    names = [cell.strip() for cell in cells]
    if missing := [name for name in REQUIRED if name not in names]:
        raise Refusal(_no_table(line, f"the header names no column {missing[0]!r}", file, shown(names)))
    if twice := [name for name in names if names.count(name) > 1]:
        raise Refusal(_no_table(line, f"the header names {twice[0]!r} twice", file))
    return names


# -- what a line must hold ---------------------------------------------------------------------------------------------


def _faults(row: _Row, file: str | None) -> Iterator[Problem]:
    where = Where(file=file, line=row.line)
    for name in sorted(row.cells.keys() - set(COLUMNS)):
        message = f"a table of outcomes has no {name!r}"
        yield Problem(code="UNKNOWN_FIELD", message=message, where=where, expected=", ".join(COLUMNS))
    for name in REQUIRED:
        if row.cells.get(name) in (None, ""):
            yield Problem(code="MISSING_FIELD", message=f"the line has no {name}", where=where)
    for name in COLUMNS:
        if row.cells.get(name) not in (None, "") and (fault := _fault(name, row.cells[name], where)):
            yield fault


def _fault(name: str, value: Any, where: Where) -> Problem | None:
    permitted = _permitted(name)
    if permitted:
        if isinstance(value, str | int | float) and value in permitted:
            return None
        message = f"{name} is none of the permitted words"
        words = [word for word in permitted if isinstance(word, str)]
        return Problem(code="BAD_VALUE", message=message, where=where, found=shown(value), expected=", ".join(words))
    if name == "trial" and isinstance(value, int) and not isinstance(value, bool):
        return None
    if not isinstance(value, str):
        return Problem(code="WRONG_TYPE", message=f"{name} is no text", where=where, found=shown(value))
    if len(value) > _LONGEST or _CONTROLS & set(value):
        message = f"{name} has more than {_LONGEST} characters, or a control character"
        return Problem(code="OUT_OF_RANGE", message=message, where=where, found=shown(value))
    return None


def _permitted(name: str) -> tuple[Any, ...]:
    return tuple(_OUTCOMES) if name == "outcome" else _HEALTH.get(name, ())


def _repeated(trial: Trial, line: int, first: int, file: str | None) -> Problem:
    message = f"trial {trial.label!r} of case {trial.case!r} stands on line {first} already"
    return Problem(code="REPEATED_TRIAL", message=message, where=Where(file=file, line=line))


def _no_table(line: int | None, message: str, file: str | None, found: str | None = None) -> Problem:
    return Problem(
        code="NOT_OUTCOMES",
        message=message,
        where=Where(file=file, line=line),
        found=found,
        expected=f"columns {', '.join(REQUIRED)}, and if known {', '.join(OPTIONAL)}",
    )
