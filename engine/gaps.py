"""Cells that a gate requires and that no decided case covers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from labadapt.engine.coverage import is_held_out
from labadapt.engine.standing import Standing
from labadapt.schema.cases import CasesFile
from labadapt.schema.coverage import Coverage
from labadapt.schema.gate import Gap, GateFile

Place: TypeAlias = tuple[str, str]  # loop and failure class


def gaps_of(covered: Coverage, cases: CasesFile, stood: Standing, asked: GateFile) -> list[Gap]:
    """The gaps, by loop and class. A case covers its cell where a run of it passed or failed; a held-out one does not.

    A required cell counts as often as the file that asks most of it says.
    """
    required: dict[Place, int] = {}
    if asked.every_cell:
        required.update(((cell.loop, cell.failure_class), 1) for cell in covered.cells)
    for cell in asked.required_cells:
        place = (cell.loop, cell.failure_class)
        required[place] = max(cell.cases, required.get(place, 1))
    accepted = {(gap.loop, gap.failure_class): gap.reason for gap in asked.accepted_gaps}
    gaps = [
        _gap(place, required[place], accepted.get(place), _inside(place, cases, stood)) for place in sorted(required)
    ]
    return [gap for gap in gaps if gap.decided < gap.required]


def _inside(place: Place, cases: CasesFile, stood: Standing) -> Sequence[bool]:
    """For each case of the cell that is not held out, whether a run decided it."""
    return [
        any(result.outcome != "inconclusive" for result in stood.counted[name])
        for name, case in cases.cases.items()
        if (case.loop, case.failure_class) == place and not is_held_out(case)
    ]


def _gap(place: Place, required: int, accepted: str | None, inside: Sequence[bool]) -> Gap:
    return Gap(
        loop=place[0],
        failure_class=place[1],
        required=required,
        decided=sum(inside),
        cases=len(inside),
        accepted=accepted,
    )


def in_vain(gaps: Iterable[Gap], asked: GateFile) -> list[Place]:
    """Accepted gaps that are none: they may hide the next one."""
    there: Mapping[Place, Gap] = {(gap.loop, gap.failure_class): gap for gap in gaps}
    return sorted({(gap.loop, gap.failure_class) for gap in asked.accepted_gaps} - there.keys())
