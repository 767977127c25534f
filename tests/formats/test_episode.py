"""One episode in every format gives the spans of its OTLP original, but for what the format cannot carry."""

import calendar
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from labadapt.adapters.span import Span, Tally, Wanted

Read = Callable[..., tuple[list[Span], Tally]]
PYDANTIC = "producers/pydantic-ai@2.68.0-v5/02_timeout_recovered.pb"
INFERENCE = "producers/langchain-openinference@0.1.80/02_timeout_recovered.pb"
MLFLOW = "producers/mlflow-tracing@3.17.2/02_timeout_recovered.pb"


@dataclass(frozen=True)
class Losses:
    """What a format does not carry. `unit` of times in ns, `rounded` up or down; `texts`: attributes are text."""

    unit: int = 1
    rounded: bool = False
    difference: bool = False  # the end is the start and a duration, each in units
    double: bool = False  # times go through a double of seconds, as the exporter's `ns_to_iso_str` does
    texts: bool = False
    scope: bool = False
    resource: bool = False
    kind: bool = False
    internal_kind: bool = False


@dataclass(frozen=True)
class Case:
    name: str
    source: str
    original: str
    losses: Losses = Losses()

    @property
    def path(self) -> str:
        return f"formats/{self.name}"


CASES = [
    Case("protojson.json", "protojson", PYDANTIC),
    Case("go-structs.json", "protojson", PYDANTIC),
    Case("tempo-1.json", "tempo", PYDANTIC),
    Case("tempo-2.json", "tempo", PYDANTIC),
    Case("tempo-2.pb", "tempo", PYDANTIC),
    Case("jaeger-3.json", "jaeger", PYDANTIC),
    Case("java-logging.log", "java-logging", PYDANTIC),
    Case("go-stdout.txt", "go-stdout", PYDANTIC),
    Case("jaeger-1.json", "jaeger", PYDANTIC, Losses(unit=1_000, difference=True)),
    Case("zipkin-collector.json", "zipkin", PYDANTIC, Losses(unit=1_000, rounded=True, difference=True, texts=True)),
    Case(
        "zipkin-python.json",
        "zipkin",
        PYDANTIC,
        Losses(unit=1_000, rounded=True, difference=True, texts=True, internal_kind=True),
    ),
    Case("python-console.txt", "python-console", PYDANTIC, Losses(double=True, scope=True)),
    Case("clickhouse.jsonl", "clickhouse", PYDANTIC, Losses(texts=True)),
    Case("clickhouse-old.json", "clickhouse", PYDANTIC, Losses(texts=True)),
    Case("phoenix.json", "phoenix", INFERENCE, Losses(unit=1_000, scope=True, resource=True, kind=True)),
    Case("phoenix-otlp.json", "phoenix", INFERENCE, Losses(unit=1_000, scope=True, resource=True, kind=True)),
    Case("mlflow-3.json", "mlflow", MLFLOW, Losses(scope=True, resource=True, kind=True)),
    Case("mlflow-2.json", "mlflow", MLFLOW, Losses(scope=True, resource=True, kind=True)),
]
every = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def text(value: Any) -> Any:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def lossy(span: Span, losses: Losses) -> list[Any]:
    """What is left of a span."""

    def time(time_ns: int) -> int:
        if losses.double:
            moment = datetime.fromtimestamp(time_ns / 1e9, UTC)
            return calendar.timegm(moment.timetuple()) * 1_000_000_000 + moment.microsecond * 1_000
        return (time_ns + losses.unit // 2 * losses.rounded) // losses.unit * losses.unit

    def attributes(given: Any) -> dict[str, Any]:
        return {key: text(value) for key, value in given.items()} if losses.texts else dict(given)

    start = time(span.start_ns)
    end = start + time(span.end_ns - span.start_ns) if losses.difference else time(span.end_ns)
    kind = 0 if losses.kind or (losses.internal_kind and span.kind == 1) else span.kind
    return [
        span.trace_id, span.span_id, span.parent_id, span.name, start, end, kind, span.status_code, span.status_message,
        attributes(span.attributes),
        [(event.name, time(event.time_ns), attributes(event.attributes)) for event in span.events],
        {} if losses.resource else attributes(span.origin.resource),
        ("", "") if losses.scope else (span.origin.scope_name, span.origin.scope_version),
    ]  # fmt: skip


def whole(span: Span) -> list[Any]:
    return lossy(span, Losses())


@every
def test_the_spans_are_those_of_the_original(read_with: Read, sample: Callable[[str], bytes], case: Case) -> None:
    spans, tally = read_with(case.source, sample(case.path))
    expected, _ = read_with("otlp", sample(case.original))
    assert len(spans) == tally.read == len(expected) == (11 if case.original == INFERENCE else 6)
    by_id = {span.span_id: span for span in spans}
    for span in expected:
        assert whole(by_id[span.span_id]) == lossy(span, case.losses)


@every
def test_the_source_is_told_by_the_content(
    chosen_for: Callable[[bytes], str], sample: Callable[[str], bytes], case: Case
) -> None:
    data = sample(case.path)
    assert chosen_for(data) == case.source
    assert chosen_for(gzip.compress(data)) == case.source
    assert chosen_for(b"\xef\xbb\xbf" + data) == case.source or case.name.endswith(".pb")
    assert chosen_for(data[:3_000]) == case.source
    assert chosen_for(sample(case.original)) == "otlp"


@every
def test_a_json_document_may_be_laid_out_in_any_way(
    read_with: Read, sample: Callable[[str], bytes], case: Case
) -> None:
    if not case.name.endswith(".json"):
        pytest.skip("no single document")
    document = json.loads(sample(case.path))
    expected = [whole(span) for span in read_with(case.source, sample(case.path))[0]]
    for layout in ({"indent": 4}, {"separators": (",", ":")}, {"ensure_ascii": False, "sort_keys": True}):
        data = json.dumps(document, **layout).encode()
        assert [whole(span) for span in read_with(case.source, data)[0]] == expected
        assert [whole(span) for span in read_with(case.source, data + b"\n\n" + data)[0]] == expected * 2


@every
def test_only_what_is_wanted_is_kept(read_with: Read, sample: Callable[[str], bytes], case: Case) -> None:
    wanted = Wanted(keys=frozenset({"gen_ai.tool.name", "service.name", "tool.name", "mlflow.spanType"}))
    spans, _ = read_with(case.source, sample(case.path), wanted)
    kept = {key for span in spans for key in (*span.attributes, *span.origin.resource)}
    assert kept <= wanted.keys
    assert kept - {"service.name"}
    assert not any(span.events for span in spans)


@pytest.mark.parametrize(
    ("name", "result"),
    [("jaeger-1.json", 412.5), ("go-stdout.txt", 412.5), ("clickhouse.jsonl", 412.5), ("zipkin-python.json", 412.5)],
)
def test_a_tool_call_keeps_what_it_returned(
    read_with: Read, sample: Callable[[str], bytes], name: str, result: float
) -> None:
    case = next(case for case in CASES if case.name == name)
    span = next(s for s in read_with(case.source, sample(case.path))[0] if s.span_id == "60c87072f47324cf")
    assert span.name == "execute_tool query_metric"
    assert span.trace_id == "22213a3c89ccc40f6112c839220a875a"
    assert span.parent_id == "f41da0050c269485"
    assert json.loads(span.attributes["gen_ai.tool.call.result"])["value"] == result


def test_the_error_of_a_tool_arrives_with_its_event(read_with: Read, sample: Callable[[str], bytes]) -> None:
    for case in CASES:
        if case.original == PYDANTIC:
            spans, _tally = read_with(case.source, sample(case.path))
            failed = next(span for span in spans if span.span_id == "0e7fd6d8028bcb28")
            assert failed.status_code == 2
            assert [event.name for event in failed.events] == ["exception"]
            assert failed.events[0].attributes["exception.message"] == "query_metric timed out after 5.0 s"


def test_log_lines_around_the_spans_are_counted(read_with: Read, sample: Callable[[str], bytes]) -> None:
    _, tally = read_with("java-logging", sample("formats/java-logging.log"))
    assert tally.records_aside == {"log line": 5}
