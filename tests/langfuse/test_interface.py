"""The interface that the test server is held to: it is what the SDK's models say, and it sees what is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

SCHEMAS = yaml.safe_load((Path(__file__).parent / "api.yaml").read_text())["components"]["schemas"]
MODELS = {
    "Dataset": "langfuse.api.commons.types.dataset",
    "DatasetItem": "langfuse.api.commons.types.dataset_item",
    "Experiment": "langfuse.api.experiments.types.experiment",
    "ExperimentItem": "langfuse.api.experiments.types.experiment_item",
    "ObservationV2": "langfuse.api.commons.types.observation_v2",
}


def written(key: str, field: Any) -> str:
    """A field's name on the wire."""
    return next((part.alias for part in field.metadata if getattr(part, "alias", None)), key)


@pytest.mark.parametrize("name", MODELS)
def test_the_interface_names_and_requires_what_the_sdk_s_model_does(name: str) -> None:
    import importlib

    model = getattr(importlib.import_module(MODELS[name]), name)
    fields = {written(key, field): field.is_required() for key, field in model.model_fields.items()}
    assert set(SCHEMAS[name]["properties"]) == set(fields)
    assert set(SCHEMAS[name]["required"]) == {key for key, required in fields.items() if required}


def asked(lab: Any, path: str, **query: str) -> Any:
    return lab.Request(path, query, f"/api/public/{path}?{query}")


@pytest.mark.parametrize(
    ("path", "query", "page"),
    [
        ("experiments", {}, {"data": [], "meta": {}}),  # a required parameter is missing
        ("experiments", {"fromStartTime": "2026-12-01T00:00:00Z"}, {"data": []}),
        ("experiments", {"fromStartTime": "2026-12-01T00:00:00Z"}, {"data": [{"id": "x"}], "meta": {}}),
        (
            "v2/datasets",
            {"limit": "many"},
            {"data": [], "meta": {"page": 1, "limit": 50, "totalItems": 0, "totalPages": 0}},
        ),
        (
            "v2/observations",
            {},
            {"data": [{"id": "x", "startTime": "today", "projectId": "p", "type": "T"}], "meta": {}},
        ),
        ("v2/unknown", {}, {}),
    ],
)
def test_a_violation_is_seen(path: str, query: dict[str, str], page: Any, lab: Any, interface: Any) -> None:
    interface.violations.clear()
    interface(asked(lab, path, **query), 200, json.dumps(page).encode())
    assert interface.violations
    interface.violations.clear()
