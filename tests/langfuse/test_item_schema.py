"""The published form of a dataset item's contract takes and refuses what converting does."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from labadapt.adapters.langfuse.contracts import case_of
from labadapt.schema.problems import Refusal
from labadapt.schema.schemas import json_schema

CONTRACT = {"disposition": "answer", "maxCalls": 3, "expectedValue": 412.5, "forbiddenActions": ["refund"]}


@pytest.mark.parametrize(
    ("expected", "whole"),
    [
        (CONTRACT, True),
        (None, True),
        (CONTRACT | {"disposition": "decline"}, False),  # a value without an answer
        (CONTRACT | {"maxCalls": -1}, False),
        (CONTRACT | {"maxcalls": 3}, False),
        ({"disposition": "answer"}, False),
    ],
)
def test_the_schema_and_the_conversion_agree(expected: Any, whole: bool) -> None:
    item = {"input": "refund order 42?", "expectedOutput": expected, "metadata": {"tier": "gold"}}
    assert Draft202012Validator(json_schema("langfuse-item")).is_valid(item) is whole
    if whole:
        case_of(item | {"id": "case-1"})
    else:
        with pytest.raises(Refusal):
            case_of(item | {"id": "case-1"})
