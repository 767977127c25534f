"""One call that several spans show is one step; two calls are two."""

import pytest

ARGUMENTS = {"metric": "m"}
MCP = {"conventions": ("otel-genai", "mcp")}


def asides(record, **options):
    conversion = record.convert(**options)
    assert conversion.refused == []
    return len(conversion.runs[0].steps), conversion.tally.aside


def test_mcp_client_and_server_under_the_frameworks_tool_span(record):
    root = record.root()
    tool = record.tool(10, 50, root, call_id="call-1", arguments=ARGUMENTS, result={"rows": 1}, scope="framework")
    client = record.tool(12, 48, tool, **MCP, scope="client")
    send = record.add("other", 13, 47, client)
    record.tool(15, 45, send, **MCP, scope="server", operation="read")
    conversion = record.convert()
    (step,) = conversion.runs[0].steps
    assert (step.id, step.start_ms, step.end_ms) == ("call-1", 10, 50)
    assert step.operation == "read"  # the server's read-only hint, which the framework does not know
    assert conversion.tally.aside == {
        "the same call, as the Model Context Protocol sees it": 2,
        "no agent, model or tool span": 1,
    }


def test_an_mcp_server_span_under_its_client_span(record):
    root = record.root()
    client = record.tool(12, 48, root, **MCP, scope="client")
    record.tool(15, 45, client, **MCP, scope="server", arguments=ARGUMENTS, result="done")
    conversion = record.convert()
    (step,) = conversion.runs[0].steps
    assert (step.id, step.arguments, step.result.data) == (client, ARGUMENTS, "done")


def test_a_framework_that_puts_the_servers_name_before_the_tools(record):
    tool = record.tool(10, 50, record.root(), tool="mcp__metrics__query", arguments=ARGUMENTS)
    record.tool(12, 48, tool, **MCP, tool="query", arguments=ARGUMENTS)
    assert asides(record) == (1, {"the same call, as the Model Context Protocol sees it": 1})


@pytest.mark.parametrize(
    "inner",
    [{"tool": "other"}, {"arguments": {"metric": "n"}}, {"call_id": "another"}],
    ids=["another tool", "other arguments", "another call id"],
)
def test_an_mcp_call_that_is_another_one_is_nested(record, inner):
    tool = record.tool(10, 50, record.root(), arguments=ARGUMENTS, call_id="call-1")
    record.tool(12, 48, tool, **{**MCP, "arguments": ARGUMENTS, **inner})
    assert record.refused() == ["NESTED_STEPS"]


def test_an_mcp_call_of_a_sub_agent_is_its_own_even_by_the_same_name(record):
    tool = record.tool(10, 50, record.root(), arguments=ARGUMENTS)
    agent = record.add("agent", 11, 49, tool)
    record.tool(12, 48, agent, **MCP, arguments=ARGUMENTS)
    assert record.refused() == ["NESTED_STEPS"]


def test_siblings_of_different_scopes_with_the_same_name_and_arguments(record):
    root = record.root()
    record.tool(10, 50, root, scope="a", arguments=ARGUMENTS)
    record.tool(11, 49, root, scope="b", arguments=ARGUMENTS, call_id="call-1", result={"rows": 1})
    conversion = record.convert()
    (step,) = conversion.runs[0].steps
    assert (step.id, step.start_ms, step.end_ms, step.result.rows) == ("call-1", 10, 50, 1)
    assert conversion.tally.aside == {"the same call, as a second instrumentation sees it": 1}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"scope": "a"}, {"scope": "a"}),
        ({"scope": "a", "call_id": "x"}, {"scope": "b", "call_id": "y"}),
        ({"scope": "a", "tool": "one"}, {"scope": "b", "tool": "two"}),
        ({"scope": "a", "arguments": {"n": 1}}, {"scope": "b", "arguments": {"n": 1.0}}),
        ({"scope": "a", "arguments": {"n": 1}}, {"scope": "b", "arguments": {"n": True}}),
    ],
    ids=["one scope", "two call ids", "two tools", "1 and 1.0", "1 and true"],
)
def test_siblings_that_are_two_calls_are_concurrent(record, one, other):
    root = record.root()
    record.tool(10, 50, root, **{"arguments": ARGUMENTS, **one})
    record.tool(11, 49, root, **{"arguments": ARGUMENTS, **other})
    assert record.refused() == ["CONCURRENT_STEPS"]


def test_two_scopes_whose_arguments_are_not_recorded_may_be_two_calls(record):
    root = record.root()
    record.tool(10, 50, root, scope="a")
    record.tool(11, 49, root, scope="b")
    assert record.refused() == ["CONCURRENT_STEPS"]


def test_one_after_the_other_they_are_two_calls(record):
    root = record.root()
    record.tool(10, 20, root, scope="a", arguments=ARGUMENTS)
    record.tool(20, 30, root, scope="b", arguments=ARGUMENTS)
    assert asides(record) == (2, {})


def test_two_real_calls_at_once_seen_twice_each_are_still_two_calls(record):
    root = record.root()
    for start in (10, 11):
        record.tool(start, 50, root, scope="a", arguments=ARGUMENTS)
        record.tool(start + 0.5, 49, root, scope="b", arguments=ARGUMENTS)
    assert "CONCURRENT_STEPS" in record.refused()


def test_a_decorator_around_the_frameworks_tool_span(record):
    outer = record.tool(10, 50, record.root(), scope="decorator", arguments=ARGUMENTS)
    record.tool(11, 49, outer, scope="framework", arguments=ARGUMENTS, call_id="call-1")
    assert asides(record) == (1, {"the same call, as a second instrumentation sees it": 1})


def test_a_server_that_knows_of_the_timeout_tells_the_framework_span(record):
    seen = {"status": "error", "error_type": "ToolRetryError", "call_conventions": ("framework",)}
    tool = record.tool(10, 50, record.root(), arguments=ARGUMENTS, **seen)
    record.tool(12, 48, tool, **MCP, status="timeout", error_type="TimeoutError", call_conventions=("mcp",))
    run = record.run()
    assert (run.steps[0].status, run.steps[0].error.type) == ("timeout", "ToolRetryError")
    assert run.provenance["fields"] == {tool: {"status": "mcp"}}


def test_a_server_that_failed_does_not_change_what_the_framework_made_of_it(record):
    tool = record.tool(10, 50, record.root(), arguments=ARGUMENTS, result="a fallback")
    record.tool(12, 48, tool, **MCP, status="timeout")
    (step,) = record.run().steps
    assert (step.status, step.result.data) == ("ok", "a fallback")


def test_spans_that_look_like_calls_and_are_none_keep_their_reason(record):
    root = record.root()
    record.add("aside", 10, 20, root, reason="a wrapper")
    record.tool(11, 19, root)
    assert asides(record) == (1, {"a wrapper": 1})


def test_where_a_field_comes_from_is_kept(record):
    root = record.root()
    span = record.tool(10, 50, root, scope="a", arguments=ARGUMENTS, call_conventions=("first",))
    record.tool(11, 49, root, scope="b", arguments=ARGUMENTS, result="x", call_conventions=("second",))
    assert record.run().provenance["fields"] == {span: {"result": "second"}}
