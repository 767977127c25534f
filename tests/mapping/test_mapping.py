"""The mapping file: read with its lines, checked, started without operations."""

from pathlib import Path

import pytest
from labadapt.adapters.inspect import Inspection, ToolSeen
from labadapt.adapters.mapping import lint_mapping, read_mapping, starting_mapping
from labadapt.schema.problems import Refusal
from msgspec import UNSET

SAMPLE = Path(__file__).parents[2] / "samples" / "metric-agent.mapping.yaml"


def refused(text):
    with pytest.raises(Refusal) as caught:
        read_mapping(text.encode(), "mapping.yaml")
    return [(problem.code, problem.where.line, problem.where.pointer) for problem in caught.value.problems]


def test_the_sample_is_read_and_nothing_is_wrong_with_it():
    data = SAMPLE.read_bytes()
    assert read_mapping(data, "m.yaml").tools["restart_service"].operation == "write"
    assert lint_mapping(data, "m.yaml") == []


def test_every_fault_is_named_with_its_line():
    text = """\
schemaVersion: 1
tools:
  query:
    operation: delete
    valeu: result.value
dispositions:
  supported: An Answer
"""
    found = refused(text)
    assert ("BAD_VALUE", 4, "/tools/query/operation") in found
    assert ("UNKNOWN_FIELD", 5, "/tools/query/valeu") in found
    assert {line for _, line, _ in found} == {4, 5, 7}


def test_every_expression_that_does_not_parse_is_named_with_its_line():
    text = """\
schemaVersion: 1
tools:
  query:
    operation: read
    value: result.[
    rows: length(result
run:
  case: my.key-with-dash
"""
    assert sorted(refused(text)) == [
        ("BAD_EXPRESSION", 5, "/tools/query/value"),
        ("BAD_EXPRESSION", 6, "/tools/query/rows"),
        ("BAD_EXPRESSION", 8, "/run/case"),
    ]


@pytest.mark.parametrize("text", ["(" * 4000, "a." * 3000 + "a", "[" * 3000])
def test_a_monstrous_expression_is_refused(text):
    assert [code for code, _, _ in refused(f"schemaVersion: 1\nrun:\n  case: '{text}'\n")] == ["BAD_EXPRESSION"]


def test_a_tool_whose_operation_nobody_says_is_found():
    text = b"schemaVersion: 1\ntools:\n  query:\n    value: result.x\n"
    (problem,) = lint_mapping(text, "m.yaml")
    assert (problem.code, problem.where.line) == ("MISSING_FIELD", 3)
    assert problem.message == 'Nothing says whether "query" reads or writes, so the read-only check stays open.'
    assert read_mapping(text, "m.yaml").tools["query"].operation is UNSET


def test_lint_returns_what_reading_refuses():
    assert [problem.code for problem in lint_mapping(b"a: [", "m.yaml")] == ["NOT_YAML"]
    assert [problem.code for problem in lint_mapping(b"schemaVersion: 1\nrun: {case: '['}", "m.yaml")] == [
        "BAD_EXPRESSION"
    ]


def seen(*names):
    tools = [
        ToolSeen(name=name, calls=1 + place, with_arguments=0, with_results=0, with_call_ids=0, failed=0, operations=[])
        for place, name in enumerate(names)
    ]
    empty = {name: [] for name in ("files", "sources", "scopes", "conventions", "cases", "policies")}
    zero = dict.fromkeys(
        ("spans", "traces", "runs", "model_spans", "proposals", "outputs", "missing_parents", "refused_traces"), 0
    )
    return Inspection(
        **empty,
        **zero,
        tools=tools,
        records_aside={},
        spans_aside={},
        concurrent=0,
        nested=0,
        content_off=False,
        clock_resolution_ns=1,
    )


def test_a_starting_file_has_every_tool_and_declares_no_operation():
    text = starting_mapping(seen("query", "restart"))
    mapping = read_mapping(text.encode(), "m.yaml")
    assert {name: tool.operation for name, tool in mapping.tools.items()} == {"query": UNSET, "restart": UNSET}
    assert '"query":   # seen once' in text
    assert '"restart":   # seen 2 times' in text


def test_a_starting_file_without_a_tool_is_read():
    assert read_mapping(starting_mapping(seen()).encode(), "m.yaml").tools is UNSET


def test_a_starting_file_reads_back_whatever_the_tools_are_called():
    names = ["no", "a: b", '"', "# x", "\n", "{x}", "é\u2028"]
    assert list(read_mapping(starting_mapping(seen(*names)).encode(), "m.yaml").tools) == names
