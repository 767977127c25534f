"""OpenTelemetry for Java, logging exporter: lines of a log in which the JSON of a `ResourceSpans` stands.

`OtlpJsonLoggingSpanExporter` logs ``{"resource":…,"scopeSpans":…}`` without a wrapper, one line for each resource, and
the logger puts its own words before it, or on a line of its own. Lines in which no such JSON begins are counted and
left aside. All that OTLP carries arrives.

Source of the layout: opentelemetry-java, exporters/logging-otlp.
"""

import io
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from labadapt.adapters.reading.shapes import claims_of
from labadapt.adapters.span import Input, Reading, Source, Span

_START = re.compile(rb'\{\s*"(?:resource|scope)(?:Spans|Logs|Metrics)?"\s*:')
_RESOURCE = re.compile(rb'\{\s*"resource"\s*:')
_SCOPES = re.compile(rb'"scopeSpans"\s*:')
_JSON = re.compile(rb"\s*(?:\{|\[\s*[{\[])")
_LONGEST = 2**26
_SURE = 95


def claims(head: bytes) -> int:
    """How sure the first bytes are such a log: certain, where a line of it shows the JSON."""
    return claims_of("java-logging")(head) or (_SURE if any(map(_holds_group, head.splitlines())) else 0)


def _holds_group(line: bytes) -> bool:
    """Whether the JSON of a group stands in a line behind words of a logger; in time that grows with the line alone."""
    start = _RESOURCE.search(line)
    return start is not None and not _JSON.match(line) and _SCOPES.search(line, start.end()) is not None


def decode(item: Input, reading: Reading) -> Iterator[Span]:
    """Every span of the input. Raises `Refusal`."""
    from labadapt.adapters.reading.streams import decoded

    return decoded(item, reading, {"json": _decode, "text": _decode})


def _decode(stream: io.BufferedReader, name: str, offset: int, reading: Reading) -> Iterator[Span]:
    from labadapt.adapters.reading.layers import from_chunks
    from labadapt.adapters.reading.otlp_json import Dialect, ResourceOther, ResourceSpans, decode_as

    class Line(ResourceOther, rename="camel"):
        """What one line holds: the groups of a signal, bare or in a wrapper."""

        resource: msgspec.Raw = msgspec.Raw(b"null")
        scope_spans: msgspec.Raw = msgspec.Raw(b"null")
        resource_spans: list[ResourceSpans] | None = None

    group_of = msgspec.json.Decoder(ResourceSpans).decode

    def line_of(text: bytes) -> tuple[Line, ResourceSpans]:
        return one(text), group_of(text)

    def groups(found: Any, _reading: Reading) -> Iterator[tuple[ResourceSpans, str]]:
        line, group = found.value
        _count(line, reading)
        if group.scope_spans is not None:
            yield group, ""
        for number, wrapped in enumerate(line.resource_spans or ()):
            yield wrapped, f"/resourceSpans/{number}"

    one = msgspec.json.Decoder(Line).decode
    cleared = from_chunks(_cleared(stream, reading))
    return decode_as(Dialect(line_of, groups), cleared, name, offset, reading)


def _count(line: Any, reading: Reading) -> None:
    """Count the records of other signals."""
    for scoped in line.scope_logs or ():
        reading.tally.leave_records("log record", len(scoped.log_records or ()))
    for scoped in line.scope_metrics or ():
        reading.tally.leave_records("metric", len(scoped.metrics or ()))


def _cleared(stream: io.BufferedReader, reading: Reading) -> Iterator[bytes]:
    """The lines with blanks for all that stands before the JSON, so that places stay what they are."""
    while line := stream.readline(_LONGEST):
        start = _START.search(line)
        if start is None:
            if line.strip():
                reading.tally.leave_records("log line")
            yield b" " * (len(line) - 1) + (b"\n" if line.endswith(b"\n") else b" ")
        else:
            yield b" " * start.start() + line[start.start() :]


SOURCE = Source(
    name="java-logging",
    summary="OpenTelemetry for Java: what its JSON logging exporter writes into a log.",
    claims=claims,
    decode=decode,
    export="app.log",
)
