"""The cases file: read with its lines, checked for contradictions, joined to runs, started without contracts."""

from pathlib import Path

import msgspec
import pytest
from labadapt.adapters.cases import attach, lint_cases, read_cases, starting_cases
from labadapt.schema.cases import CasesFile
from labadapt.schema.model import Bundle, Run
from labadapt.schema.problems import Refusal
from msgspec import UNSET

SAMPLE = Path(__file__).parents[2] / "samples" / "metric-agent.cases.yaml"
REQUEST = {"tool": "query", "operation": "read"}
CONTRACT = {"disposition": "answer", "maxCalls": 3}


def read(text):
    return read_cases(text.encode(), "cases.yaml")


def refused(text):
    with pytest.raises(Refusal) as caught:
        read(text)
    return [(problem.code, problem.where.line, problem.where.pointer) for problem in caught.value.problems]


def linted(text, tools=()):
    problems = lint_cases(text.encode(), "cases.yaml", tools)
    assert all(problem.where.file == "cases.yaml" for problem in problems)
    return [(problem.code, problem.where.line, problem.message) for problem in problems]


def run(case_id="a", **parts):
    fields = {"caseId": case_id, "policy": "p", "mode": "recorded", "durationMs": 1, "steps": [], **parts}
    return msgspec.convert(fields, Run)


def cases(**by_id):
    return msgspec.convert({"schemaVersion": 1, "cases": by_id}, CasesFile)


# -- reading -----------------------------------------------------------------------------------------------------------


def test_the_sample_is_read_and_nothing_is_wrong_with_it():
    data = SAMPLE.read_bytes()
    assert len(read_cases(data, "cases.yaml").cases) == 14
    assert lint_cases(data, "cases.yaml") == []


def test_every_fault_is_named_with_its_line():
    text = """\
schemaVersion: 1
cases:
  one:
    request: {tool: query, operation: delete}
    contract:
      disposition: answer
      maxCalls: -1
      expectdValue: 5
  two: {contract: {disposition: Not A Token, maxCalls: 1}}
"""
    found = refused(text)
    assert ("UNKNOWN_FIELD", 8, "/cases/one/contract/expectdValue") in found
    assert ("BAD_VALUE", 4, "/cases/one/request/operation") in found
    assert {line for _, line, _ in found} == {4, 7, 8, 9}


@pytest.mark.parametrize("text", ["", "schemaVersion: 1\n", "cases: {}\n", "[]\n", "schemaVersion: 2\ncases: {}\n"])
def test_what_is_no_cases_file_is_refused(text):
    assert refused(text)


def test_a_contract_that_no_bundle_may_hold_is_refused():
    text = (
        "schemaVersion: 1\ncases:\n  a:\n    contract: {disposition: no_data, maxCalls: 1,\n      expectedValue: 5}\n"
    )
    assert refused(text) == [("BAD_VALUE", 4, "/cases/a/contract/disposition")]


def test_an_expression_that_does_not_parse_is_refused_with_its_position():
    text = "schemaVersion: 1\ncases:\n  a:\n    match:\n      expression: 'name =='\n"
    with pytest.raises(Refusal) as caught:
        read(text)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where.line) == ("BAD_EXPRESSION", 5)
    assert problem.message == "The expression at cases.a.match.expression does not parse."


# -- lint --------------------------------------------------------------------------------------------------------------


def lint_contract(contract, request="{tool: query, operation: read}"):
    text = f"schemaVersion: 1\ncases:\n  a:\n    request: {request}\n    contract: {{{contract}}}\n"
    return [message for _, _, message in linted(text)]


@pytest.mark.parametrize(
    ("contract", "messages"),
    [
        ("disposition: answer, maxCalls: 1", []),
        ("disposition: refuse, maxCalls: 0", []),
        ("disposition: answer, maxCalls: 0", ['Case "a" expects an answer with evidence and permits no call.']),
        (
            "disposition: answer, maxCalls: 3, requiredActions: [x], forbiddenActions: [x]",
            ['Case "a" requires and forbids "x".'],
        ),
        (
            "disposition: answer, maxCalls: 1, requiredActions: [x, y, x]",
            ['Case "a" requires 2 tools and permits 1 calls.'],
        ),
        ("disposition: answer, maxCalls: 2, requiredActions: [x, y, x]", []),
        ("disposition: answer, maxCalls: 1, tolerance: 1", ['Case "a" has a tolerance without an expectedValue.']),
        (
            "disposition: answer, maxCalls: 1, forbiddenActions: [query]",
            ['Case "a" expects an answer from "query" and forbids it.'],
        ),
        ("disposition: needs_approval, maxCalls: 1, forbiddenActions: [query]", []),
        ("disposition: answer, maxCalls: 1, forbiddenActions: [qvery]", ['An action names the unknown tool "qvery".']),
        ("disposition: answer, maxCalls: 1, forbiddenActions: [restart]", []),
    ],
)
def test_contracts_that_contradict_themselves(contract, messages):
    assert lint_contract(contract) == messages


def test_actions_are_compared_with_the_tools_that_are_known():
    contract = "{disposition: answer, maxCalls: 1,\n      requiredActions: [x]}"
    text = f"schemaVersion: 1\ncases:\n  a:\n    contract: {contract}\n"
    assert linted(text, tools=["x"]) == []
    assert linted(text, tools=["y"]) == [("BAD_VALUE", 5, 'An action names the unknown tool "x".')]


def test_a_case_without_a_contract_is_found():
    text = "schemaVersion: 1\ncases:\n  a: {}\n  b: {contract: null}\n"
    assert [(code, line) for code, line, _ in linted(text)] == [("MISSING_CONTRACT", 3), ("MISSING_CONTRACT", 4)]


@pytest.mark.parametrize("match", ["{}", "{inputContains: ''}"])
def test_a_match_without_effect_is_found(match):
    text = f"schemaVersion: 1\ncases:\n  a:\n    match: {match}\n    contract: {{disposition: answer, maxCalls: 1}}\n"
    assert [(code, line) for code, line, _ in linted(text)] == [("BAD_VALUE", 4)]


def test_lint_returns_what_reading_refuses():
    assert [code for code, _, _ in linted("a: [")] == ["NOT_YAML"]
    assert "UNKNOWN_FIELD" in [code for code, _, _ in linted("schemaVersion: 1\ncases: {}\nextra: 1\n")]


# -- attach ------------------------------------------------------------------------------------------------------------


def test_a_run_is_given_the_request_and_contract_of_its_case():
    joined = attach(run(), cases(a={"request": REQUEST, "contract": CONTRACT, "scenarioVersion": "v1"}))
    assert msgspec.to_builtins(joined.request) == REQUEST
    assert msgspec.to_builtins(joined.contract) == CONTRACT
    assert joined.provenance == {"scenarioVersion": "v1"}


def test_provenance_that_is_there_stays():
    joined = attach(run(provenance={"traceId": "x"}), cases(a={"scenarioVersion": "v1"}))
    assert joined.provenance == {"traceId": "x", "scenarioVersion": "v1"}


def test_a_case_that_says_nothing_changes_nothing():
    plain = run(request=REQUEST, contract=CONTRACT)
    assert attach(plain, cases(a={})) == plain
    assert attach(plain, cases(a={"request": None, "contract": None})) == plain
    assert attach(run(), cases(a={"contract": None})).contract is UNSET


def test_the_reviewed_contract_replaces_one_that_the_bundle_carries():
    joined = attach(run(contract=CONTRACT), cases(a={"contract": {**CONTRACT, "maxCalls": 1}}))
    assert joined.contract.max_calls == 1


def test_a_case_that_the_file_does_not_have_is_refused():
    with pytest.raises(Refusal) as caught:
        attach(run("c"), cases(a={}, b={}))
    (problem,) = caught.value.problems
    assert (problem.code, problem.found, problem.expected) == ("MISSING_CASE", "c", "one of a, b")
    assert problem.where.run == "c / p"


def test_another_request_is_refused():
    with pytest.raises(Refusal) as caught:
        attach(run(request={**REQUEST, "tool": "other"}), cases(a={"request": REQUEST}))
    (problem,) = caught.value.problems
    assert problem.code == "REQUEST_MISMATCH"
    assert problem.found == '{"tool":"other","operation":"read"}'


# -- a starting file ---------------------------------------------------------------------------------------------------


def bundle(*runs):
    return Bundle(schema_version=1, runs=list(runs))


def test_a_starting_file_has_every_case_once_and_no_contract():
    step = {"id": "1", "tool": "query", "operation": "read", "status": "ok", "startMs": 0, "endMs": 1}
    answer = {"disposition": "answer", "value": 1}
    text = starting_cases(bundle(run("b", steps=[step], output=answer, contract=CONTRACT), run("a"), run("b")))
    started = read(text)
    assert {name: (case.request, case.contract) for name, case in started.cases.items()} == {
        "a": (None, None),
        "b": (None, None),
    }
    assert [code for code, _, _ in linted(text)] == ["MISSING_CONTRACT", "MISSING_CONTRACT"]
    assert '#   tool: "query"' in text


def test_a_starting_file_takes_no_value_and_no_outcome_from_a_run():
    step = {"id": "1", "tool": "query", "operation": "read", "status": "ok", "startMs": 0, "endMs": 1}
    step["result"] = {"value": 98765.4321}
    output = {"disposition": "my_own_word", "value": 98765.4321}
    text = starting_cases(bundle(run("a", steps=[step], output=output)))
    assert "98765" not in text
    assert "my_own_word" not in text


@pytest.mark.parametrize("case_id", ["01", "no", "a: b", '"quoted"', "# x", "\u2028", "é", "{a}", "%s", "- a", "*x"])
def test_a_starting_file_reads_back_whatever_the_case_is_called(case_id):
    step = {"id": "1", "tool": f"{case_id}\n", "operation": "read", "status": "ok", "startMs": 0, "endMs": 1}
    assert list(read(starting_cases(bundle(run(case_id, steps=[step])))).cases) == [case_id]
