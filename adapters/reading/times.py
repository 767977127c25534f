"""Times as integers of nanoseconds since 1970, and the rule that tells a wrong unit.

A double has a grid of 256 ns at today's epoch, so no time ever goes through one.
"""

EARLIEST_NS = 946_684_800_000_000_000  # 2000-01-01T00:00:00Z
DAY_NS = 86_400_000_000_000
_UNITS = ((1_000, "microseconds"), (1_000_000, "milliseconds"), (1_000_000_000, "seconds"))
_LONGEST = 40


def plausible(time_ns: int, now_ns: int) -> bool:
    """Whether a time lies between 2000-01-01 and a day from now."""
    return EARLIEST_NS <= time_ns <= now_ns + DAY_NS


def likely_unit(value: int, now_ns: int) -> str | None:
    """The unit that would make the value a plausible time, if there is one."""
    for factor, unit in _UNITS:
        if plausible(value * factor, now_ns):
            return unit
    return "picoseconds" if plausible(value // 1_000, now_ns) else None


def integer(value: int | str | None) -> int | None:
    """A whole number written as a number or as decimal text; None when it is neither. Absent and null are 0."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    if len(value) <= _LONGEST and value.isascii() and value.removeprefix("-").isdigit():
        return int(value)
    return None
