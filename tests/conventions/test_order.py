"""Several conventions on one span: the declared order, field by field, with provenance; a disagreement is refused."""

import pytest
from labadapt.adapters.recognise import Recogniser
from labadapt.adapters.registry import conventions
from labadapt.adapters.span import Convention, Field, Match
from msgspec import UNSET

OTEL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query", "gen_ai.tool.call.id": "call_1"}
OPENINFERENCE = {"openinference.span.kind": "TOOL", "tool.name": "query", "tool.id": "call_1"}
ACME = Convention(
    name="acme",
    title="ACME",
    specification="",
    version="1",
    family="plugin",
    order=1,
    tool=(Match("acme.tool"),),
    tool_name=(Field("acme.tool"),),
    result=(Field("acme.result", "json"),),
)


def test_the_declared_order() -> None:
    assert list(conventions()) == [
        "lab",
        "langfuse",
        "google-adk",
        "pydantic-ai",
        "vercel-ai-sdk",
        "mlflow",
        "langsmith",
        "genkit",
        "claude-code",
        "mastra",
        "otel-genai",
        "otel-genai-events",
        "openinference",
        "openllmetry",
        "mcp",
        "dropped-attributes",
    ]


def test_a_field_that_the_first_table_does_not_find_comes_from_the_next_and_says_so(see) -> None:
    seen = see({**OTEL, "openinference.span.kind": "TOOL", "input.value": '{"a": 1}', "output.value": "0"})
    assert seen.problem is None
    assert seen.conventions == ("otel-genai", "otel-genai-events", "openinference")
    assert (seen.call.tool, seen.call.call_id, seen.call.arguments, seen.call.result) == (
        "query",
        "call_1",
        {"a": 1},
        "0",
    )
    assert seen.call.fields == {
        "tool_name": "otel-genai",
        "call_id": "otel-genai",
        "arguments": "openinference",
        "result": "openinference",
    }


def test_the_first_table_wins_where_content_differs(see) -> None:
    seen = see({**OTEL, **OPENINFERENCE, "gen_ai.tool.call.result": "1", "output.value": "2"})
    assert seen.problem is None
    assert seen.call.result == "1"


def test_a_vendor_comes_before_the_general_ones_and_the_lab_before_all(see) -> None:
    langfuse = {"langfuse.observation.type": "tool", "langfuse.observation.output": "fine"}
    seen = see({**OTEL, "gen_ai.tool.call.result": "1", **langfuse, "lab.operation": "read"}, name="query")
    assert seen.conventions == ("lab", "langfuse", "otel-genai", "otel-genai-events")
    assert (seen.call.result, seen.call.operation) == ("fine", "read")
    assert seen.call.fields["operation"] == "lab"


def test_a_plugin_comes_after_the_lab_and_before_vendors(see) -> None:
    attributes = {"acme.tool": "query", "acme.result": "7", "langfuse.observation.type": "tool"}
    seen = see({**attributes, "langfuse.observation.output": "fine"}, tables=[ACME], name="query")
    assert seen.conventions == ("acme", "langfuse")
    assert seen.call.result == 7


@pytest.mark.parametrize(
    ("attributes", "found", "expected", "what"),
    [
        ({**OTEL, **OPENINFERENCE, "tool.name": "restart"}, "otel-genai: query", "openinference: restart", "name"),
        ({**OTEL, **OPENINFERENCE, "tool.id": "call_2"}, "otel-genai: call_1", "openinference: call_2", "call id"),
        (
            {**OTEL, "ai.operationId": "ai.toolCall", "ai.toolCall.name": "restart"},
            "vercel-ai-sdk: restart",
            "otel-genai: query",
            "name",
        ),
    ],
)
def test_a_disagreement_on_the_name_or_the_call_id_is_refused(see, attributes, found, expected, what) -> None:
    seen = see(attributes)
    assert seen.role == "tool"
    assert seen.problem.code == "AMBIGUOUS_CONVENTION"
    assert (seen.problem.found, seen.problem.expected) == (found, expected)
    assert what in seen.problem.message
    assert seen.problem.where.span_ids == ("00f067aa0ba902b8",)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"tool.name": "query"},
        {"tool.name": ""},
        {"tool.id": ""},
        {"tool.id": None},
        {"tool.name": "__REDACTED__"},
    ],
)
def test_the_same_absent_empty_or_redacted_is_no_disagreement(see, more) -> None:
    seen = see({**OTEL, "openinference.span.kind": "TOOL", **more}, name="a name of another kind")
    assert seen.problem is None
    assert (seen.call.tool, seen.call.call_id) == ("query", "call_1")


def test_the_spans_own_name_never_contradicts_an_attribute(see) -> None:
    seen = see({**OTEL, "langfuse.observation.type": "tool"}, name="execute_tool something")
    assert seen.problem is None
    assert seen.call.tool == "query"
    assert seen.call.fields["tool_name"] == "otel-genai"


def test_what_one_table_calls_none_is_none_for_all_that_claim_the_span(see) -> None:
    seen = see({**OTEL, "gen_ai.tool.call.id": "<not specified>"}, scope="gcp.vertex.agent")
    assert seen.call.call_id == ""
    assert see({**OTEL, "gen_ai.tool.call.id": "<not specified>"}).call.call_id == "<not specified>"


def test_a_resource_attribute_never_overrides_a_spans(see) -> None:
    resource = {"lab.case.id": "of the resource", "service.name": "svc", "gen_ai.tool.name": "of the resource"}
    assert see({"lab.case.id": "of the span"}, resource=resource).case_id == (0, "of the span")
    assert see({"gen_ai.operation.name": "invoke_agent"}, resource=resource).case_id == (1, "of the resource")
    assert see(OTEL, resource=resource).call.tool == "query"


def test_the_order_of_tables_is_no_accident_of_installation(made) -> None:
    shuffled = [*reversed(conventions().admitted())]
    span = made({**OTEL, **OPENINFERENCE, "langfuse.observation.type": "tool"}, name="query")
    assert Recogniser(shuffled).recognise(span).conventions == (
        "langfuse",
        "otel-genai",
        "otel-genai-events",
        "openinference",
    )


@pytest.mark.parametrize(
    ("attributes", "case_id"),
    [
        ({"test.case.id": "b", "lab.case.id": "a"}, (0, "a")),
        ({"test.case.name": "c", "test.case.id": "b"}, (2, "b")),
        ({"test.case.name": "c"}, (4, "c")),
        ({"langfuse.experiment.item.id": "d"}, (6, "d")),
        ({"test.case.id": 17}, (2, "17")),
        ({"test.case.id": ""}, None),
        ({"test.case.id": True}, None),
        ({"case.id": "x"}, None),
    ],
)
def test_case_candidates_in_their_order(see, attributes, case_id) -> None:
    assert see({"gen_ai.operation.name": "invoke_agent", **attributes}).case_id == case_id


@pytest.mark.parametrize(
    ("attributes", "resource", "policy"),
    [
        ({"lab.policy": "p"}, {"service.version": "2"}, (0, "p")),
        ({"gen_ai.agent.version": "1", "gen_ai.agent.name": "n"}, {"service.version": "2"}, (4, "1")),
        ({"langfuse.experiment.name": "e", "gen_ai.agent.version": "1"}, {"service.version": "2"}, (2, "e")),
        ({"gen_ai.agent.name": "n"}, {"service.version": "2"}, (7, "2")),
        ({"gen_ai.agent.name": "n"}, {"service.name": "s"}, (8, "n")),
        ({}, {"service.name": "s"}, (11, "s")),
        ({}, {}, None),
    ],
)
def test_policy_candidates_in_their_order(see, attributes, resource, policy) -> None:
    assert see({"gen_ai.operation.name": "invoke_agent", **attributes}, resource=resource).policy == policy


def test_an_item_of_langfuse_is_a_case_at_its_root_only(see) -> None:
    item = {"langfuse.experiment.item.id": "case-1"}
    root = "langfuse.experiment.item.root_observation_id"
    assert see({**item}).case_id == (6, "case-1")
    assert see({**item, root: "ffffffffffffffff"}).case_id is None
    assert see({**item, root: see({}).span_id}).case_id == (6, "case-1")
    assert see({**item, root: "ffffffffffffffff", "lab.case.id": "other"}).case_id == (0, "other")


def test_a_chosen_attribute_replaces_the_candidates(made) -> None:
    recogniser = Recogniser(conventions().admitted(), case_attribute="my.case", policy_attribute="my.policy")
    assert {"my.case", "my.policy"} <= recogniser.wanted.keys
    seen = recogniser.recognise(
        made({"my.case": "a", "lab.case.id": "b", "my.policy": "p", "lab.policy": "q"}, parent="")
    )
    assert (seen.case_id, seen.policy) == ((0, "a"), (0, "p"))


@pytest.mark.parametrize(
    ("attributes", "code"),
    [
        ({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query"}, "TRUNCATED_CONTENT"),
        ({**OTEL, "gen_ai.tool.call.arguments": "{}"}, "TRUNCATED_CONTENT"),
        ({**OTEL, "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "0"}, None),
        ({**OTEL, "gen_ai.tool.call.arguments": "{}", "error.type": "ValueError"}, None),
    ],
)
def test_dropped_attributes_refuse_where_a_part_of_the_call_is_missing(see, attributes, code) -> None:
    seen = see(attributes, dropped=3)
    assert (seen.problem.code if seen.problem else None) == code
    assert see(attributes).problem is None


def test_the_last_resort_reads_the_name_of_a_span_whose_attributes_were_dropped(see) -> None:
    seen = see({}, name="execute_tool query_metric", dropped=7)
    assert (seen.role, seen.call.tool, seen.call.arguments) == ("tool", "query_metric", UNSET)
    assert seen.conventions == ("dropped-attributes",)
    assert seen.problem.code == "TRUNCATED_CONTENT"
    assert see({}, name="execute_tool query_metric").role == "other"
    assert see({}, name="query_metric", dropped=7).role == "other"
