"""``labadapt view``: runs for a person, a bounded projection for programs, and everything."""

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def bundle(tmp_path: Path, run: dict[str, Any]) -> Path:
    """A run that passes, one that fails in two checks, and one whose contract nobody wrote."""
    failing = {**run, "caseId": "costly", "contract": {**run["contract"], "maxCalls": 0, "expectedValue": 400}}
    bare = {key: value for key, value in run.items() if key != "contract"} | {"caseId": "unread"}
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps({"schemaVersion": 1, "runs": [run, failing, bare]}), encoding="utf-8")
    return path


def test_a_bundle_is_checked_and_its_steps_are_drawn_to_scale(labadapt, bundle: Path) -> None:
    done = labadapt("view", bundle.name, "--case", "supported")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "PASS  supported  (v1)\n"
        "  phases: prepare ok  run ok  verify ok  record ok\n"
        "  timeline of 120 ms (recorded)\n"
        "    0 query_metric ok              10 +50        |··████████████···············|\n"
    )


def test_a_failed_run_names_its_phase_and_each_check(labadapt, bundle: Path) -> None:
    lines = labadapt("view", bundle.name, "--case", "costly").stdout.splitlines()
    assert lines[0] == "FAIL  costly  (v1)"
    assert "  call_budget: failed" in lines
    assert "  expected_value: failed" in lines
    assert "  failed in: run" in lines
    assert max(map(len, lines)) <= 80


def test_a_result_file_has_no_timeline_and_says_so(labadapt, bundle: Path) -> None:
    labadapt("check", bundle.name, "--out", "result.json")
    done = labadapt("view", "result.json", "--case", "supported")
    assert "  timeline: a result file holds no steps; give the bundle" in done.stdout.splitlines()


def test_the_projection_is_bounded_and_says_what_was_cut(labadapt, bundle: Path, run: dict[str, Any]) -> None:
    long = {**run["contract"], "expectedState": {"text": "x" * 1000}}
    runs = [{**run, "caseId": f"case-{number:02}", "contract": long} for number in range(25)]
    bundle.write_text(json.dumps({"schemaVersion": 1, "runs": [*runs, run]}), encoding="utf-8")
    done = labadapt("view", bundle.name, "--json")
    shown = json.loads(done.stdout)
    assert shown["summary"] == {"total": 26, "passed": 1, "failed": 0, "inconclusive": 25}
    assert [one["outcome"] for one in shown["runs"]] == ["inconclusive"] * 20
    assert (shown["cut"]["runs"], shown["cut"]["values"]) == (6, 20)
    assert len(shown["runs"][0]["checks"][0]["must"]) == 200
    assert len(done.stdout) < 25_000


def test_the_projection_counts_the_places_and_bounds_every_text(labadapt, bundle: Path, run: dict[str, Any]) -> None:
    steps = [{**run["steps"][0], "id": f"s{number}", "startMs": number, "endMs": number} for number in range(12)]
    wide = {
        **run,
        "caseId": "wide",
        "steps": steps,
        "contract": {**run["contract"], "maxCalls": 0, "expectedState": {"k" * 1000: 1}},
        "output": {**run["output"], "evidence": ["s0"], "state": {"k" * 1000: 2}},
    }
    broken = {"infrastructure": "failed", "target": "unknown", "steps": "complete", "reason": "r" * 1000}
    never = {**run, "caseId": "never", "steps": [], "status": broken}
    del never["output"]
    bundle.write_text(json.dumps({"schemaVersion": 1, "runs": [wide, never]}), encoding="utf-8")
    shown = json.loads(labadapt("view", bundle.name, "--json").stdout)
    checks = {check["id"]: check for check in shown["runs"][0]["checks"]}
    assert checks["call_budget"]["where"] == [f"/steps/{number}" for number in range(10)]
    assert checks["expected_state"]["where"][0] == f"/output/state/{'k' * 185}…"
    assert shown["cut"]["places"] == 2
    assert len(shown["runs"][1]["why"]) == 200


def test_the_projection_is_bounded_as_a_whole(labadapt, bundle: Path, run: dict[str, Any]) -> None:
    keys = [f"{number}{'k' * 200}" for number in range(10)]
    wrong = {
        **run,
        "contract": {**run["contract"], "expectedState": dict.fromkeys(keys, 1)},
        "output": {**run["output"], "state": dict.fromkeys(keys, 2)},
    }
    runs = [{**wrong, "caseId": f"case-{number:02}"} for number in range(20)]
    bundle.write_text(json.dumps({"schemaVersion": 1, "runs": runs}), encoding="utf-8")
    shown = json.loads(labadapt("view", bundle.name, "--json").stdout)
    assert sum(len(json.dumps(one)) for one in shown["runs"]) <= 40_000 < 20 * len(json.dumps(shown["runs"][0]))
    assert shown["runs"][-1]["caseId"] == f"case-{len(shown['runs']) - 1:02}"
    assert shown["cut"]["runs"] == 20 - len(shown["runs"]) > 0
    assert shown["cut"]["values"] == len(shown["runs"]) * 12  # ten places, and what was expected and observed


def test_the_phases_fit_80_columns_and_no_state_is_torn_apart(labadapt, bundle: Path, run: dict[str, Any]) -> None:
    broken = {"infrastructure": "failed", "target": "unknown", "steps": "complete"}
    never = {**run, "caseId": "never", "steps": [], "status": broken}
    del never["output"]
    bundle.write_text(json.dumps({"schemaVersion": 1, "runs": [never]}), encoding="utf-8")
    lines = labadapt("view", bundle.name).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    first = lines.index("  phases: prepare failed  run not reached  verify not reached")
    assert lines[first + 1] == "          record not reached"


def test_failures_come_first_in_the_projection(labadapt, bundle: Path) -> None:
    shown = json.loads(labadapt("view", bundle.name, "--json").stdout)
    assert [(one["caseId"], one["outcome"]) for one in shown["runs"]] == [
        ("costly", "fail"),
        ("unread", "inconclusive"),
        ("supported", "pass"),
    ]
    assert (shown["runs"][0]["failedPhase"], shown["runs"][0]["steps"]) == ("run", 1)
    assert shown["cut"]["runs"] == 0


def test_raw_is_the_whole_result(labadapt, bundle: Path) -> None:
    assert labadapt("view", bundle.name, "--raw").stdout == labadapt("check", bundle.name, "--format", "json").stdout


def test_a_case_that_is_not_there_is_named(labadapt, bundle: Path) -> None:
    done = labadapt("view", bundle.name, "--case", "nobody")
    assert done.returncode == 2
    assert "error[BAD_USAGE]: no run has that case and policy" in done.stderr
    assert "found costly, supported, unread" in done.stderr


def test_the_page_is_written_at_once_or_printed(labadapt, bundle: Path, tmp_path: Path) -> None:
    assert labadapt("view", bundle.name, "--html", "page.html").stdout == ""
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>\n")
    assert labadapt("view", bundle.name, "--html", "-").stdout == page
