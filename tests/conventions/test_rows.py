"""Every row of the table of conventions: a span with the real attribute names is read, one that is nearly so is not."""

from typing import Any

import pytest
from msgspec import UNSET

ARGS = {"metric": "latency", "window": "PT1H"}
ARGS_JSON = '{"metric": "latency", "window": "PT1H"}'
REPLY = {"metric": "latency", "rows": 60, "value": 412.5}
REPLY_JSON = '{"metric": "latency", "rows": 60, "value": 412.5}'
TOOL_MESSAGE = (
    '{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"], "kwargs": '
    '{"content": "{\\"metric\\": \\"latency\\", \\"rows\\": 60, \\"value\\": 412.5}", "tool_call_id": "call_1", '
    '"status": "success"}}'
)
ADK = "gcp.vertex.agent"
CLAUDE = "com.anthropic.claude_code.tracing"

# name, attributes, how the span is otherwise, and the call: tool, id, arguments, result, tables that claim it
ROWS: list[tuple[str, dict[str, Any], dict[str, Any], tuple[str, str, Any, Any, tuple[str, ...]]]] = [
    (
        "1 langfuse",
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.metadata.tool_call_id": '"call_1"',
            "langfuse.observation.input": ARGS_JSON,
            "langfuse.observation.output": REPLY_JSON,
        },
        {"name": "query_metric", "scope": "langfuse-sdk"},
        ("query_metric", "call_1", ARGS, REPLY, ("langfuse",)),
    ),
    (
        "1 langfuse, decorated, id without quotes",
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.metadata.tool_call_id": "call_1",
            "langfuse.observation.input": '{"args": [], "kwargs": {"metric": "latency", "window": "PT1H"}}',
            "langfuse.observation.output": "0",
        },
        {"name": "query_metric"},
        ("query_metric", "call_1", ARGS, "0", ("langfuse",)),
    ),
    (
        "2 otel",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "query_metric",
            "gen_ai.tool.call.id": "call_1",
            "gen_ai.tool.call.arguments": ARGS_JSON,
            "gen_ai.tool.call.result": REPLY_JSON,
        },
        {"name": "execute_tool query_metric"},
        ("query_metric", "call_1", ARGS, REPLY, ("otel-genai", "otel-genai-events")),
    ),
    (
        "2 otel, structured attributes, the name only in the span's",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.call.arguments": {"metric": "latency", "window": "PT1H"},
            "gen_ai.tool.call.result": [1, None, False],
        },
        {"name": "execute_tool query_metric"},
        ("query_metric", "", ARGS, [1, None, False], ("otel-genai", "otel-genai-events")),
    ),
    (
        "3 otel events (Strands)",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query_metric", "gen_ai.tool.call.id": "call_1"},
        {
            "name": "execute_tool query_metric",
            "scope": "strands.telemetry.tracer",
            "events": [
                ("gen_ai.tool.message", {"role": "tool", "content": ARGS_JSON, "id": "call_1"}),
                ("gen_ai.choice", {"message": f'[{{"json": {REPLY_JSON}}}]', "id": "call_1"}),
            ],
        },
        ("query_metric", "call_1", ARGS, REPLY, ("otel-genai", "otel-genai-events")),
    ),
    (
        "3 otel events, a text block, the id only in the event",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query_metric"},
        {
            "events": [
                ("gen_ai.tool.message", {"content": ARGS_JSON, "id": "call_1"}),
                ("gen_ai.choice", {"message": '[{"text": "it is fine"}]'}),
            ],
        },
        ("query_metric", "call_1", ARGS, "it is fine", ("otel-genai", "otel-genai-events")),
    ),
    (
        "4 google adk",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "query_metric",
            "gen_ai.tool.call.id": "adk-1",
            "gcp.vertex.agent.tool_call_args": ARGS_JSON,
            "gcp.vertex.agent.tool_response": REPLY_JSON,
        },
        {"name": "execute_tool query_metric", "scope": ADK},
        ("query_metric", "adk-1", ARGS, REPLY, ("google-adk", "otel-genai", "otel-genai-events")),
    ),
    (
        "4 google adk, the id in the response alone, an object around a scalar",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "query_metric",
            "gen_ai.tool.call.id": "<not specified>",
            "gcp.vertex.agent.tool_call_args": ARGS_JSON,
            "gcp.vertex.agent.tool_response": '{"id": "adk-1", "name": "query_metric", "response": {"result": 0}}',
        },
        {"scope": ADK},
        ("query_metric", "adk-1", ARGS, 0, ("google-adk", "otel-genai", "otel-genai-events")),
    ),
    (
        "5 pydantic ai 1",
        {
            "gen_ai.tool.name": "query_metric",
            "gen_ai.tool.call.id": "call_1",
            "tool_arguments": ARGS_JSON,
            "tool_response": REPLY_JSON,
        },
        {"name": "running tool", "scope": "pydantic-ai"},
        ("query_metric", "call_1", ARGS, REPLY, ("pydantic-ai",)),
    ),
    (
        "6 openinference",
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "query_metric",
            "tool.id": "call_1",
            "input.value": ARGS_JSON,
            "input.mime_type": "application/json",
            "output.value": REPLY_JSON,
            "output.mime_type": "application/json",
            "tool.parameters": '{"type": "object", "properties": {}}',
        },
        {"name": "a tool"},
        ("query_metric", "call_1", ARGS, REPLY, ("openinference",)),
    ),
    (
        "6 openinference, langchain: the id in the output, a bare argument",
        {
            "openinference.span.kind": "TOOL",
            "input.value": "latency",
            "output.value": TOOL_MESSAGE,
            "output.mime_type": "application/json",
        },
        {"name": "query_metric", "scope": "openinference.instrumentation.langchain"},
        ("query_metric", "call_1", "latency", REPLY, ("openinference",)),
    ),
    (
        "6 openinference, tool_call.id, the span's own name",
        {"openinference.span.kind": "TOOL", "tool_call.id": "call_1", "output.value": "3"},
        {"name": "query_metric"},
        ("query_metric", "call_1", UNSET, "3", ("openinference",)),
    ),
    (
        "6 openinference, the JSON number 3",
        {"openinference.span.kind": "TOOL", "output.value": "3", "output.mime_type": "application/json"},
        {"name": "query_metric"},
        ("query_metric", "", UNSET, 3, ("openinference",)),
    ),
    (
        "6 openinference, smolagents",
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "query_metric",
            "input.value": '{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"metric": "latency"}}',
            "output.value": "41.5",
        },
        {"name": "QueryMetric", "scope": "openinference.instrumentation.smolagents"},
        ("query_metric", "", {"metric": "latency"}, "41.5", ("openinference",)),
    ),
    (
        "6 openinference, tool.parameters hold the arguments",
        {"openinference.span.kind": "TOOL", "tool.name": "query_metric", "tool.parameters": ARGS_JSON},
        {"scope": "openinference.instrumentation.agno"},
        ("query_metric", "", ARGS, UNSET, ("openinference",)),
    ),
    (
        "6 openinference, tool.parameters hold a schema",
        {"openinference.span.kind": "TOOL", "tool.name": "query_metric", "tool.parameters": ARGS_JSON},
        {"scope": "openinference.instrumentation.openai_agents", "status": 2},
        ("query_metric", "", UNSET, UNSET, ("openinference",)),
    ),
    (
        "7 openllmetry, langchain",
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "query_metric",
            "traceloop.entity.input": '{"input_str": "{\'metric\': 1}", "tags": [], "kwargs": {}, '
            '"inputs": {"metric": "latency", "window": "PT1H"}}',
            "traceloop.entity.output": f'{{"output": {TOOL_MESSAGE}, "kwargs": {{"tags": []}}}}',
        },
        {"name": "query_metric.tool", "scope": "opentelemetry.instrumentation.langchain"},
        ("query_metric", "call_1", ARGS, REPLY, ("openllmetry",)),
    ),
    (
        "7 openllmetry, decorated",
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "query_metric",
            "traceloop.entity.input": '{"args": [], "kwargs": {"metric": "latency", "window": "PT1H"}}',
            "traceloop.entity.output": '{"output": 5}',
        },
        {"name": "query_metric.tool", "scope": "traceloop.tracer"},
        ("query_metric", "", ARGS, {"output": 5}, ("openllmetry",)),
    ),
    (
        "8 vercel ai sdk",
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "query_metric",
            "ai.toolCall.id": "call_1",
            "ai.toolCall.args": ARGS_JSON,
            "ai.toolCall.result": REPLY_JSON,
        },
        {"name": "ai.toolCall", "scope": "ai"},
        ("query_metric", "call_1", ARGS, REPLY, ("vercel-ai-sdk",)),
    ),
    (
        "8 vercel ai sdk: the result is always JSON",
        {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "query_metric", "ai.toolCall.result": '"fine"'},
        {},
        ("query_metric", "", UNSET, "fine", ("vercel-ai-sdk",)),
    ),
    (
        "9 mlflow",
        {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": ARGS_JSON, "mlflow.spanOutputs": REPLY_JSON},
        {"name": "query_metric"},
        ("query_metric", "", ARGS, REPLY, ("mlflow",)),
    ),
    (
        "10 langsmith",
        {
            "langsmith.span.kind": "tool",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "query_metric",
            "gen_ai.tool.call.id": "call_1",
            "gen_ai.prompt": ARGS_JSON,
            "gen_ai.completion": f'{{"output": {TOOL_MESSAGE}}}',
        },
        {"name": "query_metric"},
        ("query_metric", "call_1", ARGS, REPLY, ("langsmith", "otel-genai", "otel-genai-events")),
    ),
    (
        "11 mcp",
        {
            "mcp.method.name": "tools/call",
            "gen_ai.tool.name": "query_metric",
            "gen_ai.tool.call.arguments": ARGS_JSON,
            "gen_ai.tool.call.result": '{"content": [{"text": "x"}], "structuredContent": {"value": 0}}',
        },
        {"name": "tools/call query_metric"},
        ("query_metric", "", ARGS, {"value": 0}, ("mcp",)),
    ),
    (
        "11 mcp, named by the span alone",
        {"mcp.method.name": "tools/call"},
        {"name": "tools/call query_metric"},
        ("query_metric", "", UNSET, UNSET, ("mcp",)),
    ),
    (
        "11 mcp, mcp.tool.name",
        {"mcp.method.name": "tools/call", "mcp.tool.name": "query_metric"},
        {"name": "MCP request"},
        ("query_metric", "", UNSET, UNSET, ("mcp",)),
    ),
    (
        "12 genkit",
        {
            "genkit:type": "action",
            "genkit:metadata:subtype": "tool",
            "genkit:name": "query_metric",
            "genkit:input": ARGS_JSON,
            "genkit:output": REPLY_JSON,
            "genkit:state": "success",
        },
        {"name": "query_metric", "scope": "genkit-tracer"},
        ("query_metric", "", ARGS, REPLY, ("genkit",)),
    ),
    (
        "13 claude code",
        {"span.type": "tool", "tool_name": "Bash", "tool_use_id": "toolu_1", "full_command": "ls"},
        {"name": "claude_code.tool", "scope": CLAUDE, "events": [("tool.output", {"output": "a.txt"})]},
        ("Bash", "toolu_1", UNSET, "a.txt", ("claude-code",)),
    ),
    (
        "13 claude code, gen_ai id, no content",
        {"span.type": "tool", "tool_name": "Bash", "gen_ai.tool.call.id": "toolu_1"},
        {"name": "claude_code.tool", "scope": CLAUDE},
        ("Bash", "toolu_1", UNSET, UNSET, ("claude-code",)),
    ),
    (
        "lab",
        {"lab.operation": "read", "lab.metric": "latency", "lab.value": 0},
        {"name": "query_metric"},
        ("query_metric", "", UNSET, UNSET, ("lab",)),
    ),
]


@pytest.mark.parametrize(("attributes", "parts", "call"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_tool_span_is_read(see, attributes, parts, call) -> None:
    seen = see(attributes, **parts)
    assert seen.role == "tool"
    assert seen.problem is None
    assert (seen.call.tool, seen.call.call_id, seen.call.arguments, seen.call.result, seen.call.conventions) == call


@pytest.mark.parametrize(
    ("attributes", "parts"),
    [
        ({"langfuse.observation.type": "span"}, {"name": "query_metric tool"}),
        ({"gen_ai.tool.name": "query_metric"}, {"name": "execute_tool query_metric"}),
        ({}, {"name": "execute_tool query_metric"}),
        ({"gen_ai.tool.name": "query_metric"}, {"name": "running tool", "scope": "another"}),
        ({"openinference.span.kind": "CHAIN"}, {"name": "tools"}),
        ({"traceloop.span.kind": "task"}, {"name": "tools.task"}),
        ({"ai.operationId": "ai.generateText.doGenerate.tool"}, {}),
        ({"mlflow.spanType": '"TOOLS"'}, {}),
        ({"langsmith.span.kind": "retriever"}, {}),
        ({"mcp.method.name": "tools/list2"}, {"name": "tools/call query_metric"}),
        ({"genkit:metadata:subtype": "toolset"}, {}),
        ({"span.type": "tool", "tool_name": "Bash"}, {"scope": "another"}),
        ({"lab.metric": "latency"}, {"name": "query_metric"}),
        ({"gen_ai.operation.name": ["execute_tool"]}, {"name": "execute_tool query_metric"}),
    ],
)
def test_what_only_looks_like_a_tool_span_is_none(see, attributes, parts) -> None:
    seen = see(attributes, **parts)
    assert seen.role == "other"
    assert seen.call is None


@pytest.mark.parametrize(
    ("attributes", "parts", "reason"),
    [
        (
            {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)"},
            {"name": "execute_tool (merged)", "scope": ADK},
            "ADK's span that merges parallel tool results",
        ),
        (
            {"openinference.span.kind": "TOOL", "tool.name": "final_answer"},
            {"name": "FinalAnswerTool"},
            "the framework's final answer, no tool call",
        ),
        (
            {"tools": ["query_metric"], "gen_ai.operation.name": "execute_tool"},
            {"name": "running tools", "scope": "pydantic-ai"},
            "Pydantic AI's wrapper around the tools of a turn",
        ),
        ({"mcp.method.name": "tools/list"}, {"name": "tools/list"}, "an MCP message that calls no tool"),
        ({"span.type": "tool.execution"}, {"scope": CLAUDE}, "the execution inside of a tool span"),
        ({"span.type": "tool.blocked_on_user"}, {"scope": CLAUDE}, "the wait for a person inside of a tool span"),
        ({"gen_ai.operation.name": "create_agent"}, {"name": "create_agent x"}, "the making of an agent, no run"),
    ],
)
def test_what_is_no_call_is_left_aside_with_its_reason(see, attributes, parts, reason) -> None:
    seen = see(attributes, **parts)
    assert (seen.role, seen.reason, seen.call) == ("aside", reason, None)


@pytest.mark.parametrize(
    ("role", "attributes", "parts"),
    [
        ("agent", {"gen_ai.operation.name": "invoke_agent"}, {}),
        ("agent", {"openinference.span.kind": "AGENT"}, {}),
        ("agent", {"traceloop.span.kind": "agent"}, {}),
        ("agent", {"traceloop.span.kind": "workflow"}, {}),
        ("agent", {"langfuse.observation.type": "agent"}, {}),
        ("agent", {"ai.operationId": "ai.generateText"}, {}),
        ("agent", {"ai.operationId": "ai.streamText"}, {}),
        ("agent", {"mlflow.spanType": '"AGENT"'}, {}),
        ("agent", {"lab.case.id": "a case"}, {}),
        ("agent", {}, {"name": "agent run", "scope": "pydantic-ai"}),
        ("agent", {"span.type": "interaction"}, {"scope": CLAUDE}),
        ("model", {"gen_ai.operation.name": "chat"}, {}),
        ("model", {"openinference.span.kind": "LLM"}, {}),
        ("model", {"ai.operationId": "ai.streamText.doStream"}, {}),
        ("model", {"langfuse.observation.type": "generation"}, {}),
        ("model", {"mlflow.spanType": '"CHAT_MODEL"'}, {}),
        ("model", {"langsmith.span.kind": "llm"}, {}),
        ("model", {"genkit:metadata:subtype": "model"}, {}),
        ("model", {"span.type": "llm_request"}, {"scope": CLAUDE}),
        ("model", {"gen_ai.operation.name": "model_step", "mastra.span.type": "model_step"}, {}),
        ("evaluator", {"openinference.span.kind": "EVALUATOR"}, {}),
        ("evaluator", {"langfuse.observation.type": "evaluator"}, {}),
        ("evaluator", {"mlflow.spanType": '"EVALUATOR"'}, {}),
    ],
)
def test_agents_models_and_evaluators_are_told_apart(see, role, attributes, parts) -> None:
    assert see(attributes, **parts).role == role
