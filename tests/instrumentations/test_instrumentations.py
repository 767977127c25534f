"""Real instrumentations, run offline with scripted models, and read by the real command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
METRIC = {"metric": "checkout_latency_ms", "window": "2026-11-30T00:00:00Z/PT1H"}
REPLY = {**METRIC, "rows": 60, "value": 412.5, "source": "prom://prod-eu"}

pytestmark = pytest.mark.instrumentations


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the interpreter of an environment that holds the newest instrumentations.

    LABADAPT_INSTRUMENTATIONS may name one that is there already, so that it is not made anew at each run.
    """
    ready = os.environ.get("LABADAPT_INSTRUMENTATIONS")
    if ready:
        return Path(ready)
    folder = tmp_path_factory.mktemp("instrumentations")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "-r", str(HERE / "requirements.txt")], check=True)
    return python


def record(python: Path, name: str, folder: Path) -> Path:
    """Run one scenario in a process of its own."""
    subprocess.run([python, "-W", "ignore", str(HERE / "scripted.py"), name, str(folder)], check=True, timeout=120)
    return folder / f"{name}.pb"


def convert(export: Path) -> dict[str, object]:
    """Convert with the real command and give the one run per case that came out."""
    done = subprocess.run(
        [sys.executable, "-m", "labadapt", "otlp", str(export)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_pydantic_ai_of_today_is_read_as_it_ran(environment: Path, tmp_path: Path) -> None:
    bundle = convert(record(environment, "pydantic_ai", tmp_path))
    (run,) = bundle["runs"]
    assert [(step["tool"], step["callId"]) for step in run["steps"]] == [
        ("query_metric", "call_1"),
        ("query_metric", "call_2"),
    ]
    assert [step["arguments"] for step in run["steps"]] == [METRIC, METRIC]
    assert run["steps"][0]["status"] in {"timeout", "error"}
    assert run["steps"][1]["status"] == "ok"
    assert run["steps"][1]["result"]["data"] == REPLY
    assert run["output"] == {"disposition": "answer", "value": 412.5, "evidence": ["call_2"]}


def test_langchain_of_today_is_read_as_it_ran(environment: Path, tmp_path: Path) -> None:
    bundle = convert(record(environment, "langchain", tmp_path))
    runs = bundle["runs"]
    assert len(runs) == 2
    failed = next(run for run in runs if run.get("status", {}).get("target") == "failed")
    answered = next(run for run in runs if run is not failed)
    assert [(step["tool"], step["status"], step["callId"]) for step in failed["steps"]] == [
        ("query_metric", "timeout", "call_1")
    ]
    assert "output" not in failed
    assert [(step["tool"], step["status"], step["callId"]) for step in answered["steps"]] == [
        ("query_metric", "ok", "call_2")
    ]
    assert answered["steps"][0]["arguments"] == METRIC
    assert answered["steps"][0]["result"]["data"] == REPLY
    assert answered["output"] == {"disposition": "answer", "value": 412.5, "evidence": ["call_2"]}
