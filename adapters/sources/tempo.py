"""Grafana Tempo: answers of its API for one trace, version 1 (`batches`) and 2 (`trace`), as JSON and as protobuf.

All that OTLP carries arrives; ids are base64 and enums names in JSON. An answer that says of itself that it is partial
is refused: which spans are missing is not in it.

Source of the layout: grafana/tempo, pkg/tempopb/tempo.proto (`Trace`, `TraceByIDResponse`).
"""

import io
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from labadapt.adapters.reading import wire
from labadapt.adapters.reading.faults import refusal
from labadapt.adapters.reading.shapes import claims_of
from labadapt.adapters.span import Input, Reading, Source, Span
from labadapt.schema.problems import Refusal, Where
from msgspec.structs import replace

_SURE = 95
_TRACE, _STATUS, _MESSAGE = 1, 3, 4  # fields of TraceByIDResponse
_PARTIAL = 1
_MESSAGE_TAG = 0x0A  # field 1, a message


def claims(head: bytes) -> int:
    """How sure the first bytes are an answer of Tempo that is no plain OTLP."""
    from labadapt.adapters.reading.layers import is_json

    if is_json(head):
        return claims_of("tempo")(head)
    return _SURE if _is_answer(head) else 0


def decode(item: Input, reading: Reading) -> Iterator[Span]:
    """Every span of the input. Raises `Refusal`."""
    from labadapt.adapters.reading.streams import decoded

    return decoded(item, reading, {"json": _json, "protobuf": _protobuf})


def _partial(where: Where, message: str) -> Refusal:
    return refusal(
        "PARTIAL_TRACE",
        f"Tempo says that the trace is partial: {message[:200] or 'without saying why'}",
        where,
        found="status PARTIAL",
        expected="status COMPLETE",
        hint="Raise max_bytes_per_trace in Tempo (overrides, global), and ask again.",
    )


# -- JSON --------------------------------------------------------------------------------------------------------------


def _json(stream: io.BufferedReader, name: str, offset: int, reading: Reading) -> Iterator[Span]:
    from labadapt.adapters.reading.otlp_json import Dialect, ResourceSpans, decode_as, placed
    from labadapt.adapters.reading.shapes import refuse_other

    class Trace(msgspec.Struct, rename="camel"):
        resource_spans: list[ResourceSpans] | None = None
        batches: list[ResourceSpans] | None = None

    class Answer(Trace, rename="camel"):
        trace: Trace | None = None
        status: str | int | None = None
        message: str | None = None

    def groups(found: Any, _reading: Reading) -> Iterable[tuple[ResourceSpans, str]]:
        answer = found.value
        if str(answer.status).upper().endswith("PARTIAL") or answer.status == _PARTIAL:
            raise _partial(replace(found.where, pointer="/status"), answer.message or "")
        if answer.trace is None and answer.batches is None:
            refuse_other(found.text, found.where, "tempo", "batches or trace")
        inner = answer.trace or Trace()
        yield from placed(answer.batches, "/batches")
        yield from placed(inner.resource_spans, "/trace/resourceSpans")
        yield from placed(inner.batches, "/trace/batches")

    return decode_as(Dialect(msgspec.json.Decoder(Answer).decode, groups), stream, name, offset, reading)


# -- protobuf ----------------------------------------------------------------------------------------------------------


def _protobuf(stream: io.BufferedReader, name: str, offset: int, reading: Reading) -> Iterator[Span]:
    """Version 2 wraps the trace; version 1 is OTLP byte for byte."""
    from labadapt.adapters.reading import protobuf
    from labadapt.adapters.reading.layers import HEAD, buffered

    if not _is_answer(stream.peek(HEAD)[:HEAD]):
        yield from protobuf.decode(stream, name, offset, reading)
        return
    answer = stream.read(reading.limits.max_span * 8)
    for start, end in _traces(answer, Where(file=name, offset=offset)):
        yield from protobuf.decode(buffered(io.BytesIO(answer[start:end])), name, offset + start, reading)


def _traces(answer: bytes, where: Where) -> list[tuple[int, int]]:
    """The places of the traces in an answer. Raises `Refusal` for one that is partial or cut."""
    try:
        fields = list(wire.fields(answer))
    except wire.Cut as cut:
        raise refusal("BAD_ENCODING", "the answer of Tempo is cut", where, found=str(cut)) from None
    status = [
        wire.varint(answer, first, last)[0] for number, kind, first, last in fields if (number, kind) == (_STATUS, 0)
    ]
    if _PARTIAL in status[-1:]:
        messages = [answer[first:last] for number, kind, first, last in fields if (number, kind) == (_MESSAGE, 2)]
        raise _partial(where, b"".join(messages[-1:]).decode("utf-8", "replace"))
    return [(first, last) for number, kind, first, last in fields if (number, kind) == (_TRACE, 2)]


def _is_answer(head: bytes) -> bool:
    """Whether the first bytes are of a wrapped trace: a message whose field 1 is a `ResourceSpans` and no `Resource`.

    A `Resource` has no message as its field 2; a `ResourceSpans` has its scopes there.
    """
    try:
        outer = next(_begun(head, 0, len(head)), None)
        inner = next(_begun(head, outer[2], outer[3]), None) if outer and outer[:2] == (1, 2) else None
        if inner is None or inner[:2] != (1, 2):
            return False
        return any(found[:2] == (2, 2) for found in _begun(head, inner[2], inner[3]))
    except wire.Cut:
        return False


def _begun(head: bytes, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """The fields that begin between two places, as far as the head goes: number, wire type, place of the content."""
    at = start
    while at < min(end, len(head)):
        tag, first = wire.varint(head, at, len(head))
        kind, at = tag & 7, first
        if kind == 2:
            length, first = wire.varint(head, first, len(head))
            at = first + length
        elif kind == 0:
            _, at = wire.varint(head, first, len(head))
        else:
            return
        yield tag >> 3, kind, first, at


SOURCE = Source(
    name="tempo",
    summary="Grafana Tempo: answers of its API for a trace, JSON and protobuf, versions 1 and 2.",
    claims=claims,
    decode=decode,
    export="tempo.json",
)
