"""LangSmith's OpenTelemetry exporter."""

from labadapt.adapters.span import Convention, Failing, Field, Match, Proposals

_KIND = "langsmith.span.kind"
_OUT = "gen_ai.completion"

CONVENTION = Convention(
    name="langsmith",
    title="LangSmith",
    specification="https://docs.langchain.com/langsmith/trace-with-opentelemetry",
    version="0.15",
    family="vendor",
    order=10,
    tool=(Match(_KIND, ("tool",)),),
    agent=(Match(_KIND, ("chain",), absent=("langsmith.metadata.langgraph_node",)),),
    model=(Match(_KIND, ("llm",)),),
    tool_name=(Field("gen_ai.tool.name"), Field(place="name")),
    call_id=(
        Field("gen_ai.tool.call.id"),
        Field(_OUT, "structured", envelope=("output", "langchain-message"), inside=("tool_call_id",)),
        Field("langsmith.metadata.tool_call_id"),
    ),
    arguments=(Field("gen_ai.prompt", "json-else-text", envelope=("traceloop-input", "keyword-call", "json-again")),),
    result=(Field(_OUT, "structured", none=("{}",), envelope=("output", "langchain-content")),),
    failing=(Failing(key="status", values=("error",), envelope=("output", "langchain-message")),),
    output=(Field(_OUT, "structured", envelope=("langchain-last-message", "langchain-generations", "choice")),),
    input=(Field("gen_ai.prompt"),),
    usage={
        "input_tokens": (Field("gen_ai.usage.input_tokens", "typed"),),
        "output_tokens": (Field("gen_ai.usage.output_tokens", "typed"),),
        "model": (Field("gen_ai.request.model"), Field("langsmith.metadata.ls_model_name")),
    },
    proposals=(Proposals("anywhere", _OUT),),
    capture="LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS unset or false, the default",
)
