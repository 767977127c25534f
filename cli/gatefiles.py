"""Reading the gate file: every fault with its line."""

from collections.abc import Iterable
from typing import Any

import msgspec
from labadapt.cli.files import display_name, read_file
from labadapt.schema.gate import GateFile
from labadapt.schema.problems import Problem, Refusal


def read_gate_file(name: str | None) -> GateFile:
    """The gate file, or without one what a gate asks for by itself. Raises `Refusal` with every fault and its line."""
    if name is None:
        return GateFile(schema_version=1)
    from labadapt.adapters.documents import read_document
    from labadapt.schema.faults import faults

    document = read_document(read_file(name), display_name(name))
    if problems := [document.placed(problem) for problem in faults(document.value, "gate", document.file)]:
        raise Refusal(problems)
    read = msgspec.convert(document.value, GateFile)
    if problems := [document.placed(problem) for problem in _twice(document.value)]:
        raise Refusal(problems)
    return read


def _twice(value: dict[str, Any]) -> Iterable[Problem]:
    """Cells that a list names twice: one of the two would be read in vain."""
    from labadapt.schema.problems import Where

    for key in ("requiredCells", "acceptedGaps"):
        seen: set[tuple[str, str]] = set()
        for place, one in enumerate(value.get(key, ())):
            cell = (one["loop"], one["failureClass"])
            if cell in seen:
                message = f"{key} names the loop {cell[0]!r} under {cell[1]!r} twice"
                yield Problem(code="BAD_VALUE", message=message, where=Where(pointer=f"/{key}/{place}"))
            seen.add(cell)
