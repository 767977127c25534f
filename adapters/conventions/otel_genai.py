"""OpenTelemetry GenAI semantic conventions, attributes on spans."""

from labadapt.adapters.span import Aside, Convention, Failing, Field, Match, Proposals, typed

_OPERATION = "gen_ai.operation.name"
_MESSAGES = "gen_ai.output.messages"
_ARGUMENTS, _RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
# OpenLLMetry copies its envelopes into the GenAI keys, MCP spans hold the protocol's.
_LANGCHAIN = Match("traceloop.span.kind", scopes=("opentelemetry.instrumentation.langchain",))
_TRACELOOP, _MCP = Match("traceloop.span.kind"), Match("mcp.method.name")
_AGENTS_SDK = Match(scopes=("opentelemetry.instrumentation.openai_agents",))

CONVENTION = Convention(
    name="otel-genai",
    title="OpenTelemetry GenAI",
    specification="https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/",
    version="1.38",
    family="general",
    order=2,
    tool=(Match(_OPERATION, ("execute_tool",)),),
    agent=(Match(_OPERATION, ("invoke_agent", "invoke_workflow")),),
    model=(Match(_OPERATION, ("chat", "generate_content", "text_completion")),),
    aside=(
        Aside(Match("gen_ai.tool.name", ("final_answer",)), "the framework's final answer, no tool call"),
        Aside(Match(_OPERATION, ("create_agent",)), "the making of an agent, no run"),
    ),
    tool_name=(Field("gen_ai.tool.name"), Field("execute_tool ", place="name-suffix")),
    call_id=(Field("gen_ai.tool.call.id"),),
    arguments=(
        Field(_ARGUMENTS, "json", when=_TRACELOOP, envelope=("traceloop-input", "keyword-call")),
        Field(_ARGUMENTS, "json", envelope=("json-again",)),
    ),
    result=(
        Field(_RESULT, "structured", when=_LANGCHAIN, envelope=("output", "langchain-content")),
        Field(_RESULT, "structured", when=_MCP, envelope=("mcp-content",)),
        Field(_RESULT, "structured"),
    ),
    failing=(
        Failing(match=Match("gen_ai.tool.status", ("error", "failure"))),
        Failing(match=_AGENTS_SDK, key="<absent>", status="unknown"),
    ),
    output=(Field(_MESSAGES, "structured", envelope=("otel-last-message",)),),
    input=(Field("gen_ai.input.messages", "structured", envelope=("otel-last-message",)),),
    usage={
        "input_tokens": typed("gen_ai.usage.", "input_tokens", "prompt_tokens"),
        "output_tokens": typed("gen_ai.usage.", "output_tokens", "completion_tokens"),
        "cached_input_tokens": typed(
            "gen_ai.usage.", "cache_read.input_tokens", "cache_read_input_tokens", "details.cache_read_tokens"
        ),
        "reasoning_tokens": typed(
            "gen_ai.usage.", "reasoning.output_tokens", "reasoning_tokens", "details.reasoning_tokens"
        ),
        "cost_usd": typed("", "operation.cost", "gen_ai.usage.cost"),
        "model": (Field("gen_ai.response.model"), Field("gen_ai.request.model")),
    },
    proposals=(Proposals("otel-messages", _MESSAGES),),
    capture="OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true (newer versions: span_only or span_and_event)",
)
