"""The real command, run as a user runs it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def labadapt(tmp_path: Path) -> Command:
    """Run ``labadapt`` in an empty folder and give its output and exit status."""

    def run(*arguments: str | Path, given: str | bytes = b"", cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "labadapt", *map(str, arguments)]
        data = given.encode() if isinstance(given, str) else given
        done = subprocess.run(command, input=data, cwd=cwd, capture_output=True, check=False, timeout=60)
        return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def environment() -> dict[str, str]:
    """The environment for a command that a test starts by itself."""
    return {**os.environ, "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def run() -> dict[str, object]:
    """A recorded run that passes every check; a test changes what it is about."""
    question = {"metric": "latency_ms", "window": "2026-11-30T00:00:00Z/PT1H"}
    return {
        "caseId": "supported",
        "policy": "v1",
        "mode": "recorded",
        "durationMs": 120,
        "request": {"tool": "query_metric", "operation": "read", **question},
        "contract": {"disposition": "answer", "maxCalls": 1, "expectedValue": 412.5},
        "steps": [
            {
                "id": "s1",
                "tool": "query_metric",
                "operation": "read",
                "arguments": question,
                "status": "ok",
                "startMs": 10,
                "endMs": 60,
                "result": {**question, "rows": 60, "value": 412.5, "source": "prom"},
            }
        ],
        "output": {"disposition": "answer", "value": 412.5, "evidence": ["s1"]},
    }
