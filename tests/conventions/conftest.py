"""Spans written down by hand, recognised by the real tables; and whole exports of them, read by the real reader."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from labadapt.adapters.conversion import Conversion, Options
from labadapt.adapters.convert import convert
from labadapt.adapters.observation import Observation
from labadapt.adapters.recognise import Recogniser
from labadapt.adapters.registry import conventions
from labadapt.adapters.sources.otlp import SOURCE
from labadapt.adapters.span import Convention, Event, Input, Origin, Span
from labadapt.schema.problems import Where

TRACE = "0af7651916cd43dd8448eb211c80319c"
START = 1_790_000_000_000_000_000
See = Callable[..., Observation]


def span_of(  # noqa: PLR0913 - a span has that many parts
    attributes: Mapping[str, Any],
    *,
    name: str = "a span",
    scope: str = "",
    events: Sequence[tuple[str, Mapping[str, Any]]] = (),
    status: int = 0,
    message: str = "",
    dropped: int = 0,
    resource: Mapping[str, Any] | None = None,
    parent: str = "00f067aa0ba902b7",
) -> Span:
    return Span(
        trace_id=TRACE,
        span_id="00f067aa0ba902b8",
        parent_id=parent,
        name=name,
        start_ns=START,
        end_ns=START + 1_000_000,
        origin=Origin(resource or {}, scope, "", {}),
        attributes=attributes,
        events=tuple(Event(event, START, values) for event, values in events),
        status_code=status,
        status_message=message,
        dropped=dropped,
        where=Where(file="made.json"),
    )


@pytest.fixture(scope="session")
def made() -> Callable[..., Span]:
    """One span with these attributes."""
    return span_of


@pytest.fixture(scope="session")
def see() -> See:
    """Recognise one span, by the built-in tables or by those and others."""
    built_in = Recogniser(conventions().admitted())

    def recognised(
        attributes: Mapping[str, Any], *, tables: Sequence[Convention] = (), keep_input: bool = False, **parts: Any
    ) -> Observation:
        recogniser = built_in
        if tables or keep_input:
            recogniser = Recogniser([*conventions().admitted(), *tables], keep_input=keep_input)
        return recogniser.recognise(span_of(attributes, **parts))

    return recognised


def _otlp_value(value: Any) -> dict[str, Any]:
    for kind, key in ((bool, "boolValue"), (int, "intValue"), (float, "doubleValue"), (str, "stringValue")):
        if isinstance(value, kind):
            return {key: value}
    raise TypeError(type(value))


def _otlp_attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _otlp_value(value)} for key, value in values.items()]


class Export:
    """An export in OTLP JSON, a span at a time. Times are milliseconds."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
        self.spans: list[dict[str, Any]] = []

    def span(  # noqa: PLR0913 - a span has that many parts
        self,
        name: str,
        start: int,
        end: int,
        parent: str = "",
        attributes: Mapping[str, Any] | None = None,
        *,
        status: int = 0,
        events: Sequence[tuple[str, Mapping[str, Any]]] = (),
    ) -> str:
        span_id = f"{len(self.spans) + 1:016x}"
        self.spans.append(
            {
                "traceId": TRACE,
                "spanId": span_id,
                "parentSpanId": parent,
                "name": name,
                "startTimeUnixNano": str(START + start * 1_000_000),
                "endTimeUnixNano": str(START + end * 1_000_000),
                "attributes": _otlp_attributes(attributes or {}),
                "status": {"code": status},
                "events": [
                    {
                        "name": event,
                        "timeUnixNano": str(START + end * 1_000_000),
                        "attributes": _otlp_attributes(values),
                    }
                    for event, values in events
                ],
            }
        )
        return span_id

    def convert(self, **options: Any) -> Conversion:
        scoped = {"scope": {"name": self.scope}, "spans": self.spans}
        data = json.dumps({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scoped]}]}).encode()
        chosen = {"case": "a case", "policy": "a policy", **options}
        return convert([Input("made.json", io.BytesIO(data))], SOURCE, Options(now_ns=START + 10**12, **chosen))


@pytest.fixture
def export() -> Callable[[str], Export]:
    return Export
