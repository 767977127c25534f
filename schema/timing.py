"""Timing rules of the native format, on whole nanoseconds (format.md, Timing).

Times are written as milliseconds with at most six decimals, so that a nanosecond survives exactly; every comparison
is made on integers.
"""

from collections.abc import Iterator
from decimal import Decimal

from labadapt.schema.model import Run, Step
from labadapt.schema.problems import Problem, Where

NS_PER_MS = 1_000_000


def nanoseconds(ms: float) -> int:
    """Whole nanoseconds of a number of milliseconds, exact for integers and for at most six decimals."""
    if isinstance(ms, int):
        return ms * NS_PER_MS
    # From 2^51 ns on, the error of the product (two roundings of 2^-53 each) can reach half a nanosecond.
    return round(Decimal(repr(ms)) * NS_PER_MS) if abs(ms) >= 2**31 else round(ms * NS_PER_MS)


def milliseconds(ns: int) -> int | float:
    """Milliseconds of whole nanoseconds: an integer where they are whole, else the float that reads back exactly.

    Raises `OverflowError` never: beyond 2^33 milliseconds (99 days) a float keeps six decimals no longer, and the
    value is rounded to the nearest float.
    """
    whole, rest = divmod(ns, NS_PER_MS)
    return whole if rest == 0 else ns / NS_PER_MS


def timing_problems(run: Run, pointer: str) -> list[Problem]:
    """Every timing fault of a run. `pointer` is the JSON pointer of the run in its file."""
    return [*_order(run.steps, pointer), *_range(run, pointer), *_fixture(run, pointer)]


def _problem(code: str, pointer: str, message: str, found: str, expected: str) -> Problem:
    return Problem(code=code, message=message, where=Where(pointer=pointer), found=found, expected=expected)


def _order(steps: list[Step], pointer: str) -> Iterator[Problem]:
    last_start = 0
    last_end = 0
    last_id = ""
    for index, step in enumerate(steps):
        at = f"{pointer}/steps/{index}"
        start, end = nanoseconds(step.start_ms), nanoseconds(step.end_ms)
        if end < start:
            message = f'step "{step.id}" ends before it starts'
            yield _problem(
                "REVERSED_TIMING", f"{at}/endMs", message, f"endMs {step.end_ms}", f"at least startMs {step.start_ms}"
            )
        if index and start < last_start:
            message = f'step "{step.id}" starts before the step that stands above it, "{last_id}"'
            yield _problem(
                "UNORDERED_STEPS",
                f"{at}/startMs",
                message,
                f"startMs {step.start_ms}",
                f"at least {milliseconds(last_start)}",
            )
        elif index and start < last_end:
            message = f'step "{step.id}" starts before "{last_id}" ended'
            yield _problem(
                "OVERLAPPING_STEPS",
                f"{at}/startMs",
                message,
                f"startMs {step.start_ms}",
                f"at least {milliseconds(last_end)}",
            )
        last_start, last_end, last_id = max(start, last_start), max(end, last_end), step.id


def _range(run: Run, pointer: str) -> Iterator[Problem]:
    duration = nanoseconds(run.duration_ms)
    for index, step in enumerate(run.steps):
        if nanoseconds(step.end_ms) > duration:
            message = f'step "{step.id}" ends after its run'
            at = f"{pointer}/steps/{index}/endMs"
            yield _problem(
                "OUT_OF_RANGE_TIMING", at, message, f"endMs {step.end_ms}", f"at most durationMs {run.duration_ms}"
            )


def _fixture(run: Run, pointer: str) -> Iterator[Problem]:
    if run.mode != "fixture":
        return
    total = sum(nanoseconds(step.end_ms) - nanoseconds(step.start_ms) for step in run.steps)
    if total != nanoseconds(run.duration_ms):
        message = "a fixture run's durationMs is the sum of its steps' durations"
        at = f"{pointer}/durationMs"
        yield _problem("FIXTURE_DURATION", at, message, str(run.duration_ms), str(milliseconds(total)))
