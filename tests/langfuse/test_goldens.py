"""Every run that the recorded files hold, and all that is said beside them, as they stand in ``golden/``."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from labadapt.adapters.conversion import Options
from labadapt.adapters.convert import convert
from labadapt.adapters.span import Input, Limits
from labadapt.cli.sources import by_content
from labadapt.schema.problems import Refusal

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GOLDEN = HERE / "golden"
FILES = {
    "blob-export": ["exports/blob.observations_v2.jsonl"],
    "legacy-run": ["legacy"],
    "pages": [
        "api-pages/dataset-items.json",
        "api-pages/experiments.json",
        "api-pages/experiment-items.full.json",
        "api-pages/obs-v2.[0-9]*.json",
        "api-pages/v2-dataset.json",
    ],
    "trace-download": ["exports/ui-trace-download.case-1.json", "exports/ui-export.dataset_items.json"],
    "ui-export": ["exports/ui-export.events.jsonl", "exports/ui-export.dataset_items.json"],
}


@pytest.mark.parametrize("name", FILES)
def test_the_recorded_files_give_these_runs_and_words(name: str, golden: Any) -> None:
    files = [f"samples/langfuse/{file}" for file in FILES[name]]
    command = [sys.executable, "-m", "labadapt", "langfuse", *files, "--on-refusal", "skip"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    head, runs = done.stdout.split("\n", 1)
    assert head.startswith('{"schemaVersion":1,')
    golden(GOLDEN / f"{name}.runs.txt", re.sub(r'"labadapt [^"]+"', '"labadapt VERSION"', runs))
    golden(GOLDEN / f"{name}.said.txt", done.stderr)


def test_every_golden_file_is_compared() -> None:
    expected = {f"{name}.{part}.txt" for name in FILES for part in ("runs", "said")}
    assert {path.name for path in GOLDEN.iterdir()} == expected


@pytest.mark.parametrize(
    "file",
    [
        "api-pages/dataset-items.json",
        "api-pages/experiments.json",
        "api-pages/experiment-items.full.json",
        "api-pages/obs-v2.default-page1.json",
        "exports/blob.observations_v2.jsonl",
        "exports/ui-export.dataset_items.json",
        "exports/ui-export.events.jsonl",
        "exports/ui-trace-download.case-1.json",
        "legacy/run.ds_sdk3_dual.sdk3_20run.json",
        "legacy/trace.414208cca2c3af2bd1f1b4b959c1e59e.json",
    ],
)
def test_where_telemetry_is_asked_for_the_right_command_is_named(file: str) -> None:
    path = ROOT / "samples" / "langfuse" / file
    with pytest.raises(Refusal) as refused, path.open("rb") as stream:
        convert([Input(file, stream)], by_content(Limits()), Options(now_ns=1_800_000_000_000_000_000))
    [problem] = refused.value.problems
    assert (problem.code, problem.hint) == ("UNSUPPORTED_FORMAT", "`labadapt langfuse FILE...` reads it.")


def test_a_reading_with_fewer_fields_beside_the_whole_one_changes_nothing() -> None:
    """`obs-v2.default-page1.json` is a page that was asked for without field groups."""

    def converted(*files: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "labadapt", "langfuse", *files, "--on-refusal", "skip"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)

    folder = converted("samples/langfuse/api-pages")
    assert folder.returncode == 0
    assert folder.stdout == converted(*(f"samples/langfuse/{file}" for file in FILES["pages"])).stdout
