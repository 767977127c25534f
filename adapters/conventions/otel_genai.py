"""OpenTelemetry GenAI semantic conventions, attributes on spans."""

from labadapt.adapters.span import Aside, Convention, Failing, Field, Match, Proposals

_OPERATION = "gen_ai.operation.name"
_MESSAGES = "gen_ai.output.messages"
_ARGUMENTS, _RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
_TRACELOOP = Match("traceloop.span.kind")  # OpenLLMetry copies its envelopes into the GenAI keys

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
        Field(_ARGUMENTS, "json"),
    ),
    result=(
        Field(_RESULT, "structured", when=_TRACELOOP, envelope=("output", "langchain-tool-message")),
        Field(_RESULT, "structured", envelope=("mcp-result",)),
    ),
    failing=(Failing(match=Match("gen_ai.tool.status", ("error", "failure"))),),
    output=(Field(_MESSAGES, "structured", envelope=("otel-last-message",)),),
    input=(Field("gen_ai.input.messages", "structured", envelope=("otel-last-message",)),),
    usage={
        "input_tokens": (Field("gen_ai.usage.input_tokens", "typed"), Field("gen_ai.usage.prompt_tokens", "typed")),
        "output_tokens": (
            Field("gen_ai.usage.output_tokens", "typed"),
            Field("gen_ai.usage.completion_tokens", "typed"),
        ),
        "cached_input_tokens": (
            Field("gen_ai.usage.cache_read.input_tokens", "typed"),
            Field("gen_ai.usage.cache_read_input_tokens", "typed"),
            Field("gen_ai.usage.details.cache_read_tokens", "typed"),
        ),
        "reasoning_tokens": (
            Field("gen_ai.usage.reasoning.output_tokens", "typed"),
            Field("gen_ai.usage.details.reasoning_tokens", "typed"),
        ),
        "cost_usd": (Field("operation.cost", "typed"), Field("gen_ai.usage.cost", "typed")),
        "model": (Field("gen_ai.response.model"), Field("gen_ai.request.model")),
    },
    proposals=(Proposals("otel-messages", _MESSAGES),),
    capture="OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true (newer versions: span_only or span_and_event)",
)
