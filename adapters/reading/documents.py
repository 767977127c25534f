"""JSON documents out of a stream: JSON Lines, one document, or several in a row with or without anything between.

Each is decoded by a typed decoder at C speed. Lines are tried first, so that memory is one line. Where a document does
not end with its line, the stream is read on in growing pieces, and what is decoded is let go.
"""

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec
from labadapt.adapters.reading.faults import refusal
from labadapt.adapters.reading.shapes import console
from labadapt.adapters.span import Limits
from labadapt.schema.problems import Refusal, Where

_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_TEXT_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)  # a text may be cut, too
_LOOKED_AT = 1 << 20  # bytes
_MOST_LEVELS = 500  # no document of any source comes near
_AT_BYTE = re.compile(r"\(byte (\d+)\)")
_TRUNCATED = "Input data was truncated"
_PATH = re.compile(r" - at `(.*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_NEXT_LINE = re.compile(rb".?\r?\n(?:[{\[]|\Z)", re.DOTALL)  # after one that was cut
_BLANK = b" \t\r\n"
_PIECE = 2**20
_LONGEST_LINE = 2**26
_LONGEST_TOKEN = 32  # a number may be cut so near the end of a piece that it looks damaged

Decoded = TypeVar("Decoded")
_skip = msgspec.json.Decoder(msgspec.Raw).decode


@dataclass(frozen=True, slots=True)
class Found(Generic[Decoded]):
    """One document: what it was decoded to, its bytes, and its place (line, and byte offset of its first character)."""

    value: Decoded
    text: bytes
    where: Where


class Misshapen(Exception):
    """A document that is JSON and does not fit the types. Never leaves the reading folder."""

    def __init__(self, error: msgspec.ValidationError, text: bytes, where: Where) -> None:
        """Hold the error, and the document for a second look."""
        super().__init__(str(error))
        self.error, self.text, self.where = error, text, where


def documents(
    stream: io.BufferedReader, name: str, offset: int, decode: Callable[[bytes], Decoded], limits: Limits
) -> Iterator[Found[Decoded]]:
    """Each document of the stream. Raises `Refusal`, and `Misshapen` for what is no fault of JSON itself."""
    number, at, largest = 0, offset, limits.max_span * 8
    while line := stream.readline(_LONGEST_LINE):
        number += 1
        text = line.strip(_BLANK)
        if text:
            where = Where(file=name, line=number, offset=at)
            if len(text) > largest:
                raise _too_large(largest, where)
            try:
                value = decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                if not _goes_on(error, text):
                    raise _explained(error, _whole(text, stream), where) from None
                yield from _Row(line, stream, number, at, name, largest).read(decode)
                return
            yield Found(value, text, where)
        at += len(line)


def _goes_on(error: Exception, text: bytes) -> bool:
    """Whether the error may be only that the document has not ended, or that another one follows."""
    if isinstance(error, msgspec.ValidationError) or text[:1] not in {b"{", b"["}:
        return False
    return _is_cut(error, text) or _TRAILING.search(str(error)) is not None


def _is_cut(error: Exception, text: bytes) -> bool:
    if _TRUNCATED in str(error):
        return True
    at = _AT_BYTE.search(str(error))
    return at is not None and int(at.group(1)) >= len(text) - _LONGEST_TOKEN and "number" in str(error)


@dataclass(slots=True)
class _Row:
    """Documents one after the other.

    `data` holds what is read; `at` is the place of its first byte in the file, `line` the line of its byte `counted`.
    """

    data: bytes
    stream: io.BufferedReader
    line: int
    at: int
    name: str
    largest: int
    counted: int = 0

    def read(self, decode: Callable[[bytes], Decoded]) -> Iterator[Found[Decoded]]:
        """Each document, in turn."""
        start = 0
        while True:
            start = _skip_blank(self.data, start)
            if start == len(self.data):
                if not self._more(start):
                    return
                start = 0
                continue
            found = self._next(start, decode)
            if found is None:
                self._more_or_cut(start)
                start = 0
            elif len(found.text) > self.largest:
                raise _too_large(self.largest, found.where)
            else:
                start += len(found.text)
                yield found

    def _next(self, start: int, decode: Callable[[bytes], Decoded]) -> Found[Decoded] | None:
        """The document at a place of the data, or None when it goes on beyond them."""
        where = self._place(start)
        text: Any = memoryview(self.data)[start:]
        try:
            try:
                return Found(decode(text), bytes(text), where)
            except msgspec.DecodeError as error:
                trailing = _TRAILING.search(str(error))
                if trailing is None or isinstance(error, msgspec.ValidationError):
                    raise
            # The decoder counts the first byte that does not belong as read.
            text = self.data[start : start + int(trailing.group(1)) - 1]
            return Found(decode(text), text, where)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            if not isinstance(error, msgspec.ValidationError | RecursionError) and _is_cut(error, text):
                return None
            whole = _whole(bytes(text), self.stream) if isinstance(error, msgspec.ValidationError) else bytes(text)
            raise _explained(error, whole, where) from None

    def _place(self, start: int) -> Where:
        self.line += self.data.count(b"\n", self.counted, start)
        self.counted = start
        return Where(file=self.name, line=self.line, offset=self.at + start)

    def _more(self, start: int) -> bool:
        """Let go what stands before `start`, and read on; false at the end of the stream."""
        self.line += self.data.count(b"\n", self.counted, start)
        self.counted = 0
        self.at += start
        rest = self.data[start:]
        more = self.stream.read(max(_PIECE, 3 * len(rest)))
        self.data = rest + more
        return bool(more)

    def _more_or_cut(self, start: int) -> None:
        where = self._place(start)
        if len(self.data) - start > self.largest:
            raise _too_large(self.largest, where)
        if not self._more(start):
            raise _cut(self.data, where)


def _skip_blank(data: bytes, start: int) -> int:
    while start < len(data) and data[start] in _BLANK:
        start += 1
    return start


def _whole(text: bytes, stream: io.BufferedReader) -> bytes:
    """The one document that begins with `text`, as far as it is worth reading to say what it is."""
    if text[:1] not in {b"{", b"["}:
        return text
    try:
        _skip(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if not isinstance(error, RecursionError) and _is_cut(error, text):
            text += b"\n" + stream.read(_LONGEST_LINE)
    try:
        _skip(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        trailing = _TRAILING.search(str(error))
        return text[: int(trailing.group(1)) - 1] if trailing else text
    return text


def _explained(error: Exception, text: bytes, where: Where) -> Exception:
    if isinstance(error, msgspec.ValidationError):
        return Misshapen(error, text, where)
    if isinstance(error, RecursionError):
        return refusal("TOO_DEEP", "the JSON is nested too deep", where)
    if isinstance(error, UnicodeDecodeError):
        return refusal("BAD_ENCODING", "the text is not UTF-8", where, found=f"byte {error.start} of the document")
    if _TRUNCATED in str(error):
        return _cut(text, where)
    return _not_json(error, text, where)


def _too_large(largest: int, where: Where) -> Refusal:
    return refusal("TOO_LARGE", f"one JSON document exceeds {largest} bytes", where)


def _cut(text: bytes, where: Where) -> Refusal:
    if _is_deep(text):  # where the decoder gives up differs between versions of Python
        return refusal("TOO_DEEP", "the JSON is nested too deep", where)
    message = "the JSON is cut: it stops in the middle of a document"
    return refusal("BAD_ENCODING", message, where, found=f"{len(text)} bytes")


def _is_deep(text: bytes) -> bool:
    """Whether more levels are open than any value may have, as far as it is worth looking."""
    depth = 0
    for found in _TEXT_OR_BRACKET.finditer(text, 0, _LOOKED_AT):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(found[0], 0)
        if depth > _MOST_LEVELS:
            return True
    return False


def _not_json(error: Exception, text: bytes, where: Where) -> Refusal:
    named = console(text, where)
    if named is not None:
        return named
    at = _AT_BYTE.search(str(error))
    byte = int(at.group(1)) if at else _first_bad(text)
    if _NEXT_LINE.match(text, max(0, byte - 1)):
        return _cut(text[:byte], where)
    line = (where.line or 1) + text.count(b"\n", 0, byte)
    placed = Where(file=where.file, line=line, offset=(where.offset or 0) + byte)
    why = str(error).removeprefix("JSON is malformed: ")
    shown = text[max(0, byte - 10) : byte + 30].decode("utf-8", "replace")
    return refusal(
        "BAD_ENCODING", f"this is no JSON document: {why}", placed, found=shown, expected="a JSON document on each line"
    )


def _first_bad(text: bytes) -> int:
    """The place of the first byte that is not UTF-8; 0 where all are."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def path_of(error: msgspec.ValidationError) -> tuple[str, tuple[str | int, ...], str]:
    """The path as the decoder writes it (``$.a[0]``), as steps, and the message without it."""
    text = str(error)
    path = _PATH.search(text)
    if path is None:
        return "$", (), text
    steps: list[str | int] = []
    for key, index in _STEP.findall(path.group(1)):
        steps.append(key or (int(index) if index.isdigit() else index))
    return path.group(1), tuple(steps), _PATH.sub("", text)


def pointer(steps: tuple[str | int, ...]) -> str:
    """Steps as an RFC 6901 JSON pointer."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
