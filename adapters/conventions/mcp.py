"""Model Context Protocol: spans of clients and servers."""

from labadapt.adapters.span import Aside, Convention, Failing, Field, Match

_METHOD = "mcp.method.name"
_OTHERS = ("tools/list", "initialize", "notifications/initialized", "prompts/list", "resources/list", "ping")

CONVENTION = Convention(
    name="mcp",
    title="Model Context Protocol",
    specification="https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/",
    version="1.39",
    family="general",
    order=11,
    tool=(Match(_METHOD, ("tools/call",)),),
    aside=(Aside(Match(_METHOD, _OTHERS), "an MCP message that calls no tool"),),
    tool_name=(Field("gen_ai.tool.name"), Field("mcp.tool.name"), Field("tools/call ", place="name-suffix")),
    arguments=(Field("gen_ai.tool.call.arguments", "json"),),
    result=(Field("gen_ai.tool.call.result", "structured", envelope=("mcp-content",)),),
    failing=(Failing(key="isError", values=(True,), envelope=("mcp-result",)),),
    capture="OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
)
