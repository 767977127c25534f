"""Vercel AI SDK 4 to 6, experimental telemetry. (Version 7 writes OTel GenAI spans.)"""

from labadapt.adapters.span import Convention, Field, Match, Proposals, typed

_ID = "ai.operationId"
_CALLS = "ai.response.toolCalls"

CONVENTION = Convention(
    name="vercel-ai-sdk",
    title="Vercel AI SDK",
    specification="https://ai-sdk.dev/docs/ai-sdk-core/telemetry",
    version="6",
    family="vendor",
    order=8,
    tool=(Match(_ID, ("ai.toolCall",)),),
    agent=(Match(_ID, ("ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject")),),
    model=(
        Match(
            _ID,
            (
                "ai.generateText.doGenerate",
                "ai.streamText.doStream",
                "ai.generateObject.doGenerate",
                "ai.streamObject.doStream",
            ),
        ),
    ),
    tool_name=(Field("ai.toolCall.name"),),
    call_id=(Field("ai.toolCall.id"),),
    arguments=(Field("ai.toolCall.args", "json"),),
    result=(Field("ai.toolCall.result", "json"),),
    output=(Field("ai.response.text"), Field("ai.response.object")),
    input=(Field("ai.prompt"),),
    usage={
        "input_tokens": typed("", "ai.usage.inputTokens", "ai.usage.promptTokens", "gen_ai.usage.input_tokens"),
        "output_tokens": typed("", "ai.usage.outputTokens", "ai.usage.completionTokens", "gen_ai.usage.output_tokens"),
        "cached_input_tokens": typed("ai.usage.", "cachedInputTokens", "inputTokenDetails.cacheReadTokens"),
        "reasoning_tokens": typed("ai.usage.", "reasoningTokens", "outputTokenDetails.reasoningTokens"),
        "model": (Field("ai.response.model"), Field("ai.model.id")),
    },
    proposals=(Proposals("anywhere", _CALLS),),
    capture="experimental_telemetry: {isEnabled: true, recordInputs: true, recordOutputs: true}",
)
