"""Properties: no span makes the recogniser fail, what nobody asked for changes nothing, nothing depends on before."""

import json

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from labadapt.adapters.recognise import Recogniser
from labadapt.adapters.registry import conventions

TABLES = conventions().admitted()
SHARED = Recogniser(TABLES)
KEYS = sorted(SHARED.wanted.keys) + [prefix + "0.tool_calls.0.name" for prefix in SHARED.wanted.prefixes]
SCOPES = [
    *("", "gcp.vertex.agent", "pydantic-ai", "com.anthropic.claude_code.tracing"),
    *("openinference.instrumentation.langchain", "openinference.instrumentation.openai_agents"),
]
NAMES = ["", "execute_tool ", "execute_tool query", "running tool", "running tools", "agent run", "tools/call ", "x"]
# The words that tables look for, so that spans are recognised often.
WORDS = [
    *("execute_tool", "chat", "invoke_agent", "tool", "TOOL", "LLM", "AGENT", '"TOOL"', "llm", "agent", "generation"),
    *("ai.toolCall", "ai.generateText", "tools/call", "error", "true", "final_answer", "application/json"),
    *('{"error": true}', '[{"role": "assistant", "parts": [{"type": "tool_call", "name": 1}]}]', '{"messages": [1]}'),
    *('{"output": {"type": "tool", "data": {"content": [], "tool_call_id": 1}}}', '{"usage": 1}', '{"message": 2}'),
    *('{"content": {"parts": [{"function_call": {"name": []}}]}}', '{"choices": [{"message": 1}]}', "__REDACTED__"),
]
INNER = ["output", "kwargs", "data", "type", "content", "tool_calls", "message", "parts", "response", "result", "id"]
SCALARS = st.one_of(
    *(st.sampled_from(WORDS), st.text(max_size=5), st.integers(), st.booleans(), st.none()),
    *(st.floats(), st.binary(max_size=3)),
)


def nested(leaves, keys):
    def more(inner):
        return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(keys), inner, max_size=4)

    return st.recursive(leaves, more, max_leaves=8)


TEXTS = nested(st.integers() | st.text(max_size=3) | st.none() | st.booleans(), INNER).map(json.dumps)
VALUES = nested(SCALARS, ["error", "id", "args", "type"]) | TEXTS
ATTRIBUTES = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=9)
EVENT_KEYS = ["content", "message", "id", "output", "tool_calls", "exception.type", "exception.stacktrace"]
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(sorted(SHARED.wanted.events)),
        st.dictionaries(st.sampled_from(EVENT_KEYS), VALUES, max_size=3),
    ),
    max_size=2,
)
RESOURCE = st.dictionaries(st.sampled_from(["service.name", "service.version", "lab.case.id"]), VALUES, max_size=2)
PARTS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(NAMES),
        "scope": st.sampled_from(SCOPES),
        "events": EVENTS,
        "status": st.integers(0, 2),
        "dropped": st.integers(0, 1),
        "resource": RESOURCE,
    }
)
FAST = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FAST
@given(ATTRIBUTES, PARTS)
def test_no_span_makes_the_recogniser_fail(made, attributes, parts) -> None:
    seen = SHARED.recognise(made(attributes, **parts))
    assert (seen.call is not None) or seen.role != "tool"
    assert seen.problem is None or seen.problem.where.span_ids == ("00f067aa0ba902b8",)
    if seen.call is not None and seen.problem is None:
        again = msgspec.json.encode([seen.call.arguments, seen.call.result] if seen.call.result else [])
        assert msgspec.json.decode(again) is not None


@FAST
@given(ATTRIBUTES, PARTS)
def test_what_came_before_changes_nothing(made, attributes, parts) -> None:
    alone = Recogniser(TABLES).recognise(made(attributes, **parts))
    assert repr(SHARED.recognise(made(attributes, **parts))) == repr(alone)


@FAST
@given(ATTRIBUTES, PARTS, st.dictionaries(st.text(max_size=8).filter(lambda key: key not in KEYS), VALUES, max_size=3))
def test_attributes_that_no_table_names_change_nothing(made, attributes, parts, others) -> None:
    bare = SHARED.recognise(made(attributes, **parts))
    assert repr(SHARED.recognise(made({**others, **attributes}, **parts))) == repr(bare)
