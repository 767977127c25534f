"""JSON values with their place, each read with its type held to what the format says."""

from typing import Any

from labadapt.adapters.reading.faults import Fault
from labadapt.adapters.reading.times import integer

_SHOWN = 60
_LONGEST = 160  # characters of a pointer within a sentence


class Node:
    """A JSON value that was decoded, and its JSON pointer in the document. Absent and null are alike here."""

    __slots__ = ("pointer", "value")

    def __init__(self, value: Any, pointer: str = "") -> None:
        """Hold the value."""
        self.value, self.pointer = value, pointer

    def at(self, key: str) -> "Node":
        """The member of a key; nothing stands there where this is no object."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return Node(value, f"{self.pointer}/{escaped(key)}")

    def first(self, *keys: str) -> "Node":
        """The member of the first of the keys at which something stands."""
        found = [self.at(key) for key in keys]
        return next((node for node in found if node.value is not None), found[0])

    def items(self) -> list["Node"]:
        """The items of a list. Raises `Fault` for what is none."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            raise self.fault("a list")
        return [Node(item, f"{self.pointer}/{number}") for number, item in enumerate(self.value)]

    def members(self) -> list[tuple[str, "Node"]]:
        """The keys and members of an object. Raises `Fault` for what is none."""
        if self.value is None:
            return []
        if not isinstance(self.value, dict):
            raise self.fault("an object")
        return [(key, Node(value, f"{self.pointer}/{escaped(key)}")) for key, value in self.value.items()]

    def object(self) -> "Node":
        """This, which is an object. Raises `Fault` for what is none."""
        if not isinstance(self.value, dict):
            raise self.fault("an object")
        return self

    def text(self) -> str:
        """The text; empty where nothing stands. Raises `Fault` for anything else."""
        if self.value is None:
            return ""
        if not isinstance(self.value, str):
            raise self.fault("text")
        return self.value

    def integer(self) -> int:
        """The whole number, written as a number or as decimal text; 0 where nothing stands. Raises `Fault`."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | str | None):
            raise self.fault("a whole number")
        number = integer(self.value)
        if number is None:
            raise self.fault("a whole number")
        return number

    def number(self) -> float:
        """The number as a double. Raises `Fault` for what is none, or what no double can hold."""
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            raise self.fault("a number")
        try:
            return float(self.value)
        except OverflowError:
            raise self.fault("a number that a double can hold") from None

    def count(self) -> int:
        """A count of 32 bits. Raises `Fault`."""
        number = self.integer()
        if not 0 <= number < 2**32:
            raise self.fault("a count of 32 bits")
        return number

    def one_of(self, names: dict[str, int], prefix: str = "") -> int:
        """The number of a name, whatever its case and with or without a prefix; 0 for none. Raises `Fault`."""
        name = self.text().upper().removeprefix(prefix)
        if name and name not in names:
            raise self.fault("one of " + ", ".join(names))
        return names[name] if name else 0

    def fault(self, expected: str, code: str = "BAD_FIELD") -> Fault:
        """What is wrong here: something else was expected."""
        shown = repr(self.value) if not isinstance(self.value, str) else self.value
        place = self.pointer if len(self.pointer) <= _LONGEST else "…" + self.pointer[-_LONGEST:]
        return Fault(code, f"{place or 'the document'} is not {expected}", self.pointer, found=shown[:_SHOWN])


def escaped(key: str) -> str:
    """A key as a step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
