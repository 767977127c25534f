"""The loop that sources share: every stream of an input by its decoder, and an error where no span came of it."""

import io
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from labadapt.adapters.reading.faults import refusal
from labadapt.adapters.reading.layers import Payload, payloads
from labadapt.adapters.span import Input, Reading, Span
from labadapt.schema.problems import Refusal, Where

_SIGNALS = ("log record", "metric", "profile")
StreamDecoder: TypeAlias = Callable[[io.BufferedReader, str, int, Reading], Iterator[Span]]


def decoded(item: Input, reading: Reading, decoders: Mapping[str, StreamDecoder]) -> Iterator[Span]:
    """Every span of an input. `decoders`: by kind of payload (protobuf, json, text).

    Raises `Refusal`; a non-empty input without a span is one, which names what was seen.
    """
    before, others = reading.tally.read, dict(reading.tally.records_aside)
    for payload in payloads(item, reading.limits, text="text" in decoders):
        decoder = decoders.get(payload.kind)
        if decoder is None:
            raise _other_kind(payload, decoders)
        yield from decoder(payload.stream, payload.name, payload.offset, reading)
    if reading.tally.read == before:
        raise _nothing(item.name, reading, others)


def _other_kind(payload: Payload, decoders: Mapping[str, StreamDecoder]) -> Refusal:
    return refusal(
        "UNKNOWN_FORMAT",
        f"this is {payload.kind}, which this source does not read",
        Where(file=payload.name, offset=payload.offset),
        expected=" or ".join(sorted(decoders)),
        hint="`labadapt convert FILE` recognises each file by its content.",
    )


def _nothing(name: str, reading: Reading, before: Mapping[str, int]) -> Refusal:
    """What the input holds instead; other records of the inputs `before` it are not its own."""
    counts = reading.tally.records_aside.items()
    others = {kind: count - before.get(kind, 0) for kind, count in counts if count > before.get(kind, 0)}
    seen = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(others.items()))
    signals = any(kind in others for kind in _SIGNALS)
    code = "NOT_TRACES" if signals else "NO_SPANS"
    message = "the input holds other signals, and no span" if signals else "the input holds no span"
    return refusal(code, message, Where(file=name), found=seen or "no record at all")
