"""Properties of every conversion: the sum holds, and neither order nor split nor hash seed changes a byte."""

import copy
import json
import random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from labadapt.adapters.observation import Call, Observation, Proposal
from labadapt.schema.model import Usage
from labadapt.schema.problems import Problem, Where
from labadapt.schema.timing import timing_problems

IDS = [f"{number:016x}" for number in range(1, 9)]
VALUES = st.sampled_from([msgspec.UNSET, None, {}, {"n": 1}, {"n": 1.0}, "checkout", {"service": "checkout"}, [1]])
OUTPUTS = st.sampled_from(
    [
        msgspec.UNSET,
        "text",
        {"disposition": "answer", "value": 1, "evidence": ["call-1", IDS[2]]},
        {"disposition": "no data"},
        '{"disposition":"refuse"}',
    ]
)
CALLS = st.builds(
    Call,
    tool=st.sampled_from(["query", "restart", "x" * 201, ""]),
    call_id=st.sampled_from(["", "", "call-1", "call-2"]),
    arguments=VALUES,
    result=VALUES,
    status=st.sampled_from(["ok", "ok", "error", "timeout", "blocked", "unknown"]),
    operation=st.sampled_from(["unknown", "read", "write"]),
    lab=st.sampled_from([{}, {}, {"rows": 1}, {"value": "wrong"}]),
    conventions=st.sampled_from([("otel-genai",), ("mcp",)]),
)
PROPOSALS = st.lists(
    st.builds(
        Proposal,
        st.sampled_from(["query", "restart", "final_result"]),
        st.sampled_from(["", "call-1", "call-2"]),
        VALUES,
        st.integers(0, 2),
    ),
    max_size=2,
).map(tuple)
PROBLEM = Problem(code="TRUNCATED_CONTENT", message="cut")


@st.composite
def observations(draw):
    spans = []
    for span_id in draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=9)):
        role = draw(st.sampled_from(["tool", "tool", "tool", "agent", "model", "other", "aside", "evaluator"]))
        start = draw(st.integers(10, 20))
        spans.append(
            Observation(
                trace_id=f"{draw(st.integers(1, 2)):032x}",
                span_id=span_id,
                parent_id=draw(st.sampled_from(["", IDS[0], IDS[0], IDS[1], IDS[2], IDS[3]])),
                name=draw(st.sampled_from(["a", "b"])),
                start_ns=start,
                end_ns=draw(st.sampled_from([start + 1, start + 1, start, start + 5, start - 1, 0])),
                where=Where(file=draw(st.sampled_from(["one", "two"]))),
                scope=draw(st.sampled_from(["s", "openinference.instrumentation.langchain"])),
                role=role,
                reason="a wrapper" if role == "aside" else "",
                call=draw(CALLS) if role == "tool" else None,
                case_id=draw(st.sampled_from([None, None, None, (0, "a"), (0, "b"), (1, "c")])),
                policy=draw(st.sampled_from([None, (0, "p"), (1, "q")])),
                output=draw(OUTPUTS) if role in ("agent", "model") else msgspec.UNSET,
                lab_output=draw(st.sampled_from([msgspec.UNSET, msgspec.UNSET, {"disposition": "answer"}])),
                usage=draw(st.sampled_from([msgspec.UNSET, Usage(input_tokens=1)])),
                proposals=draw(PROPOSALS) if role == "model" else (),
                failed=draw(st.booleans()),
                pending=draw(st.sampled_from([False, False, False, True])),
                conventions=("otel-genai",),
                problem=draw(st.sampled_from([None, None, None, PROBLEM])),
            )
        )
    return spans


def told(conversion):
    """All that a conversion says, as bytes."""
    tally = conversion.tally
    return [
        *[msgspec.json.encode(run, order="deterministic") for run in conversion.runs],
        json.dumps([tally.used, sorted(tally.aside.items()), conversion.undeclared, conversion.notes]).encode(),
        *[
            msgspec.json.encode([refused.trace_id, refused.case_id, refused.policy, refused.spans, refused.problems])
            for refused in conversion.refused
        ],
    ]


OPTIONS = st.fixed_dictionaries(
    {"nested": st.sampled_from(["refuse", "outer", "leaf"]), "trials": st.booleans()},
    optional={"case": st.just("fixed"), "policy": st.just("fixed")},
)


@settings(max_examples=300, deadline=None)
@given(spans=observations(), options=OPTIONS)
def test_the_sum_of_spans_always_holds_and_every_run_stands_in_sequence(convert_all, spans, options):
    conversion = convert_all(spans, **options)  # asserts the sum
    for run in conversion.runs:
        assert timing_problems(run, "") == []
        assert len({step.id for step in run.steps}) == len(run.steps)
        assert msgspec.json.decode(msgspec.json.encode(run), type=type(run)) == run
    for refused in conversion.refused:
        assert refused.problems
        assert all(problem.where.trace_id == refused.trace_id for problem in refused.problems)


@settings(max_examples=300, deadline=None)
@given(spans=observations(), options=OPTIONS, seed=st.integers(0, 2**32))
def test_the_order_of_spans_changes_nothing(convert_all, spans, options, seed):
    shuffled = copy.deepcopy(spans)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - a seeded shuffle, no secret
    assert told(convert_all(shuffled, **options)) == told(convert_all(spans, **options))
