"""Timing rules of the native format, on whole nanoseconds (format.md, Timing).

Times are written as milliseconds with at most six decimals, so that a nanosecond survives exactly; every comparison
is made on integers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from labadapt.schema.model import Run, Step
from labadapt.schema.problems import Problem, Where

NS_PER_MS = 1_000_000


def nanoseconds(ms: float) -> int:
    """Whole nanoseconds of a number of milliseconds, exact for integers and for at most six decimals."""
    if isinstance(ms, int) or ms.is_integer():  # equal numbers are equal times, however large
        return int(ms) * NS_PER_MS
    # From 2^51 ns on, the error of the product (two roundings of 2^-53 each) can reach half a nanosecond.
    return round(Decimal(repr(ms)) * NS_PER_MS) if abs(ms) >= 2**31 else round(ms * NS_PER_MS)


def milliseconds(ns: int) -> int | float:
    """Milliseconds of whole nanoseconds: an integer where they are whole, else the float that reads back exactly.

    Total: beyond 2^33 milliseconds (99 days) a float keeps six decimals no longer, and the value is rounded to the
    nearest float; beyond 2^53 it has none, and the value is rounded to a whole number.
    """
    whole, rest = divmod(ns, NS_PER_MS)
    if abs(whole) >= 2**53:
        return whole + (2 * rest >= NS_PER_MS)
    return whole if rest == 0 else ns / NS_PER_MS


@dataclass(frozen=True, slots=True)
class Timeline:
    """The times of a run: its steps with their index, its duration in milliseconds, None where it cannot be read.

    `is_sum`: the duration is to be the sum of the steps' durations, as in a fixture. Of a run with faults the timeline
    holds the steps that can be read, so that a fault elsewhere hides no timing fault.
    """

    steps: Sequence[tuple[int, Step]]
    duration_ms: float | None
    is_sum: bool


def timeline_of(run: Run) -> Timeline:
    """The timeline of a run without faults of shape."""
    return Timeline(list(enumerate(run.steps)), run.duration_ms, run.mode == "fixture")


def timing_problems(run: Run, pointer: str) -> list[Problem]:
    """Every timing fault of a run. `pointer` is the JSON pointer of the run in its file."""
    return timeline_problems(timeline_of(run), pointer)


def timeline_problems(timeline: Timeline, pointer: str) -> list[Problem]:
    """Every timing fault of a timeline. `pointer` is the JSON pointer of the run in its file."""
    return [*_order(timeline.steps, pointer), *_range(timeline, pointer), *_sum(timeline, pointer)]


def _problem(code: str, pointer: str, message: str, found: str, expected: str) -> Problem:
    return Problem(code=code, message=message, where=Where(pointer=pointer), found=found, expected=expected)


def _text(ms: float) -> str:
    # Python writes no integer of more than 4300 digits, and nobody reads one.
    return str(ms) if isinstance(ms, float) or ms < 10**40 else "a number of more than 40 digits"


def _order(steps: Sequence[tuple[int, Step]], pointer: str) -> Iterator[Problem]:
    last_start = 0
    last_end = 0
    last_id = ""
    for index, step in steps:
        at = f"{pointer}/steps/{index}"
        start, end = nanoseconds(step.start_ms), nanoseconds(step.end_ms)
        if end < start:
            message = f'step "{step.id}" ends before it starts'
            yield _problem(
                "REVERSED_TIMING",
                f"{at}/endMs",
                message,
                f"endMs {_text(step.end_ms)}",
                f"at least startMs {_text(step.start_ms)}",
            )
        if start < last_start:
            message = f'step "{step.id}" starts before the step that stands above it, "{last_id}"'
            yield _problem(
                "UNORDERED_STEPS",
                f"{at}/startMs",
                message,
                f"startMs {_text(step.start_ms)}",
                f"at least {_text(milliseconds(last_start))}",
            )
        elif start < last_end:
            message = f'step "{step.id}" starts before "{last_id}" ended'
            yield _problem(
                "OVERLAPPING_STEPS",
                f"{at}/startMs",
                message,
                f"startMs {_text(step.start_ms)}",
                f"at least {_text(milliseconds(last_end))}",
            )
        last_start, last_end, last_id = max(start, last_start), max(end, last_end), step.id


def _range(timeline: Timeline, pointer: str) -> Iterator[Problem]:
    if timeline.duration_ms is None:
        return
    duration = nanoseconds(timeline.duration_ms)
    for index, step in timeline.steps:
        if nanoseconds(step.end_ms) > duration:
            message = f'step "{step.id}" ends after its run'
            at = f"{pointer}/steps/{index}/endMs"
            expected = f"at most durationMs {_text(timeline.duration_ms)}"
            yield _problem("OUT_OF_RANGE_TIMING", at, message, f"endMs {_text(step.end_ms)}", expected)


def _sum(timeline: Timeline, pointer: str) -> Iterator[Problem]:
    if timeline.duration_ms is None or not timeline.is_sum:
        return
    total = sum(nanoseconds(step.end_ms) - nanoseconds(step.start_ms) for _, step in timeline.steps)
    if total != nanoseconds(timeline.duration_ms):
        message = "a fixture run's durationMs is the sum of its steps' durations"
        at = f"{pointer}/durationMs"
        yield _problem("FIXTURE_DURATION", at, message, _text(timeline.duration_ms), _text(milliseconds(total)))
