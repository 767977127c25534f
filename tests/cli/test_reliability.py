"""``labadapt reliability`` through the real command: what it reads, what it prints, how it ends."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

HERE = Path(__file__).parent


def table(**cases: str) -> str:
    """A table of outcomes: for each case a letter a trial, p for pass, f for fail, i for inconclusive."""
    words = {"p": "pass", "f": "fail", "i": "inconclusive"}
    rows = [f"{case},{number},{words[one]}" for case, its in cases.items() for number, one in enumerate(its, 1)]
    return "\n".join(["case,trial,outcome", *rows])


def bundle(*runs: dict[str, Any]) -> str:
    return json.dumps({"schemaVersion": 1, "runs": runs})


def wrong(run: dict[str, Any]) -> dict[str, Any]:
    return {**run, "contract": {**run["contract"], "maxCalls": 0}}


def success(text: str) -> list[str]:
    """The columns of the first rate."""
    [line] = [line for line in text.splitlines() if line.startswith("  end-to-end success")]
    return line.split()[2:]


@pytest.fixture
def trials(tmp_path: Path, run: dict[str, Any]) -> Path:
    """Three trials of two cases under two policies: one fails, one lost its infrastructure, one is missing."""
    folder = tmp_path / "trials"
    folder.mkdir()
    usage = {"inputTokens": 1200, "outputTokens": 80, "costUsd": 0.25, "costSource": "estimated", "model": "m-1"}
    first = {**run, "usage": usage}
    other = {**run, "caseId": "other", "durationMs": 130.5}
    lost = {**other, "status": {"infrastructure": "failed", "reason": "the metrics store was down"}}
    second = {**run, "policy": "v2", "usage": {"costUsd": 0.5, "costSource": "billed", "judge": {"inputTokens": 9}}}
    (folder / "trial-0001.json").write_text(bundle(first, other, second))
    (folder / "trial-0002.json").write_text(bundle(wrong(run), lost, {**second, "caseId": "other"}))
    (folder / "trial-0003.json").write_text(bundle(first, second))
    return folder


def test_the_report_for_people(labadapt, golden, trials: Path) -> None:
    done = labadapt("reliability", trials, "--scheduled", "3", "--at-least", "0.5")
    assert done.stderr == ""
    golden(HERE / "golden" / "reliability.txt", done.stdout)
    assert done.returncode == 3
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_report_for_programs(labadapt, golden, trials: Path) -> None:
    done = labadapt("reliability", trials, "--scheduled", "3", "--k", "2", "--format", "json")
    assert (done.stderr, done.returncode) == ("", 0)
    golden(HERE / "golden" / "reliability.json", json.dumps(json.loads(done.stdout), indent=1) + "\n")


def test_neither_the_order_nor_the_place_of_the_files_changes_a_byte(labadapt, trials: Path, tmp_path: Path) -> None:
    names = sorted(trials.iterdir())
    whole = labadapt("reliability", trials, "--format", "json").stdout
    assert labadapt("reliability", *reversed(names), "--format", "json").stdout == whole
    moved = trials.rename(tmp_path / "elsewhere")
    assert labadapt("reliability", ".", "--format", "json", cwd=moved).stdout == whole


def test_result_files_count_as_their_bundles(labadapt, trials: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    for path in trials.iterdir():
        labadapt("check", path, "--out", results / path.name)
    of_results = labadapt("reliability", results, "--scheduled", "3", "--format", "json").stdout
    assert of_results == labadapt("reliability", trials, "--scheduled", "3", "--format", "json").stdout


def test_one_result_file_of_several_bundles_holds_as_many_trials(labadapt, trials: Path, tmp_path: Path) -> None:
    labadapt("check", trials, "--out", tmp_path / "all.json")
    report = json.loads(labadapt("reliability", "all.json", "--policy", "v1", "--format", "json").stdout)
    [policy] = report["policies"]
    assert (policy["cases"], policy["made"], policy["trialsByCase"]) == (2, 5, [2, 3])
    left = next(rate for rate in policy["rates"] if rate["name"] == "behavioural success")["leftOut"]
    assert left == [{"reason": "infrastructure failed", "ids": ["other#all.json#2"]}]


@pytest.mark.parametrize(
    ("given", "at_least", "status", "word"),
    [
        (table(a="p" * 29), "0.9", 0, "MET"),
        (table(a="p" * 28), "0.9", 3, "NOT ENOUGH EVIDENCE"),
        (table(a="p" * 20 + "f" * 10), "0.9", 1, "NOT MET"),
        (table(a="p" * 20 + "i" * 10), "0.9", 3, "NOT ENOUGH EVIDENCE"),
    ],
)
def test_the_exit_status_of_a_gate(labadapt, given: str, at_least: str, status: int, word: str) -> None:
    done = labadapt("reliability", "-", "--at-least", at_least, given=given)
    assert (done.stderr, done.returncode) == ("", status)
    assert f"\n{word}: end-to-end success at least 0.9\n" in done.stdout


def test_of_several_policies_the_worst_decides(labadapt) -> None:
    rows = [f"a,{n},pass,good" for n in range(40)] + [f"a,{n},fail,bad" for n in range(40)]
    given = "\n".join(["case,trial,outcome,policy", *rows])
    assert labadapt("reliability", "-", "--at-least", "0.9", given=given).returncode == 1
    assert labadapt("reliability", "-", "--at-least", "0.9", "--policy", "good", given=given).returncode == 0


def test_without_a_gate_failures_are_told_and_the_status_is_0(labadapt) -> None:
    done = labadapt("reliability", "-", given=table(a="ff", b="pp"))
    assert done.returncode == 0
    assert "  a                                 0    2    0    -  0.000-0.658\n" in done.stdout


def test_what_is_not_quite_everything_is_not_shown_as_everything(labadapt) -> None:
    done = labadapt("reliability", "-", "--k", "1", given=table(a="p" * 2999 + "f"))
    assert success(done.stdout) == ["2999/3000", ">0.999", "0.998-1.000"]


def test_a_bound_is_not_rounded_to_a_certainty(labadapt) -> None:
    done = labadapt("reliability", "-", "--k", "1", "--confidence", "0.5", given=table(a="p" * 9999 + "i"))
    assert success(done.stdout) == ["9999/10000", "0.999-1.000", "0.999-1.000"]


def test_copies_of_a_file_are_pointed_out(labadapt, run, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(bundle(run))
    done = labadapt("reliability", "a.json", "b.json")
    assert done.returncode == 0
    assert done.stderr == (
        "note: 2 files hold the same bytes, such as a.json and b.json; a copy of a trial is no further evidence\n"
    )


def test_a_bundle_beside_a_result_file_is_pointed_out(labadapt, run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(bundle(run))
    labadapt("check", "a.json", "--out", "r.json")
    done = labadapt("reliability", "a.json", "r.json")
    assert done.stderr.startswith("note: bundles and result files are counted together; ")
    assert labadapt("reliability", "r.json").stderr == ""


def test_a_file_named_twice_is_refused(labadapt, run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(bundle(run))
    done = labadapt("reliability", "a.json", "a.json")
    assert (done.stdout, done.returncode) == ("", 2)
    assert done.stderr.startswith("error[REPEATED_TRIAL]: the file is named twice\n  --> a.json\n")


@pytest.mark.parametrize(
    ("arguments", "given", "code"),
    [
        (("--policy", "v9"), table(a="p"), "BAD_USAGE"),
        (("--scheduled", "1"), table(a="pp"), "BAD_VALUE"),
        (("--scheduled", "0"), table(a="p"), "BAD_USAGE"),
        (("--at-least", "90"), table(a="p"), "BAD_USAGE"),
        (("--confidence", "1"), table(a="p"), "BAD_USAGE"),
        (("--k", "0"), table(a="p"), "BAD_USAGE"),
        ((), "", "NOT_OUTCOMES"),
        ((), "hello", "NOT_OUTCOMES"),
        ((), "[]", "WRONG_TYPE"),
        ((), "{}", "MISSING_FIELD"),
        ((), '{"schemaVersion":1,"results":[{}]}', "MISSING_FIELD"),
        ((), "{", "NOT_JSON"),
        ((), '{"resourceSpans":[{"scopeSpans":[]}]}', "NOT_A_BUNDLE"),
    ],
)
def test_what_is_refused(labadapt, arguments: tuple[str, ...], given: str, code: str) -> None:
    done = labadapt("reliability", "-", *arguments, given=given)
    assert (done.stdout, done.returncode) == ("", 2)
    assert f"error[{code}]: " in done.stderr


def test_hostile_names_command_no_terminal(labadapt) -> None:
    rows = [{"case": "a\u202eb", "trial": "t\ufeff1", "outcome": "fail", "policy": "p\u2028q", "target": "unknown"}]
    done = labadapt("reliability", "-", "--at-least", "1", given="\n".join(map(json.dumps, rows)))
    assert not set("\u202e\ufeff\u2028") & set(done.stdout)
    assert "a\\u202eb" in done.stdout
    assert "p\\u2028q: 1 case, 1 trial made" in done.stdout


def test_the_report_follows_its_published_schema(labadapt, trials: Path) -> None:
    schema = json.loads(labadapt("schema", "reliability").stdout)
    for arguments in ((), ("--scheduled", "3", "--at-least", "0.9")):
        report = json.loads(labadapt("reliability", trials, "--format", "json", *arguments).stdout)
        jsonschema.validate(report, schema, jsonschema.Draft202012Validator)
    report = json.loads(labadapt("reliability", "-", "--format", "json", given=table(a="i")).stdout)
    jsonschema.validate(report, schema, jsonschema.Draft202012Validator)
