"""OpenTelemetry GenAI semantic conventions of before 1.37: content in span events (Strands, and others)."""

from labadapt.adapters.span import Convention, Failing, Field, Match, Proposals

_OPERATION = "gen_ai.operation.name"
_CHOICE = "gen_ai.choice"

CONVENTION = Convention(
    name="otel-genai-events",
    title="OpenTelemetry GenAI, content in events",
    specification="https://github.com/open-telemetry/semantic-conventions/blob/v1.36.0/docs/gen-ai/gen-ai-events.md",
    version="1.36",
    family="general",
    order=3,
    tool=(Match(_OPERATION, ("execute_tool",)),),
    agent=(Match(_OPERATION, ("invoke_agent",)),),
    model=(Match(_OPERATION, ("chat",)),),
    tool_name=(Field("gen_ai.tool.name"),),
    call_id=(Field("gen_ai.tool.call.id"), Field("id", place="event", event="gen_ai.tool.message")),
    arguments=(Field("content", "json", place="event", event="gen_ai.tool.message"),),
    result=(
        Field("message", "structured", place="event", event=_CHOICE, envelope=("strands-blocks",)),
        Field("content", "structured", place="event", event=_CHOICE),
    ),
    failing=(Failing(match=Match("gen_ai.tool.status", ("error",))),),
    output=(
        Field("message", "structured", place="event", event=_CHOICE, envelope=("text-blocks", "choice")),
        Field("content", "structured", place="event", event=_CHOICE, envelope=("text-blocks", "choice")),
    ),
    input=(Field("content", "structured", place="event", event="gen_ai.user.message", envelope=("text-blocks",)),),
    proposals=(
        Proposals("anywhere", "message", _CHOICE),
        Proposals("anywhere", "tool_calls", _CHOICE),
        Proposals("anywhere", "content", _CHOICE),
    ),
    capture="OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true; Strands records content by itself",
)
