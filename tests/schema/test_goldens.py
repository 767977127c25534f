"""Bundles that are valid, and one for each way of being wrong, found by walking the folders.

A file under `negative` is named after the code that it raises; beside it stands, line for line, what is told of it.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from labadapt.schema.codec import decode_bundle, encode_bundle
from labadapt.schema.problems import CODES, Problem, Refusal
from labadapt.schema.validate import validate

HERE = Path(__file__).parent
NEGATIVE = sorted((HERE / "negative").glob("*.json"))
POSITIVE = sorted((HERE / "positive").glob("*.json"))
# Codes of `CODES` that a bundle file can raise; the others belong to telemetry, to other files and to the command line.
OF_BUNDLES = {
    "NOT_JSON", "BAD_ENCODING", "TOO_DEEP", "DUPLICATE_KEY", "UNSUPPORTED_VERSION", "UNKNOWN_FIELD", "MISSING_FIELD",
    "WRONG_TYPE", "OUT_OF_RANGE", "BAD_VALUE", "DUPLICATE_PAIR", "DUPLICATE_STEP_ID", "REVERSED_TIMING",
    "OVERLAPPING_STEPS", "OUT_OF_RANGE_TIMING", "UNORDERED_STEPS", "FIXTURE_DURATION", "MISSING_CONTRACT", "TOO_LARGE",
}  # fmt: skip
# Codes that are told only on request, and the request; without it such a sample is valid.
REQUESTS: dict[str, dict[str, Any]] = {
    "MISSING_CONTRACT": {"require_contract": True},
    "TOO_LARGE": {"limits": "workbench"},
}


def told(problem: Problem) -> str:
    where = problem.where
    place = where.pointer if where.pointer is not None else f"line {where.line} byte {where.offset}"
    parts = [problem.code, place, problem.message, f"found {problem.found}", f"expected {problem.expected}"]
    return " | ".join([*parts, *([f"help: {problem.hint}"] if problem.hint else [])])


def code_of(path: Path) -> str:
    return path.stem.split("-")[0]


@pytest.mark.parametrize("path", NEGATIVE, ids=lambda path: path.stem)
def test_each_fault_is_told_with_code_place_and_both_values(path: Path) -> None:
    problems = validate(path.read_bytes(), **REQUESTS.get(code_of(path), {}))
    assert [told(problem) for problem in problems] == path.with_suffix(".expected").read_text("utf-8").splitlines()
    assert code_of(path) in {problem.code for problem in problems}


@pytest.mark.parametrize(
    "path", [path for path in NEGATIVE if code_of(path) not in REQUESTS], ids=lambda path: path.stem
)
def test_a_faulty_bundle_is_not_decoded(path: Path) -> None:
    with pytest.raises(Refusal) as refusal:
        decode_bundle(path.read_bytes(), "bundle.json")
    assert {problem.where.file for problem in refusal.value.problems} == {"bundle.json"}


@pytest.mark.parametrize("path", [path for path in NEGATIVE if code_of(path) in REQUESTS], ids=lambda path: path.stem)
def test_what_is_a_fault_only_on_request_is_valid_without_it(path: Path) -> None:
    assert validate(path.read_bytes()) == []


def test_every_code_of_bundles_has_a_sample() -> None:
    assert {code_of(path) for path in NEGATIVE} == OF_BUNDLES
    assert set(CODES) >= OF_BUNDLES


@pytest.mark.parametrize("path", POSITIVE, ids=lambda path: path.stem)
def test_a_valid_bundle_has_no_fault_and_survives_the_codec(path: Path) -> None:
    data = path.read_bytes()
    assert validate(data) == []
    encoded = encode_bundle(decode_bundle(data))
    assert json.loads(encoded) == json.loads(data)
    assert encode_bundle(decode_bundle(encoded)) == encoded


def test_a_text_that_breaks_off_after_many_quotes_is_told_at_once() -> None:
    data = b'{"runs": ["' + b'\\"' * 300_000 + b'\x01"]}'
    [problem] = validate(data, file="x.json")
    assert (problem.code, problem.where.line) == ("NOT_JSON", 1)
