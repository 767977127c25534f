"""OpenLLMetry (Traceloop), its own keys and the GenAI keys that it mixes with them."""

from labadapt.adapters.span import Convention, Failing, Field, Match, Proposals, typed

_KIND = "traceloop.span.kind"
_OUT = "traceloop.entity.output"
_SCOPES = ("opentelemetry.instrumentation.langchain",)
_IN = ("traceloop-input", "keyword-call")
_MESSAGE = ("output", "langchain-message")

CONVENTION = Convention(
    name="openllmetry",
    title="OpenLLMetry (Traceloop)",
    specification="https://www.traceloop.com/docs/openllmetry/contributing/semantic-conventions",
    version="0.62",
    family="general",
    order=7,
    tool=(Match(_KIND, ("tool",)),),
    agent=(Match(_KIND, ("agent", "workflow")),),
    model=(
        Match("llm.request.type", ("chat", "completion")),
        Match("gen_ai.operation.name", ("chat",), scopes=_SCOPES),
    ),
    tool_name=(Field("traceloop.entity.name"), Field(place="name")),
    call_id=(Field(_OUT, "structured", envelope=_MESSAGE, inside=("tool_call_id",)),),
    arguments=(Field("traceloop.entity.input", "json", envelope=_IN),),
    result=(
        Field(_OUT, "structured", envelope=("output", "langchain-content"), when=Match(scopes=_SCOPES)),
        Field(_OUT, "structured"),
    ),
    failing=(
        Failing(match=Match("gen_ai.task.status", ("failure",))),
        Failing(key="status", values=("error",), envelope=_MESSAGE),
    ),
    output=(
        Field(_OUT, "structured", envelope=("langchain-last-message",)),
        Field("gen_ai.completion.0.content"),
    ),
    input=(Field("traceloop.entity.input"), Field("gen_ai.prompt.0.content")),
    usage={
        "input_tokens": typed("", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens"),
        "output_tokens": typed("", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens"),
        "cached_input_tokens": typed("gen_ai.usage.", "cache_read_input_tokens"),
        "reasoning_tokens": typed("gen_ai.usage.", "reasoning_tokens"),
        "model": (Field("gen_ai.response.model"), Field("gen_ai.request.model")),
    },
    proposals=(Proposals("indexed", "gen_ai.completion."), Proposals("indexed", "llm.completions.")),
    capture="TRACELOOP_TRACE_CONTENT=true, the default",
)
