"""Google ADK: OTel GenAI spans with attributes of its own."""

from labadapt.adapters.span import Aside, Convention, Failing, Field, Match, Proposals

_SCOPES = ("gcp.vertex.agent", "openinference.instrumentation.google_adk")
_ARGS = "gcp.vertex.agent.tool_call_args"
_RESPONSE = "gcp.vertex.agent.tool_response"
_LLM = "gcp.vertex.agent.llm_response"
_NONE = ("<not specified>", "<not serializable>")
_NOT_INVOKED = ("This tool call requires confirmation", "This tool call is rejected")
_UNWRAP = ("adk-response", "single-result")

CONVENTION = Convention(
    name="google-adk",
    title="Google ADK",
    specification="https://google.github.io/adk-docs/observability/",
    version="1 and 2",
    family="vendor",
    order=4,
    tool=(Match("gen_ai.operation.name", ("execute_tool",), scopes=_SCOPES),),
    agent=(Match("gen_ai.operation.name", ("invoke_agent", "invoke_workflow"), scopes=_SCOPES),),
    model=(
        Match("gen_ai.operation.name", ("generate_content",), scopes=_SCOPES),
        Match(names=("call_llm",), scopes=_SCOPES),
    ),
    aside=(Aside(Match("gen_ai.tool.name", ("(merged tools)",)), "ADK's span that merges parallel tool results"),),
    tool_name=(Field("gen_ai.tool.name"),),
    call_id=(
        Field("gen_ai.tool.call.id", none=_NONE),
        Field(_RESPONSE, "structured", none=_NONE, envelope=("adk-object",), inside=("id",)),
    ),
    arguments=(Field(_ARGS, "json", none=("N/A", "{}")), Field("gen_ai.tool.call.arguments", "json")),
    result=(
        Field(_RESPONSE, "structured", none=_NONE, envelope=_UNWRAP),
        Field("gen_ai.tool.call.result", "structured", none=_NONE, envelope=_UNWRAP),
    ),
    failing=(
        Failing(key="error", containing=_NOT_INVOKED, status="blocked"),
        Failing(key="response.error", containing=_NOT_INVOKED, status="blocked"),
        Failing(key="error"),
        Failing(key="response.error"),
    ),
    output=(Field(_LLM, "structured", envelope=("adk-content",)),),
    proposals=(Proposals("anywhere", _LLM),),
    capture="ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true, and OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
)
