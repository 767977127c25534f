"""Doing one thing to many inputs, and naming the faults of all of them, not only of the first."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from labadapt.schema.problems import Problem, Refusal

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


def gather(make: Callable[[_Given], _Made], given: Iterable[_Given]) -> list[_Made]:
    """What `make` makes of each. Raises one `Refusal` with the problems of every one that was refused."""
    made: list[_Made] = []
    problems: list[Problem] = []
    for item in given:
        try:
            made.append(make(item))
        except Refusal as refusal:
            problems += refusal.problems
    if problems:
        raise Refusal(problems)
    return made
