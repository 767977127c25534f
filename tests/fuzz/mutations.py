"""Ways in which exports break, each a function of bytes and a random generator. Shared by hypothesis and the fuzzer.

They work on bytes, not on documents, so that one can be applied to what another has left.
"""

import gzip
import re
import struct
from collections.abc import Callable
from random import Random
from typing import TypeAlias

import zstandard
from labadapt.adapters.reading import wire

Mutation: TypeAlias = Callable[[bytes, Random], bytes]

STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"')
NUMBER = re.compile(rb"(?<![\w\"])-?\d+(?:\.\d+)?(?![\w\"])")
MEMBER = re.compile(rb'"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+|true|false|null)')
VALUE = re.compile(rb'(?<=[:\[,])\s*("(?:[^"\\]|\\.)*"|-?\d+|true|false|null)(?=\s*[,\]}])')
IDENTIFIER = re.compile(rb'"(?:0x)?(?:[0-9a-fA-F]{16}|[0-9a-fA-F]{32}|[A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{11}=)"')
TIME = re.compile(rb"1[67]\d{8,17}|20\d\d-\d\d-\d\d[T ][\d:.]+")

BAD_TEXT = (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80", b"\xfe\xff")
SURROGATES = (b"\\ud800", b"\\udfff", b"\\ud800\\ud800", b"\\udc00\\ud800", b"\\u0000", b"\\ud83d\\ude00")
CONTROLS = (b"\x1b[2J", b"\\u001b]0;x\\u0007", b"\xc2\x9b31m", b"\xe2\x80\xae", b"\\u202e", b"\\n", b"\x7f", b"\\u2028")
NUMBERS = (
    b"0", b"-0", b"-1", b"1.5", b"1e999", b"-1e999", b"1e-999", b"18446744073709551616", b"9223372036854775808",
    b"-9223372036854775809", b"9" * 400, b"1" * 5000, b"NaN", b"Infinity", b"1E+2", b"00", b"2147483648", b"0.1e1",
)  # fmt: skip
VALUES = (
    b"null",
    b"true",
    b"{}",
    b"[]",
    b'""',
    b'"x"',
    b"[[]]",
    b"[null]",
    b"[{}]",
    b'{"":""}',
    b'"NaN"',
    b'"{"',
    b'"0"',
    b'{"Value":null}',
    b'{"values":[]}',
    b'"2026-13-41T99:99:99Z"',
    b'"9999-12-31T23:59:59.999999999Z"',
    b'"0001-01-01"',
)
IDENTIFIERS = (
    b'""',
    b'"0"',
    b'"0000000000000000"',
    b'"' + b"0" * 32 + b'"',
    b'"abc"',
    b'"' + b"a" * 31 + b'"',
    b'"' + b"g" * 16 + b'"',
    b'"0x"',
    b'"' + b"a" * 24 + b'"',
    b'"AAAAAAAAAAA="',
    b'" a a a a a a a a"',
    b'"' + b"\xd9\xa0" * 8 + b'"',
    b'"========"',
)
DEPTHS = (2, 31, 33, 99, 101, 300, 600, 5_000)


def _spot(data: bytes, random: Random) -> int:
    return random.randint(0, len(data))


def _at(data: bytes, at: int, new: bytes, gone: int = 0) -> bytes:
    return data[:at] + new + data[at + gone :]


def _one_of(pattern: re.Pattern[bytes], data: bytes, random: Random) -> tuple[int, int] | None:
    """The place of one match, found from a random place on: fast in large files, and random enough."""
    match = pattern.search(data, random.randrange(len(data) + 1)) or pattern.search(data)
    return match.span() if match else None


def _replaced(pattern: re.Pattern[bytes], choices: tuple[bytes, ...]) -> Mutation:
    def mutate(data: bytes, random: Random) -> bytes:
        place = _one_of(pattern, data, random)
        return _at(data, place[0], random.choice(choices), place[1] - place[0]) if place else data

    return mutate


def _in_text(choices: tuple[bytes, ...]) -> Mutation:
    """Within a JSON string; within any bytes where there is none."""

    def mutate(data: bytes, random: Random) -> bytes:
        place = _one_of(STRING, data, random)
        at = random.randint(place[0] + 1, place[1] - 1) if place else _spot(data, random)
        return _at(data, at, random.choice(choices))

    return mutate


def cut(data: bytes, random: Random) -> bytes:
    return data[: _spot(data, random)]


def cut_front(data: bytes, random: Random) -> bytes:
    return data[_spot(data, random) :]


def flip(data: bytes, random: Random) -> bytes:
    if not data:
        return data
    at = random.randrange(len(data))
    return _at(data, at, bytes([data[at] ^ (1 << random.randrange(8))]), 1)


def any_byte(data: bytes, random: Random) -> bytes:
    return _at(data, _spot(data, random), random.randbytes(random.randint(1, 4)), random.randint(0, 4))


def splice(data: bytes, random: Random) -> bytes:
    """A piece of the same file somewhere else."""
    start = _spot(data, random)
    return _at(data, _spot(data, random), data[start : start + random.randint(1, 400)], random.choice((0, 0, 30)))


def hole(data: bytes, random: Random) -> bytes:
    """A disk that lost a sector: zeros in the place of content."""
    size = random.choice((1, 16, 512, 4096))
    at = _spot(data, random)
    return _at(data, at, bytes(len(data[at : at + size])), size)


def drop(data: bytes, random: Random) -> bytes:
    return _at(data, _spot(data, random), b"", random.choice((1, 8, 100, 4096)))


def twice(data: bytes, random: Random) -> bytes:
    return data + random.choice((b"", b"\n", b"\r\n\r\n", b",", b"\0")) + data


def nest(data: bytes, random: Random) -> bytes:
    """A value within many lists, objects, or values of OTLP."""
    depth = random.choice(DEPTHS)
    before, after = random.choice(
        (
            (b"[", b"]"),
            (b'{"a":', b"}"),
            (b'{"arrayValue":{"values":[', b"]}}"),
            (b'{"kvlistValue":{"values":[{"value":', b"}]}}"),
        )
    )
    place = _one_of(VALUE, data, random)
    if place is None:
        return before * depth + data
    return data[: place[0]] + before * depth + data[place[0] : place[1]] + after * depth + data[place[1] :]


def duplicate_key(data: bytes, random: Random) -> bytes:
    place = _one_of(MEMBER, data, random)
    if place is None:
        return data
    member = data[place[0] : place[1]]
    new = member[: member.index(b":") + 1] + random.choice(VALUES) if random.random() < 0.5 else member
    return _at(data, place[0], new + b",")


def line_between(data: bytes, random: Random) -> bytes:
    """A line of a log among those of the export."""
    line = random.choice((b"INFO started\n", b'{"level":"info"}\n', b"\n\n", b"\x1b[32mok\x1b[0m\n", b"[1]\n", b"5\n"))
    at = data.find(b"\n", _spot(data, random)) + 1
    return _at(data, at, line)


def field_changed(data: bytes, random: Random) -> bytes:
    """A field of protobuf, at any depth, dropped, doubled, cut, or under another tag."""
    places = _fields(data, random)
    if not places:
        return data
    start, first, end = random.choice(places)
    content = data[first:end]
    new = random.choice(
        (
            b"",
            data[start:end] * 2,
            data[start:first] + content[: len(content) // 2],
            random.randbytes(1) + data[start + 1 : end],
        )
    )
    return data[:start] + new + data[end:]


def field_nested(data: bytes, random: Random) -> bytes:
    """The whole within a field of another message, many times."""
    for _ in range(random.choice((1, 2, 60, 120))):
        data = bytes([random.choice((0x0A, 0x0A, 0x12, 0x1A, 0x2A, 0x32))]) + _varint(len(data)) + data
    return data


def length_changed(data: bytes, random: Random) -> bytes:
    places = _fields(data, random)
    if not places:
        return data
    start, first, _ = random.choice(places)
    length = random.choice((0, 1, 127, 128, 2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1))
    return data[: start + 1] + _varint(length) + data[first:]


def _fields(data: bytes, random: Random) -> list[tuple[int, int, int]]:
    """Tag, content and end of the fields on one way down through the messages."""
    found: list[tuple[int, int, int]] = []
    start, end = 0, len(data)
    for _ in range(7):
        level = []
        before = start
        try:
            for _, kind, first, last in wire.fields(data, start, end):
                level.append((before, first, last, kind))
                before = last
        except wire.Cut:
            pass
        found += [(tag, first, last) for tag, first, last, _ in level]
        inner = [(first, last) for _, first, last, kind in level if kind == 2 and last > first]
        if not inner:
            break
        start, end = random.choice(inner)
    return found


def _varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def gzipped(data: bytes, random: Random) -> bytes:
    half = len(data) // 2
    parts = random.choice(([data], [data[:half], data[half:]], [b"", data, b""]))
    return b"".join(gzip.compress(part, 1) for part in parts)


def zstandardised(data: bytes, random: Random) -> bytes:
    half = len(data) // 2
    parts = random.choice(([data], [data[:half], data[half:]], [b"", data]))
    skipped = random.choice((b"", b"\x50\x2a\x4d\x18\x03\0\0\0abc"))
    return skipped + b"".join(map(_zstd, parts))


def _zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=1).compress(data)


def framed(data: bytes, random: Random) -> bytes:
    """As the Collector's file exporter frames its messages."""
    messages = random.choice(
        ([data], [data, data], [zstandard.ZstdCompressor(level=1).compress(data), data], [data, b""])
    )
    return b"".join(struct.pack(">I", len(message)) + message for message in messages)


def utf16(data: bytes, random: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return random.choice((b"\xff\xfe" + text.encode("utf-16-le"), b"\xfe\xff" + text.encode("utf-16-be")))


def marked(data: bytes, random: Random) -> bytes:
    return random.choice((b"\xef\xbb\xbf", b"\n", b" ", b"\xff\xfe", b"\0")) + data


MUTATIONS: dict[str, Mutation] = {
    function.__name__: function
    for function in (
        cut, cut_front, flip, any_byte, splice, hole, drop, twice, nest, duplicate_key, line_between, field_changed,
        field_nested, length_changed, gzipped, zstandardised, framed, utf16, marked,
    )
}  # fmt: skip
MUTATIONS |= {
    "bad text": _in_text(BAD_TEXT),
    "half a pair": _in_text(SURROGATES),
    "control": _in_text(CONTROLS),
    "number": _replaced(NUMBER, NUMBERS),
    "number for a value": _replaced(VALUE, NUMBERS),
    "value": _replaced(VALUE, VALUES),
    "identifier": _replaced(IDENTIFIER, IDENTIFIERS),
    "time": _replaced(
        TIME, (b"0", b"1796000000", b"1796000000000", b"99999999999999999999", b"2026-02-30T00:00:00Z", b"x")
    ),
}


def mutated(data: bytes, names: list[str], seed: int) -> bytes:
    """The bytes after each of the mutations in turn; the same for the same names and seed."""
    random = Random(seed)  # noqa: S311 - reproducible, not secret
    for name in names:
        data = MUTATIONS[name](data, random)
    return data
