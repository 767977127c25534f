"""The pytest plug-in, installed as users have it, in a pytest of its own."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CASES = """\
schemaVersion: 1
cases:
  supported:
    request: {tool: query_metric, operation: read, metric: latency_ms, window: 2026-11-30T00:00:00Z/PT1H}
    contract: {disposition: answer, maxCalls: 1, expectedValue: 400}
"""
Pytest = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def tests(tmp_path: Path) -> Pytest:
    """Run pytest in an empty folder, which is not the one of this project."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    return run


@pytest.fixture
def bundle(tmp_path: Path, run: dict[str, Any]) -> Path:
    """A bundle of a run that passes, one that fails and one whose record decides nothing."""
    failing = {**run, "caseId": "costly", "contract": {**run["contract"], "maxCalls": 0}}
    open_ = {**run, "caseId": "unread", "contract": None}
    del open_["contract"]
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps({"schemaVersion": 1, "runs": [run, failing, open_]}), encoding="utf-8")
    return path


def test_each_run_is_a_test_and_only_a_pass_passes(tests: Pytest, bundle: Path) -> None:
    done = tests("--labadapt-bundle", bundle.name, "-v")
    assert done.returncode == 1
    assert "bundle.json::supported[v1] PASSED" in done.stdout
    assert "bundle.json::costly[v1] FAILED" in done.stdout
    assert "bundle.json::unread[v1] FAILED" in done.stdout
    assert "because   1 call attempted, at most 0 permitted" in done.stdout
    assert "INCONCLUSIVE  unread  (v1)" in done.stdout
    assert "2 failed, 1 passed" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_name_moves_nothing_on_the_terminal(tests: Pytest, bundle: Path, run: dict[str, Any]) -> None:
    hostile = {**run, "caseId": "a\u202egnp\u2028x", "contract": {**run["contract"], "maxCalls": 0}}
    bundle.write_text(json.dumps({"schemaVersion": 1, "runs": [hostile]}), encoding="utf-8")
    done = tests("--labadapt-bundle", bundle.name, "-v")
    assert "bundle.json::a\\u202egnp\\u2028x[v1] FAILED" in done.stdout
    assert not {"\u202e", "\u2028"} & set(done.stdout)


def test_without_a_bundle_the_fixture_skips_and_can_be_made_to_fail(tests: Pytest, tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text("def test_one(labadapt_bundle): pass\n", encoding="utf-8")
    done = tests("-rs")
    assert (done.returncode, "got empty parameter set for (labadapt_bundle)" in done.stdout) == (0, True)
    assert tests("-o", "empty_parameter_set_mark=fail_at_collect").returncode == 2


def test_one_run_is_chosen_as_any_other_test(tests: Pytest, bundle: Path) -> None:
    assert "1 passed, 2 deselected" in tests("--labadapt-bundle", bundle.name, "-k", "supported").stdout


def test_a_cases_file_brings_the_contracts(tests: Pytest, tmp_path: Path, run: dict[str, Any]) -> None:
    (tmp_path / "bundle.json").write_text(json.dumps({"schemaVersion": 1, "runs": [run]}), encoding="utf-8")
    (tmp_path / "cases.yaml").write_text(CASES, encoding="utf-8")
    done = tests("--labadapt-bundle", "bundle.json", "--labadapt-cases", "cases.yaml")
    assert done.returncode == 1
    assert "expected_value: failed" in done.stdout


def test_the_configuration_names_bundles_from_its_own_folder(tests: Pytest, tmp_path: Path, bundle: Path) -> None:
    (tmp_path / "records").mkdir()
    bundle.rename(tmp_path / "records" / "bundle.json")
    (tmp_path / "pytest.ini").write_text("[pytest]\nlabadapt_bundles = records/bundle.json\n", encoding="utf-8")
    assert "2 failed, 1 passed" in tests().stdout


def test_the_fixture_gives_each_bundle_in_turn(tests: Pytest, tmp_path: Path, bundle: Path) -> None:
    (tmp_path / "other.json").write_bytes(bundle.read_bytes())
    (tmp_path / "test_own.py").write_text(
        "def test_all_are_recorded(labadapt_bundle):\n"
        "    assert [run.mode for run in labadapt_bundle.runs] == ['recorded'] * 3\n",
        encoding="utf-8",
    )
    both = ("--labadapt-bundle", "bundle.json", "--labadapt-bundle", "other.json")
    done = tests("test_own.py", *both, "-v", "-k", "recorded")
    assert "test_all_are_recorded[bundle.json] PASSED" in done.stdout
    assert "test_all_are_recorded[other.json] PASSED" in done.stdout


def test_a_broken_bundle_is_an_error_with_every_fault(tests: Pytest, tmp_path: Path) -> None:
    (tmp_path / "bundle.json").write_text('{"schemaVersion": 1, "runs": [], "extra": 1}', encoding="utf-8")
    done = tests("--labadapt-bundle", "bundle.json")
    assert done.returncode == 2
    assert "error[UNKNOWN_FIELD]" in done.stdout
    assert "error[OUT_OF_RANGE]" in done.stdout
    assert "Traceback" not in done.stdout


def test_runs_are_spread_over_processes(tests: Pytest, bundle: Path) -> None:
    assert "2 failed, 1 passed" in tests("--labadapt-bundle", bundle.name, "-n", "2").stdout


def test_without_a_bundle_nothing_is_collected_or_imported(tests: Pytest, tmp_path: Path, bundle: Path) -> None:
    assert bundle.exists()
    (tmp_path / "test_own.py").write_text(
        "import sys\n\ndef test_nothing_heavy():\n"
        "    assert not {'msgspec', 'click', 'google.protobuf'} & set(sys.modules)\n",
        encoding="utf-8",
    )
    done = tests("-v")
    assert "1 passed" in done.stdout
    assert "bundle.json" not in done.stdout
