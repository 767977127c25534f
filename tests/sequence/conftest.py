import itertools
from collections.abc import Callable
from typing import Any

import pytest
from labadapt.adapters.conversion import Conversion, Options
from labadapt.adapters.convert import assemble
from labadapt.adapters.observation import Call, Observation, Proposal
from labadapt.adapters.span import Tally
from labadapt.schema.model import Run, Usage
from labadapt.schema.problems import Where

START = 1_790_000_000_000_000_000  # 2026-09-21T14:13:20Z
MS = 1_000_000


class Record:
    """A trace written down by hand. Times are milliseconds since `START`; every call returns the span's id."""

    def __init__(self, trace: int = 1) -> None:
        self.trace_id = f"{trace:032x}"
        self.spans: list[Observation] = []
        self.numbers = itertools.count(trace * 1000)

    def add(self, role: str, start: float, end: float, parent: str = "", **parts: Any) -> str:
        span_id = parts.pop("span_id", None) or f"{next(self.numbers):016x}"
        parts = {"scope": "test", "name": role, **parts}
        parts.setdefault("where", Where(file="trace.pb"))
        times = {"start_ns": START + round(start * MS), "end_ns": START + round(end * MS) if end else 0}
        self.spans.append(
            Observation(trace_id=self.trace_id, span_id=span_id, parent_id=parent, role=role, **times, **parts)
        )
        return span_id

    def root(self, end: float = 100, **parts: Any) -> str:
        return self.add("agent", 0, end, **{"case_id": (0, "a case"), "policy": (0, "a policy"), **parts})

    def tool(self, start: float, end: float, parent: str = "", tool: str = "query", **parts: Any) -> str:
        names = (
            "call_id",
            "arguments",
            "result",
            "status",
            "error_type",
            "error_message",
            "operation",
            "lab",
            "fields",
        )
        call = {name: parts.pop(name) for name in (*names, "call_conventions") if name in parts}
        call["conventions"] = call.pop("call_conventions", ())
        return self.add("tool", start, end, parent, call=Call(tool=tool, **call), **parts)

    def model(self, start: float, end: float, parent: str, *offers: tuple[str, str, Any], **parts: Any) -> str:
        proposals = tuple(Proposal(tool, call_id, args, place) for place, (tool, call_id, args) in enumerate(offers))
        usage = parts.pop("usage", None)
        if usage:
            parts["usage"] = Usage(**usage)
        return self.add("model", start, end, parent, proposals=proposals, **parts)

    def convert(self, *others: "Record", **options: Any) -> Conversion:
        return convert_spans([span for record in (self, *others) for span in record.spans], **options)

    def run(self, **options: Any) -> Run:
        conversion = self.convert(**options)
        assert [problem.code for refused in conversion.refused for problem in refused.problems] == []
        (run,) = conversion.runs
        return run

    def refused(self, **options: Any) -> list[str]:
        """The codes of the refused runs, and the sum of spans checked."""
        return [problem.code for refused in self.convert(**options).refused for problem in refused.problems]


def convert_spans(spans: list[Observation], **options: Any) -> Conversion:
    traces: dict[str, list[Observation]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    tally = Tally(read=len(spans))
    conversion = assemble(traces, Options(now_ns=START, version="1.2.3", **options), tally, "otlp")
    assert tally.read == tally.used + sum(tally.aside.values()), tally
    return conversion


@pytest.fixture
def record() -> Record:
    return Record()


@pytest.fixture(scope="session")
def new_record() -> Callable[..., Record]:
    return Record


@pytest.fixture(scope="session")
def convert_all() -> Callable[..., Conversion]:
    return convert_spans
