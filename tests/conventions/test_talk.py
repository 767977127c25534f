"""Models and agents: what they propose, use and say at last; no text is kept that is no output."""

import json

import msgspec
import pytest
from msgspec import UNSET

ARGS = {"metric": "latency"}
ARGS_JSON = '{"metric": "latency"}'
CHAT = {"gen_ai.operation.name": "chat"}
PARTS = [
    {"type": "text", "content": "Let me look."},
    {"type": "tool_call", "id": "call_1", "name": "query", "arguments": ARGS},
    {"type": "tool_call", "id": "call_2", "name": "query", "arguments": ARGS_JSON},
    {"type": "tool_call_response", "id": "call_0", "response": "x"},
]
AI_MESSAGE = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "AIMessage"],
    "kwargs": {
        "content": "secret",
        "tool_calls": [{"name": "query", "args": ARGS, "id": "call_1", "type": "tool_call"}],
    },
}
OPENAI = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "call_1", "type": "function", "function": {"name": "query", "arguments": ARGS_JSON}}
]}  # fmt: skip
ONE = [("query", "call_1", ARGS)]


def flat(prefix: str, *parts: tuple[str, str]) -> dict[str, str]:
    return {prefix + key: value for key, value in parts}


PROPOSED = {
    "otel messages": (
        {**CHAT, "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": PARTS}])},
        {},
        [("query", "call_1", ARGS), ("query", "call_2", ARGS)],
    ),
    "otel messages as structured attributes": (
        {**CHAT, "gen_ai.output.messages": [{"role": "assistant", "parts": PARTS[:2]}]},
        {},
        ONE,
    ),
    "openinference": (
        {
            "openinference.span.kind": "LLM",
            **flat(
                "llm.output_messages.0.message.tool_calls.0.tool_call.",
                ("id", "call_1"),
                ("function.name", "query"),
                ("function.arguments", ARGS_JSON),
            ),
            **flat(
                "llm.input_messages.1.message.tool_calls.0.tool_call.", ("id", "call_0"), ("function.name", "query")
            ),
        },
        {},
        ONE,
    ),
    "openllmetry": (
        {
            "llm.request.type": "chat",
            **flat("gen_ai.completion.0.tool_calls.0.", ("id", "call_1"), ("name", "query"), ("arguments", ARGS_JSON)),
        },
        {},
        ONE,
    ),
    "vercel ai sdk": (
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.response.toolCalls": json.dumps([{"toolCallId": "call_1", "toolName": "query", "input": ARGS_JSON}]),
        },
        {},
        ONE,
    ),
    "vercel ai sdk 4": (
        {
            "ai.operationId": "ai.streamText.doStream",
            "ai.response.toolCalls": json.dumps(
                [{"toolCallType": "function", "toolCallId": "call_1", "toolName": "query", "args": ARGS_JSON}]
            ),
        },
        {},
        ONE,
    ),
    "events, strands": (
        CHAT,
        {
            "events": [
                (
                    "gen_ai.choice",
                    {
                        "message": json.dumps(
                            [{"text": "secret"}, {"toolUse": {"toolUseId": "call_1", "name": "query", "input": ARGS}}]
                        )
                    },
                )
            ]
        },
        ONE,
    ),
    "events, openai": (CHAT, {"events": [("gen_ai.choice", {"message": json.dumps(OPENAI)})]}, ONE),
    "events, the calls apart": (
        CHAT,
        {"events": [("gen_ai.choice", {"tool_calls": json.dumps(OPENAI["tool_calls"])})]},
        ONE,
    ),
    "pydantic ai 1": (
        {
            **CHAT,
            "events": json.dumps(
                [
                    {"event.name": "gen_ai.assistant.message", **OPENAI},
                    {
                        "event.name": "gen_ai.choice",
                        "index": 0,
                        "message": {**OPENAI, "tool_calls": OPENAI["tool_calls"]},
                    },
                ]
            ),
        },
        {"scope": "pydantic-ai"},
        ONE,
    ),
    "google adk": (
        {
            "gcp.vertex.agent.llm_response": json.dumps(
                {
                    "content": {
                        "role": "model",
                        "parts": [{"function_call": {"id": "adk-1", "name": "query", "args": ARGS}}],
                    }
                }
            )
        },
        {"name": "call_llm", "scope": "gcp.vertex.agent"},
        [("query", "adk-1", ARGS)],
    ),
    "langfuse": (
        {"langfuse.observation.type": "generation", "langfuse.observation.output": json.dumps(OPENAI)},
        {},
        ONE,
    ),
    "mlflow": (
        {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanOutputs": json.dumps({"choices": [{"message": OPENAI}]})},
        {},
        ONE,
    ),
    "langsmith": (
        {"langsmith.span.kind": "llm", "gen_ai.completion": json.dumps({"generations": [[{"message": AI_MESSAGE}]]})},
        {},
        ONE,
    ),
    "mastra": (
        {
            "gen_ai.operation.name": "model_step",
            "mastra.span.type": "model_step",
            "mastra.model_step.output": json.dumps(
                {"text": "", "toolCalls": [{"toolCallId": "call_1", "toolName": "query", "args": ARGS}]}
            ),
        },
        {},
        ONE,
    ),
    "genkit": (
        {
            "genkit:metadata:subtype": "model",
            "genkit:output": json.dumps(
                {
                    "message": {
                        "role": "model",
                        "content": [{"toolRequest": {"name": "query", "ref": "call_1", "input": ARGS}}],
                    }
                }
            ),
        },
        {},
        ONE,
    ),
    "anthropic": (
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.output": json.dumps(
                {"content": [{"type": "tool_use", "id": "call_1", "name": "query", "input": ARGS}]}
            ),
        },
        {},
        ONE,
    ),
    "openai responses": (
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.output": json.dumps(
                [{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "query", "arguments": ARGS_JSON}]
            ),
        },
        {},
        ONE,
    ),
}


@pytest.mark.parametrize(("attributes", "parts", "proposed"), PROPOSED.values(), ids=PROPOSED.keys())
def test_the_calls_that_a_model_proposes(see, attributes, parts, proposed) -> None:
    seen = see(attributes, **parts)
    assert seen.role == "model"
    assert [(one.tool, one.call_id, one.arguments) for one in seen.proposals] == proposed
    assert [one.index for one in seen.proposals] == list(range(len(proposed)))
    assert seen.output == ""  # it asked for tools, so the reply was recorded, and is no output
    assert b"secret" not in msgspec.json.encode(seen)


@pytest.mark.parametrize(
    "recorded",
    [
        "no JSON",
        "[{",
        '"tool_call"',
        "[1, 2]",
        '[{"role": "assistant", "parts": "tool_call"}]',
        '[{"role": "assistant", "parts": [{"type": "tool_call"}]}]',
        "[" * 3000 + '"tool_call"' + "]" * 3000,
        7,
        None,
        ["x"],
    ],
)
def test_what_has_not_the_shape_proposes_nothing(see, recorded) -> None:
    seen = see({**CHAT, "gen_ai.output.messages": recorded})
    assert seen.proposals == ()


def test_a_proposed_call_is_no_call(see) -> None:
    assert see(PROPOSED["otel messages"][0]).call is None


def test_calls_of_the_conversation_so_far_are_not_proposed_again(see) -> None:
    history = json.dumps([{"role": "assistant", "parts": PARTS}])
    assert see({**CHAT, "gen_ai.input.messages": history}).proposals == ()


# -- final messages ----------------------------------------------------------------------------------------------------

OUTPUT = {"disposition": "answer", "value": 1}
OUTPUT_JSON = json.dumps(OUTPUT)

SAID = {
    "otel": {
        **CHAT,
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": OUTPUT_JSON}]}]
        ),
    },
    "openinference": {"openinference.span.kind": "LLM", "llm.output_messages.0.message.content": OUTPUT_JSON},
    "openinference agent": {"openinference.span.kind": "AGENT", "output.value": OUTPUT_JSON},
    "openinference langgraph": {
        "openinference.span.kind": "AGENT",
        "output.value": json.dumps({"messages": [{"type": "ai", "data": {"content": OUTPUT_JSON, "type": "ai"}}]}),
    },
    "openllmetry": {"llm.request.type": "chat", "gen_ai.completion.0.content": OUTPUT_JSON},
    "vercel ai sdk": {"ai.operationId": "ai.generateText", "ai.response.text": OUTPUT_JSON},
    "vercel ai sdk object": {"ai.operationId": "ai.generateObject", "ai.response.object": OUTPUT_JSON},
    "langfuse": {"langfuse.observation.type": "agent", "langfuse.observation.output": OUTPUT_JSON},
    "langfuse message": {
        "langfuse.observation.type": "generation",
        "langfuse.observation.output": json.dumps({"role": "assistant", "content": OUTPUT_JSON}),
    },
    "mlflow": {"mlflow.spanType": '"AGENT"', "mlflow.spanOutputs": OUTPUT_JSON},
    "mlflow text": {"mlflow.spanType": '"AGENT"', "mlflow.spanOutputs": json.dumps(OUTPUT_JSON)},
    "genkit": {
        "genkit:metadata:subtype": "model",
        "genkit:output": json.dumps({"message": {"role": "model", "content": [{"text": OUTPUT_JSON}]}}),
    },
    "genkit flow": {"genkit:type": "flow", "genkit:output": OUTPUT_JSON},
}


@pytest.mark.parametrize("attributes", SAID.values(), ids=SAID.keys())
def test_the_final_message_where_it_is_the_applications_output(see, attributes) -> None:
    seen = see(attributes)
    output = seen.output
    assert (json.loads(output) if isinstance(output, str) else output) == OUTPUT


@pytest.mark.parametrize("attributes", SAID.values(), ids=SAID.keys())
def test_no_other_text_is_kept(see, attributes) -> None:
    other = json.loads(json.dumps(attributes).replace("disposition", "secret"))
    seen = see(other)
    assert seen.output == ""
    assert b"secret" not in msgspec.json.encode(seen)


def test_pydantic_ai_1_names_its_final_result(see) -> None:
    seen = see({"final_result": OUTPUT_JSON}, name="agent run", scope="pydantic-ai")
    assert seen.output == OUTPUT


def test_no_message_at_all_is_not_recorded(see) -> None:
    assert see(CHAT).output is UNSET
    assert see({"openinference.span.kind": "AGENT", "output.value": "__REDACTED__"}).output is UNSET


def test_the_last_assistant_message_counts_and_no_users(see) -> None:
    messages = [
        {"role": "assistant", "parts": [{"type": "text", "content": OUTPUT_JSON}]},
        {"role": "user", "parts": []},
    ]
    assert see({**CHAT, "gen_ai.output.messages": json.dumps(messages)}).output is UNSET


@pytest.mark.parametrize(
    "attributes",
    [
        {"openinference.span.kind": "AGENT", "output.value": '{"disposition": "answer", "val'},
        {**CHAT, "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "te'},
    ],
)
def test_a_final_message_that_was_cut_is_no_run_without_an_output(see, attributes) -> None:
    seen = see(attributes)
    assert seen.output is UNSET
    assert seen.problem.code == "TRUNCATED_CONTENT"
    assert "final message" in seen.problem.message


def test_what_was_asked_is_kept_only_on_request(see) -> None:
    attributes = {"openinference.span.kind": "AGENT", "input.value": "secret", "output.value": "a text"}
    assert (see(attributes).input, see(attributes).output) == (UNSET, "")
    assert (see(attributes, keep_input=True).input, see(attributes, keep_input=True).output) == ("secret", "a text")


# -- usage -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "usage"),
    [
        (
            {
                **CHAT,
                "gen_ai.usage.input_tokens": 50,
                "gen_ai.usage.output_tokens": 10,
                "gen_ai.usage.cache_read.input_tokens": 5,
                "gen_ai.usage.reasoning.output_tokens": 3,
                "gen_ai.response.model": "a",
                "gen_ai.request.model": "b",
                "operation.cost": 0.25,
            },
            (50, 10, 5, 3, 0.25, "a"),
        ),
        (
            {
                **CHAT,
                "gen_ai.usage.prompt_tokens": 50,
                "gen_ai.usage.completion_tokens": 0,
                "gen_ai.request.model": "b",
            },
            (50, 0, UNSET, UNSET, UNSET, "b"),
        ),
        (
            {
                "openinference.span.kind": "LLM",
                "llm.token_count.prompt": 50,
                "llm.token_count.completion": "10",
                "llm.token_count.prompt_details.cache_read": 0,
                "llm.token_count.completion_details.reasoning": 3,
                "llm.cost.total": 0.5,
                "llm.model_name": "a",
            },
            (50, 10, 0, 3, 0.5, "a"),
        ),
        (
            {
                "ai.operationId": "ai.generateText.doGenerate",
                "ai.usage.inputTokens": 50,
                "ai.usage.outputTokens": 10,
                "ai.usage.cachedInputTokens": 5,
                "ai.usage.reasoningTokens": 3,
                "ai.model.id": "a",
            },
            (50, 10, 5, 3, UNSET, "a"),
        ),
        (
            {"ai.operationId": "ai.streamText.doStream", "ai.usage.promptTokens": 50, "ai.usage.completionTokens": 10},
            (50, 10, UNSET, UNSET, UNSET, UNSET),
        ),
        (
            {
                "langfuse.observation.type": "generation",
                "langfuse.observation.usage_details": '{"input": 50, "output": 10, "input_cached_tokens": 5}',
                "langfuse.observation.cost_details": '{"input": 0.1, "total": 0.3}',
                "langfuse.observation.model.name": "a",
            },
            (50, 10, 5, UNSET, 0.3, "a"),
        ),
        (
            {
                "mlflow.spanType": '"LLM"',
                "mlflow.chat.tokenUsage": '{"input_tokens": 50, "output_tokens": 10, "total_tokens": 60}',
                "mlflow.llm.model": '"a"',
            },
            (50, 10, UNSET, UNSET, UNSET, "a"),
        ),
        (
            {
                "genkit:metadata:subtype": "model",
                "genkit:name": "googleai/a",
                "genkit:output": '{"usage": {"inputTokens": 50, "outputTokens": 10, "thoughtsTokens": 3}}',
            },
            (50, 10, UNSET, 3, UNSET, "googleai/a"),
        ),
        (
            {"llm.request.type": "chat", "gen_ai.usage.prompt_tokens": 50, "gen_ai.usage.completion_tokens": 10},
            (50, 10, UNSET, UNSET, UNSET, UNSET),
        ),
    ],
    ids=["otel", "otel, older", "openinference", "ai sdk", "ai sdk 4", "langfuse", "mlflow", "genkit", "openllmetry"],
)
def test_usage(see, attributes, usage) -> None:
    found = see(attributes).usage
    parts = ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens", "cost_usd", "model")
    assert tuple(getattr(found, part) for part in parts) == usage


def test_usage_of_claude_code(see) -> None:
    attributes = {
        "span.type": "llm_request",
        "input_tokens": 50,
        "output_tokens": 10,
        "cache_read_tokens": 5,
        "model": "a",
    }
    found = see(attributes, scope="com.anthropic.claude_code.tracing").usage
    assert (found.input_tokens, found.output_tokens, found.cached_input_tokens, found.model) == (50, 10, 5, "a")


@pytest.mark.parametrize("recorded", [-1, 1.5, True, "ten", "", "1e3", None, float("nan"), float("inf"), [1]])
def test_what_is_no_count_is_not_recorded(see, recorded) -> None:
    assert see({**CHAT, "gen_ai.usage.input_tokens": recorded}).usage is UNSET


def test_a_model_without_usage_records_none(see) -> None:
    assert see(CHAT).usage is UNSET


def test_logfires_pending_spans_are_told(see) -> None:
    assert see({**CHAT, "logfire.span_type": "pending_span"}).pending
    assert not see({**CHAT, "logfire.span_type": "span"}).pending


@pytest.mark.parametrize(
    ("recorded", "output", "code"),
    [
        (OUTPUT_JSON, OUTPUT, None),
        ("0", 0, None),
        ('{"disposition": "answ', UNSET, "TRUNCATED_CONTENT"),
        ("a text", UNSET, "BAD_CONTENT"),
    ],
)
def test_the_labs_own_output_must_be_json(see, recorded, output, code) -> None:
    seen = see({"lab.output": recorded, "lab.infrastructure": "failed"})
    assert seen.lab_output == output
    assert seen.infrastructure == "failed"
    assert (seen.problem.code if seen.problem else None) == code


def test_the_labs_own_attributes_of_a_tool(see) -> None:
    lab = {"lab.metric": "latency", "lab.window": "PT1H", "lab.rows": 0, "lab.value": 1.5, "lab.source": "prom"}
    call = see({"lab.operation": "write", **lab}, name="restart").call
    assert call.lab == {"metric": "latency", "window": "PT1H", "rows": 0, "value": 1.5, "source": "prom"}
    assert (call.tool, call.operation) == ("restart", "write")
