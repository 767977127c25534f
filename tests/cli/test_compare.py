"""``labadapt compare`` through the real command: what it reads, what it prints, how it ends."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

HERE = Path(__file__).parent
BIDI = "a\u202eb\u2066"


def bundle(*runs: dict[str, Any]) -> str:
    return json.dumps({"schemaVersion": 1, "runs": runs})


def wrong(run: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The run with a second call, which its contract does not permit."""
    again = {**run["steps"][0], "id": "s2", "startMs": 70, "endMs": 90}
    return {**run, "steps": [*run["steps"], again], **more}


def unknown(run: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**run, "status": {"infrastructure": "failed"}, **more}


@pytest.fixture
def sides(tmp_path: Path, run: dict[str, Any]) -> tuple[Path, Path]:
    """Six cases: one is lost, one won, one the same, one inconclusive, and one on each side has no counterpart."""
    before = [
        run,
        {**run, "caseId": "lost"},
        wrong(run, caseId="won"),
        {**run, "caseId": "open"},
        {**run, "caseId": "asked anew"},
        {**run, "caseId": "dropped"},
    ]
    after = [
        run,
        wrong(run, caseId="lost"),
        {**run, "caseId": "won"},
        unknown(run, caseId="open"),
        {**run, "caseId": "asked anew", "contract": {**run["contract"], "maxCalls": 2, "severity": "critical"}},
    ]
    (tmp_path / "before.json").write_text(bundle(*before))
    (tmp_path / "after.json").write_text(bundle(*({**one, "policy": "v2"} for one in after)))
    return tmp_path / "before.json", tmp_path / "after.json"


@pytest.fixture
def trials(tmp_path: Path, run: dict[str, Any]) -> tuple[Path, Path]:
    """Four trials of three cases on each side, of one target."""
    source = {"provenance": {"targetDigest": "t1"}}
    for name, failing in (("before", {"b": 0}), ("after", {"a": 4, "b": 1})):
        (tmp_path / name).mkdir()
        for number in range(4):
            runs = [{**run, **source, "caseId": case} for case in ("a", "b", "c")]
            made = [wrong(one) if number < failing.get(one["caseId"], 0) else one for one in runs]
            (tmp_path / name / f"trial-{number}.json").write_text(bundle(*made) + " " * number)
    return tmp_path / "before", tmp_path / "after"


def test_the_comparison_for_people(labadapt, golden, sides) -> None:
    done = labadapt("compare", *sides)
    assert (done.stderr, done.returncode) == ("", 1)
    golden(HERE / "golden" / "compare.txt", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_repeated_trials_for_people(labadapt, golden, trials) -> None:
    done = labadapt("compare", *trials, "--gate", "report-only")
    assert done.returncode == 0
    golden(HERE / "golden" / "compare-trials.txt", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_comparison_for_programs(labadapt, golden, sides) -> None:
    done = labadapt("compare", *sides, "--format", "json")
    assert (done.stderr, done.returncode) == ("", 1)
    golden(HERE / "golden" / "compare.json", json.dumps(json.loads(done.stdout), indent=1) + "\n")
    schema = json.loads(labadapt("schema", "comparison").stdout)
    jsonschema.Draft202012Validator(schema).validate(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("kept", "gate", "status"),
    [
        (["supported"], "strict", 0),
        (["supported", "won"], "strict", 0),
        (["supported", "lost"], "strict", 1),
        (["supported", "lost"], "regressions-only", 1),
        (["supported", "lost"], "report-only", 0),
        (["supported", "open"], "strict", 3),
        (["supported", "open"], "regressions-only", 3),
        (["supported", "open"], "report-only", 0),
        (["supported", "dropped"], "strict", 3),
        (["asked anew"], "report-only", 3),
    ],
)
def test_the_exit_status_is_the_gates(labadapt, sides, kept, gate, status) -> None:
    for side in sides:
        runs = json.loads(side.read_text())["runs"]
        side.write_text(bundle(*(one for one in runs if one["caseId"] in kept)))
    done = labadapt("compare", *sides, "--gate", gate)
    assert (done.stderr, done.returncode) == ("", status)


def test_a_result_file_compares_as_its_bundle(labadapt, sides, tmp_path) -> None:
    results = [
        labadapt("check", side, "--out", f"{side.stem}-results.json", "--format", "json").stdout for side in sides
    ]
    assert all(results)
    direct = labadapt("compare", *sides, "--format", "json")
    saved = labadapt("compare", "before-results.json", "after-results.json", "--format", "json")
    assert (saved.stdout, saved.returncode) == (direct.stdout, direct.returncode)


def test_an_older_result_file_is_not_assumed_to_be_about_the_same(labadapt, sides, tmp_path) -> None:
    document = json.loads(labadapt("check", sides[0], "--format", "json").stdout)
    for result in document["results"]:
        del result["requestDigest"], result["contractDigest"]
    (tmp_path / "old.json").write_text(json.dumps(document))
    done = labadapt("compare", "old.json", sides[0])
    assert done.returncode == 3
    assert "0 unchanged, 0 inconclusive, 6 unmatched" in done.stdout
    text = " ".join(done.stdout.split())
    assert "the request is not recorded in the baseline; the contract is not recorded in the baseline" in text


def test_two_policies_of_one_bundle(labadapt, tmp_path, run) -> None:
    (tmp_path / "both.json").write_text(bundle(run, wrong(run, policy="v2")))
    done = labadapt("compare", "both.json", "--baseline", "v1", "--candidate", "v2")
    assert done.returncode == 1
    assert "REGRESSION  supported\n  passed before, failed now\n" in done.stdout
    done = labadapt("compare", "both.json", "--baseline", "v2", "--candidate", "v1")
    assert done.returncode == 0
    assert "IMPROVEMENT  supported" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["both.json"], "with one file, two of its policies are to be named"),
        (["both.json", "--baseline", "v1"], "with one file, two of its policies are to be named"),
        (["both.json", "--baseline", "v1", "--candidate", "v1"], "with one file, two of its policies are to be named"),
        (["both.json", "--baseline", "v1", "--candidate", "v3"], "no run has the policy 'v3'"),
        (["both.json", "one.json"], "there are several policies, and none is named"),
        (["one.json", "-", "--cases", "-"], "standard input is named twice"),
        (["one.json", "results.json", "--cases", "cases.yaml"], "a result file holds no runs"),
        (["one.json", "nowhere.json"], "cannot be read"),
    ],
)
def test_what_is_refused(labadapt, tmp_path, run, arguments, said) -> None:
    (tmp_path / "both.json").write_text(bundle(run, {**run, "policy": "v2"}))
    (tmp_path / "one.json").write_text(bundle(run))
    (tmp_path / "cases.yaml").write_text("schemaVersion: 1\ncases:\n  supported: {}\n")
    labadapt("check", "one.json", "--out", "results.json")
    done = labadapt("compare", *arguments)
    assert (done.stdout, done.returncode) == ("", 2)
    assert said in done.stderr


def test_contracts_can_come_from_a_cases_file(labadapt, tmp_path, run) -> None:
    bare = {key: value for key, value in run.items() if key != "contract"}
    (tmp_path / "before.json").write_text(bundle(bare))
    (tmp_path / "after.json").write_text(bundle({**bare, "policy": "v2"}))
    contract = "{disposition: answer, maxCalls: 1, expectedValue: 412.5}"
    (tmp_path / "cases.yaml").write_text(f"schemaVersion: 1\ncases:\n  supported: {{contract: {contract}}}\n")
    assert labadapt("compare", "before.json", "after.json").returncode == 3
    done = labadapt("compare", "before.json", "after.json", "--cases", "cases.yaml")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_file_and_standard_output_hold_the_same(labadapt, sides, tmp_path) -> None:
    printed = labadapt("compare", *sides, "--format", "json", "--out", "saved.json")
    assert (tmp_path / "saved.json").read_text() == printed.stdout
    done = labadapt("compare", *sides, "--out", "-")
    assert done.stdout == printed.stdout
    assert done.stderr.startswith("baseline   v1: 6 runs of 6 cases\n")


def test_names_command_no_terminal(labadapt, tmp_path, run) -> None:
    hostile = {**run, "caseId": BIDI, "policy": BIDI, "contract": {**run["contract"], "severity": "\x1b[2J"}}
    (tmp_path / "before.json").write_text(bundle(hostile))
    (tmp_path / "after.json").write_text(bundle(wrong(hostile)))
    done = labadapt("compare", "before.json", "after.json")
    assert done.returncode == 1
    assert not {"\u202e", "\u2066", "\x1b"} & set(done.stdout)
