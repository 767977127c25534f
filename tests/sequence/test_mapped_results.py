"""What a mapping file says of tools: operations, and where the parts of a result stand."""

import msgspec
import pytest
from labadapt.schema.mapping import MappingFile
from msgspec import UNSET


def mapping(**query):
    return msgspec.convert({"schemaVersion": 1, "tools": {"query": query}}, MappingFile)


def step_of(record, **query):
    (step,) = record.run(mapping=mapping(**query)).steps
    return step


def test_the_mapping_declares_operations(record):
    root = record.root()
    record.tool(1, 2, root)
    record.tool(3, 4, root, tool="restart")
    conversion = record.convert(mapping=mapping(operation="read"))
    assert [step.operation for step in conversion.runs[0].steps] == ["read", "unknown"]
    assert conversion.undeclared == ["restart"]


def test_the_mapping_corrects_a_servers_hint(record):
    record.tool(1, 2, record.root(), operation="read", fields={"operation": "mcp"})
    assert step_of(record, operation="write").operation == "write"


def test_the_mapping_does_not_declare_away_what_the_application_says(record):
    record.tool(1, 2, record.root(), operation="write", fields={"operation": "lab"})
    assert record.refused(mapping=mapping(operation="read")) == ["BAD_CONTENT"]
    assert record.refused(mapping=mapping(operation="write")) == []


def test_expressions_find_the_parts(record):
    result = {"data": [{"name": "m", "points": 60, "last": 1.5}]}
    record.tool(1, 2, record.root(), arguments={"range": "1h"}, result=result)
    step = step_of(record, metric="result.data[0].name", window="arguments.range", rows="result.data[0].points")
    assert msgspec.to_builtins(step.result) == {"metric": "m", "window": "1h", "rows": 60, "data": result}


def test_a_recorded_null_is_null_and_a_missing_key_is_absent(record):
    record.tool(1, 2, record.root(), result={"inner": {"value": None}, "list": [None]})
    step = step_of(record, value="result.inner.value", metric="result.inner.metric", source="result.list[0]")
    assert (step.result.value, step.result.metric, step.result.source) == (None, UNSET, None)


def test_an_expression_that_is_no_path_and_yields_nothing_is_absent(record):
    record.tool(1, 2, record.root(), result={"rows": []})
    assert step_of(record, value="max_by(result.rows, &value).value").result.value is UNSET


def test_an_expression_overrides_the_key_of_the_same_name(record):
    record.tool(1, 2, record.root(), result={"value": 1, "real": 2})
    assert step_of(record, value="result.real").result.value == 2


@pytest.mark.parametrize(
    ("part", "value"), [("value", "412.5"), ("rows", 1.5), ("metric", 7), ("value", True), ("source", [])]
)
def test_a_part_of_the_wrong_type_where_the_mapping_points_is_refused(record, part, value):
    record.tool(1, 2, record.root(), result={"there": value})
    (refused,) = record.convert(mapping=mapping(**{part: "result.there"})).refused
    (problem,) = refused.problems
    assert problem.code == "BAD_CONTENT"
    assert problem.message == (
        f"The {part} of a tool's result stands at result.there (the mapping's tools.query.{part}), "
        "and is of the wrong type."
    )


def test_a_result_that_was_not_recorded_gives_no_parts(record):
    record.tool(1, 2, record.root(), arguments={"value": 1})
    assert step_of(record, value="arguments.value").result is UNSET
