"""Langfuse SDK 4 and 5: observations as OpenTelemetry spans."""

from labadapt.adapters.span import Convention, Failing, Field, Match, Proposals

_TYPE = "langfuse.observation.type"
_OUTPUT = "langfuse.observation.output"
_USAGE = "langfuse.observation.usage_details"

CONVENTION = Convention(
    name="langfuse",
    title="Langfuse SDK",
    specification="https://langfuse.com/integrations/native/opentelemetry",
    version="SDK 5",
    family="vendor",
    order=1,
    tool=(Match(_TYPE, ("tool",)),),
    agent=(
        Match(_TYPE, ("agent",)),
        Match("langfuse.experiment.item.root_observation_id", names=("experiment-item-task",)),
    ),
    model=(Match(_TYPE, ("generation",)),),
    evaluator=(Match(_TYPE, ("evaluator",)),),
    tool_name=(Field(place="name"),),
    call_id=(Field("langfuse.observation.metadata.tool_call_id", "json-text"),),
    arguments=(Field("langfuse.observation.input", "structured", envelope=("keyword-call",)),),
    result=(Field(_OUTPUT, "structured", envelope=("langchain-content",)),),
    error_message=(Field("langfuse.observation.status_message"),),
    failing=(Failing(match=Match("langfuse.observation.level", ("ERROR",))),),
    output=(Field(_OUTPUT, "structured", envelope=("choice",)),),
    input=(Field("langfuse.observation.input"),),
    usage={
        "input_tokens": (Field(_USAGE, "json", inside=("input",)), Field(_USAGE, "json", inside=("prompt_tokens",))),
        "output_tokens": (
            Field(_USAGE, "json", inside=("output",)),
            Field(_USAGE, "json", inside=("completion_tokens",)),
        ),
        "cached_input_tokens": (Field(_USAGE, "json", inside=("input_cached_tokens",)),),
        "reasoning_tokens": (Field(_USAGE, "json", inside=("output_reasoning_tokens",)),),
        "cost_usd": (Field("langfuse.observation.cost_details", "json", inside=("total",)),),
        "model": (Field("langfuse.observation.model.name", "json-text"),),
    },
    proposals=(Proposals("anywhere", _OUTPUT),),
    capture="LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED=true, the default; @observe(capture_input=True, …)",
)
