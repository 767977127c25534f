"""The refusals that sources share."""

from labadapt.adapters.reading.times import likely_unit
from labadapt.schema.problems import Problem, Refusal, Where


def refusal(code: str, message: str, where: Where, **more: str | None) -> Refusal:
    """One problem as a refusal. `more`: found, expected, hint."""
    return Refusal(Problem(code=code, message=message, where=where, **more))


def bad_id(kind: str, found: str, where: Where) -> Refusal:
    """An id that is none. `kind` is trace, span or parent span."""
    size = 16 if kind == "trace" else 8
    return refusal(
        "BAD_ID", f"a {kind} id is not {size} bytes", where, found=found[:80] or "nothing", expected=f"{size} bytes"
    )


def bad_time(name: str, field: str, value: int | str, now_ns: int, where: Where) -> Refusal:
    """A time that cannot be. `name` is the span's, `field` the time's."""
    unit = likely_unit(value, now_ns) if isinstance(value, int) else None
    hint = f"The value would be plausible as {unit}; OTLP times are nanoseconds." if unit else None
    return refusal(
        "BAD_TIME",
        f'span "{name}": {field} is no time between 2000-01-01 and a day from now',
        where,
        found=str(value)[:80],
        expected="nanoseconds since 1970",
        hint=hint,
    )
