"""Attributes as they stand in protobuf: each a `KeyValue`, of which only what is wanted is decoded.

Keys are compared as bytes, with the tag and the length around them, so that no text is made of those that nobody
wants. The same key with the same value twice is one attribute; with two values it is refused.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from labadapt.adapters.reading import wire
from labadapt.adapters.reading.faults import Fault, stands_twice
from labadapt.adapters.reading.values import MAX_DEPTH, deeper, from_protobuf, same
from labadapt.adapters.span import Wanted

_MOST_NAMES = 65_536
_MOST_PAIRS = 4_096
_SHORT = 64  # short pairs recur: names of tools, operations and models, counts
_IMMUTABLE = frozenset({str, int, bool, float})
_DEEP = 4 * MAX_DEPTH  # shorter than this, nothing can be nested too deep


_Decoded: TypeAlias = tuple[str | None, Any]
_UNWANTED: _Decoded = (None, None)


def is_wanted(key: str, wanted: Wanted) -> bool:
    """Whether an attribute is to be materialised."""
    return wanted.everything or key in wanted.keys or key.startswith(wanted.prefixes)


class _Names(dict[bytes, str | None]):
    """Of each beginning of a pair (tag, length, key, tag of the value) the key; None for one that is not wanted."""

    def __init__(self, wanted: Wanted) -> None:
        super().__init__()
        self.wanted = wanted

    def __missing__(self, head: bytes) -> str | None:
        if len(head) < 3 or head[0] != 0x0A or head[1] != len(head) - 3 or head[1] > 0x7F or head[-1] != 0x12:
            raise IndexError  # not in the order and with the lengths that every exporter writes
        key = _text(head[2:-1])
        name = key if is_wanted(key, self.wanted) else None
        if len(self) >= _MOST_NAMES:
            self.clear()
        self[head] = name
        return name


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Fault("BAD_ENCODING", "the key of an attribute is not UTF-8", found=repr(raw[:40])) from None


class Pairs:
    """The reader of attribute lists for what is wanted."""

    def __init__(self, wanted: Wanted) -> None:
        """Prepare for the keys that are wanted."""
        self._names = _Names(wanted)
        self._wanted = wanted
        self._memory: dict[bytes, _Decoded] = {}

    def read(self, pairs: Iterable[bytes]) -> dict[str, Any]:
        """The wanted attributes of a list of serialised `KeyValue`. Raises `Fault`."""
        remembered = self._memory.get
        kept: dict[str, Any] = {}
        for pair in pairs:
            found = remembered(pair) if len(pair) < _SHORT else None
            key, value = found or self._decoded(pair)
            if key is not None:
                if key in kept and not same(kept[key], value):
                    raise stands_twice(key)
                kept[key] = value
        return kept

    def pass_over(self, pairs: Iterable[bytes]) -> None:
        """Look at pairs that nobody wants only for their depth. Raises `Fault`."""
        for pair in pairs:
            if len(pair) > _DEEP:
                _check_depth(pair)

    def _decoded(self, pair: bytes) -> _Decoded:
        """Key and value of a pair; no key where it is not wanted."""
        try:
            at = pair[1] + 3
            key = self._names[pair[:at]]
            size, first = len(pair) - at, pair[at]
            # Nearly every value is a text of less than 16 KB, its length in one or two bytes: read here, in place.
            if key is None:
                if size > _DEEP:
                    self._pass_over(pair)
                return _UNWANTED
            if (
                132 < size < 0x4000
                and pair[at + 2] == 0x0A
                and pair[at + 3] > 0x7F < first
                and first + (pair[at + 1] << 7) == size + 0x7E
                and pair[at + 3] + (pair[at + 4] << 7) == size + 0x7B
            ):
                return key, pair[at + 5 :].decode()
            if first != size - 1 or size > 0x80:
                return self._walked(pair)
            if pair[at + 1] == 0x0A and pair[at + 2] == size - 3:
                value: Any = pair[at + 3 :].decode()
            else:
                value = _short(pair[at + 1 :], key)
        except (IndexError, UnicodeDecodeError):  # said more exactly by walking
            return self._walked(pair)
        if len(pair) < _SHORT and type(value) in _IMMUTABLE:
            self._remember(pair, (key, value))
        return key, value

    def _remember(self, pair: bytes, decoded: _Decoded) -> None:
        if len(self._memory) >= _MOST_PAIRS:
            self._memory.clear()
        self._memory[pair] = decoded

    def _walked(self, pair: bytes) -> _Decoded:
        """The same however the pair is written."""
        key, value = "", b""
        try:
            for number, kind, first, last in wire.fields(pair):
                if (number, kind) == (1, 2):
                    key = _text(pair[first:last])
                elif (number, kind) == (2, 2):
                    value = pair[first:last]
        except wire.Cut as cut:
            raise Fault("BAD_ENCODING", f"an attribute is damaged: {cut}") from None
        try:
            if is_wanted(key, self._wanted):
                return key, from_protobuf(value)
            if deeper(value):
                from_protobuf(value)
        except Fault as fault:
            raise of_attribute(key, fault) from None
        return _UNWANTED

    def _pass_over(self, pair: bytes) -> None:
        """Look at a long value that nobody wants only for its depth: both encodings hold it to the same limit."""
        at = pair[1] + 3
        while pair[at] > 0x7F:
            at += 1
        if pair[at + 1] in b"\x2a\x32":
            self._walked(pair)


def _check_depth(pair: bytes) -> None:
    """Refuse a pair whose value is nested too deep; whatever else is wrong with it matters to nobody."""
    key = b""
    try:
        for number, kind, first, last in wire.fields(pair):
            if (number, kind) == (1, 2):
                key = pair[first:last]
            elif (number, kind) == (2, 2) and deeper(pair[first:last]):
                _any(pair[first:last], key.decode("utf-8", "replace"))
    except wire.Cut:
        pass


def _short(raw: bytes, key: str) -> Any:
    """The value of a serialised `AnyValue` of less than 128 bytes that is no plain text."""
    if len(raw) == 2 and raw[1] < 0x80 and raw[0] in {0x10, 0x18}:
        return raw[1] if raw[0] == 0x18 else raw[1] != 0
    if len(raw) == 3 and raw[0] == 0x18 and raw[1] > 0x7F > raw[2]:
        return raw[1] + (raw[2] << 7) - 0x80
    return _any(raw, key)


def _any(raw: bytes, key: str) -> Any:
    try:
        return from_protobuf(raw)
    except Fault as fault:
        raise of_attribute(key, fault) from None


def of_attribute(key: str, fault: Fault, pointer: str = "") -> Fault:
    """The fault of a value as that of its attribute."""
    message = f'the value of attribute "{key[:80]}" cannot be read: {fault.message}'
    return Fault(fault.code, message, pointer + fault.pointer, **fault.more)
