"""Zipkin v2: the JSON of its API and of the exporters that write it.

Every tag is text: numbers and booleans arrive as their text and so they stay; a list arrives as its JSON text.
Exporters put the attributes of the resource among the tags of the span. Those that OpenTelemetry defines for resources
alone (`service.`, `telemetry.`) are taken for the resource's, all others for the span's. The kind INTERNAL arrives only
where the Collector wrote it. Times are microseconds, rounded, with a duration of at least one: spans that touch may
seem to overlap by one. A Zipkin server writes names in small letters. Scope attributes do not arrive.

The value of an annotation is the event's name, or that with its attributes: ``{"name": {…}}`` (SDKs) or
``name|{…}|dropped`` (Collector).

Source of the layout: openzipkin/zipkin-api, zipkin2-api.yaml; OpenTelemetry specification, mapping to Zipkin.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from labadapt.adapters.reading import tags
from labadapt.adapters.reading.nodes import Node
from labadapt.adapters.reading.plain import KINDS, Facts, Keeper, Layout, identifier, parent
from labadapt.adapters.reading.shapes import claims_of
from labadapt.adapters.span import Event, Input, Origin, Reading, Source, Span

_RESOURCE = ("service.", "telemetry.")
_NO_SERVICE = "OTLPResourceNoServiceName"  # what the Collector writes where there is none
_COUNT = re.compile(r"\|\d+\Z")


def decode(item: Input, reading: Reading) -> Iterator[Span]:
    """Every span of the input. Raises `Refusal`."""
    from labadapt.adapters.reading.streams import decoded

    return decoded(item, reading, {"json": LAYOUT.decoder()})


def _spans(document: Node, _keeper: Keeper) -> Iterator[tuple[Node, None]]:
    """The spans of a list, of a list of traces, or the one that stands alone."""
    if isinstance(document.value, dict):
        yield document, None
        return
    for item in document.items():
        for span in item.items() if isinstance(item.value, list) else [item]:
            yield span.object(), None


def _read(span: Node, _context: None, keeper: Keeper) -> Facts:
    made: tags.Tags = {key: (tag.text(), tag.pointer) for key, tag in span.at("tags").members()}
    scope_name, version = tags.scope(made)
    code, message = tags.status(made)
    kind = tags.kind(made) or span.at("kind").one_of(KINDS)
    name, start, duration = span.at("name").text(), span.at("timestamp"), span.at("duration")
    start_ns = start.integer() * 1_000
    end_ns = start_ns + duration.integer() * 1_000 if duration.value is not None else 0
    start_ns, end_ns = keeper.times(name, (start_ns, start), (end_ns, duration))
    return Facts(
        trace_id=identifier(span.at("traceId"), "trace", short=True),
        span_id=identifier(span.at("id"), "span", short=True),
        parent_id=parent(span.at("parentId"), short=True),
        name=name,
        start_ns=start_ns,
        end_ns=end_ns,
        origin=Origin(_resource(span, made, keeper), scope_name, version, {}),
        kind=kind,
        dropped=tags.dropped(made),
        status_code=code,
        status_message=message,
        attributes=[(key, *value) for key, value in made.items()],
        events=tuple(event for note in span.at("annotations").items() for event in _event(note, keeper)),
    )


def _resource(span: Node, made: tags.Tags, keeper: Keeper) -> dict[str, Any]:
    """What belongs to the resource, taken out of the tags; the service's name stands in the endpoint as well."""
    own = {key: made.pop(key) for key in list(made) if key.startswith(_RESOURCE)}
    service = span.at("localEndpoint").at("serviceName")
    if service.text() and service.text() != _NO_SERVICE:
        own.setdefault("service.name", (service.text(), service.pointer))
    return keeper.attributes((key, *value) for key, value in own.items())


def _event(note: Node, keeper: Keeper) -> tuple[Event, ...]:
    value, time = note.at("value"), note.at("timestamp")
    name, attributes = _named(value.text())
    pairs = [(key, inner, value.pointer) for key, inner in attributes.items()]
    return keeper.event(name, time.integer() * 1_000, pairs, time)


def _named(text: str) -> tuple[str, dict[str, Any]]:
    """Name and attributes of an event."""
    count = _COUNT.search(text)
    name, bar, inside = text[: count.start()].partition("|{") if count is not None else ("", "", "")
    if bar and (attributes := _object("{" + inside)) is not None:
        return name, attributes
    whole = _object(text) if text.startswith("{") else None
    if whole is not None and len(whole) == 1:
        alone, inner = next(iter(whole.items()))
        if isinstance(inner, dict):
            return alone, inner
    return text, {}


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


LAYOUT = Layout(
    source="zipkin",
    expected="traceId, id",
    spans=_spans,
    read=_read,
    ids=lambda span: (span.at("traceId"), span.at("id")),
)
SOURCE = Source(
    name="zipkin",
    summary="Zipkin v2: JSON of its API, and of OpenTelemetry's exporters to it.",
    claims=claims_of("zipkin"),
    decode=decode,
    export="zipkin.json",
)
