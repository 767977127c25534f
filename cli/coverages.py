"""A coverage report for people: a table of loops by classes, then what is missing, within 80 columns."""

from collections.abc import Iterable, Iterator, Sequence

from labadapt.cli.comparisons import number, wrapped
from labadapt.cli.escaping import printable
from labadapt.schema.coverage import Cell, CellCounts, Coverage, Likeness
from labadapt.schema.reliability import LeftOut

_NAME = 26
_LISTED = 10


def render(report: Coverage) -> str:
    """The whole report."""
    blocks: list[list[str]] = [
        *(list(_loop(loop, report)) for loop in report.loops),
        list(_empty(report)),
        [line for part in report.unplaced for line in _left(part, "in no cell")],
        [line for part in report.uncounted for line in _left(part, "not counted")],
        [line for one in report.near_duplicates for line in _likeness(one)],
        [line for one in report.alike_spellings for line in _spelling(*one)],
    ]
    told = ["\n".join(block) for block in blocks if block]
    return "\n\n".join(told) if report.loops else "\n\n".join(["no case names a loop, so there is no cell", *told])


def _loop(loop: str, report: Coverage) -> Iterator[str]:
    yield from wrapped(f"loop {printable(loop)}", "")
    heads = ("cases", "pass", "fail", "open", "not run") if report.with_results else ("cases",)
    yield f"  {'failure class':<{_NAME}}" + "".join(f"{head:>9}" for head in heads)
    for cell in report.cells:
        if cell.loop == loop:
            yield from _cell(cell, with_results=report.with_results)


def _cell(cell: Cell, *, with_results: bool) -> Iterator[str]:
    yield from _row(cell.failure_class, cell.open, with_results=with_results)
    if cell.holdout.cases:
        yield from _row("  held out", cell.holdout, with_results=with_results)


def _row(name: str, counts: CellCounts, *, with_results: bool) -> Iterator[str]:
    """One line; a name that is too long stands on a line of its own."""
    shown = printable(name)
    if len(shown) > _NAME:
        yield from wrapped(shown, "  ")
        shown = ""
    figures: Sequence[int] = (len(counts.cases),)
    if with_results:
        figures = (*figures, counts.passed, counts.failed, counts.inconclusive, len(counts.not_run))
    empty = "" if counts.cases else "  empty"
    yield f"  {shown:<{_NAME}}" + "".join(f"{figure:>9}" for figure in figures) + empty


def _empty(report: Coverage) -> Iterator[str]:
    if not report.cells:
        return
    text = f"{len(report.empty)} of {number(len(report.cells), 'cell')} without a case that people tune on"
    held = f", {len(report.holdout_only)} of them with held-out cases" if report.holdout_only else ""
    yield from wrapped(text + held, "")
    for loop in report.loops:
        names = [printable(name) for of, name in report.empty if of == loop]
        if names:
            yield from wrapped(f"{printable(loop)}: {', '.join(names)}", "  ", "    ")


def _left(part: LeftOut, what: str) -> list[str]:
    return wrapped(f"{what}, {part.reason}: {len(part.ids)} ({listed(part.ids)})", "", "  ")


def listed(names: Sequence[str]) -> str:
    """The first of the names."""
    return ", ".join(printable(name) for name in names[:_LISTED]) + (" ..." if len(names) > _LISTED else "")


def _likeness(one: Likeness) -> Iterable[str]:
    across = "; some are held out and some are not" if one.across_holdout else ""
    return wrapped(f"alike: {listed(one.cases)}: {one.reason}{across}", "", "  ")


def _spelling(own: str, other: str) -> Iterable[str]:
    return wrapped(f"{printable(own)} and {printable(other)} differ in spelling alone, and are two classes", "", "  ")
