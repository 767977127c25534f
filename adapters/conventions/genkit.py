"""Firebase Genkit."""

from labadapt.adapters.span import Convention, Failing, Field, Match, Proposals

_SUBTYPE = "genkit:metadata:subtype"

CONVENTION = Convention(
    name="genkit",
    title="Genkit",
    specification="https://genkit.dev/docs/observability/telemetry-collection/",
    version="1",
    family="vendor",
    order=12,
    tool=(Match(_SUBTYPE, ("tool",)), Match(_SUBTYPE, ("tool.v2",))),
    agent=(Match("genkit:type", ("flow",)), Match(_SUBTYPE, ("flow", "agent"))),
    model=(Match(_SUBTYPE, ("model",)),),
    evaluator=(Match(_SUBTYPE, ("evaluator",)),),
    tool_name=(Field("genkit:name"), Field(place="name")),
    arguments=(Field("genkit:input", "json"),),
    result=(Field("genkit:output", "json"),),
    failing=(Failing(match=Match("genkit:state", ("error",))),),
    output=(Field("genkit:output", "json", envelope=("choice", "adk-content")),),
    input=(Field("genkit:input"),),
    proposals=(Proposals("anywhere", "genkit:output"),),
    capture="enableGoogleCloudTelemetry({disableLoggingInputAndOutput: false}), the default",
)
