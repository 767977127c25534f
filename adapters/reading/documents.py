"""JSON documents out of a stream: JSON Lines, one document, or several in a row.

Each is decoded by a typed decoder at C speed. Lines are tried first, so that memory is one line; what does not end
with its line is read on to the end.
"""

import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from labadapt.adapters.reading.faults import refusal
from labadapt.adapters.span import Limits
from labadapt.schema.problems import Where

_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_AT_BYTE = re.compile(r"\(byte (\d+)\)")
_TRUNCATED = "Input data was truncated"
_PATH = re.compile(r" - at `(.*)`$", re.DOTALL)
_BLANK = b" \t\r\n"


def documents(
    stream: io.BufferedReader, name: str, offset: int, decode: Callable[[bytes], Any], limits: Limits
) -> Iterator[tuple[Any, Where]]:
    """Each decoded document with its place (line and byte offset of its first character). Raises `Refusal`."""
    line_number = 0
    at = offset
    largest = limits.max_span * 8
    while line := stream.readline(largest):
        line_number += 1
        text = line.strip(_BLANK)
        if text:
            where = Where(file=name, line=line_number, offset=at)
            try:
                yield decode(text), where
            except RecursionError:
                raise refusal("TOO_DEEP", "the JSON is nested too deep", where) from None
            except msgspec.ValidationError as error:
                raise wrong_shape(error, where) from None
            except msgspec.DecodeError as error:
                if not _goes_on(error, text):
                    raise _not_json(error, text, where) from None
                yield from _rest(line, stream, where, decode, largest)
                return
            except UnicodeDecodeError as error:
                raise _bad_utf8(error, where) from None
        at += len(line)


def _goes_on(error: msgspec.DecodeError, text: bytes) -> bool:
    return text[:1] in {b"{", b"["} and (_TRUNCATED in str(error) or _TRAILING.search(str(error)) is not None)


def _rest(
    line: bytes, stream: io.BufferedReader, where: Where, decode: Callable[[bytes], Any], largest: int
) -> Iterator[tuple[Any, Where]]:
    rest = stream.read(largest + 1)
    if len(rest) > largest:
        raise refusal("TOO_LARGE", f"one JSON document exceeds {largest} bytes", where)
    data = line + rest
    view = memoryview(data)
    start = _skip_blank(data, 0)
    while start < len(data):
        place = _within(data, start, where)
        try:
            value, size = _first(view[start:], decode, place)
        except RecursionError:
            raise refusal("TOO_DEEP", "the JSON is nested too deep", place) from None
        except msgspec.ValidationError as error:
            raise wrong_shape(error, place) from None
        except msgspec.DecodeError as error:
            raise _not_json(error, data[start:], place) from None
        except UnicodeDecodeError as error:
            raise _bad_utf8(error, place) from None
        yield value, place
        start = _skip_blank(data, start + size)


def _first(view: memoryview, decode: Callable[[Any], Any], where: Where) -> tuple[Any, int]:
    """The document at the start of `view`, and its length in bytes."""
    try:
        return decode(view), len(view)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        trailing = _TRAILING.search(str(error))
        if trailing is None:
            raise
    size = int(trailing.group(1)) - 1  # the decoder counts the first byte that does not belong as read
    if size <= 0:
        raise refusal("BAD_ENCODING", "this is no JSON document", where)
    return decode(view[:size]), size


def _skip_blank(data: bytes, start: int) -> int:
    while start < len(data) and data[start] in _BLANK:
        start += 1
    return start


def _within(data: bytes, start: int, where: Where) -> Where:
    line = (where.line or 1) + data.count(b"\n", 0, start)
    return Where(file=where.file, line=line, offset=(where.offset or 0) + start)


def wrong_shape(error: msgspec.ValidationError, where: Where) -> Exception:
    """The refusal of a document whose fields have another type or shape, with the JSON path."""
    text = str(error)
    path = _PATH.search(text)
    message = _PATH.sub("", text)
    pointer = path.group(1) if path else "$"
    placed = Where(file=where.file, line=where.line, offset=where.offset, pointer=pointer)
    hint = None
    if pointer.endswith(("attributes", "values")) and "`array`" in message:
        hint = 'OTLP attributes are a list: [{"key": …, "value": {"stringValue": …}}].'
    return refusal("BAD_FIELD", f"{pointer}: {message}", placed, hint=hint)


def _not_json(error: msgspec.DecodeError, text: bytes, where: Where) -> Exception:
    at = _AT_BYTE.search(str(error))
    offset = (where.offset or 0) + (int(at.group(1)) if at else 0)
    placed = Where(file=where.file, line=where.line, offset=offset)
    if _TRUNCATED in str(error):
        return refusal(
            "BAD_ENCODING", "the JSON is cut: it stops in the middle of a document", placed, found=f"{len(text)} bytes"
        )
    shown = text[:40].decode("utf-8", "replace")
    return refusal(
        "BAD_ENCODING", "this is no JSON document", placed, found=shown, expected="a JSON document on each line"
    )


def _bad_utf8(error: UnicodeDecodeError, where: Where) -> Exception:
    return refusal("BAD_ENCODING", "the text is not UTF-8", where, found=f"byte {error.start} of the document")
