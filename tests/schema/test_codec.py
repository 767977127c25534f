"""The canonical codec, the schema, and the agreement of the short way of validation with the JSON Schema."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from labadapt.schema.codec import bundle_parts, decode_bundle, encode_bundle, encode_run
from labadapt.schema.model import Bundle, Generator, Run, Step
from labadapt.schema.problems import Refusal
from labadapt.schema.schemas import SCHEMA_NAMES, json_schema
from labadapt.schema.timing import milliseconds, nanoseconds
from labadapt.schema.validate import validate

names = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=20)
words = st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True)
numbers = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(st.characters(exclude_categories=("Cs",)), max_size=10)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=6,
)


def either(**optional: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=optional)


@st.composite
def steps(draw: st.DrawFn) -> tuple[list[dict[str, Any]], int]:
    """Sequential steps on whole nanoseconds, and where they end."""
    made, now = [], 0
    for index in range(draw(st.integers(0, 3))):
        start = now + draw(st.integers(0, 10**10))
        now = start + draw(st.integers(0, 10**10))
        status = draw(st.sampled_from(["ok", "timeout", "error", "blocked", "unknown"]))
        step = {
            "id": f"s{index}",
            "tool": draw(names),
            "operation": draw(st.sampled_from(["read", "write", "unknown"])),
            "status": status,
            "startMs": milliseconds(start),
            "endMs": milliseconds(now),
            **draw(either(arguments=values, callId=names)),
        }
        if status == "ok":
            step |= draw(
                either(result=either(rows=st.integers(0, 9) | st.none(), value=numbers | st.none(), data=values))
            )
        made.append(step)
    return made, now


@st.composite
def bundles(draw: st.DrawFn) -> dict[str, Any]:
    """Any valid bundle."""
    runs = []
    for index in range(draw(st.integers(1, 3))):
        made, end = draw(steps())
        runs.append(
            {
                "caseId": f"{draw(names)}{index}",
                "policy": draw(names),
                "mode": "recorded",
                "durationMs": milliseconds(end + draw(st.integers(0, 10**9))),
                "steps": made,
                **draw(
                    either(
                        output=st.fixed_dictionaries({"disposition": words}, optional={"value": numbers | st.none()}),
                        contract=st.fixed_dictionaries({"disposition": words, "maxCalls": st.integers(0, 5)}),
                        provenance=st.dictionaries(names, values, max_size=2),
                        usage=either(inputTokens=st.integers(0, 9) | st.none(), judge=either(outputTokens=st.just(3))),
                    )
                ),
            }
        )
    return {"schemaVersion": 1, "runs": runs}


@given(bundles())
def test_a_valid_bundle_survives_the_codec_and_has_one_form(value: dict[str, Any]) -> None:
    data = json.dumps(value).encode()
    assert validate(data) == []
    bundle = decode_bundle(data)
    encoded = encode_bundle(bundle)
    assert decode_bundle(encoded) == bundle
    assert encode_bundle(decode_bundle(encoded)) == encoded
    assert json.loads(encoded) == value


@given(bundles(), st.randoms())
def test_the_order_of_keys_and_blanks_never_show(value: dict[str, Any], random: Any) -> None:
    def shuffled(inner: Any) -> Any:
        if isinstance(inner, dict):
            keys = list(inner)
            random.shuffle(keys)
            return {key: shuffled(inner[key]) for key in keys}
        return [shuffled(item) for item in inner] if isinstance(inner, list) else inner

    other = json.dumps(shuffled(value), indent=2, ensure_ascii=False).encode()
    assert encode_bundle(decode_bundle(other)) == encode_bundle(decode_bundle(json.dumps(value).encode()))


PLACES = st.lists(
    st.one_of(st.integers(0, 2), st.sampled_from(["runs", "steps", "output", "result", "usage"])), max_size=5
)


@given(bundles(), PLACES, st.sampled_from(["drop", "add", "replace"]), values)
@settings(max_examples=300)
def test_the_short_way_and_the_json_schema_agree(value: dict[str, Any], path: list[Any], how: str, junk: Any) -> None:
    target: Any = value
    for part in path:
        if (isinstance(target, dict) and part in target) or (
            isinstance(target, list) and isinstance(part, int) and part < len(target)
        ):
            target = target[part]
    if not isinstance(target, dict) or not target:
        return
    key = sorted(target)[len(path) % len(target)]
    if how == "drop":
        del target[key]
    elif how == "add":
        target["x" + key] = junk
    else:
        target[key] = junk
    by_schema = Draft202012Validator(json_schema("bundle")).is_valid(value)
    structural = {"WRONG_TYPE", "BAD_VALUE", "UNKNOWN_FIELD", "MISSING_FIELD", "UNSUPPORTED_VERSION", "BAD_ENCODING"}
    ranged = {"OUT_OF_RANGE"}
    found = {problem.code for problem in validate(json.dumps(value).encode())}
    if by_schema:
        assert not found & structural
    else:
        assert found & (structural | ranged)


@given(st.binary(max_size=200))
def test_any_bytes_give_problems_and_never_an_exception(data: bytes) -> None:
    assert validate(data) != []


@given(bundles(), st.integers(0, 2000), st.binary(min_size=1, max_size=3))
def test_a_damaged_bundle_is_told_or_valid(value: dict[str, Any], at: int, damage: bytes) -> None:
    data = json.dumps(value).encode()
    at %= len(data)
    problems = validate(data[:at] + damage + data[at + 1 :])
    assert all(problem.code for problem in problems)
    assert validate(data[:at]) != []


def test_whole_numbers_have_one_form() -> None:
    step = Step(id="s", tool="t", operation="read", status="ok", start_ms=0.0, end_ms=5.0)
    run = Run(case_id="c", policy="p", mode="recorded", duration_ms=5.0, steps=[step])
    assert encode_run(run) == (
        b'{"caseId":"c","policy":"p","mode":"recorded","durationMs":5,"steps":[{"id":"s","tool":"t","operation":"read",'
        b'"status":"ok","startMs":0,"endMs":5}]}'
    )


def test_free_content_is_written_as_recorded() -> None:
    step = Step(id="s", tool="t", operation="read", status="ok", start_ms=0, end_ms=0, arguments={"b": 1.0, "a": "é\n"})
    run = Run(case_id="c", policy="p", mode="recorded", duration_ms=0, steps=[step])
    assert '"arguments":{"a":"é\\n","b":1.0}'.encode() in encode_run(run)


def test_a_bundle_has_one_run_a_line() -> None:
    run = Run(case_id="c", policy="p", mode="recorded", duration_ms=0, steps=[])
    other = Run(case_id="d", policy="p", mode="recorded", duration_ms=0, steps=[])
    made = Generator(name="labadapt", version="1")
    line = b'{"caseId":"%s","policy":"p","mode":"recorded","durationMs":0,"steps":[]}'
    expected = b'{"schemaVersion":1,"generator":{"name":"labadapt","version":"1"},"runs":[\n%s,\n%s\n]}\n'
    assert encode_bundle(Bundle(schema_version=1, generator=made, runs=[run, other])) == expected % (
        line % b"c",
        line % b"d",
    )
    assert b"".join(bundle_parts([encode_run(run)])) == b'{"schemaVersion":1,"runs":[\n' + line % b"c" + b"\n]}\n"


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_each_schema_is_valid_and_describes_every_field(name: Any) -> None:
    schema = json_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for definition in schema["$defs"].values():
        assert definition["description"]
        assert definition["additionalProperties"] is False
        assert all(field.get("description") for field in definition["properties"].values())


@given(st.integers(0, 2**33 * 10**6))  # 99 days: beyond, a float keeps six decimals no longer
def test_a_nanosecond_survives(ns: int) -> None:
    assert nanoseconds(milliseconds(ns)) == ns


def test_milliseconds_are_read_to_the_nanosecond() -> None:
    assert nanoseconds(20.000001) == 20_000_001
    assert nanoseconds(4503599627.370457) == 4_503_599_627_370_457
    assert nanoseconds(9.999999) == 9_999_999
    assert milliseconds(20_000_001) == 20.000001
    assert milliseconds(5_000_000) == 5
    assert isinstance(milliseconds(5_000_000), int)


def test_a_number_too_large_for_a_double_is_told_not_raised() -> None:
    data = b'{"schemaVersion":1,"runs":[{"caseId":"c","policy":"p","mode":"recorded","durationMs":%s,"steps":[]}]}'
    assert validate(data % (b"9" * 400)) == []
    assert [problem.code for problem in validate(data % (b"9" * 5000))] == ["OUT_OF_RANGE"]
    assert math.isfinite(float(milliseconds(10**30)))


def test_decoding_tells_every_fault_at_once() -> None:
    with pytest.raises(Refusal) as refusal:
        decode_bundle(b'{"schemaVersion":2,"runs":[{"caseId":1}]}', "b.json")
    assert [(problem.code, problem.where.pointer) for problem in refusal.value.problems] == [
        ("UNSUPPORTED_VERSION", "/schemaVersion"),
        ("WRONG_TYPE", "/runs/0/caseId"),
        ("MISSING_FIELD", "/runs/0/durationMs"),
        ("MISSING_FIELD", "/runs/0/mode"),
        ("MISSING_FIELD", "/runs/0/policy"),
        ("MISSING_FIELD", "/runs/0/steps"),
    ]


def test_the_workbench_limits_are_held_on_request() -> None:
    run = {"caseId": "c", "policy": "p", "mode": "recorded", "durationMs": 0}
    step = {"tool": "t", "operation": "read", "status": "ok", "startMs": 0, "endMs": 0}
    many = [{**run, "caseId": f"c{index}", "steps": []} for index in range(201)]
    long = [{**run, "steps": [{**step, "id": f"s{index}"} for index in range(101)]}]
    for runs, pointer in ((many, "/runs"), (long, "/runs/0/steps")):
        data = json.dumps({"schemaVersion": 1, "runs": runs}).encode()
        assert validate(data) == []
        problems = validate(data, limits="workbench")
        assert [(problem.code, problem.where.pointer) for problem in problems] == [("TOO_LARGE", pointer)]


def test_a_run_without_contract_is_a_fault_on_request() -> None:
    data = b'{"schemaVersion":1,"runs":[{"caseId":"c","policy":"p","mode":"recorded","durationMs":0,"steps":[]}]}'
    problems = validate(data, require_contract=True)
    assert [(problem.code, problem.where.pointer) for problem in problems] == [("MISSING_CONTRACT", "/runs/0/contract")]
