"""OpenInference (Arize Phoenix). Each producer's own forms of a result are told by marks of the value, or by scope."""

from labadapt.adapters.span import Aside, Convention, Failing, Field, Match, Proposals, texts, typed

_KIND, _OUT, _SCOPE = "openinference.span.kind", "output.value", "openinference.instrumentation."
_JSON_IN, _JSON_OUT = Match("input.mime_type", ("application/json",)), Match("output.mime_type", ("application/json",))
_ADK, _AGENTS_SDK = Match(scopes=(_SCOPE + "google_adk",)), Match(scopes=(_SCOPE + "openai_agents",))
_PARAMETERS = Match(scopes=(_SCOPE + "google_adk", _SCOPE + "agno", _SCOPE + "autogen"))  # elsewhere: a schema

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
    aside=(Aside(Match("tool.name", ("final_answer",)), "the framework's final answer, no tool call"),),
    tool_name=(Field("tool.name"), Field(place="name")),
    call_id=(
        *texts("", "tool.id", "tool_call.id"),
        Field(_OUT, "json-else-text", envelope=("output", "langchain-message"), inside=("tool_call_id",)),
        Field(_OUT, "structured", envelope=("adk-object",), inside=("id",), when=_ADK),
    ),
    arguments=(
        Field("input.value", "json", when=Match(scopes=(_SCOPE + "llama_index",)), envelope=("keywords",)),
        Field("input.value", "json", when=_JSON_IN, envelope=("keyword-call",)),
        Field("input.value", "structured", envelope=("keyword-call",)),
        Field("tool.parameters", "json", when=_PARAMETERS),
    ),
    result=(
        Field(_OUT, "structured", when=_ADK, envelope=("adk-response", "single-result")),
        Field(_OUT, "json-else-text", when=_JSON_OUT, envelope=("langchain-content", "llama-index-output")),
        Field(_OUT, "structured", envelope=("langchain-content", "llama-index-output")),
    ),
    failing=(
        Failing(key="status", values=("error",), envelope=("output", "langchain-message")),
        Failing(key="is_error", values=(True,), envelope=("llama-index",)),
        Failing(match=_AGENTS_SDK, key="<absent>", status="unknown"),
    ),
    output=(
        *texts("llm.output_messages.0.message.", "content", "contents.0.message_content.text"),
        Field(_OUT, "structured", envelope=("langchain-last-message", "langchain-generations")),
    ),
    input=(Field("input.value"),),
    usage={
        "input_tokens": typed("llm.token_count.", "prompt"),
        "output_tokens": typed("llm.token_count.", "completion"),
        "cached_input_tokens": typed("llm.token_count.", "prompt_details.cache_read"),
        "reasoning_tokens": typed("llm.token_count.", "completion_details.reasoning"),
        "cost_usd": typed("", "llm.cost.total"),
        "model": (Field("llm.model_name"),),
    },
    proposals=(Proposals("indexed", "llm.output_messages."),),
    capture="OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS unset or false, the default",
)
