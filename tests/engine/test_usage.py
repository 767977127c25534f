"""Usage over runs: what is missing is counted as missing, and what differs is never added up."""

from typing import Any

import msgspec
import pytest
from labadapt.engine.trials import Trial
from labadapt.engine.usage import decimal_sum, nearest_rank, usage_of
from labadapt.schema.model import RunUsage
from msgspec import UNSET

Json = dict[str, Any]


def used(usage: Json | None = None, mode: str | None = "recorded", duration: Any = UNSET) -> Trial:
    given = UNSET if usage is None else msgspec.convert(usage, RunUsage)
    return Trial("a", "p", "1", "pass", mode=mode, duration_ms=duration, usage=given)


def report(*runs: Trial) -> Json:
    return msgspec.to_builtins(usage_of(runs))


def test_what_is_not_recorded_is_unavailable_and_counted() -> None:
    found = report(used({"inputTokens": 10}), used({"inputTokens": None}), used({"outputTokens": 0}), used())["target"]
    assert found["inputTokens"] == {"runs": 1, "unavailable": 3, "total": 10}
    assert found["outputTokens"] == {"runs": 1, "unavailable": 3, "total": 0}
    assert found["reasoningTokens"] == {"runs": 0, "unavailable": 4, "total": None}
    assert found["costUsd"]["unavailable"] == 4
    assert found["models"] == {}


def test_costs_of_different_sources_are_never_added_up() -> None:
    found = report(
        used({"costUsd": 0.1, "costSource": "billed"}),
        used({"costUsd": 0.2, "costSource": "billed"}),
        used({"costUsd": 5, "costSource": "estimated"}),
        used({"costUsd": 7}),
        used({"costSource": "billed"}),
    )["target"]["costUsd"]
    assert found == {
        "billed": 0.3,
        "billedRuns": 2,
        "estimated": 5,
        "estimatedRuns": 1,
        "unstated": 7,
        "unstatedRuns": 1,
        "unavailable": 1,
    }


def test_a_judge_is_apart_from_the_target() -> None:
    found = report(used({"inputTokens": 10, "judge": {"inputTokens": 99, "model": "j"}}), used({"inputTokens": 1}))
    assert found["target"]["inputTokens"]["total"] == 11
    assert found["judge"]["inputTokens"] == {"runs": 1, "unavailable": 1, "total": 99}
    assert found["judge"]["models"] == {"j": 1}
    assert report(used({"inputTokens": 10}))["judge"] is None


def test_times_of_different_modes_are_never_put_together() -> None:
    found = report(used(duration=30), used(duration=10.0), used(), used(mode="fixture", duration=5000))["durations"]
    assert found == [
        {"mode": "fixture", "runs": 1, "unavailable": 0, "least": 5000, "median": 5000, "p95": 5000, "most": 5000},
        {"mode": "recorded", "runs": 2, "unavailable": 1, "least": 10, "median": 10, "p95": 30, "most": 30},
    ]


def test_models_are_counted_by_name() -> None:
    found = report(used({"model": "m"}), used({"model": "m"}), used({"model": None}), used({"model": "n"}))
    assert found["target"]["models"] == {"m": 2, "n": 1}


def test_a_table_of_outcomes_knows_nothing_of_usage() -> None:
    assert usage_of([used(mode=None)]) is None


@pytest.mark.parametrize(("percent", "expected"), [(50, 3), (95, 5), (100, 5), (1, 1), (20, 1), (21, 2)])
def test_a_percentile_is_a_value_that_was_observed(percent: int, expected: int) -> None:
    assert nearest_rank([1, 2, 3, 4, 5], percent) == expected


def test_no_values_have_no_percentile_and_no_sum() -> None:
    assert nearest_rank([], 50) is None
    assert decimal_sum([]) is None


def test_amounts_add_up_as_they_are_written() -> None:
    assert decimal_sum([0.1] * 3) == 0.3
    assert decimal_sum([1e16, 1, -1e16]) == 1
