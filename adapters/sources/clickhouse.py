"""ClickHouse: rows of the table that the OpenTelemetry Collector's ClickHouse exporter fills.

Read are the formats JSONEachRow (one row a line), JSON (`meta`, `data`), and a list of rows. Every attribute of a `Map`
column is text: numbers and booleans arrive as their text and so they stay, lists and maps as their JSON text. A column
of the type JSON keeps types, and its nested objects are the parts of dotted keys. Times of a `DateTime64` column carry
no zone unless the query asks for one: they are read as UTC, which a note says. `Duration` is unsigned: a span that ends
before it starts wraps to about 2^64. Scope attributes, and the counts of what was dropped, are not stored.

Source of the layout: opentelemetry-collector-contrib, exporter/clickhouseexporter; ClickHouse documentation, formats.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from labadapt.adapters.reading import tags
from labadapt.adapters.reading.nodes import Node
from labadapt.adapters.reading.plain import CODES, KINDS, Facts, Keeper, Layout, identifier, members, parent, signed
from labadapt.adapters.reading.shapes import claims_of
from labadapt.adapters.reading.times import from_iso, has_zone
from labadapt.adapters.span import Event, Input, Origin, Reading, Source, Span

_NOTE = "ClickHouse times carry no zone and are read as UTC"
_EVENTS = ("Events.Timestamp", "Events.Name", "Events.Attributes")


def decode(item: Input, reading: Reading) -> Iterator[Span]:
    """Every span of the input. Raises `Refusal`."""
    from labadapt.adapters.reading.streams import decoded

    return decoded(item, reading, {"json": LAYOUT.decoder()})


def _spans(document: Node, keeper: Keeper) -> Iterator[tuple[Node, None]]:
    is_row = isinstance(document.value, dict) and "data" not in document.value
    rows = document.at("data") if isinstance(document.value, dict) else document
    for row in [document] if is_row else rows.items():
        if not has_zone(str(row.object().at("Timestamp").value)):
            keeper.reading.tally.note(_NOTE)
        yield row, None


def _read(row: Node, _context: None, keeper: Keeper) -> Facts:
    made: tags.Tags = {key: (value, pointer) for key, value, pointer in _attributes(row.at("SpanAttributes"))}
    origin = _origin(row, made, keeper)
    name, start, duration = row.at("SpanName").text(), row.at("Timestamp"), row.at("Duration")
    start_ns = _time(start)
    start_ns, end_ns = keeper.times(name, (start_ns, start), (start_ns + signed(duration.integer()), duration))
    return Facts(
        trace_id=identifier(row.at("TraceId"), "trace"),
        span_id=identifier(row.at("SpanId"), "span"),
        parent_id=parent(row.at("ParentSpanId")),
        name=name,
        start_ns=start_ns,
        end_ns=end_ns,
        origin=origin,
        kind=row.at("SpanKind").one_of(KINDS, "SPAN_KIND_"),
        status_code=row.at("StatusCode").one_of(CODES, "STATUS_CODE_"),
        status_message=row.at("StatusMessage").text(),
        attributes=[(key, *value) for key, value in made.items()],
        events=tuple(event for parts in _events(row) for event in _event(*parts, keeper)),
    )


def _origin(row: Node, made: tags.Tags, keeper: Keeper) -> Origin:
    """The scope stands in columns of its own; old versions of the exporter put it among the attributes."""
    resource = keeper.attributes(_attributes(row.at("ResourceAttributes")))
    name, version = row.at("ScopeName").text(), row.at("ScopeVersion").text()
    if row.at("ScopeName").value is None:
        name, version = tags.scope(made)
    return Origin(resource, name, version, {})


def _time(node: Node) -> int:
    """A `DateTime64`, in any of the writings that ClickHouse has for it. Raises `Fault`."""
    text = str(node.value) if isinstance(node.value, int) and not isinstance(node.value, bool) else node.text()
    time_ns = from_iso(text)
    if time_ns is None:
        whole, _, decimals = text.partition(".")
        if not (whole + decimals).isdigit() or not text.isascii() or len(whole) > 12 or len(decimals) > 9:
            raise node.fault("a time such as 2026-12-01 09:00:00.000000000", "BAD_TIME")
        time_ns = int(whole) * 1_000_000_000 + int(decimals.ljust(9, "0"))
    return time_ns


def _attributes(column: Node) -> Iterator[tuple[str, Any, str]]:
    """The attributes of a column, with dotted keys out of nested objects; a column may hold its JSON as text."""
    if isinstance(column.value, str):
        column = Node(_parsed(column), column.pointer)
    for key, value, pointer in members(column):
        if isinstance(value, dict) and value:
            for inner, content, place in _attributes(Node(value, pointer)):
                yield f"{key}.{inner}", content, place
        else:
            yield key, value, pointer


def _parsed(column: Node) -> Any:
    try:
        return msgspec.json.decode(column.text())
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise column.fault("an object of attributes") from None


def _events(row: Node) -> Iterator[tuple[Node, Node, Node]]:
    """Time, name and attributes of each event, from three columns or from one. Raises `Fault`."""
    nested = row.at("Events")
    if nested.value is not None:
        yield from ((item.at("Timestamp"), item.at("Name"), item.at("Attributes")) for item in nested.items())
        return
    columns = [row.at(key).items() for key in _EVENTS]
    if len({len(column) for column in columns}) > 1:
        raise row.at(_EVENTS[0]).fault("as long as the other columns of events")
    yield from zip(*columns, strict=True)


def _event(time: Node, name: Node, attributes: Node, keeper: Keeper) -> tuple[Event, ...]:
    return keeper.event(name.text(), _time(time), _attributes(attributes), time)


LAYOUT = Layout(
    source="clickhouse",
    expected="TraceId, SpanAttributes",
    spans=_spans,
    read=_read,
    ids=lambda row: (row.at("TraceId"), row.at("SpanId")),
)
SOURCE = Source(
    name="clickhouse",
    summary="ClickHouse: rows of the Collector's exporter, as JSONEachRow or JSON.",
    claims=claims_of("clickhouse"),
    decode=decode,
    export="otel_traces.jsonl",
)
