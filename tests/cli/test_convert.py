"""Converting through the real command: where things go, what is said, how it ends."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "samples" / "producers" / "pydantic-ai@2.68.0-v5"
CASES = """\
schemaVersion: 1
cases:
  latency:
    request:
      tool: query_metric
      operation: read
      metric: checkout_latency_ms
      window: 2026-11-30T00:00:00Z/PT1H
    contract: {disposition: answer, maxCalls: 3, expectedValue: 412.5}
"""
MAPPING = """\
schemaVersion: 1
tools:
  query_metric: {operation: read}
dispositions: {supported: answer}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as a user has it: exports of three kinds, a cases file, and a mapping file."""
    for sample, name in (("01_supported", "good"), ("02_timeout_recovered", "again"), ("09_parallel", "parallel")):
        shutil.copy(SAMPLES / f"{sample}.pb", tmp_path / f"{name}.pb")
    (tmp_path / "cases.yaml").write_text(CASES)
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("folder")
def test_the_bundle_is_the_result_and_the_account_stands_on_standard_error(labadapt) -> None:
    done = labadapt("otlp", "good.pb", "--case", "latency", "--policy", "v1")
    assert done.returncode == 0
    run = json.loads(done.stdout)["runs"][0]
    assert (run["caseId"], run["policy"], run["mode"]) == ("latency", "v1", "recorded")
    assert [(step["tool"], step["operation"], step["status"]) for step in run["steps"]] == [
        ("query_metric", "unknown", "ok")
    ]
    lines = done.stderr.splitlines()
    read, rest = lines[0].removeprefix("spans: ").split(" read = ")
    used, aside = rest.removesuffix(" left aside").split(" used + ")
    assert int(read) == int(used) + int(aside)
    assert "runs: 1 converted, 0 refused" in lines
    assert "undeclared: query_metric" in lines
    assert "  labadapt mapping init EXPORT > mapping.yaml, then --mapping mapping.yaml" in lines
    assert "without a contract: 1 of 1 runs" in lines
    assert "  labadapt cases init bundle.json > cases.yaml, then --cases cases.yaml" in lines


@pytest.mark.parametrize(("expected", "status"), [("412.5", 0), ("400", 1)])
def test_one_pipe_from_export_to_verdict(folder: Path, expected: str, status: int) -> None:
    (folder / "cases.yaml").write_text(CASES.replace("412.5", expected))
    command = f"{sys.executable} -m labadapt"
    pipe = f"{command} otlp good.pb --case latency --mapping mapping.yaml | {command} check - --cases cases.yaml"
    done = subprocess.run(pipe, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert done.stdout.endswith(f"\n1 run: {1 - status} passed, {status} failed, 0 inconclusive\n")


@pytest.mark.usefixtures("folder")
def test_standard_input_and_the_recognised_format_give_the_same_bytes(labadapt, folder: Path) -> None:
    named = labadapt("otlp", "good.pb", "--quiet")
    assert named.stderr == ""
    assert labadapt("convert", "good.pb", "--quiet").stdout == named.stdout
    piped = labadapt("convert", "-", "--quiet", given=(folder / "good.pb").read_bytes())
    assert piped.stdout == named.stdout


def test_a_refused_run_stops_the_conversion_and_nothing_is_written(labadapt, folder: Path) -> None:
    before = names(folder)
    done = labadapt("otlp", "*.pb", "--out", "bundle.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error[CONCURRENT_STEPS]: ")
    assert "  --> " in done.stderr
    assert " spans " in done.stderr
    assert "  = help: " in done.stderr
    assert "nothing written: a run was refused (--on-refusal skip writes the others)" in done.stderr.splitlines()
    assert names(folder) == before


def test_skip_writes_the_others_and_lists_the_refused(labadapt, folder: Path) -> None:
    done = labadapt(
        "otlp", "good.pb", "parallel.pb", "--policy", "v1", "--on-refusal", "skip", "--refusals", "refused.jsonl",
        "--out", "bundle.json",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    assert "error[CONCURRENT_STEPS]: " in done.stderr
    assert "runs: 1 converted, 1 refused" in done.stderr.splitlines()
    assert "refused: CONCURRENT_STEPS" in done.stderr
    assert len(json.loads((folder / "bundle.json").read_text())["runs"]) == 1
    refused = [json.loads(line) for line in (folder / "refused.jsonl").read_text().splitlines()]
    assert [(line["policy"], [problem["code"] for problem in line["problems"]]) for line in refused] == [
        ("v1", ["CONCURRENT_STEPS"])
    ]
    assert len(refused[0]["problems"][0]["where"]["spanIds"]) == 2
    assert len(refused[0]["traceId"]) == 32


def test_skip_with_nothing_left_writes_nothing(labadapt, folder: Path) -> None:
    done = labadapt("otlp", "parallel.pb", "--on-refusal", "skip", "--out", "bundle.json")
    assert done.returncode == 2
    assert "nothing written: every run was refused" in done.stderr.splitlines()
    assert "bundle.json" not in names(folder)


def test_an_input_that_is_refused_as_a_whole_is_listed_too(labadapt, folder: Path) -> None:
    (folder / "x.pb").write_bytes(b"PK\x03\x04 no traces")
    done = labadapt("convert", "x.pb", "--refusals", "refused.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    line = json.loads((folder / "refused.jsonl").read_text())
    assert line["problems"][0]["where"]["file"] == "x.pb"


@pytest.mark.usefixtures("folder")
def test_repetitions_are_refused_and_written_apart_as_trials(labadapt, folder: Path) -> None:
    again = ("otlp", "good.pb", "again.pb", "--case", "latency", "--policy", "v1")
    done = labadapt(*again)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("error[DUPLICATE_PAIR]") == 1
    assert "--trials DIR" in done.stderr
    done = labadapt(*again, "--trials", "trials")
    assert done.returncode == 0
    assert names(folder / "trials") == ["trial-0001.json", "trial-0002.json"]
    started = [
        json.loads((folder / "trials" / name).read_text())["runs"][0]["provenance"]["recordedStart"]
        for name in names(folder / "trials")
    ]
    assert started == sorted(started)
    assert len(set(started)) == 2
    done = labadapt(*again, "--trials", "trials")
    assert done.returncode == 2
    assert "error[OUTPUT_EXISTS]: the folder is not empty\n  --> trials\n" in done.stderr


@pytest.mark.usefixtures("folder")
def test_the_names_in_a_folder_come_from_nothing_in_the_input(labadapt, folder: Path) -> None:
    done = labadapt("otlp", "good.pb", "--case", "../../escape", "--policy", "/etc/passwd", "--out-dir", "out")
    assert done.returncode == 0
    assert names(folder / "out") == ["bundle-0001.json", "manifest.json"]
    assert json.loads((folder / "out" / "bundle-0001.json").read_text())["runs"][0]["caseId"] == "../../escape"


@pytest.mark.usefixtures("folder")
def test_check_makes_the_verdict_the_result(labadapt) -> None:
    given = ("otlp", "good.pb", "--case", "latency", "--policy", "v1", "--mapping", "mapping.yaml", "--check")
    done = labadapt(*given, "--cases", "cases.yaml")
    assert done.stdout == "PASS  latency  (v1)\n\n1 run: 1 passed, 0 failed, 0 inconclusive\n"
    assert done.returncode == 0
    assert labadapt(*given).returncode == 3
    done = labadapt(*given, "--cases", "cases.yaml", "--out", "-")
    assert json.loads(done.stdout)["runs"]
    assert "PASS  latency  (v1)" in done.stderr


def test_check_fails_where_the_contract_does_not_hold(labadapt, folder: Path) -> None:
    (folder / "cases.yaml").write_text(CASES.replace("412.5", "400"))
    given = ("otlp", "good.pb", "--case", "latency", "--mapping", "mapping.yaml", "--cases", "cases.yaml", "--check")
    assert labadapt(*given).returncode == 1


def test_faults_of_a_cases_file_stop_the_conversion_with_their_line(labadapt, folder: Path) -> None:
    (folder / "cases.yaml").write_text(CASES.replace("expectedValue", "expectdValue"))
    done = labadapt("otlp", "good.pb", "--cases", "cases.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error[UNKNOWN_FIELD]: ")
    assert "  --> cases.yaml: line 9" in done.stderr


@pytest.mark.parametrize("command", [("otlp", "-", "--mapping", "-"), ("check", "-", "--cases", "-")])
def test_standard_input_holds_one_file(labadapt, command: tuple[str, ...]) -> None:
    done = labadapt(*command)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error[UNREADABLE_FILE]: standard input is named twice\n")


def test_a_missing_file_is_named(labadapt) -> None:
    done = labadapt("otlp", "missing.pb")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[:2] == [
        "error[UNREADABLE_FILE]: cannot be read: No such file or directory",
        "  --> missing.pb",
    ]


def test_the_largest_decompressed_size_is_the_users_choice(labadapt, folder: Path) -> None:
    (folder / "good.pb.gz").write_bytes(gzip.compress((folder / "good.pb").read_bytes()))
    assert labadapt("otlp", "good.pb.gz").returncode == 0
    done = labadapt("otlp", "good.pb.gz", "--max-size", "1k")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error[TOO_LARGE]: ")


# -- cases and mapping -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
def test_a_starting_mapping_file_names_the_tools_and_what_is_left_to_say(labadapt, folder: Path) -> None:
    done = labadapt("mapping", "init", "good.pb")
    assert done.returncode == 0
    assert "query_metric" in done.stdout
    (folder / "start.yaml").write_text(done.stdout)
    linted = labadapt("mapping", "lint", "start.yaml")
    assert linted.returncode == 2
    assert 'Nothing says whether "query_metric" reads or writes' in linted.stdout
    assert labadapt("mapping", "lint", "mapping.yaml").stdout == "mapping.yaml: valid\n"


@pytest.mark.usefixtures("folder")
def test_a_starting_cases_file_names_the_cases_and_leaves_the_contract_to_a_person(labadapt, folder: Path) -> None:
    bundle = labadapt("otlp", "good.pb", "--case", "latency", "--policy", "v1").stdout
    done = labadapt("cases", "init", "-", given=bundle)
    assert done.returncode == 0
    assert "latency" in done.stdout
    (folder / "start.yaml").write_text(done.stdout)
    linted = labadapt("cases", "lint", "start.yaml")
    assert linted.returncode == 2
    assert linted.stdout.startswith("error[MISSING_CONTRACT]: ")
    assert labadapt("cases", "lint", "cases.yaml").stdout == "cases.yaml: valid\n"
    checked = labadapt("check", "-", "--cases", "start.yaml", given=bundle)
    assert checked.returncode == 3


def test_lint_names_every_fault_with_its_line(labadapt, folder: Path) -> None:
    (folder / "cases.yaml").write_text(
        CASES.replace("expectedValue", "expectdValue").replace("maxCalls: 3", "maxCalls: x")
    )
    done = labadapt("cases", "lint", "cases.yaml")
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.count("error[") == 2
    assert done.stdout.count("cases.yaml: line 9") == 2


def test_traces_of_one_conversation_are_one_run_on_request(labadapt, tmp_path: Path) -> None:
    turns = [SAMPLES / "02_timeout_recovered.pb", SAMPLES / "01_supported.pb"]
    assert len(json.loads(labadapt("otlp", *turns).stdout)["runs"]) == 2
    done = labadapt("otlp", *turns, "--group-by", "service.name")
    assert done.returncode == 0
    [run] = json.loads(done.stdout)["runs"]
    assert run["provenance"]["groupedBy"] == "service.name"
    assert len(run["provenance"]["traceIds"]) == 2
    assert len(run["steps"]) == 3
    assert "note: turns of one service.name are one run (trace" in done.stderr
    assert labadapt("otlp", *reversed(turns), "--group-by", "service.name").stdout == done.stdout
