"""Run real instrumentations offline, with models that follow a script. Prints nothing; writes OTLP protobuf files.

Run as ``python scripted.py pydantic_ai|langchain DIRECTORY`` in an environment that has the instrumentation installed,
so that the project's own environment stays free of agent frameworks.
"""

import json
import sys
from contextlib import suppress
from pathlib import Path

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

METRIC = {"metric": "checkout_latency_ms", "window": "2026-11-30T00:00:00Z/PT1H"}
REPLY = {**METRIC, "rows": 60, "value": 412.5, "source": "prom://prod-eu"}
ANSWER = json.dumps({"disposition": "answer", "value": 412.5, "evidence": ["call_2"]})
TURNS = [("call_1", METRIC), ("call_2", METRIC)]


class Script:
    """A tool that times out at first and then answers, and the model's turns around it."""

    def __init__(self) -> None:
        """Start at the first turn."""
        self.turn = 0
        self.calls = 0

    def next_call(self) -> tuple[str, dict[str, str]] | None:
        """Give the next proposed call, or None for the final answer."""
        self.turn += 1
        return TURNS[self.turn - 1] if self.turn <= len(TURNS) else None

    def query_metric(self, metric: str, window: str) -> dict[str, object]:
        """Read a metric over a window."""
        self.calls += 1
        if self.calls == 1:
            raise TimeoutError("query_metric timed out after 5.0 s")
        return {**REPLY, "metric": metric, "window": window}


def recorder() -> tuple[TracerProvider, InMemorySpanExporter]:
    """Give a provider of the real SDK and what it exported."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider, exporter


def pydantic_ai(provider: TracerProvider) -> None:
    """Run a Pydantic AI agent with a function model."""
    from pydantic_ai import Agent, ModelRetry
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.models.instrumented import InstrumentationSettings

    script = Script()

    def model(_messages: object, _info: object) -> ModelResponse:
        call = script.next_call()
        if call is None:
            return ModelResponse(parts=[TextPart(ANSWER)])
        return ModelResponse(parts=[ToolCallPart("query_metric", call[1], tool_call_id=call[0])])

    settings = InstrumentationSettings(tracer_provider=provider)
    agent = Agent(FunctionModel(model, model_name="scripted"), name="metrics_agent", retries=3)
    agent.instrument = settings

    @agent.tool_plain
    def query_metric(metric: str, window: str) -> dict[str, object]:
        try:
            return script.query_metric(metric, window)
        except TimeoutError as error:
            raise ModelRetry(str(error)) from error

    agent.run_sync("What was checkout_latency_ms?")


def langchain(provider: TracerProvider) -> None:
    """Run a LangChain agent with a scripted chat model under OpenInference."""
    from langchain.agents import create_agent
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import StructuredTool
    from openinference.instrumentation.langchain import LangChainInstrumentor

    script = Script()

    class Scripted(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, *_tools: object, **_options: object) -> "Scripted":
            return self

        def _generate(self, *_messages: object, **_options: object) -> ChatResult:
            call = script.next_call()
            message = AIMessage(ANSWER)
            if call is not None:
                message = AIMessage("", tool_calls=[{"name": "query_metric", "args": call[1], "id": call[0]}])
            return ChatResult(generations=[ChatGeneration(message=message)])

    tool = StructuredTool.from_function(script.query_metric, name="query_metric", description="Read a metric.")
    tool.handle_tool_error = True
    instrumentor = LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    agent = create_agent(Scripted(), [tool], name="metrics_agent")
    with suppress(TimeoutError):  # LangChain raises a tool's own exception to the caller; its record is what is tested
        agent.invoke({"messages": [{"role": "user", "content": "What was checkout_latency_ms?"}]})
    script.calls = 1
    script.turn = 1
    agent.invoke({"messages": [{"role": "user", "content": "What was checkout_latency_ms?"}]})


SCENARIOS = {"pydantic_ai": pydantic_ai, "langchain": langchain}


def main(name: str, directory: Path) -> None:
    """Run one scenario and write what its instrumentation exported."""
    provider, exporter = recorder()
    SCENARIOS[name](provider)
    provider.force_flush()
    (directory / f"{name}.pb").write_bytes(encode_spans(exporter.get_finished_spans()).SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
