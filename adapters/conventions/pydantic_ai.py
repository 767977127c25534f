"""Pydantic AI before version 2 (instrumentation version 1 and 2): spans named in words."""

from labadapt.adapters.span import Aside, Convention, Field, Match, Proposals

_SCOPES = ("pydantic-ai", "logfire")

CONVENTION = Convention(
    name="pydantic-ai",
    title="Pydantic AI 1",
    specification="https://ai.pydantic.dev/logfire/",
    version="1",
    family="vendor",
    order=5,
    tool=(
        Match("gen_ai.tool.name", scopes=_SCOPES, names=("running tool",)),
        Match("gen_ai.operation.name", ("execute_tool",), scopes=("pydantic-ai",)),
    ),
    agent=(
        Match(scopes=_SCOPES, names=("agent run",)),
        Match("gen_ai.operation.name", ("invoke_agent",), scopes=("pydantic-ai",)),
    ),
    model=(Match("gen_ai.operation.name", ("chat",), scopes=("pydantic-ai",)),),
    aside=(
        Aside(Match(scopes=_SCOPES, names=("running tools",)), "Pydantic AI's wrapper around the tools of a turn"),
        Aside(Match(scopes=_SCOPES, name_prefixes=("running output function",)), "the output function, no tool call"),
    ),
    tool_name=(Field("gen_ai.tool.name"),),
    call_id=(Field("gen_ai.tool.call.id"),),
    arguments=(Field("tool_arguments", "json"),),
    result=(Field("tool_response", "structured"),),
    output=(Field("final_result", "structured"),),
    input=(Field("all_messages_events"), Field("pydantic_ai.all_messages")),
    proposals=(Proposals("choice-list", "events"),),
    capture="InstrumentationSettings(include_content=True), the default",
)
