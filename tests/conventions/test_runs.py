"""Whole runs of the producers of which there is no sample, from export to native format."""

import json

from msgspec import UNSET, to_builtins

ARGS = {"metric": "latency", "window": "PT1H"}
REPLY = {"metric": "latency", "window": "PT1H", "rows": 60, "value": 412.5, "source": "prom"}
OUTPUT = {"disposition": "answer", "value": 412.5, "evidence": ["call_1"]}


def only(conversion):
    assert [problem for refused in conversion.refused for problem in refused.problems] == []
    assert conversion.tally.read == conversion.tally.used + sum(conversion.tally.aside.values())
    (run,) = conversion.runs
    return run


def steps(run):
    return [(step.tool, step.call_id, step.arguments, step.status) for step in run.steps]


def test_genkit(export) -> None:
    made = export("genkit-tracer")
    action = {"genkit:type": "action", "genkit:state": "success"}
    root = made.span(
        "metricsFlow",
        0,
        100,
        "",
        {"genkit:type": "flow", "genkit:name": "metricsFlow", "genkit:output": json.dumps(OUTPUT)},
    )
    request = {"toolRequest": {"name": "query", "ref": "call_1", "input": ARGS}}
    model = {
        **action,
        "genkit:metadata:subtype": "model",
        "genkit:name": "googleai/a",
        "genkit:output": json.dumps(
            {"message": {"role": "model", "content": [request]}, "usage": {"inputTokens": 50, "outputTokens": 10}}
        ),
    }
    made.span("googleai/a", 5, 10, root, model)
    tool = {**action, "genkit:metadata:subtype": "tool", "genkit:name": "query", "genkit:input": json.dumps(ARGS)}
    made.span("query", 20, 30, root, {**tool, "genkit:output": json.dumps(REPLY)})
    run = only(made.convert())
    assert steps(run) == [("query", "call_1", ARGS, "ok")]
    assert run.steps[0].result.data == REPLY
    assert to_builtins(run.output) == OUTPUT
    assert run.status is UNSET
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.model) == (50, 10, "googleai/a")


def test_openllmetry_decorators(export) -> None:
    made = export("traceloop.tracer")
    workflow = {
        "traceloop.span.kind": "workflow",
        "traceloop.entity.name": "metrics",
        "traceloop.entity.output": json.dumps(OUTPUT),
    }
    root = made.span("metrics.workflow", 0, 100, "", workflow)
    tool = {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "query",
        "traceloop.entity.input": json.dumps({"args": [], "kwargs": ARGS}),
        "traceloop.entity.output": json.dumps(REPLY),
    }
    chat = {
        "llm.request.type": "chat",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "call_1",
        "gen_ai.completion.0.tool_calls.0.name": "query",
        "gen_ai.completion.0.tool_calls.0.arguments": json.dumps(ARGS),
        "gen_ai.usage.prompt_tokens": 50,
        "gen_ai.usage.completion_tokens": 10,
    }
    made.span("openai.chat", 5, 10, root, chat)
    made.span("query.tool", 20, 30, root, tool)
    made.span("prepare.task", 40, 50, root, {"traceloop.span.kind": "task"})
    run = only(made.convert())
    assert steps(run) == [("query", "call_1", ARGS, "ok")]
    assert run.steps[0].result.data == REPLY
    assert to_builtins(run.output) == OUTPUT
    assert (run.usage.input_tokens, run.usage.output_tokens) == (50, 10)


def test_mcp_client_and_server_spans_are_one_call(export) -> None:
    made = export("my.agent")
    root = made.span("invoke_agent a", 0, 100, "", {"gen_ai.operation.name": "invoke_agent"})
    mcp = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "query"}
    content = {
        "gen_ai.tool.call.arguments": json.dumps(ARGS),
        "gen_ai.tool.call.result": json.dumps({"content": [], "structuredContent": REPLY}),
    }
    client = made.span("tools/call query", 20, 30, root, {**mcp, **content})
    made.span("tools/call query", 21, 29, client, mcp)
    made.span("tools/list", 5, 6, root, {"mcp.method.name": "tools/list"})
    conversion = made.convert()
    run = only(conversion)
    assert steps(run) == [("query", UNSET, ARGS, "ok")]
    assert run.steps[0].result.data == REPLY
    assert conversion.tally.aside == {
        "an MCP message that calls no tool": 1,
        "the same call, as the Model Context Protocol sees it": 1,
    }


def test_mastra(export) -> None:
    made = export("@mastra/otel-exporter")
    said = {"text": json.dumps(OUTPUT), "files": []}
    agent = {"gen_ai.operation.name": "invoke_agent", "mastra.span.type": "agent_run"}
    root = made.span("invoke_agent metrics", 0, 100, "", {**agent, "mastra.agent_run.output": json.dumps(said)})
    chat = {"gen_ai.operation.name": "chat", "mastra.span.type": "model_generation", "gen_ai.usage.input_tokens": 50}
    generation = made.span("chat a", 1, 99, root, chat)
    proposed = {"text": "", "toolCalls": [{"toolCallId": "call_1", "toolName": "query", "args": ARGS}]}
    step = {"gen_ai.operation.name": "model_step", "mastra.span.type": "model_step"}
    made.span("step: 0", 2, 10, generation, {**step, "mastra.model_step.output": json.dumps(proposed)})
    made.span("step: 1", 50, 60, generation, {**step, "mastra.model_step.output": json.dumps(said)})
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "mastra.span.type": "tool_call",
        "gen_ai.tool.name": "query",
        "gen_ai.tool.call.arguments": json.dumps(ARGS),
        "gen_ai.tool.call.result": json.dumps({"error": True, "message": "boom"}),
    }
    made.span("execute_tool query", 20, 30, generation, tool)
    run = only(made.convert())
    assert steps(run) == [("query", "call_1", ARGS, "error")]
    assert run.steps[0].error.message == "boom"
    assert to_builtins(run.output) == OUTPUT
    assert run.usage.input_tokens == 50


def test_claude_code(export) -> None:
    made = export("com.anthropic.claude_code.tracing")
    root = made.span("claude_code.interaction", 0, 100, "", {"span.type": "interaction", "user_prompt": "<REDACTED>"})
    request = {"span.type": "llm_request", "model": "a", "input_tokens": 50, "output_tokens": 10}
    made.span("claude_code.llm_request", 5, 10, root, request)
    tool = {"span.type": "tool", "tool_name": "Read", "tool_use_id": "toolu_1", "file_path": "<REDACTED>"}
    parent = made.span("claude_code.tool", 20, 40, root, tool)
    made.span("claude_code.tool.execution", 30, 39, parent, {"span.type": "tool.execution", "success": True})
    run = only(made.convert())
    assert steps(run) == [("Read", "toolu_1", UNSET, "ok")]
    assert run.steps[0].result is UNSET
    assert run.output is UNSET
    assert run.status.target == "unknown"
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.model) == (50, 10, "a")


def test_an_evaluators_model_is_no_part_of_the_run(export) -> None:
    made = export("openinference")
    root = made.span("agent", 0, 100, "", {"openinference.span.kind": "AGENT", "output.value": json.dumps(OUTPUT)})
    judge = made.span("judge", 60, 90, root, {"openinference.span.kind": "EVALUATOR"})
    made.span("llm", 65, 80, judge, {"openinference.span.kind": "LLM", "llm.token_count.prompt": 7})
    made.span("lookup", 81, 85, judge, {"openinference.span.kind": "TOOL", "tool.name": "lookup"})
    made.span("llm", 5, 10, root, {"openinference.span.kind": "LLM", "llm.token_count.prompt": 50})
    run = only(made.convert())
    assert run.steps == []
    assert (run.usage.input_tokens, run.usage.judge.input_tokens) == (50, 7)


def test_two_conventions_that_disagree_refuse_the_run_and_say_both_values(export) -> None:
    made = export("my.agent")
    root = made.span("agent", 0, 100, "", {"openinference.span.kind": "AGENT"})
    both = {
        "openinference.span.kind": "TOOL",
        "tool.name": "restart",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "query",
    }
    made.span("a tool", 20, 30, root, both)
    (refused,) = made.convert().refused
    (problem,) = refused.problems
    assert (problem.code, problem.found, problem.expected) == (
        "AMBIGUOUS_CONVENTION",
        "otel-genai: query",
        "openinference: restart",
    )


def test_a_self_instrumented_application(export) -> None:
    made = export("my.app")
    lab = {
        "lab.case.id": "latency",
        "lab.policy": "guarded",
        "lab.output": json.dumps({"disposition": "answer", "value": 412.5}),
    }
    root = made.span("run", 0, 100, "", lab)
    parts = {f"lab.{key}": value for key, value in REPLY.items()}
    made.span("query", 20, 30, root, {"lab.operation": "read", **parts})
    made.span("restart", 40, 40, root, {"lab.operation": "write", "lab.blocked": True})
    run = only(made.convert(case=None, policy=None))
    assert (run.case_id, run.policy) == ("latency", "guarded")
    assert [(step.tool, step.operation, step.status) for step in run.steps] == [
        ("query", "read", "ok"),
        ("restart", "write", "blocked"),
    ]
    assert to_builtins(run.steps[0].result) == REPLY
    assert to_builtins(run.output) == {"disposition": "answer", "value": 412.5}
