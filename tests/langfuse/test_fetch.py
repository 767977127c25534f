"""What is fetched is the run, whole, whatever the server and the network do; or it is refused."""

import json
from typing import Any

import pytest
from labadapt.schema.problems import Refusal


def rows(fetched: Any, kind: str) -> list[dict[str, Any]]:
    return [row for name, data in fetched.files if name.startswith(f"{kind}-0") for row in json.loads(data)["data"]]


def test_a_run_is_fetched_with_its_items_traces_and_dataset(fetched: Any, langfuse: Any) -> None:
    run = fetched("policy A")
    assert [name for name, _ in run.files] == [
        "dataset.json",
        "experiments-0001.json",
        "experiment-items-0001.json",
        "observations-0001.json",
        "dataset-items-0001.json",
    ]
    assert {row["experimentItemId"] for row in rows(run, "experiment-items")} == {"case-1", "case-2", "case-3", "case-4"}
    assert len({row["traceId"] for row in rows(run, "observations")}) == 4
    assert run.notes == []
    assert langfuse.paths() == [
        "v2/datasets/labadapt%20demo",
        "experiments",
        "experiments",
        "experiment-items",
        "v2/observations",
        "dataset-items",
    ]
