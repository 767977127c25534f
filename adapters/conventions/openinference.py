"""OpenInference (Arize Phoenix)."""

from labadapt.adapters.span import Aside, Convention, Failing, Field, Match, Proposals

_KIND = "openinference.span.kind"
_JSON_IN = Match("input.mime_type", ("application/json",))
_AGENTS_SDK = Match(_KIND, ("TOOL",), scopes=("openinference.instrumentation.openai_agents",))
_LANGCHAIN = "openinference.instrumentation.langchain"
_COUNT = "llm.token_count."

CONVENTION = Convention(
    name="openinference",
    title="OpenInference",
    specification="https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md",
    version="0.1",
    family="general",
    order=6,
    tool=(Match(_KIND, ("TOOL",)),),
    agent=(Match(_KIND, ("AGENT",)),),
    model=(Match(_KIND, ("LLM",)),),
    evaluator=(Match(_KIND, ("EVALUATOR",)),),
    aside=(
        Aside(Match("tool.name", ("final_answer",)), "the framework's final answer, no tool call"),
        Aside(Match(_KIND, ("TOOL",), names=("FinalAnswerTool",)), "the framework's final answer, no tool call"),
    ),
    tool_name=(Field("tool.name"), Field(place="name")),
    call_id=(
        Field("tool.id"),
        Field("tool_call.id"),
        Field("output.value", "structured", inside=("data", "tool_call_id")),
        Field("output.value", "structured", inside=("kwargs", "tool_call_id")),
        Field("output.value", "structured", inside=("tool_call_id",)),
    ),
    arguments=(
        Field("input.value", "json", when=_JSON_IN, envelope=("keyword-call",)),
        Field("input.value", "structured", envelope=("keyword-call",)),
    ),
    result=(
        Field("output.value", "structured", envelope=("output", "langchain-tool-message", "llama-index", "mcp-result")),
    ),
    failing=(
        Failing(key="data.status", values=("error",)),
        Failing(key="kwargs.status", values=("error",)),
        Failing(key="is_error", values=(True,)),
        Failing(match=_AGENTS_SDK, key="<absent>", status="unknown"),
    ),
    output=(
        Field("llm.output_messages.0.message.content"),
        Field("llm.output_messages.0.message.contents.0.message_content.text"),
        Field("output.value", "structured", envelope=("langchain-last-message", "langchain-generations")),
    ),
    input=(Field("input.value"),),
    usage={
        "input_tokens": (Field(_COUNT + "prompt", "typed"),),
        "output_tokens": (Field(_COUNT + "completion", "typed"),),
        "cached_input_tokens": (Field(_COUNT + "prompt_details.cache_read", "typed"),),
        "reasoning_tokens": (Field(_COUNT + "completion_details.reasoning", "typed"),),
        "cost_usd": (Field("llm.cost.total", "typed"),),
        "model": (Field("llm.model_name"),),
    },
    proposals=(Proposals("indexed", "llm.output_messages."),),
    capture="OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS unset or false, the default",
)
