"""The refusals that sources share, and the fault that becomes one where its place is known."""

from labadapt.adapters.reading.times import likely_unit
from labadapt.schema.problems import Problem, Refusal, Where
from msgspec.structs import replace


def refusal(code: str, message: str, where: Where, **more: str | None) -> Refusal:
    """One problem as a refusal. `more`: found, expected, hint."""
    return Refusal(Problem(code=code, message=message, where=where, **more))


class Fault(Exception):
    """Something wrong inside one span, found where its place in the file is not at hand. Never leaves this folder.

    `pointer` is the JSON pointer within the span, empty for protobuf and for the span itself; `more`: found, expected,
    hint.
    """

    def __init__(self, code: str, message: str, pointer: str = "", **more: str | None) -> None:
        """Hold what a `Problem` says, without its place."""
        super().__init__(message)
        self.code, self.message, self.pointer, self.more = code, message, pointer, more

    def at(self, where: Where) -> Refusal:
        """The refusal at the place of the span."""
        if where.pointer is not None:
            where = replace(where, pointer=where.pointer + self.pointer)
        return refusal(self.code, self.message, where, **self.more)


def bad_id(kind: str, found: str, pointer: str = "") -> Fault:
    """An id that is none. `kind` is trace, span or parent span."""
    size = 16 if kind == "trace" else 8
    message = f"a {kind} id is all zero" if found and not found.strip("0") else f"a {kind} id is not {size} bytes"
    return Fault("BAD_ID", message, pointer, found=found[:80] or "nothing", expected=f"{size} bytes")


def bad_time(name: str, field: str, value: int | str, now_ns: int, pointer: str = "") -> Fault:
    """A time that cannot be. `name` is the span's, `field` the time's."""
    unit = likely_unit(value, now_ns) if isinstance(value, int) else None
    return Fault(
        "BAD_TIME",
        f'span "{name[:80]}": {field} is no time between 2000-01-01 and a day from now',
        pointer,
        found=str(value)[:80],
        expected="nanoseconds since 1970",
        hint=f"The value would be plausible as {unit}; OTLP times are nanoseconds." if unit else None,
    )


def stands_twice(key: str, pointer: str = "") -> Fault:
    """An attribute that has two values. The same value twice is taken once."""
    return Fault("BAD_FIELD", f'attribute "{key[:80]}" stands twice, with different values', pointer)
