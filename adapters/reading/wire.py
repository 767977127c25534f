"""The wire format of protobuf, walked by hand: where a parser only says that something is wrong.

Source of the format: protobuf documentation, "Encoding".
"""

from collections.abc import Iterator


class Cut(ValueError):
    """Bytes that are no sequence of protobuf fields. Never leaves the reading folder."""


def varint(raw: bytes, at: int, end: int) -> tuple[int, int]:
    """The number at a place, and the place after it. Raises `Cut`."""
    value = 0
    for size in range(10):
        if at + size >= end:
            break
        byte = raw[at + size]
        value |= (byte & 0x7F) << (7 * size)
        if byte < 0x80:
            return value, at + size + 1
    raise Cut("a number is cut")


def fields(raw: bytes, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int, int, int]]:
    """Each field between two places: its number, wire type, and the places of its content. Raises `Cut`."""
    at, end = start, len(raw) if end is None else end
    while at < end:
        tag, at = varint(raw, at, end)
        kind, first = tag & 7, at
        if kind == 0:
            _, at = varint(raw, at, end)
        elif kind == 1:
            at += 8
        elif kind == 2:
            length, first = varint(raw, at, end)
            at = first + length
        elif kind == 5:
            at += 4
        elif kind > 5:
            raise Cut(f"wire type {kind}")
        # 3 and 4 open and close a group, a form that traces never had: stepped into, as parsers step over it
        if at > end or not tag >> 3:
            raise Cut("a field is cut")
        yield tag >> 3, kind, first, at


def chains(raw: bytes, start: int, end: int, allowed: frozenset[tuple[int, int]]) -> bool:
    """Whether fields of the allowed (number, wire type) follow each other exactly from one place to another."""
    try:
        return all((number, kind) in allowed for number, kind, _, _ in fields(raw, start, end))
    except Cut:
        return False
