"""How a call came out: from all the places where a record says so, timeouts told from errors, nothing guessed."""

import json

import pytest
from msgspec import UNSET

OTEL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query"}
OPENINFERENCE = {"openinference.span.kind": "TOOL", "tool.name": "query"}
LANGFUSE = {"langfuse.observation.type": "tool"}
ADK = {"scope": "gcp.vertex.agent"}
RETRY = """Traceback (most recent call last):
  File "tools.py", line 3, in run
    raise TimeoutError("too slow")
TimeoutError: too slow

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "agent.py", line 9, in call
pydantic_ai.exceptions.ToolRetryError: 1 validation error"""
DURING = RETRY.replace(
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)


def tool_message(content: str, status: str) -> str:
    body = {"content": content, "type": "tool", "tool_call_id": "call_1", "status": status}
    return json.dumps({"type": "tool", "data": body})


def failed(attributes=None, status="error", kind="", message="", *, span=(0, ""), **parts):
    """A row: the attributes, the other parts of the span, and its call's status, error type and message."""
    code, description = span
    return attributes or OTEL, {"status": code, "message": description, **parts}, (status, kind, message)


CASES = {
    "status": failed(message="boom", span=(2, "boom")),
    "status naming a type": failed(kind="ValueError", message="boom", span=(2, "ValueError: boom")),
    "status of a timeout": failed(
        status="timeout", kind="TimeoutError", message="slow", span=(2, "TimeoutError: slow")
    ),
    "error.type": failed({**OTEL, "error.type": "ValueError"}, kind="ValueError"),
    "error.type timeout": failed({**OTEL, "error.type": "timeout"}, "timeout", "timeout"),
    "error.type 504": failed({**OTEL, "error.type": "504"}, "timeout", "504"),
    "error.type 408 as a number": failed({**OTEL, "error.type": 408}, "timeout", "408"),
    "error.type with its message": failed(
        {**OTEL, "error.type": "TOOL_FAILED", "error.message": "boom"}, kind="TOOL_FAILED", message="boom"
    ),
    "exception": failed(
        kind="KeyError",
        message="'x'",
        events=[("exception", {"exception.type": "KeyError", "exception.message": "'x'"})],
    ),
    "exception of a library": failed(
        status="timeout", kind="httpx.ReadTimeout", events=[("exception", {"exception.type": "httpx.ReadTimeout"})]
    ),
    "exception of grpc": failed(
        status="timeout",
        kind="google.api_core.exceptions.DeadlineExceeded",
        events=[("exception", {"exception.type": "google.api_core.exceptions.DeadlineExceeded"})],
    ),
    "a vague name, a better one in the message": failed(
        {**OTEL, "error.type": "_OTHER"}, "timeout", "TimeoutError", "slow", span=(2, "TimeoutError('slow')")
    ),
    "a timeout as the direct cause": failed(
        status="timeout",
        kind="ToolRetryError",
        events=[("exception", {"exception.type": "ToolRetryError", "exception.stacktrace": RETRY})],
    ),
    "a timeout that was being handled is no cause": failed(
        kind="ToolRetryError",
        events=[("exception", {"exception.type": "ToolRetryError", "exception.stacktrace": DURING})],
    ),
    "a text that mentions a timeout": failed(message="no TimeoutError here", span=(2, "no TimeoutError here")),
    "gen_ai.tool.status": failed({**OTEL, "gen_ai.tool.status": "error"}),
    "langfuse level": failed(
        {**LANGFUSE, "langfuse.observation.level": "ERROR", "langfuse.observation.status_message": "boom"},
        message="boom",
    ),
    "langfuse level, named": failed(
        {
            **LANGFUSE,
            "langfuse.observation.level": "ERROR",
            "langfuse.observation.status_message": "TimeoutError: slow",
        },
        "timeout",
        "TimeoutError",
        "slow",
    ),
    "adk result": failed(
        {**OTEL, "gcp.vertex.agent.tool_response": '{"error": "ValueError: boom"}'},
        "error",
        "ValueError",
        "boom",
        **ADK,
    ),
    "adk timeout in the result": failed(
        {**OTEL, "gcp.vertex.agent.tool_response": '{"error": "TimeoutError: slow"}'},
        "timeout",
        "TimeoutError",
        "slow",
        **ADK,
    ),
    "adk result in its response": failed(
        {**OTEL, "gcp.vertex.agent.tool_response": '{"id": "1", "name": "query", "response": {"error": "boom"}}'},
        message="boom",
        **ADK,
    ),
    "langchain message": failed({**OPENINFERENCE, "output.value": tool_message("boom", "error")}, message="boom"),
    "langchain timeout": failed(
        {**OPENINFERENCE, "output.value": tool_message("TimeoutError: slow", "error")},
        "timeout",
        "TimeoutError",
        "slow",
    ),
    "langchain timeout, as langgraph writes it": failed(
        {**OPENINFERENCE, "output.value": tool_message("Error: TimeoutError('slow')", "error")},
        "timeout",
        "TimeoutError",
        "slow",
    ),
    "llama index": failed(
        {
            **OPENINFERENCE,
            "output.value": '{"blocks": [], "tool_name": "query", "raw_output": "boom", "is_error": true}',
        },
        message="boom",
    ),
    "mastra": failed(
        {
            **OTEL,
            "mastra.span.type": "tool_call",
            "gen_ai.tool.call.result": '{"error": true, "message": "boom"}',
        },
        message="boom",
    ),
    "mcp": failed(
        {
            "mcp.method.name": "tools/call",
            "gen_ai.tool.call.result": '{"content": [{"type": "text", "text": "boom"}], "isError": true}',
        },
        message="boom",
        name="tools/call query",
    ),
    "genkit": failed({"genkit:metadata:subtype": "tool", "genkit:name": "query", "genkit:state": "error"}),
    "openllmetry": failed(
        {"traceloop.span.kind": "tool", "traceloop.entity.name": "q", "gen_ai.task.status": "failure"}
    ),
    "claude code": failed(
        {"span.type": "tool", "tool_name": "Bash", "success": "false", "error": "boom"},
        message="boom",
        scope="com.anthropic.claude_code.tracing",
    ),
}


@pytest.mark.parametrize(("attributes", "parts", "outcome"), CASES.values(), ids=CASES.keys())
def test_a_failure_is_read_from_wherever_it_stands(see, attributes, parts, outcome) -> None:
    call = see(attributes, **{"name": "query", **parts}).call
    assert (call.status, call.error_type, call.error_message) == outcome
    assert call.result is UNSET


@pytest.mark.parametrize(
    ("attributes", "parts"),
    [
        (OTEL, {"status": 0}),
        (OTEL, {"status": 1}),
        ({**OTEL, "error.type": ""}, {}),
        ({**OTEL, "gen_ai.tool.status": "success"}, {}),
        ({**LANGFUSE, "langfuse.observation.level": "WARNING"}, {"name": "query"}),
        ({**OTEL, "gen_ai.tool.call.result": '{"error": true}'}, {}),
        ({**OTEL, "gen_ai.tool.call.result": "TimeoutError: of which the tool only tells"}, {}),
        ({**OTEL, "gcp.vertex.agent.tool_response": '{"error": null, "value": 1}'}, ADK),
        ({**OTEL, "gcp.vertex.agent.tool_response": '{"error": 0.5, "value": 1}'}, ADK),
        ({**OTEL, "gcp.vertex.agent.tool_response": '{"error": ""}'}, ADK),
        ({**OTEL, "mastra.span.type": "tool_call", "gen_ai.tool.call.result": '{"error": false}'}, {}),
        ({**OPENINFERENCE, "output.value": tool_message("fine", "success")}, {}),
        (OTEL, {"events": [("a note", {"exception.type": "ValueError"})]}),
    ],
)
def test_what_does_not_say_that_it_failed_is_ok(see, attributes, parts) -> None:
    assert see(attributes, **parts).call.status == "ok"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("This tool call requires confirmation, please approve or reject.", "blocked"),
        ("This tool call is rejected.", "blocked"),
        ("the deployment requires confirmation of two people", "error"),
    ],
)
def test_adk_says_in_the_result_that_nothing_was_invoked(see, text, status) -> None:
    call = see({**OTEL, "gcp.vertex.agent.tool_response": json.dumps({"error": text})}, **ADK).call
    assert (call.status, call.result) == (status, UNSET)
    assert (call.error_message == "") is (status == "blocked")


@pytest.mark.parametrize(
    ("attributes", "scope", "status"),
    [
        (OPENINFERENCE, "openinference.instrumentation.openai_agents", "unknown"),
        ({**OPENINFERENCE, "input.value": "{}"}, "openinference.instrumentation.openai_agents", "unknown"),
        ({**OPENINFERENCE, "output.value": ""}, "openinference.instrumentation.openai_agents", "ok"),
        ({**OPENINFERENCE, "output.value": "__REDACTED__"}, "openinference.instrumentation.openai_agents", "ok"),
        (OPENINFERENCE, "openinference.instrumentation.langchain", "ok"),
        (OTEL, "opentelemetry.instrumentation.openai_agents", "unknown"),
        (OTEL, "pydantic-ai", "ok"),
    ],
)
def test_openai_agents_writes_the_same_span_for_an_approval_and_for_a_void_write(
    see, attributes, scope, status
) -> None:
    assert see(attributes, scope=scope, status=1).call.status == status


def test_an_openai_agents_call_with_an_error_is_an_error(see) -> None:
    seen = see(OPENINFERENCE, scope="openinference.instrumentation.openai_agents", status=2, message="boom")
    assert (seen.call.status, seen.call.error_message) == ("error", "boom")


@pytest.mark.parametrize("recorded", [True, "true"])
def test_the_labs_own_word_that_a_call_was_blocked(see, recorded) -> None:
    seen = see({**OTEL, "lab.blocked": recorded, "gen_ai.tool.call.result": "0"}, status=2, message="boom")
    assert (seen.call.status, seen.call.result, seen.call.error_message) == ("blocked", UNSET, "")


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"lab.blocked": "yes"}, "true or false"),
        ({"lab.blocked": 2}, "true or false"),
        ({"lab.operation": "delete"}, "read or write"),
    ],
)
def test_another_word_in_the_labs_own_attributes_is_refused(see, attributes, expected) -> None:
    problem = see({**OTEL, **attributes}).problem
    assert (problem.code, problem.expected) == ("BAD_CONTENT", expected)


# -- Claude Code: one call, three spans --------------------------------------------------------------------------------

SCOPE = "com.anthropic.claude_code.tracing"
BASH = {"span.type": "tool", "tool_name": "Bash", "tool_use_id": "toolu_1"}


def claude(export, *inner, **tool):
    made = export(SCOPE)
    root = made.span("claude_code.interaction", 0, 100, "", {"span.type": "interaction"})
    parent = made.span("claude_code.tool", 10, 90, root, BASH, **tool)
    for number, (kind, attributes, status) in enumerate(inner):
        start = 20 + 10 * number
        made.span(f"claude_code.{kind}", start, start + 5, parent, {"span.type": kind, **attributes}, status=status)
    return made


@pytest.mark.parametrize(
    ("inner", "status", "error"),
    [
        ([("tool.execution", {"success": True}, 0)], "ok", UNSET),
        ([("tool.blocked_on_user", {"decision": "accept"}, 0), ("tool.execution", {"success": True}, 0)], "ok", UNSET),
        ([("tool.blocked_on_user", {"decision": "reject"}, 0)], "blocked", UNSET),
        (
            [("tool.execution", {"success": False, "error": "exit 1", "error_class": "ShellError"}, 2)],
            "error",
            ("ShellError", "exit 1"),
        ),
        (
            [("tool.execution", {"success": "false", "error": "late", "error_class": "TimeoutError"}, 0)],
            "timeout",
            ("TimeoutError", "late"),
        ),
        ([("tool.execution", {}, 2)], "error", UNSET),
    ],
)
def test_what_the_inner_spans_of_claude_code_say_is_heard(export, inner, status, error) -> None:
    conversion = claude(export, *inner, events=[("tool.output", {"output": "a.txt"})]).convert()
    (run,) = conversion.runs
    (step,) = run.steps
    assert (step.tool, step.call_id, step.status, step.arguments) == ("Bash", "toolu_1", status, UNSET)
    assert (step.error if error is UNSET else (step.error.type, step.error.message)) == error
    assert (step.result is UNSET) is (status != "ok")
    assert sum(conversion.tally.aside.values()) == len(inner)


def test_tools_of_a_sub_agent_under_an_execution_are_nested_calls(export) -> None:
    made = claude(export, ("tool.execution", {"success": True}, 0))
    made.span("claude_code.tool", 21, 22, "0000000000000003", {**BASH, "tool_use_id": "toolu_2"})
    (refused,) = made.convert().refused
    assert [problem.code for problem in refused.problems] == ["NESTED_STEPS"]
