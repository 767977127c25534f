"""``labadapt check``, ``validate`` and ``fixtures`` through the real command: output, streams, exit status."""

import json
from pathlib import Path
from typing import Any

import pytest

CASES = """\
schemaVersion: 1
cases:
  supported:
    request: {tool: query_metric, operation: read, metric: latency_ms, window: 2026-11-30T00:00:00Z/PT1H}
    contract: {disposition: answer, maxCalls: 1, expectedValue: 412.5}
"""


def bundle(*runs: dict[str, Any]) -> str:
    return json.dumps({"schemaVersion": 1, "runs": runs})


def test_a_run_that_passes(labadapt, run) -> None:
    done = labadapt("check", "-", given=bundle(run))
    assert done.stdout == "PASS  supported  (v1)\n\n1 run: 1 passed, 0 failed, 0 inconclusive\n"
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_run_that_fails_shows_what_was_expected_and_observed(labadapt, run) -> None:
    run["contract"] |= {"expectedValue": 400, "severity": "commercial_misstatement"}
    done = labadapt("check", "-", given=bundle(run))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "FAIL  supported  (v1)  [commercial_misstatement]"
    assert "  expected_value: failed" in lines
    assert any(line.startswith("      expected  ") and "400" in line for line in lines)
    assert any(line.startswith("      observed  ") and "412.5" in line for line in lines)
    assert any(line.startswith("      because   ") for line in lines)
    assert lines[-1] == "1 run: 0 passed, 1 failed, 0 inconclusive"


def test_a_run_without_a_contract_is_inconclusive_and_the_way_out_is_told(labadapt, run) -> None:
    del run["contract"]
    done = labadapt("check", "-", given=bundle(run))
    assert done.returncode == 3
    assert done.stdout.startswith("INCONCLUSIVE  supported  (v1)\n")
    assert "labadapt cases init bundle.json > cases.yaml" in done.stderr
    assert labadapt("check", "-", "--quiet", given=bundle(run)).stderr == ""


def test_a_failure_counts_before_a_doubt(labadapt, run) -> None:
    without = {**run, "caseId": "other"}
    del without["contract"]
    run["contract"] |= {"maxCalls": 0}
    done = labadapt("check", "-", given=bundle(run, without))
    assert done.returncode == 1
    assert done.stdout.endswith("2 runs: 0 passed, 1 failed, 1 inconclusive\n")


def test_invalid_input_is_status_2_and_names_every_fault_of_every_file(labadapt, run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(bundle({**run, "verdict": "pass"}))
    (tmp_path / "b.json").write_text("{")
    done = labadapt("check", ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("error[") == 2
    assert "error[UNKNOWN_FIELD]: " in done.stderr
    assert "  --> a.json: " in done.stderr
    assert "error[NOT_JSON]: " in done.stderr
    assert "  --> b.json: " in done.stderr


def test_a_policy_that_only_one_of_two_bundles_has_is_checked_there(labadapt, run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(bundle({**run, "policy": "old"}))
    (tmp_path / "b.json").write_text(bundle({**run, "policy": "new"}))
    done = labadapt("check", "a.json", "b.json", "--policy", "new")
    assert done.returncode == 0
    assert done.stdout.endswith("1 run: 1 passed, 0 failed, 0 inconclusive\n")
    assert labadapt("check", "a.json", "b.json", "--policy", "newest").returncode == 2


def test_contracts_come_from_a_cases_file(labadapt, run, tmp_path: Path) -> None:
    (tmp_path / "cases.yaml").write_text(CASES)
    bare = {key: value for key, value in run.items() if key not in {"request", "contract"}}
    assert labadapt("check", "-", "--cases", "cases.yaml", given=bundle(bare)).returncode == 0
    done = labadapt("check", "-", "--cases", "cases.yaml", given=bundle({**bare, "caseId": "unknown"}))
    assert done.returncode == 2
    assert done.stderr.startswith("error[MISSING_CASE]: ")


def test_only_the_policies_that_were_asked_for_are_checked(labadapt, run) -> None:
    given = bundle(run, {**run, "policy": "v2"}, {**run, "policy": "v3"})
    done = labadapt("check", "-", "--policy", "v1", "--policy", "v3", given=given)
    assert done.stdout.endswith("2 runs: 2 passed, 0 failed, 0 inconclusive\n")


def test_a_policy_that_no_run_has_is_no_success(labadapt, run) -> None:
    done = labadapt("check", "-", "--policy", "v9", given=bundle(run))
    assert (done.returncode, done.stdout) == (2, "")
    assert "v9" in done.stderr


def test_the_result_file_is_json_whatever_is_printed(labadapt, run, tmp_path: Path) -> None:
    done = labadapt("check", "-", "--out", "result.json", given=bundle(run))
    assert done.stdout.startswith("PASS")
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["summary"] == {"total": 1, "passed": 1, "failed": 0, "inconclusive": 0}
    assert result["results"][0]["outcome"] == "pass"
    printed = labadapt("check", "-", "--format", "json", given=bundle(run)).stdout
    assert printed == (tmp_path / "result.json").read_text()


def test_a_result_on_standard_output_moves_the_text_to_standard_error(labadapt, run) -> None:
    done = labadapt("check", "-", "--out", "-", given=bundle(run))
    assert json.loads(done.stdout)["summary"]["passed"] == 1
    assert done.stderr.startswith("PASS  supported")


def test_several_bundles_give_one_result(labadapt, run, tmp_path: Path) -> None:
    (tmp_path / "trial-1.json").write_text(bundle(run))
    (tmp_path / "trial-2.json").write_text(bundle(run))
    done = labadapt("check", "*.json", "--format", "json")
    assert json.loads(done.stdout)["summary"] == {"total": 2, "passed": 2, "failed": 0, "inconclusive": 0}


def test_the_verdict_fits_80_columns_and_shows_no_control_character(labadapt, run) -> None:
    run["output"]["disposition"] = "no_data"
    run["output"]["evidence"] = ["\x1b[2J\u202e" * 10, "another"]
    run["steps"][0]["tool"] = "a_tool_with_a_name_that_goes_on_" * 4
    done = labadapt("check", "-", given=bundle(run))
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


# -- validate ----------------------------------------------------------------------------------------------------------


def test_a_valid_bundle(labadapt, run) -> None:
    done = labadapt("validate", "-", given=bundle(run))
    assert (done.stdout, done.stderr, done.returncode) == ("standard input: valid\n", "", 0)


def test_every_fault_is_the_result_of_validate(labadapt, run) -> None:
    reversed_step = {**run["steps"][0], "endMs": 5}
    done = labadapt("validate", "-", given=bundle({**run, "verdict": "pass"}, {**run, "steps": [reversed_step]}))
    assert (done.returncode, done.stderr) == (2, "")
    assert "error[UNKNOWN_FIELD]: " in done.stdout
    assert "error[REVERSED_TIMING]: " in done.stdout
    assert done.stdout.count("\n\n") == done.stdout.count("error[") - 1


def test_faults_for_a_program(labadapt, run) -> None:
    run["verdict"] = "pass"
    done = labadapt("validate", "-", "--format", "json", given=bundle(run))
    report = json.loads(done.stdout)["files"][0]
    assert (report["file"], report["valid"]) == ("standard input", False)
    assert [(problem["code"], problem["where"]["pointer"]) for problem in report["problems"]] == [
        ("UNKNOWN_FIELD", "/runs/0/verdict")
    ]


def test_a_missing_contract_is_a_fault_only_on_request(labadapt, run) -> None:
    del run["contract"]
    assert labadapt("validate", "-", given=bundle(run)).returncode == 0
    done = labadapt("validate", "-", "--require-contract", given=bundle(run))
    assert done.returncode == 2
    assert "error[MISSING_CONTRACT]" in done.stdout


def test_the_limits_of_the_workbench(labadapt, run) -> None:
    many = bundle(*({**run, "caseId": str(number)} for number in range(201)))
    assert labadapt("validate", "-", given=many).returncode == 0
    done = labadapt("validate", "-", "--limits", "workbench", given=many)
    assert done.returncode == 2
    assert "200" in done.stdout


# -- fixtures ----------------------------------------------------------------------------------------------------------


def test_guarded_passes_all_eight_cases(labadapt) -> None:
    done = labadapt("fixtures", "--policy", "guarded")
    assert done.stdout.endswith("\n8 runs: 8 passed, 0 failed, 0 inconclusive\n")
    assert done.returncode == 0


@pytest.mark.parametrize(("policy", "runs"), [("direct", 8), ("both", 16)])
def test_direct_fails_some(labadapt, policy: str, runs: int) -> None:
    done = labadapt("fixtures", "--policy", policy)
    assert f"\n{runs} runs: " in done.stdout
    assert done.returncode == 1


def test_the_fixtures_are_a_bundle_like_any_other(labadapt) -> None:
    written = labadapt("fixtures", "--policy", "guarded", "--out", "-")
    assert "8 runs: 8 passed" in written.stderr
    assert labadapt("validate", "-", given=written.stdout).returncode == 0
    assert "8 runs: 8 passed" in labadapt("check", "-", given=written.stdout).stdout


def test_an_action_that_no_declared_tool_carries_is_named(labadapt, tmp_path: Path) -> None:
    contract = "{disposition: answer, maxCalls: 1, forbiddenActions: [restart_service]}"
    cases = CASES.replace("{disposition: answer, maxCalls: 1, expectedValue: 412.5}", contract)
    (tmp_path / "cases.yaml").write_text(cases, encoding="utf-8")
    (tmp_path / "mapping.yaml").write_text("schemaVersion: 1\ntools: {query_metric: {operation: read}}\n", "utf-8")
    assert labadapt("cases", "lint", "cases.yaml").returncode == 0  # nothing says which tools there are
    done = labadapt("cases", "lint", "cases.yaml", "--mapping", "mapping.yaml")
    assert done.returncode == 2
    assert 'error[BAD_VALUE]: An action names the unknown tool "restart_service".' in done.stdout + done.stderr
    assert "cases.yaml: line 5" in done.stdout + done.stderr
