"""The facts that a result keeps of its run, so that results can be compared and counted without the bundle."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from labadapt.engine.digests import digest
from labadapt.schema.result import RunResult

Json = dict[str, Any]
Checked = Callable[[Json], RunResult]
FACTS = {
    "codeRevision": "4f2a",
    "modelRoute": "m-1",
    "promptVersion": "7",
    "retrievalConfiguration": {"top": 5},
    "toolSchemaDigest": "ab",
}


def test_a_digest_is_that_of_sorted_json_with_whole_numbers() -> None:
    # printf '{"a":[1,2.5],"b":null}' | sha256sum
    expected = "sha256:f66b2c50ccae61e3f2445d2439f42efc245581b18ed184ce5d3c22fb58eed9c4"
    assert digest({"b": None, "a": [1.0, 2.5]}) == expected
    assert digest({"a": [1, 2.5], "b": None}) == expected


@pytest.mark.parametrize("other", [True, "1", [1], {"a": 1}, None, 2, 1.5])
def test_values_that_differ_have_different_digests(other: object) -> None:
    assert digest(1) != digest(other)


def test_a_result_keeps_what_the_bundle_says_of_its_run(run: Json, checked: Checked) -> None:
    run["usage"] = {"inputTokens": 12, "costUsd": 2.0, "costSource": "billed", "judge": {"costUsd": 1.0}}
    run["durationMs"] = 120.0
    written = msgspec.to_builtins(checked(run))
    assert written["durationMs"] == 120
    assert type(written["durationMs"]) is int
    assert written["status"] == {"infrastructure": "healthy", "target": "completed", "steps": "complete"}
    assert written["usage"] == {
        "inputTokens": 12,
        "costUsd": 2,
        "costSource": "billed",
        "judge": {"costUsd": 1},
    }
    assert type(written["usage"]["costUsd"]) is int
    assert type(written["usage"]["judge"]["costUsd"]) is int


def test_digests_follow_request_and_contract(run: Json, checked: Checked) -> None:
    first = checked(run)
    run["request"]["arguments"] = {"region": "eu"}
    second = checked(run)
    run["contract"]["maxCalls"] = 3
    third = checked(run)
    assert first.request_digest != second.request_digest == third.request_digest
    assert first.contract_digest == second.contract_digest != third.contract_digest


def test_what_was_not_recorded_has_no_digest(run: Json, checked: Checked) -> None:
    del run["request"], run["contract"]
    written = msgspec.to_builtins(checked(run))
    assert written.keys().isdisjoint({"requestDigest", "contractDigest", "targetDigest", "usage"})


def test_a_target_is_known_by_all_of_its_facts_or_not_at_all(run: Json, checked: Checked) -> None:
    def of(provenance: Json) -> object:
        return msgspec.to_builtins(checked({**run, "provenance": provenance})).get("targetDigest")

    whole = of(FACTS)
    assert isinstance(whole, str)
    assert of({**FACTS, "traceId": "x"}) == whole
    assert of({**FACTS, "promptVersion": "8"}) not in (whole, None)
    assert of({name: FACTS[name] for name in ("codeRevision", "modelRoute")}) is None
    assert of({**FACTS, "promptVersion": None}) is None


def test_a_target_digest_in_provenance_stands_before_the_facts(run: Json, checked: Checked) -> None:
    one = checked({**run, "provenance": {"targetDigest": "release-7", "codeRevision": "a"}})
    other = checked({**run, "provenance": {"targetDigest": "release-7", "codeRevision": "b"}})
    assert one.target_digest == other.target_digest == digest("release-7")
