"""What CI servers and code hosts read: held to published schemas, and to strings that try to leave their field."""

import json
import re
from pathlib import Path
from typing import Any, get_args, get_type_hints
from xml.etree import ElementTree

import jsonschema
import pytest
from labadapt import __version__
from labadapt.cli.formats import FORMATS, Detail, Entry, Report, of_results, render
from labadapt.cli.formats.sarif import RULES
from labadapt.schema.gate import Part
from labadapt.schema.result import CheckId, CheckResult, Results, RunResult, Summary
from lxml import etree
from markdown_it import MarkdownIt

HERE = Path(__file__).parent
SCHEMAS = HERE.parent / "published-schemas"
HOSTILE = [
    "]]><failure/>&\"'",
    "<img src=x onerror=alert(1)>",
    "a\r\n::error::forged",
    "%0A::set-output name=x::y",
    "##[error]forged",
    "| x | `code` \\| \\`",
    "@everyone #1 [x](javascript:alert(1)) www.example.com https://example.com a@example.com",
    "\x00\x1b[31m\x7f\x85\u202e\ufeff\ufffe\uffff",
    "\ud800 lone",
    "{0} [link](1) \\",
    "``` \n# heading",
    "file,title=x:y",
]


@pytest.fixture
def bundle(tmp_path: Path, run: dict[str, Any]) -> Path:
    """A run that passes, one that fails, and one that has no contract."""
    wrong = {**run, "caseId": "wrong, answer", "output": {**run["output"], "value": 7}}
    open_run = {name: value for name, value in run.items() if name != "contract"} | {"caseId": "open"}
    path = tmp_path / "my bundle.json"
    path.write_text(json.dumps({"schemaVersion": 1, "runs": [run, wrong, open_run]}))
    return path


@pytest.fixture
def hostile() -> Report:
    """Every string in every field, in failures and in doubts."""
    entries = []
    for text in HOSTILE:
        details = (
            Detail("expected_value", True, text, text, {text: text}, (text,)),
            Detail("evidence", False, text, None, [text]),
        )
        entries.append(Entry(text, text, "fail", text, text, file=text, details=details))
        entries.append(Entry(text, text, "inconclusive", text, text, rule="gate", file=text))
        entries.append(Entry(text, text, "pass", text, text, file=text))
    return Report("check", "1", "a sum", "fail", tuple(entries))


def unversioned(text: str) -> str:
    """The output without the version, so that a release changes no golden file."""
    return text.replace(f'"version": "{__version__}"', '"version": "VERSION"')


def require_junit(text: str) -> None:
    etree.XMLSchema(etree.parse(SCHEMAS / "jenkins-junit.xsd")).assertValid(etree.fromstring(text.encode()))


def require_sarif(text: str) -> None:
    schema = json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text())
    assert schema["$schema"] == "http://json-schema.org/draft-04/schema#"
    jsonschema.Draft4Validator(schema).validate(json.loads(text))


@pytest.mark.parametrize("form", FORMATS)
def test_the_whole_output(labadapt, golden, bundle: Path, form: str) -> None:
    done = labadapt("check", bundle.name, "--format", form)
    assert done.returncode == 1
    golden(HERE / "golden" / "formats" / f"check.{form}.txt", unversioned(done.stdout))


def test_junit_counts_an_inconclusive_run_as_an_error(labadapt, bundle: Path) -> None:
    text = labadapt("check", bundle.name, "--format", "junit").stdout
    require_junit(text)
    root = ElementTree.fromstring(text)  # noqa: S314 - our own output
    suite = root.find("testsuite")
    assert suite is not None
    assert suite.attrib == {"name": "my bundle.json", "tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    cases = suite.findall("testcase")
    assert [(case.get("classname"), case.get("name"), case.get("time")) for case in cases] == [
        ("v1", "supported", "0.120000"),
        ("v1", "wrong, answer", "0.120000"),
        ("v1", "open", "0.120000"),
    ]
    assert [[child.tag for child in case] for case in cases] == [[], ["failure"], ["error"]]
    assert cases[2][0].get("type") == "inconclusive"


def test_sarif_keeps_what_is_open_apart_from_what_failed(labadapt, bundle: Path) -> None:
    text = labadapt("check", bundle.name, "--format", "sarif").stdout
    require_sarif(text)
    (log,) = json.loads(text)["runs"]
    kinds = {(result["kind"], result["level"]) for result in log["results"]}
    assert kinds == {("pass", "none"), ("fail", "error"), ("open", "none")}
    assert log["invocations"] == [
        {
            "executionSuccessful": True,
            "exitCode": 1,
            "toolExecutionNotifications": [
                {"level": "warning", "message": {"text": "1 of 3 inconclusive: neither passed nor failed"}}
            ],
        }
    ]
    failed = next(result for result in log["results"] if result["ruleId"] == "expected_value")
    assert failed["locations"] == [
        {
            "logicalLocations": [{"name": "wrong, answer", "fullyQualifiedName": "v1/wrong, answer#/output/value"}],
            "physicalLocation": {"artifactLocation": {"uri": "my%20bundle.json"}},
        }
    ]
    rules = {rule["id"] for rule in log["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in log["results"]} == rules


def test_a_fingerprint_stays_when_the_answer_changes_and_tells_trials_apart() -> None:
    def prints(*observed: int) -> list[str]:
        entries = [
            Entry("p", "c", "fail", "fail", f"{value}", details=(Detail("deadline", True, "late", 1, value),))
            for value in observed
        ]
        log = json.loads(render(Report("check", "1", "", "fail", tuple(entries)), "sarif"))
        return [result["partialFingerprints"]["labadapt/v1"] for result in log["runs"][0]["results"]]

    assert prints(1, 2) == prints(3, 4)
    assert len(set(prints(1, 2))) == 2


def test_the_published_schemas_refuse_what_is_wrong(labadapt, bundle: Path) -> None:
    junit = labadapt("check", bundle.name, "--format", "junit").stdout
    with pytest.raises(etree.DocumentInvalid):
        require_junit(junit.replace("<error ", "<doubt ").replace("</error>", "</doubt>"))
    sarif = labadapt("check", bundle.name, "--format", "sarif").stdout
    with pytest.raises(jsonschema.ValidationError):
        require_sarif(sarif.replace('"kind": "open"', '"kind": "inconclusive"'))


def test_hostile_strings_leave_xml_valid_and_visible(hostile: Report) -> None:
    text = render(hostile, "junit")
    require_junit(text)
    root = ElementTree.fromstring(text)  # noqa: S314 - our own output
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("36", "12", "12")
    assert {element.tag for element in root.iter()} == {"testsuites", "testsuite", "testcase", "failure", "error"}
    names = {case.get("name") for case in root.iter("testcase")}
    assert "\\x00\\x1b[31m\\x7f\\x85\\u202e\\ufeff\\ufffe\\uffff" in names
    assert "]]><failure/>&\"'" in names


def test_hostile_strings_leave_sarif_valid(hostile: Report) -> None:
    text = render(hostile, "sarif")
    text.encode()
    require_sarif(text)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    results = json.loads(text)["runs"][0]["results"]
    places = [place["physicalLocation"]["artifactLocation"]["uri"] for one in results for place in one["locations"]]
    assert [uri for uri in places if not re.fullmatch(r"(?:[A-Za-z0-9/._~-]|%[0-9A-F]{2})+", uri)] == []
    messages = [result["message"]["text"] for result in results]
    assert not [message for message in messages if re.search(r"(?<!\\)\[|(?<!\{)\{(\{\{)*(?!\{)\d", message)]


def test_hostile_strings_forge_no_workflow_command(hostile: Report) -> None:
    lines = render(hostile, "github").split("\n")
    assert len(lines) == 25
    for line in lines:
        shape = re.fullmatch(r"::(error|warning) (title=[^,:]*)(,file=[^,:]*)?::[^\r\n]*", line)
        assert shape, line
        assert not re.search(r"%(?!25|0A|3A|2C)", line)
    assert "%250A%3A%3Aset-output" in lines[6]


def test_hostile_strings_render_as_text_only(hostile: Report) -> None:
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(render(hostile, "markdown"))
    inline = [child for token in page if token.type == "inline" for child in token.children or []]
    assert {child.type for child in inline} == {"text", "code_inline", "strong_open", "strong_close"}
    words = {child.content.strip() for child in inline if child.type == "text"}
    assert words == {
        "labadapt check:",
        "FAIL",
        "inconclusive",
        "pass",
        "outcome",
        "name",
        "of",
        "says",
        "(",
        ")",
        "in",
        "",
    }
    assert sum(token.type == "tr_open" for token in page) == 1 + 36
    assert sum(token.type == "td_open" for token in page) == 4 * 36
    assert {token.tag for token in page if token.type == "heading_open"} == {"h2", "h3"}


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_checked_is_no_success(form: str) -> None:
    empty = Results(schema_version=1, summary=Summary(total=0, passed=0, failed=0, inconclusive=0), results=[])
    report = of_results(empty, version="1")
    assert report.outcome == "inconclusive"
    text = render(report, form)
    if form == "junit":
        require_junit(text)
    if form == "sarif":
        require_sarif(text)
        assert json.loads(text)["runs"][0]["invocations"][0]["exitCode"] == 3


def test_a_run_that_passes_shows_no_check_that_is_not_decided() -> None:
    check = CheckResult(
        id="deadline", phase="run", verdict="not_required", expected=None, observed=None, reason="none", evidence=[]
    )
    one = RunResult(case_id="c", policy="p", mode="live", outcome="pass", reason="holds", phases=[], checks=[check])
    results = Results(schema_version=1, summary=Summary(total=1, passed=1, failed=0, inconclusive=0), results=[one])
    assert of_results(results, version="1").entries == (Entry("p", "c", "pass", "pass", "holds"),)


@pytest.mark.parametrize("form", FORMATS)
def test_a_comparison(labadapt, golden, tmp_path: Path, run: dict[str, Any], form: str) -> None:
    lost = {**run, "output": {**run["output"], "value": 7}}
    (tmp_path / "before.json").write_text(json.dumps({"schemaVersion": 1, "runs": [run, {**run, "caseId": "gone"}]}))
    (tmp_path / "after.json").write_text(json.dumps({"schemaVersion": 1, "runs": [lost]}))
    done = labadapt("compare", "before.json", "after.json", "--format", form)
    assert (done.returncode, done.stderr) == (1, "")
    require = {"junit": require_junit, "sarif": require_sarif}.get(form)
    if require:
        require(done.stdout)
    golden(HERE / "golden" / "formats" / f"compare.{form}.txt", unversioned(done.stdout))


CASES = """\
schemaVersion: 1
cases:
  supported:
    request: {tool: query_metric, operation: read, metric: latency_ms, window: 2026-11-30T00:00:00Z/PT1H}
    contract: {disposition: answer, maxCalls: 1, expectedValue: 412.5, severity: critical}
"""


@pytest.mark.parametrize("form", FORMATS)
def test_a_gate(labadapt, golden, tmp_path: Path, run: dict[str, Any], form: str) -> None:
    (tmp_path / "cases.yaml").write_text(CASES)
    lost = {**run, "output": {**run["output"], "value": 7}}
    (tmp_path / "after.json").write_text(json.dumps({"schemaVersion": 1, "runs": [lost]}))
    done = labadapt("gate", "after.json", "--cases", "cases.yaml", "--format", form)
    assert (done.stderr, done.returncode) == ("", 1)
    require = {"junit": require_junit, "sarif": require_sarif}.get(form)
    if require:
        require(done.stdout)
    golden(HERE / "golden" / "formats" / f"gate.{form}.txt", unversioned(done.stdout))


def test_every_check_and_part_has_a_rule_with_help() -> None:
    checks = {"disposition", "call_budget", "read_only", "evidence", "expected_value", "required_actions"}
    checks |= {"forbidden_actions", "expected_state", "deadline"}
    parts = {"critical failures", "routine quality", "holdout quality", "coverage", "comparison", "review", "cost"}
    assert set(RULES) == checks | parts | {"outcome", "gate"}
    assert set(get_args(CheckId)) == checks
    assert set(get_args(get_type_hints(Part)["name"])) == parts
