"""Firebase Genkit."""

from labadapt.adapters.span import Convention, Failing, Field, Match, Proposals

_SUBTYPE = "genkit:metadata:subtype"
_OUTPUT = "genkit:output"

CONVENTION = Convention(
    name="genkit",
    title="Genkit",
    specification="https://genkit.dev/docs/observability/telemetry-collection/",
    version="1",
    family="vendor",
    order=12,
    tool=(Match(_SUBTYPE, ("tool", "tool.v2")),),
    agent=(Match("genkit:type", ("flow",)), Match(_SUBTYPE, ("flow", "agent"))),
    model=(Match(_SUBTYPE, ("model",)),),
    evaluator=(Match(_SUBTYPE, ("evaluator",)),),
    tool_name=(Field("genkit:name"), Field(place="name")),
    arguments=(Field("genkit:input", "json"),),
    result=(Field(_OUTPUT, "json"),),
    failing=(Failing(match=Match("genkit:state", ("error",))),),
    output=(Field(_OUTPUT, "json", envelope=("choice", "adk-content")),),
    input=(Field("genkit:input"),),
    usage={
        "input_tokens": (Field(_OUTPUT, "json", inside=("usage", "inputTokens")),),
        "output_tokens": (Field(_OUTPUT, "json", inside=("usage", "outputTokens")),),
        "cached_input_tokens": (Field(_OUTPUT, "json", inside=("usage", "cachedContentTokens")),),
        "reasoning_tokens": (Field(_OUTPUT, "json", inside=("usage", "thoughtsTokens")),),
        "model": (Field("genkit:name"),),
    },
    proposals=(Proposals("anywhere", _OUTPUT),),
    capture="enableGoogleCloudTelemetry({disableLoggingInputAndOutput: false}), the default",
)
