"""A run that passes, and the engine as a test asks it: every run is valid, and every pointer leads somewhere."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from labadapt.engine.check import check_run
from labadapt.schema.model import Run
from labadapt.schema.result import RunResult
from labadapt.schema.validate import validate

Json = dict[str, Any]
Checked = Callable[[Json], RunResult]


@pytest.fixture
def step() -> Callable[..., Json]:
    """Give the step at a place of the run: ten milliseconds long, an ok read without arguments and result."""

    def make(number: int, tool: str = "query_metric", **fields: Any) -> Json:
        made = {"id": f"s{number}", "tool": tool, "operation": "read", "status": "ok"}
        return made | {"startMs": number * 10, "endMs": number * 10 + 10} | fields

    return make


@pytest.fixture
def run(step: Callable[..., Json]) -> Json:
    """Give a recorded run that passes every check; a test changes what it is about."""
    question = {"metric": "latency_ms", "window": "last hour"}
    result = {**question, "rows": 60, "value": 412.5, "source": "prometheus"}
    return {
        "caseId": "case",
        "policy": "v1",
        "mode": "recorded",
        "durationMs": 120,
        "request": {"tool": "query_metric", "operation": "read", **question},
        "contract": {"disposition": "answer", "maxCalls": 2},
        "steps": [step(1, arguments=dict(question), result=result)],
        "output": {"disposition": "answer", "value": 412.5, "evidence": ["s1"]},
    }


@pytest.fixture
def checked() -> Checked:
    """Check a run given as JSON."""

    def check(run: Json) -> RunResult:
        data = json.dumps({"schemaVersion": 1, "runs": [run]}).encode()
        assert [problem.message for problem in validate(data)] == []
        result = check_run(msgspec.convert(run, Run))
        for pointer in (pointer for one in result.checks for pointer in one.evidence):
            resolve(run, pointer)
        return result

    return check


def resolve(document: Any, pointer: str) -> Any:
    """Give what an RFC 6901 pointer leads to."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


@pytest.fixture
def told(checked: Checked) -> Callable[[Json, str], Json | None]:
    """Give one check of a run, as it stands in a result file; nothing where it is not listed."""

    def one(run: Json, identifier: str) -> Json | None:
        found = [msgspec.to_builtins(check) for check in checked(run).checks if check.id == identifier]
        return found[0] if found else None

    return one


@pytest.fixture
def verdict(told: Callable[[Json, str], Json | None]) -> Callable[[Json, str], str | None]:
    """Give the verdict of one check of a run."""

    def one(run: Json, identifier: str) -> str | None:
        found = told(run, identifier)
        return None if found is None else found["verdict"]

    return one
