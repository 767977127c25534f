"""``labadapt gate`` through the real command: what it asks, what it prints, how it ends."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GATE = """\
schemaVersion = 1
criticalSeverities = ["wrong_answer"]
atLeast = 0.2
comparison = "regressions-only"
reviewMinutes = 12
maxCostUsdPerSuccess = 0.5

[[requiredCells]]
loop = "triage"
failureClass = "stale_data"

[[requiredCells]]
loop = "triage"
failureClass = "hostile_content"

[[acceptedGaps]]
loop = "triage"
failureClass = "hostile_content"
reason = "The agent reads no text from outside."
"""
CONTRACT = {"disposition": "answer", "maxCalls": 1, "expectedValue": 412.5}


def bundle(*runs: dict[str, Any]) -> str:
    return json.dumps({"schemaVersion": 1, "runs": runs})


def wrong(run: dict[str, Any]) -> dict[str, Any]:
    """The run with a second call, which its contract does not permit."""
    again = {**run["steps"][0], "id": "s2", "startMs": 70, "endMs": 90}
    return {**run, "steps": [*run["steps"], again]}


@pytest.fixture
def runs(tmp_path: Path, run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Runs of three cases, one of them critical, with a cases file and a gate file."""
    cases: dict[str, Any] = {
        "plain": {"loop": "triage", "failureClass": "stale_data", "contract": CONTRACT},
        "second": {"contract": CONTRACT},
        "grave": {"contract": {**CONTRACT, "severity": "wrong_answer"}},
    }
    (tmp_path / "cases.json").write_text(json.dumps({"schemaVersion": 1, "cases": cases}))
    (tmp_path / "gate.toml").write_text(GATE)
    usage = {"costUsd": 0.25, "costSource": "billed"}
    made = {case: {**run, "caseId": case, "usage": usage, "policy": "v2"} for case in cases}
    (tmp_path / "after.json").write_text(bundle(*made.values()))
    (tmp_path / "before.json").write_text(bundle(*({**one, "policy": "v1"} for one in made.values())))
    return made


ARGUMENTS = ("--cases", "cases.json", "--config", "gate.toml", "--baseline", "before.json")


def test_promote(labadapt, golden, runs) -> None:
    done = labadapt("gate", "after.json", *ARGUMENTS)
    assert (done.stderr, done.returncode) == ("", 0)
    golden(HERE / "golden" / "gate-promote.txt", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_block(labadapt, golden, runs, tmp_path) -> None:
    (tmp_path / "after.json").write_text(bundle(runs["plain"], runs["second"], wrong(runs["grave"])))
    done = labadapt("gate", "after.json", *ARGUMENTS)
    assert (done.stderr, done.returncode) == ("", 1)
    golden(HERE / "golden" / "gate-block.txt", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_not_enough_evidence(labadapt, golden, runs, tmp_path) -> None:
    lost = {**runs["grave"], "status": {"infrastructure": "failed"}}
    (tmp_path / "after.json").write_text(bundle(runs["plain"], lost))
    done = labadapt("gate", "after.json", *ARGUMENTS)
    assert (done.stderr, done.returncode) == ("", 3)
    golden(HERE / "golden" / "gate-evidence.txt", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_decision_for_programs(labadapt, runs, tmp_path) -> None:
    done = labadapt("gate", "after.json", *ARGUMENTS, "--format", "json", "--out", "saved.json")
    document = json.loads(done.stdout)
    jsonschema.Draft202012Validator(json.loads(labadapt("schema", "decision").stdout)).validate(document)
    assert (document["decision"], document["policy"]) == ("promote", "v2")
    assert (tmp_path / "saved.json").read_text() == done.stdout


def test_the_command_line_says_what_the_gate_file_does_not(labadapt, runs) -> None:
    assert labadapt("gate", "after.json", "--cases", "cases.json").returncode == 3
    done = labadapt("gate", "after.json", "--cases", "cases.json", "--at-least", "0.3", "--review-minutes", "6")
    assert done.returncode == 0
    assert "review: 6 minutes, 2 for each" in done.stdout
    done = labadapt("gate", "after.json", *ARGUMENTS, "--at-least", "0.99")
    assert done.returncode == 3


def test_a_policy_is_named_where_there_are_several(labadapt, runs) -> None:
    both = ("gate", "after.json", "before.json", "--cases", "cases.json", "--at-least", "0.2")
    done = labadapt(*both)
    assert (done.stdout, done.returncode) == ("", 2)
    assert "Give --policy one of those found." in done.stderr
    assert labadapt(*both, "--policy", "v1").returncode == 0


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("schemaVersion = 1\natLeast = 1.5\n", "OUT_OF_RANGE", 2),
        ("schemaVersion = 1\n\nconfidence = 1\n", "OUT_OF_RANGE", 3),
        ("schemaVersion = 1\natLest = 0.5\n", "UNKNOWN_FIELD", 2),
        ('schemaVersion = 1\ncomparison = "mild"\n', "BAD_VALUE", 2),
        ("schemaVersion = 1\nscheduled = true\n", "WRONG_TYPE", 2),
        ('schemaVersion = 1\n[[requiredCells]]\nloop = "a"\n', "MISSING_FIELD", 2),
        ("atLeast = 0.5\n", "UNSUPPORTED_VERSION", None),
        ("schemaVersion = 1\natLeast =\n", "NOT_YAML", 2),
        (GATE + '\n[[requiredCells]]\nfailureClass = "stale_data"\nloop = "triage"\n', "BAD_VALUE", 21),
    ],
)
def test_faults_of_a_gate_file_have_their_line(labadapt, tmp_path, text, code, line) -> None:
    (tmp_path / "gate.toml").write_text(text)
    done = labadapt("gate", "after.json", *ARGUMENTS)
    assert (done.stdout, done.returncode) == ("", 2)
    assert f"error[{code}]" in done.stderr
    assert line is None or f"gate.toml: line {line}" in done.stderr


def test_the_sample_is_a_gate_file(labadapt, runs) -> None:
    done = labadapt("gate", "after.json", "--cases", "cases.json", "--config", ROOT / "samples" / "gate.toml")
    assert (done.stderr, done.returncode) == ("", 3)


def test_names_command_no_terminal(labadapt, runs, tmp_path) -> None:
    cases = json.loads((tmp_path / "cases.json").read_text())
    cases["cases"]["a\u202e"] = {"loop": "l\u202e", "contract": {**CONTRACT, "severity": "\x1b[2J"}}
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    (tmp_path / "gate.json").write_text(
        json.dumps(
            {
                "schemaVersion": 1,
                "criticalSeverities": ["\x1b[2J"],
                "requiredCells": [{"loop": "\x1b[2J", "failureClass": "\u202e"}],
                "acceptedGaps": [{"loop": "\x1b[2J", "failureClass": "\u202e", "reason": "\x1b\u202e"}],
            }
        )
    )
    hostile = wrong({**runs["plain"], "caseId": "a\u202e", "policy": "p\u202e"})
    (tmp_path / "after.json").write_text(bundle(hostile))
    done = labadapt("gate", "after.json", "--cases", "cases.json", "--config", "gate.json")
    assert (done.stderr, done.returncode) == ("", 1)
    assert not {"\u202e", "\x1b"} & set(done.stdout)
