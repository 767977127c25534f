"""``labadapt coverage`` through the real command."""

import json
from pathlib import Path

import jsonschema
import pytest

HERE = Path(__file__).parent
CASES = """\
schemaVersion: 1
cases:
  supported:
    loop: triage
    failureClass: stale_data
    contract: {disposition: answer, maxCalls: 1, expectedValue: 412.5}
  again: {loop: triage, failureClass: stale_data, holdout: true, request: &one {tool: q, operation: read, metric: A b}}
  once more: {loop: triage, failureClass: stale_data, request: {tool: Q, operation: read, metric: a  b}}
  angry: {loop: reply, failureClass: angry_customer}
  nowhere: {failureClass: hostile_content}
  misspelt: {loop: reply, failureClass: stale-data}
"""


@pytest.fixture
def cases(tmp_path: Path, run) -> Path:
    (tmp_path / "cases.yaml").write_text(CASES)
    (tmp_path / "bundle.json").write_text(json.dumps({"schemaVersion": 1, "runs": [run]}))
    other = {**run, "caseId": "stray", "contract": {**run["contract"], "maxCalls": 2}}
    changed = {**run, "policy": "v0", "contract": other["contract"]}
    (tmp_path / "old.json").write_text(json.dumps({"schemaVersion": 1, "runs": [other, changed]}))
    return tmp_path


def test_the_cases_alone(labadapt, golden, cases) -> None:
    done = labadapt("coverage", "cases.yaml")
    assert (done.stderr, done.returncode) == ("", 0)
    golden(HERE / "golden" / "coverage-cases.txt", done.stdout)


def test_cases_and_results(labadapt, golden, cases) -> None:
    labadapt("check", "old.json", "--out", "results.json")
    done = labadapt("coverage", "cases.yaml", "bundle.json", "results.json")
    assert (done.stderr, done.returncode) == ("", 0)
    golden(HERE / "golden" / "coverage.txt", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_report_for_programs(labadapt, cases) -> None:
    done = labadapt("coverage", "cases.yaml", "bundle.json", "--format", "json")
    document = json.loads(done.stdout)
    jsonschema.Draft202012Validator(json.loads(labadapt("schema", "coverage").stdout)).validate(document)
    assert document["loops"] == ["reply", "triage"]
    assert document["ownClasses"] == ["angry_customer", "stale-data"]
    assert document["withResults"] is True
    assert len(document["cells"]) == 20


def test_no_loop_is_no_cell(labadapt, tmp_path) -> None:
    (tmp_path / "cases.yaml").write_text("schemaVersion: 1\ncases: {a: {}}\n")
    done = labadapt("coverage", "cases.yaml")
    assert done.stdout == (
        "no case names a loop, so there is no cell\n\nin no cell, no loop and no failureClass: 1 (a)\n"
    )


def test_a_bundle_with_a_case_that_the_file_does_not_have_is_refused(labadapt, cases) -> None:
    done = labadapt("coverage", "cases.yaml", "old.json")
    assert (done.stdout, done.returncode) == ("", 2)
    assert "error[MISSING_CASE]" in done.stderr


def test_names_command_no_terminal(labadapt, tmp_path) -> None:
    hostile = {"loop": "l\u202e", "failureClass": "c\x1b[2J"}
    document = {"schemaVersion": 1, "cases": {"a\u202e": hostile, "b\u202e": hostile}}
    (tmp_path / "cases.json").write_text(json.dumps(document))
    done = labadapt("coverage", "cases.json")
    assert done.returncode == 0
    assert not {"\u202e", "\x1b"} & set(done.stdout)
