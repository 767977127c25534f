"""An observation of Langfuse as the span that it was, with the attributes of Langfuse's own SDK.

Tables, joining and sequencing are then those of every other telemetry, and an export of the same trace through
OpenTelemetry gives the same calls.
"""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from labadapt.adapters.langfuse.answers import text_of
from labadapt.adapters.span import Origin, Span
from labadapt.schema.problems import Problem, Refusal, Where

Row = dict[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
_BARE = Origin({}, "", "", {})
_PREFIX = "langfuse.observation."


def span_of(row: Row, item: Row | None, tools: Collection[str], now_ns: int) -> Span:
    """The span that an observation was. `item`: the experiment item whose root it is.

    `tools` are names of observations that are tool calls, whatever their type says. A time of the server is in whole
    milliseconds. Refused: `BAD_ANSWER`, `BAD_TIME`.
    """
    failed = row.get("level") == "ERROR"
    return Span(
        trace_id=text_of(row, "traceId"),
        span_id=text_of(row, "id"),
        parent_id=row.get("parentObservationId") or "",
        name=row.get("name") or "",
        start_ns=nanoseconds(row, "startTime", now_ns),
        end_ns=nanoseconds(row, "endTime", now_ns) if row.get("endTime") else 0,
        origin=_BARE,
        attributes=dict(_attributes(row, _type(row, item, tools))),
        status_code=2 if failed else 0,
        status_message=(row.get("statusMessage") or "") if failed else "",
    )


def is_tool(row: Row, tools: Collection[str]) -> bool:
    """Whether an observation that is no item's root is a tool call; `tools` are names that are calls anyway."""
    return row.get("name") in tools or text_of(row, "type").lower() == "tool"


def _type(row: Row, item: Row | None, tools: Collection[str]) -> str:
    """The type in the SDK's words; the root of an item is the agent at work, whatever it was recorded as."""
    if item is None and is_tool(row, tools):
        return "tool"
    recorded = text_of(row, "type").lower()
    return "agent" if item is not None and recorded != "generation" else recorded


def _attributes(row: Row, kind: str) -> Iterator[tuple[str, Any]]:
    yield f"{_PREFIX}type", kind
    for name, key in (("input", "input"), ("output", "output"), ("model.name", "model")):
        if (value := row.get(key)) is not None and value != "":
            yield _PREFIX + name, text(value)
    for name, key in (("level", "level"), ("status_message", "statusMessage")):
        if row.get(key):
            yield _PREFIX + name, row[key]
    for name, key in (("usage_details", "usageDetails"), ("cost_details", "costDetails")):
        if row.get(key):
            yield _PREFIX + name, text(row[key])
    metadata = row.get("metadata")
    if call_id := metadata.get("tool_call_id") if isinstance(metadata, dict) else None:
        yield f"{_PREFIX}metadata.tool_call_id", text(call_id)


def text(value: Any) -> str:
    """A value as the SDK writes it into an attribute: text as it stands, all else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def nanoseconds(row: Row, key: str, now_ns: int) -> int:
    """A time of the server as nanoseconds since 1970. Refused: `BAD_ANSWER`, `BAD_TIME`."""
    written = text_of(row, key)
    time = instant(written)
    at = (time - _EPOCH) // timedelta(microseconds=1) * 1000
    if time < _EARLIEST or at > now_ns + 86_400_000_000_000:
        raise Refusal(
            Problem(
                code="BAD_TIME",
                message=f"{key} is no time of a run",
                where=Where(trace_id=row.get("traceId"), span_ids=(str(row.get("id")),)),
                found=written,
                expected="2000-01-01 to a day from now",
            )
        )
    return at


def instant(written: str) -> datetime:
    """A time of the server, which writes UTC. Refused: `BAD_ANSWER`."""
    try:
        time = datetime.fromisoformat(written)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # the years 1 and 9999 have no hour in every zone
        raise Refusal(Problem(code="BAD_ANSWER", message="a time is no ISO 8601 time", found=written)) from None
