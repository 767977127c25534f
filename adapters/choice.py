"""Which source reads an input, by its content alone; never by a file's suffix."""

import io
from collections.abc import Iterable

from labadapt.adapters.reading.layers import HEAD, is_framed, is_text, plain_head
from labadapt.adapters.reading.shapes import console
from labadapt.adapters.span import Input, Limits, Source
from labadapt.schema.problems import Problem, Refusal, Where

_LINES = "Lines of JSON stand behind the first, which is cut or of a log: grep '^{' FILE gives them alone."


def choose(item: Input, among: Iterable[Source], limits: Limits) -> Source:
    """The source that is surest of the first bytes; of equals, the first.

    Looks at the stream without consuming it, so the stream must be one that can `peek`. Each source is asked about the
    bytes as they are, and about those inside a compression or a framing. Raises `Refusal`: `UNSUPPORTED_FORMAT` and
    what else the reader of wrappings says, `UNKNOWN_FORMAT`, or `BAD_PLUGIN` where a source fails on the question.
    """
    raw: bytes = item.stream.peek(HEAD)[:HEAD]  # type: ignore[attr-defined] # BinaryIO has none, BufferedReader does
    inner, refused = _inner(raw, item.name, limits)
    heads = [raw, *inner]
    asked = [(max(_sureness(source, head) for head in heads), source) for source in among]
    surest = max((sureness for sureness, _ in asked), default=0)
    if surest > 0:
        return next(source for sureness, source in asked if sureness == surest)
    named = (console(head, Where(file=item.name, offset=0)) for head in inner)
    raise refused or next(filter(None, named), None) or Refusal(_unknown(item, raw))


def _inner(raw: bytes, name: str, limits: Limits) -> tuple[list[bytes], Refusal | None]:
    """The beginning of what is inside the wrappings, or why it cannot be told from the first bytes."""
    refused = None
    for start in (0, 4) if is_framed(raw) else (0,):  # 4: a framed file whose first message is longer than the head
        try:
            return [plain_head(io.BufferedReader(io.BytesIO(raw[start:]), HEAD), name, limits)], None
        except Refusal as refusal:
            refused = refused or refusal
    return [], refused


def _sureness(source: Source, head: bytes) -> int:
    try:
        return source.claims(head)
    except Exception as error:
        raise Refusal(
            Problem(
                code="BAD_PLUGIN",
                message=f"the source {source.name!r} fails when it is asked about a format: "
                f"{type(error).__name__}: {error}",
            )
        ) from error


def _unknown(item: Input, raw: bytes) -> Problem:
    return Problem(
        code="UNKNOWN_FORMAT",
        message="the first bytes are of no format that is read",
        where=Where(file=item.name, offset=0),
        found=raw[:60].decode("utf-8", "ignore") if is_text(raw) else raw[:16].hex(" ") or "0 bytes",
        hint=_LINES if is_text(raw) and b'\n{"' in raw else None,
    )
