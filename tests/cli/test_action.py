"""The composite action: its own script, in bash, with the real command."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def steps() -> list[dict[str, Any]]:
    """The action's steps."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    return action["runs"]["steps"]


@pytest.fixture
def act(tmp_path: Path, steps: list[dict[str, Any]]):
    """Run the step that checks, as GitHub runs bash, and give its output, status and summary."""
    command = tmp_path / "bin" / "labadapt"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m labadapt "$@"\n')
    command.chmod(0o755)
    summary = tmp_path / "summary.md"

    def run(**inputs: str) -> tuple[subprocess.CompletedProcess[str], str]:
        given = {"bundles": "", "cases": "", "format": "github", "output": ""} | inputs
        env = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(summary)}
        env |= {f"LABADAPT_{name.upper()}": text for name, text in given.items()}
        script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[1]["run"]]
        done = subprocess.run(script, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=60)
        return done, summary.read_text()

    return run


def test_no_input_is_put_into_a_script(steps: list[dict[str, Any]]) -> None:
    assert [step["name"] for step in steps if "${{" in step["run"]] == []
    given = {value for step in steps for value in step["env"].values()}
    names = ("bundles", "cases", "format", "output", "package")
    assert given == {f"${{{{ inputs.{name} }}}}" for name in names} | {"${{ github.action_path }}"}


def test_what_passes(act, tmp_path: Path, run: dict[str, Any]) -> None:
    (tmp_path / "my bundle.json").write_text(json.dumps({"schemaVersion": 1, "runs": [run]}))
    done, summary = act(bundles="my bundle.json\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "::notice title=labadapt check::1 run: 1 passed, 0 failed, 0 inconclusive\n"
    assert summary.startswith("## labadapt check: pass\n")


def test_a_failure_keeps_its_exit_status_and_is_written_to_the_file(act, tmp_path: Path, run: dict[str, Any]) -> None:
    wrong = {**run, "output": {**run["output"], "value": 7}}
    (tmp_path / "bundle.json").write_text(json.dumps({"schemaVersion": 1, "runs": [wrong]}))
    done, summary = act(bundles="bundle.json", format="junit", output="labadapt.xml")
    assert (done.returncode, done.stdout) == (1, "")
    assert '<failure message="evidence:' in (tmp_path / "labadapt.xml").read_text()
    assert "### **FAIL** `supported` (`v1`)" in summary


def test_an_inconclusive_run_is_no_success(act, tmp_path: Path, run: dict[str, Any]) -> None:
    del run["contract"]
    (tmp_path / "bundle.json").write_text(json.dumps({"schemaVersion": 1, "runs": [run]}))
    assert act(bundles="bundle.json")[0].returncode == 3


@pytest.mark.parametrize("hostile", ["$(touch made)", "`touch made`", '"; touch made; "', "--help", "; touch made"])
def test_an_input_is_never_run(act, tmp_path: Path, hostile: str) -> None:
    done, _ = act(bundles=hostile, cases=hostile)
    assert done.returncode == 2
    assert not (tmp_path / "made").exists()


def test_no_bundle_is_an_error(act) -> None:
    assert act(bundles="\n")[0].returncode == 2
