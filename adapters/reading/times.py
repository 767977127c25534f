"""Times as integers of nanoseconds since 1970, and the rule that tells a wrong unit.

A double has a grid of 256 ns at today's epoch, so no time ever goes through one.
"""

import re
from datetime import date

EARLIEST_NS = 946_684_800_000_000_000  # 2000-01-01T00:00:00Z
DAY_NS = 86_400_000_000_000
_UNITS = ((1_000, "microseconds"), (1_000_000, "milliseconds"), (1_000_000_000, "seconds"))
_LONGEST = 40
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))? ?(Z|z|UTC|[+-]\d\d:?\d\d)?", re.ASCII
)
_EPOCH = date(1970, 1, 1).toordinal()


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


def from_iso(text: str) -> int | None:
    """Nanoseconds since 1970 of an ISO 8601 or RFC 3339 time of up to nine decimals; None when it is none.

    A time without a zone is taken for UTC. No double is involved.
    """
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        days = date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        return None
    seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - _offset(match.group(8) or "Z")
    return seconds * 1_000_000_000 + int((match.group(7) or "").ljust(9, "0"))


def _offset(zone: str) -> int:
    """The seconds by which a zone is ahead of UTC."""
    if zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "")
    seconds = int(digits[:2]) * 3_600 + int(digits[2:]) * 60
    return seconds if zone[0] == "+" else -seconds


def has_zone(text: str) -> bool:
    """Whether a time that `from_iso` reads says its zone."""
    match = _ISO.fullmatch(text)
    return match is not None and match.group(8) is not None
