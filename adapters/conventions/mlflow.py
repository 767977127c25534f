"""MLflow tracing: every attribute is JSON, the span type with its quotes."""

from labadapt.adapters.span import Convention, Failing, Field, Match, Proposals

_TYPE = "mlflow.spanType"
_OUTPUTS = "mlflow.spanOutputs"
_USAGE = "mlflow.chat.tokenUsage"

CONVENTION = Convention(
    name="mlflow",
    title="MLflow tracing",
    specification="https://mlflow.org/docs/latest/genai/tracing/",
    version="3",
    family="vendor",
    order=9,
    tool=(Match(_TYPE, ('"TOOL"', "TOOL")),),
    agent=(Match(_TYPE, ('"AGENT"', "AGENT")),),
    model=(Match(_TYPE, ('"CHAT_MODEL"', "CHAT_MODEL", '"LLM"', "LLM")),),
    evaluator=(Match(_TYPE, ('"EVALUATOR"', "EVALUATOR")),),
    tool_name=(Field(place="name"),),
    arguments=(Field("mlflow.spanInputs", "json", none=("null",), envelope=("keyword-call", "json-again")),),
    result=(Field(_OUTPUTS, "json", envelope=("langchain-content",)),),
    failing=(Failing(key="status", values=("error",), envelope=("langchain-message",)),),
    output=(
        Field(_OUTPUTS, "json", envelope=("langchain-last-message", "langchain-generations", "choice", "text-blocks")),
    ),
    input=(Field("mlflow.spanInputs"),),
    usage={
        "input_tokens": (Field(_USAGE, "json", inside=("input_tokens",)),),
        "output_tokens": (Field(_USAGE, "json", inside=("output_tokens",)),),
        "model": (Field("mlflow.llm.model", "json-text"),),
    },
    proposals=(Proposals("anywhere", _OUTPUTS),),
    capture="inputs and outputs are recorded unless a span processor removes them",
)
