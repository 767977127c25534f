"""Values: the encoding that a table declares, the envelope of the producer, and what was not recorded at all."""

import json

import pytest
from msgspec import UNSET

OTEL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query"}
RESULT = "gen_ai.tool.call.result"
ARGUMENTS = "gen_ai.tool.call.arguments"


@pytest.mark.parametrize(
    ("recorded", "result"),
    [
        ("0", "0"),
        ("false", "false"),
        ("null", "null"),
        ("", ""),
        ("{}", {}),
        ("[]", []),
        (0, 0),
        (False, False),
        (None, None),
        ('{"value": null}', {"value": None}),
        ('{"value": 0, "ok": false, "text": ""}', {"value": 0, "ok": False, "text": ""}),
        ("{not json}", "{not json}"),
        ("[12 rows]", "[12 rows]"),
        ('"quoted"', '"quoted"'),
        ('{"value": NaN}', '{"value": NaN}'),
    ],
)
def test_falsy_values_and_texts_are_results(see, recorded, result) -> None:
    call = see({**OTEL, RESULT: recorded}).call
    assert call.status == "ok"
    assert type(call.result) is type(result)
    assert call.result == result


def test_what_is_not_there_is_not_recorded(see) -> None:
    call = see(OTEL).call
    assert (call.arguments, call.result) == (UNSET, UNSET)
    assert "result" not in call.fields


@pytest.mark.parametrize(
    "mark",
    ["__REDACTED__", "[REDACTED]", "<REDACTED>", "REDACTED", "[Scrubbed due to 'auth']", '"[REDACTED]"'],
)
def test_redaction_means_not_recorded_and_never_empty(see, mark) -> None:
    seen = see({"openinference.span.kind": "TOOL", "tool.name": "query", "input.value": mark, "output.value": mark,
                "input.mime_type": "application/json", "output.mime_type": "application/json"})  # fmt: skip
    assert seen.problem is None
    assert (seen.call.arguments, seen.call.result, seen.call.status) == (UNSET, UNSET, "ok")


def test_a_mark_within_a_text_is_no_mark(see) -> None:
    text = "[REDACTED] three times in this log"
    assert see({**OTEL, RESULT: text}).call.result == text


@pytest.mark.parametrize(
    ("recorded", "code"),
    [
        ('{"metric": "latency", "wind', "TRUNCATED_CONTENT"),
        ('{"metric": ', "TRUNCATED_CONTENT"),
        ("{'metric': 'latency'}", "BAD_CONTENT"),
        ("metric=latency", "BAD_CONTENT"),
        ("", "TRUNCATED_CONTENT"),
        ('{"value": NaN}', "BAD_CONTENT"),
        ('{"value": Infinity}', "BAD_CONTENT"),
        ('{"value": 1e400}', "BAD_CONTENT"),
        ("[" * 5000 + "]" * 5000, "BAD_CONTENT"),
        ({"value": float("nan")}, "BAD_CONTENT"),
        ({"values": [1.0, float("-inf")]}, "BAD_CONTENT"),
        ({"value": b"\x00"}, "BAD_CONTENT"),
    ],
)
def test_arguments_that_cannot_be_parsed_are_a_problem_and_never_empty(see, recorded, code) -> None:
    seen = see({**OTEL, ARGUMENTS: recorded})
    assert seen.call.arguments is UNSET
    assert seen.problem.code == code
    assert ARGUMENTS in seen.problem.message
    assert seen.problem.where.span_ids == ("00f067aa0ba902b8",)


@pytest.mark.parametrize(
    ("recorded", "code"),
    [
        ('{"value": 41', "TRUNCATED_CONTENT"),
        ('[{"value": 41}, {"val', "TRUNCATED_CONTENT"),
        ("[1, 2, 3", "TRUNCATED_CONTENT"),
        ({"value": float("nan")}, "BAD_CONTENT"),
    ],
)
def test_a_result_that_was_cut_is_no_text(see, recorded, code) -> None:
    seen = see({**OTEL, RESULT: recorded})
    assert seen.call.result is UNSET
    assert seen.problem.code == code


def test_a_cut_result_of_a_call_that_failed_is_not_needed(see) -> None:
    seen = see({**OTEL, RESULT: '{"error": "no su'}, status=2)
    assert (seen.problem, seen.call.status, seen.call.result) == (None, "error", UNSET)


def test_integers_beyond_64_bits_stay_exact(see) -> None:
    huge = 123456789012345678901234567890
    call = see({**OTEL, ARGUMENTS: json.dumps({"id": huge}), RESULT: json.dumps({"id": -huge})}).call
    assert (call.arguments, call.result) == ({"id": huge}, {"id": -huge})


def test_deep_values_are_read_as_deep_as_json_can_be(see) -> None:
    deep: object = 1
    for _ in range(200):
        deep = [deep]
    assert see({**OTEL, ARGUMENTS: json.dumps({"deep": deep})}).call.arguments == {"deep": deep}
    text = "[" * 5000 + "]" * 5000
    assert see({**OTEL, RESULT: text}).call.result == text


MESSAGE = {"content": '{"value": 1}', "tool_call_id": "call_1", "status": "success"}


@pytest.mark.parametrize(
    "recorded",
    [
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"], "kwargs": MESSAGE},
        {"type": "tool", "data": MESSAGE},
        {**MESSAGE, "type": "tool"},
        {"type": "tool", "data": {**MESSAGE, "content": [{"type": "text", "text": '{"value": 1}'}]}},
    ],
    ids=["constructor", "data", "plain", "blocks"],
)
def test_a_langchain_message_is_unwrapped_in_all_its_dumps(see, recorded) -> None:
    call = see({"openinference.span.kind": "TOOL", "tool.name": "query", "output.value": json.dumps(recorded)}).call
    assert (call.call_id, call.result) == ("call_1", {"value": 1})


@pytest.mark.parametrize(
    "value",
    [
        {"output": 5},
        {"result": 5},
        {"content": "x", "type": "page"},
        {"content": "x", "type": "page", "tool_call_id": "call_9"},
        {"raw_output": 1, "is_error": False},
        {"content": [{"type": "text", "text": "x"}]},
        {"response": 1},
        {"args": [], "kwargs": {}},
        [{"text": "x"}],
        [{"json": {}}],
        {"data": {"status": "error"}},
        {"status": "error"},
        {"error": "a text of the application"},
        {"error": True},
        {"isError": True},
        {"is_error": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("base", ["otel", "openinference"])
def test_an_applications_own_value_that_looks_like_an_envelope_stays(see, base, value) -> None:
    attributes = {
        "otel": {**OTEL, RESULT: json.dumps(value)},
        "openinference": {"openinference.span.kind": "TOOL", "tool.name": "query", "output.value": json.dumps(value)},
    }[base]
    call = see(attributes).call
    assert (call.status, call.result, call.call_id) == ("ok", value, "")


@pytest.mark.parametrize(
    ("attributes", "scope", "result"),
    [
        (
            {
                "openinference.span.kind": "TOOL",
                "output.value": '{"blocks": [], "tool_name": "query", "raw_input": {}, "raw_output": {"value": 1}, '
                '"is_error": false}',
            },
            "openinference.instrumentation.llama_index",
            {"value": 1},
        ),
        (
            {
                "openinference.span.kind": "TOOL",
                "output.value": '{"id": "adk-1", "name": "query", "response": {"result": [1]}}',
            },
            "openinference.instrumentation.google_adk",
            [1],
        ),
        (
            {
                "mlflow.spanType": '"TOOL"',
                "mlflow.spanOutputs": '{"content": "7", "type": "tool", "tool_call_id": "c"}',
            },
            "",
            "7",
        ),
        (
            {
                **OTEL,
                "mcp.method.name": "tools/call",
                RESULT: '{"content": [{"type": "text", "text": "{\\"value\\": 1}"}]}',
            },
            "fastmcp",
            {"value": 1},
        ),
        (
            {**OTEL, "gcp.vertex.agent.tool_response": '{"result": null}'},
            "gcp.vertex.agent",
            None,
        ),
        (
            {**OTEL, "gcp.vertex.agent.tool_response": '{"result": 1, "unit": "ms"}'},
            "gcp.vertex.agent",
            {"result": 1, "unit": "ms"},
        ),
    ],
    ids=["llama index", "adk by openinference", "mlflow langchain", "mcp", "adk null", "adk object"],
)
def test_each_producers_envelope_is_taken_off(see, attributes, scope, result) -> None:
    call = see(attributes, scope=scope, name="query").call
    assert call.status == "ok"
    assert call.result == result


@pytest.mark.parametrize(
    ("attributes", "key"),
    [
        ({"langsmith.span.kind": "tool"}, "gen_ai.prompt"),
        (OTEL, ARGUMENTS),
        ({"mlflow.spanType": '"TOOL"'}, "mlflow.spanInputs"),
    ],
    ids=["langsmith", "otel", "mlflow"],
)
def test_arguments_that_are_encoded_twice(see, attributes, key) -> None:
    assert see({**attributes, key: json.dumps(json.dumps({"a": 1}))}, name="query").call.arguments == {"a": 1}
    assert see({**attributes, key: '"a text"'}, name="query").call.arguments == "a text"


def test_positional_arguments_stay_as_they_were_recorded(see) -> None:
    recorded = {"args": ["latency"], "kwargs": {}}
    attributes = {"langfuse.observation.type": "tool", "langfuse.observation.input": json.dumps(recorded)}
    assert see(attributes, name="query").call.arguments == recorded


@pytest.mark.parametrize("args", ["N/A", "{}"])
def test_adk_without_content_records_no_arguments(see, args) -> None:
    call = see({**OTEL, "gcp.vertex.agent.tool_call_args": args}, scope="gcp.vertex.agent").call
    assert call.arguments is UNSET


def test_llama_index_binds_a_call_as_keywords_and_others_have_a_parameter_of_that_name(see) -> None:
    attributes = {"openinference.span.kind": "TOOL", "tool.name": "query", "input.mime_type": "application/json"}
    attributes |= {"input.value": '{"kwargs": {"metric": "latency"}}'}
    assert see(attributes, scope="openinference.instrumentation.llama_index").call.arguments == {"metric": "latency"}
    assert see(attributes, scope="openinference.instrumentation.smolagents").call.arguments == {
        "kwargs": {"metric": "latency"}
    }
