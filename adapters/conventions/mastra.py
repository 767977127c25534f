"""Mastra: OTel GenAI spans with attributes of its own, and failures that only the result tells."""

from labadapt.adapters.span import Convention, Failing, Field, Match, Proposals

_TYPE = "mastra.span.type"
_STEP = "mastra.model_step.output"
_RESULT = "gen_ai.tool.call.result"

CONVENTION = Convention(
    name="mastra",
    title="Mastra",
    specification="https://mastra.ai/docs/observability/tracing/exporters/otel",
    version="1",
    family="vendor",
    order=15,
    tool=(Match(_TYPE, ("tool_call", "mcp_tool_call", "provider_tool_call")),),
    agent=(Match(_TYPE, ("agent_run",)),),
    model=(Match(_TYPE, ("model_generation", "model_step")),),
    evaluator=(Match(_TYPE, ("scorer_run",)),),
    tool_name=(Field("gen_ai.tool.name"), Field("execute_tool ", place="name-suffix")),
    call_id=(Field("gen_ai.tool.call.id"),),
    arguments=(Field("gen_ai.tool.call.arguments", "json"),),
    result=(Field(_RESULT, "structured"),),
    failing=(Failing(key="error", values=(True,)),),
    output=(
        Field("mastra.agent_run.output", "structured", inside=("text",)),
        Field(_STEP, "structured", inside=("text",)),
    ),
    input=(Field("mastra.agent_run.input"),),
    proposals=(Proposals("anywhere", _STEP),),
    capture="inputs and outputs are recorded unless a span output processor removes them",
)
