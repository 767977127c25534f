"""``labadapt adapters``: what is installed, and where it comes from."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click
from labadapt.cli.escaping import printable
from labadapt.cli.options import common, output_format
from labadapt.cli.session import show, show_json

if TYPE_CHECKING:
    from labadapt.adapters.registry import Entry

Row = tuple[str, str, str, str]


@click.command("adapters", short_help="List installed sources and conventions, with their origin.")
@output_format("text", "json")
@common
def command(form: str) -> None:
    """List the installed sources and conventions, each with the distribution and version that it comes from.

    A broken plug-in is listed with the reason why it is refused.

    \b
    Example:
      labadapt adapters
    """
    from labadapt.adapters.registry import conventions, sources

    listed = {"sources": [_shadow(entry) for entry in sources().entries], "conventions": conventions().entries}
    if form == "json":
        show_json({kind: [_as_json(entry) for entry in entries] for kind, entries in listed.items()})
    else:
        show("\n\n".join(f"{kind}\n{_table(map(_row, entries))}" for kind, entries in listed.items()))


def _shadow(entry: "Entry[Any]") -> "Entry[Any]":
    """A source with the name of a command could never be called: said like any other fault."""
    import dataclasses

    from labadapt.cli.main import COMMANDS
    from labadapt.schema.problems import Problem

    if entry.name not in COMMANDS:
        return entry
    problem = Problem(code="BAD_PLUGIN", message=f'the name "{entry.name}" is that of a command')
    return dataclasses.replace(entry, value=None, problem=problem)


def _row(entry: "Entry[Any]") -> Row:
    if entry.value is None:
        about = f"refused: {entry.problem.message}" if entry.problem else "refused"
    else:
        about = getattr(entry.value, "summary", None) or entry.value.title
    return entry.name, entry.origin.distribution, entry.origin.version, about


def _table(rows: Iterable[Row]) -> str:
    printed = [tuple(map(printable, row)) for row in rows]
    widths = [max((len(row[column]) for row in printed), default=0) for column in range(3)]
    return "\n".join(_lines(printed, widths))


def _lines(rows: Iterable[tuple[str, ...]], widths: list[int]) -> Iterator[str]:
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield "  " + "  ".join([*cells, row[3]])


def _as_json(entry: "Entry[Any]") -> dict[str, Any]:
    known = {"name": entry.name, "distribution": entry.origin.distribution, "version": entry.origin.version}
    if entry.value is None:
        return {**known, "admitted": False, "problem": entry.problem.message if entry.problem else ""}
    return {**known, "admitted": True}
