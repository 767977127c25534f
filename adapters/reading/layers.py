"""What an export is wrapped in: compression, the Collector's framing, byte order marks. Told by content, never
by suffix.

`payloads` yields each protobuf or JSON stream inside an input. Decompression is bounded in size and ratio
(`Limits`), and an archive that stops in the middle is refused with how much of it was whole.
"""

import codecs
import io
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, Literal

from labadapt.adapters.reading import wire
from labadapt.adapters.reading.faults import refusal
from labadapt.adapters.span import Input, Limits
from labadapt.schema.problems import Refusal, Where

HEAD = 65_536
ZSTD = b"\x28\xb5\x2f\xfd"
SKIPPABLE = tuple(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))  # zstd frames without content
GZIP = b"\x1f\x8b"
_CHUNK = 65_536
_ENOUGH = 512  # to tell text from bytes
_WHOLE = 2**20  # a message of this size is read at once, so that one that is cut is told before it is looked into
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_LAYERS = 8
_UTF8_MARK = b"\xef\xbb\xbf"
_ZSTD_CHUNK = 1_024  # one kilobyte of zstd can become 32 MB: fed in small pieces, growth is noticed in time
_WINDOW = 2**27
_BLANK = b" \t\r\n"
_GROUP = frozenset({(1, 2), (2, 2), (3, 2), (1000, 2)})  # the fields of `ResourceSpans`

# First bytes, what the file is, and what to export instead. Read by every source, and by the documentation.
FOREIGN: tuple[tuple[bytes, str, str], ...] = (
    (b"PAR1", "a Parquet file", "Export OTLP from the store that wrote it, or convert its rows to OTLP JSON."),
    (b"ARROW1", "an Arrow file", "Export OTLP from the store that wrote it."),
    (b"PK\x03\x04", "a zip archive", "Unpack it, and give the files inside."),
    (b"SQLite format 3\x00", "an SQLite database", "Export OTLP from the application that owns the database."),
    (b"%PDF", "a PDF document", "Export the trace itself."),
    (b"BZh", "a bzip2 file", "Decompress it, and give the file inside: bunzip2 FILE."),
    (b"\xfd7zXZ\x00", "an xz file", "Decompress it, and give the file inside: unxz FILE."),
    (b"\x04\x22\x4d\x18", "an lz4 file", "Decompress it, and give the file inside: unlz4 FILE."),
    (b"\xff\x06\x00\x00sNaPpY", "a snappy file", "Decompress it, and give the file inside."),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "Unpack it, and give the files inside."),
    (b"Obj\x01", "an Avro file", "Export OTLP from the store that wrote it."),
    (b"ORC", "an ORC file", "Export OTLP from the store that wrote it."),
    (
        b"context.span_id,",
        "a table of spans of Arize Phoenix (CSV)",
        "Ask Phoenix for JSON: its REST API, GET /v1/spans.",
    ),
    (b"<", "markup (HTML or XML)", "That is most likely an error page of a server: look at it, and download again."),
)


@dataclass(frozen=True, slots=True)
class Payload:
    """One stream of protobuf, JSON or lines of text. `offset` is its place in the decompressed input, in bytes."""

    kind: Literal["protobuf", "json", "text"]
    stream: io.BufferedReader
    name: str
    offset: int = 0


class _Chunks(io.RawIOBase):
    """A generator of byte chunks as a raw stream."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int] | bytearray") -> int:  # type: ignore[override] # the stub's buffer is wider
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def buffered(stream: BinaryIO) -> io.BufferedReader:
    """The stream, so that its head can be looked at without being consumed."""
    if isinstance(stream, io.BufferedReader):
        return stream
    return from_chunks(_chunks(stream))


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: stream.read(_CHUNK), b"")


def _with_head(stream: io.BufferedReader) -> tuple[io.BufferedReader, bytes]:
    """The stream, and its first bytes: enough of them even where a pipe or an archive gives only a few at a time."""
    head = stream.peek(HEAD)
    if len(head) >= HEAD:
        return stream, head
    parts: list[bytes] = []
    broken = None
    try:
        while (missing := HEAD - sum(map(len, parts))) > 0 and (part := stream.read1(missing)):
            parts.append(part)
    except Refusal as refusal:
        if not parts:
            raise
        broken = refusal
    head = b"".join(parts)
    return from_chunks(_again(head, broken, stream)), head


def _again(head: bytes, broken: Refusal | None, stream: io.BufferedReader) -> Iterator[bytes]:
    """A stream whose head was taken; what broke behind the head is raised in its place."""
    if head:
        yield head
    if broken is not None:
        raise broken
    yield from _chunks(stream)


def from_chunks(chunks: Iterator[bytes]) -> io.BufferedReader:
    """A stream of the chunks that an iterator gives."""
    return io.BufferedReader(_Chunks(chunks), buffer_size=HEAD)


def payloads(item: Input, limits: Limits, *, text: bool = False) -> Iterator[Payload]:
    """Every stream inside an input, outermost wrapping first; lines of text only where they are asked for.

    Raises `Refusal`: UNSUPPORTED_FORMAT, UNKNOWN_FORMAT, NO_SPANS (empty), BAD_ENCODING, TOO_LARGE.
    """
    for payload in _unwrap(buffered(item.stream), _Inside(item.name, limits)):
        if payload.kind == "text" and not text:
            raise _foreign(payload.stream.peek(HEAD), Where(file=payload.name, offset=payload.offset))
        yield payload


def plain_head(stream: io.BufferedReader, name: str, limits: Limits) -> bytes:
    """The first bytes of the innermost content, for the recognition of its format. Consumes the stream.

    The stream may be the beginning of an input only: what can be told of it counts. Raises `Refusal` if nothing can.
    """
    for payload in _unwrap(stream, _Inside(name, limits)):
        return payload.stream.peek(HEAD)[:HEAD]
    return b""


def is_framed(head: bytes) -> bool:
    """Whether content begins with the length of a message, as the Collector's file exporter writes it.

    A length below 160 MB begins with a byte that nothing else begins with. A longer one is told by what stands behind
    it, and by not being the beginning of protobuf.
    """
    if len(head) <= 4 or head[0] > 0x7F or _magic(head) is not None:
        return False
    if head[0] < 0x0A or head[4:8] == ZSTD:
        return True
    message = head[4:]
    return _begins_group(message) and not _begins_group(head) and not is_json(head)


def _begins_group(head: bytes) -> bool:
    """Whether protobuf of traces begins here: a message whose own fields fit as far as they can be seen."""
    if head[:1] != b"\x0a":
        return False
    try:
        length, start = wire.varint(head, 1, len(head))
        if start + length <= len(head):
            return wire.chains(head, start, start + length, _GROUP)
        tag, _ = wire.varint(head, start, len(head))
    except wire.Cut:
        return False
    return (tag >> 3, tag & 7) in _GROUP


@dataclass(frozen=True, slots=True)
class _Inside:
    """Where a stream stands: in which file, how deep in wrappings, and in which outermost compression."""

    name: str
    limits: Limits
    depth: int = 0
    outermost: "_Growth | None" = None

    def deeper(self, growth: "_Growth | None" = None) -> "_Inside":
        """One wrapping further in."""
        return replace(self, depth=self.depth + 1, outermost=self.outermost or growth)


def _unwrap(stream: io.BufferedReader, inside: _Inside, offset: int = 0) -> Iterator[Payload]:
    name = inside.name
    where = Where(file=name, offset=offset)
    if inside.depth > _MOST_LAYERS:
        raise refusal("TOO_DEEP", f"compression is nested more than {_MOST_LAYERS} times", where)
    stream, head = _with_head(stream)
    if head.startswith(_UTF8_MARK):
        stream.read(len(_UTF8_MARK))
        offset += len(_UTF8_MARK)
        stream, head = _with_head(stream)
    if not head:
        if inside.depth == 0:
            raise refusal("NO_SPANS", "the input is empty", where, found=f"{offset} bytes")
        return
    for magic, unpack in _COMPRESSIONS:
        if head.startswith(magic):
            growth = _Growth(name, inside.limits, inside.outermost)
            yield from _unwrap(from_chunks(unpack(stream, growth)), inside.deeper(growth))
            return
    if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        inner = from_chunks(_utf16(stream, name))
        yield from _unwrap(inner, inside.deeper())
        return
    if is_framed(head):
        yield from _frames(stream, inside)
    elif is_json(head):
        yield Payload("json", stream, name, offset)
    elif is_text(head):  # no protobuf: that has control characters early on, such as the tag of a value
        yield Payload("text", stream, name, offset)
    elif head[0] == 0x0A:
        yield Payload("protobuf", stream, name, offset)
    else:
        raise _foreign(head, where)


def is_json(head: bytes) -> bool:
    """Whether content is JSON by its first bytes.

    A JSON Lines file with an empty first line begins ``0A 7B``, and so does protobuf whose first message has 123
    bytes. It is protobuf where the fields of that message chain exactly to its end, or where a control character
    follows that JSON has none of.
    """
    text = head.lstrip(_BLANK)
    if text[:1] not in {b"{", b"["}:
        return bool(head) and not text  # nothing but blanks so far
    if head[0] != 0x0A:
        return True
    if text[1:].lstrip(_BLANK)[:1] < b" " and text[1:].strip(_BLANK):
        return False
    end = 2 + head[1]  # a blank or a bracket: always a length of one byte
    return len(head) < end or not wire.chains(head, 2, end, _GROUP)


def is_text(head: bytes) -> bool:
    """Whether content is lines of text, such as a log with JSON in it, and of no foreign format."""
    start = head[:_ENOUGH].decode("utf-8", "ignore").encode()  # a character may be cut at the end
    return len(start) > len(head[:_ENOUGH]) - 4 and not _CONTROL.search(start) and _magic(head) is None


def _magic(head: bytes) -> tuple[bytes, str, str] | None:
    """The row of `FOREIGN` that the first bytes are of; a tar archive has its mark further on."""
    if head[257:262] == b"ustar":
        return b"ustar", "a tar archive", "Unpack it, and give the files inside: tar xf FILE."
    return next((row for row in FOREIGN if head.startswith(row[0])), None)


def _foreign(head: bytes, where: Where) -> Exception:
    row = _magic(head)
    if row is not None:
        magic, what, instead = row
        return refusal("UNSUPPORTED_FORMAT", f"this is {what}", where, found=repr(magic), hint=instead)
    shown = head[:16].hex(" ")
    return refusal("UNKNOWN_FORMAT", "the first bytes are of no format that is read", where, found=shown)


def _frames(stream: io.BufferedReader, inside: _Inside) -> Iterator[Payload]:
    """The messages of the Collector's file exporter: each after its length, 4 bytes, big-endian."""
    offset = 0
    while True:
        prefix = stream.read(4)
        if not prefix:
            return
        size = int.from_bytes(prefix, "big")
        where = Where(file=inside.name, offset=offset)
        if len(prefix) < 4:
            raise _broken_frame(where, offset, f"{len(prefix)} bytes where a length of 4 stands")
        if not 0 < size <= inside.limits.max_span * 8:  # the exporter writes no empty message
            raise _broken_frame(where, offset, f"a length of {size}")
        message = _message(stream, size, where)
        inner = from_chunks(message if size > _WHOLE else iter([b"".join(message)]))
        yield from _unwrap(inner, inside.deeper(), offset + 4)
        for _ in message:  # the next length stands behind all of it
            pass
        offset += 4 + size


def _message(stream: io.BufferedReader, size: int, where: Where) -> Iterator[bytes]:
    """One message in pieces. Raises `Refusal` where the file ends within it."""
    left = size
    while left > 0:
        piece = stream.read(min(left, _CHUNK))
        if not piece:
            raise _broken_frame(where, where.offset or 0, f"{size - left} bytes of {size}")
        left -= len(piece)
        yield piece


def _broken_frame(where: Where, whole: int, found: str) -> Exception:
    if whole == 0:
        return refusal(
            "UNKNOWN_FORMAT", "the first bytes are of no format that is read", where, found=f"as a framed file: {found}"
        )
    return refusal(
        "BAD_ENCODING", f"the framed file is cut: its first {whole} bytes are whole", where, found=found, hint=None
    )


def _utf16(stream: io.BufferedReader, name: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")("strict")
    read = 0
    while True:
        begun = read - len(decoder.getstate()[0])
        piece = stream.read(_CHUNK)
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            where = Where(file=name, offset=begun + error.start)
            raise refusal("BAD_ENCODING", f"the UTF-16 text is broken: {error.reason}", where) from None
        if not piece:
            return
        read += len(piece)
        yield text.encode("utf-8")


@dataclass(slots=True)
class _Growth:
    """What went in and came out of a decompressor, held to the limits.

    Within another compression, what comes out is held against what went into the outermost one.
    """

    name: str
    limits: Limits
    outermost: "_Growth | None" = None
    read: int = 0
    written: int = 0

    def grow(self, chunk: bytes) -> bytes:
        self.written += len(chunk)
        read = (self.outermost or self).read
        where = Where(file=self.name, offset=read)
        if self.written > self.limits.max_size:
            raise refusal(
                "TOO_LARGE", f"decompressed, the input exceeds {self.limits.max_size} bytes", where, found="more"
            )
        if self.written > self.limits.ratio_floor and self.written > read * self.limits.ratio:
            message = f"{read} compressed bytes became more than {self.written}"
            raise refusal("TOO_LARGE", message, where, expected=f"at most {self.limits.ratio} times")
        return chunk

    def broken(self, kind: str, why: str) -> Exception:
        message = f"the {kind} data {why}; {self.written} decompressed bytes before it are whole"
        return refusal("BAD_ENCODING", message, Where(file=self.name, offset=self.read))


def _gunzip(stream: io.BufferedReader, growth: _Growth) -> Iterator[bytes]:
    data = b""
    while data := data or stream.read(_CHUNK):
        member = zlib.decompressobj(31)
        while not member.eof:
            if not data:
                raise growth.broken("gzip", "stops before the end of its last member")
            growth.read += len(data)
            try:
                yield growth.grow(member.decompress(data, 2**20))
            except zlib.error:
                raise growth.broken("gzip", "is damaged") from None
            growth.read -= len(member.unconsumed_tail)
            data = member.unconsumed_tail or (b"" if member.eof else stream.read(_CHUNK))
        growth.read -= len(member.unused_data)
        data = member.unused_data
        if data and not data.strip(b"\0"):  # some writers pad with zeros
            data = b""


def _unzstd(stream: io.BufferedReader, growth: _Growth) -> Iterator[bytes]:
    import zstandard

    data = b""
    while data := data or stream.read(_ZSTD_CHUNK):
        frame = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
        while not frame.eof:
            if not data:
                raise growth.broken("zstd", "stops before the end of its last frame")
            growth.read += len(data)
            try:
                yield growth.grow(frame.decompress(data))
            except zstandard.ZstdError:
                raise growth.broken("zstd", "is damaged") from None
            data = b"" if frame.eof else stream.read(_ZSTD_CHUNK)
        growth.read -= len(frame.unused_data)
        data = frame.unused_data


_Unpack = Callable[[io.BufferedReader, _Growth], Iterator[bytes]]
_COMPRESSIONS: tuple[tuple[tuple[bytes, ...], _Unpack], ...] = (((ZSTD, *SKIPPABLE), _unzstd), ((GZIP,), _gunzip))
