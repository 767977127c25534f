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
    from labadapt.adapters.reading.faults import refusal
    from labadapt.adapters.reading.layers import payloads
    from labadapt.schema.problems import Where

    before = reading.tally.read
    decoders = {"protobuf": protobuf.decode, "json": otlp_json.decode}
    for payload in payloads(item, reading.limits):
        yield from decoders[payload.kind](payload.stream, payload.name, payload.offset, reading)
    if reading.tally.read == before:
        others = reading.tally.records_aside
        seen = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(others.items()))
        code = "NOT_TRACES" if others else "NO_SPANS"
        message = "the input holds other signals, and no span" if others else "the input holds no span"
        raise refusal(code, message, Where(file=item.name), found=seen or "no record at all")


SOURCE = Source(
    name="otlp",
    summary="OpenTelemetry OTLP: protobuf, JSON, JSON Lines, the Collector's files; gzip and zstd.",
    claims=claims,
    decode=decode,
)
