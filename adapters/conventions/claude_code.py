"""Claude Code: one call is three spans, of which the `tool` one is the call."""

from labadapt.adapters.span import Aside, Convention, Failing, Field, Match

_SCOPES = ("com.anthropic.claude_code.tracing",)
_TYPE = "span.type"
_FAILED = Match("success", (False, "false"))

CONVENTION = Convention(
    name="claude-code",
    title="Claude Code",
    specification="https://code.claude.com/docs/en/monitoring-usage",
    version="2",
    family="vendor",
    order=13,
    tool=(Match(_TYPE, ("tool",), scopes=_SCOPES),),
    agent=(Match(_TYPE, ("interaction",), scopes=_SCOPES),),
    model=(Match(_TYPE, ("llm_request",), scopes=_SCOPES),),
    aside=(
        Aside(
            Match(_TYPE, ("tool.execution",), scopes=_SCOPES),
            "the execution inside of a tool span",
            tells=(Failing(match=_FAILED),),
        ),
        Aside(
            Match(_TYPE, ("tool.blocked_on_user",), scopes=_SCOPES),
            "the wait for a person inside of a tool span",
            tells=(Failing(match=Match("decision", ("reject",)), status="blocked"),),
        ),
    ),
    tool_name=(Field("tool_name"),),
    call_id=(Field("tool_use_id"), Field("gen_ai.tool.call.id")),
    result=(Field("output", "text", place="event", event="tool.output"),),
    error_type=(Field("error_class"),),
    error_message=(Field("error"),),
    failing=(Failing(match=_FAILED),),
    usage={
        "input_tokens": (Field("input_tokens", "typed"),),
        "output_tokens": (Field("output_tokens", "typed"),),
        "cached_input_tokens": (Field("cache_read_tokens", "typed"),),
        "model": (Field("model"),),
    },
    capture="OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOG_TOOL_CONTENT=1; arguments are recorded only key by key",
)
