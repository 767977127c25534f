"""OTLP: protobuf and JSON, as the Collector's file exporter, an SDK, or a store writes them, in any wrapping."""

from collections.abc import Iterator

from labadapt.adapters.span import Input, Reading, Source, Span


def claims(head: bytes) -> int:
    """How sure the first bytes (of the innermost content) are OTLP."""
    from labadapt.adapters.reading.layers import is_json

    if is_json(head):
        return 90 if b'"resourceSpans"' in head[:4096] else 5
    return 50 if head[:1] == b"\x0a" else 0


def decode(item: Input, reading: Reading) -> Iterator[Span]:
    """Every span of the input. Raises `Refusal`; a non-empty input without a span is one, which names what was seen."""
    from labadapt.adapters.reading import otlp_json, protobuf
    from labadapt.adapters.reading.streams import decoded

    return decoded(item, reading, {"protobuf": protobuf.decode, "json": otlp_json.decode})


SOURCE = Source(
    name="otlp",
    summary="OpenTelemetry OTLP: protobuf, JSON, JSON Lines, the Collector's files; gzip and zstd.",
    claims=claims,
    decode=decode,
    export="traces.pb",
)
