"""Every run that the recorded files hold, and all that is said beside them, as they stand in ``golden/``."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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
