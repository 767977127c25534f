"""One file for each way in which a format breaks, found by walking the folder.

A file is named after the code that it raises and what it is; beside it stands, word for word, what is told of it. Every
refusal says its file, and the line or byte; in JSON the path to the field, and of a span its ids.
"""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from labadapt.adapters.choice import choose
from labadapt.adapters.registry import sources
from labadapt.adapters.span import Input, Limits, Reading, Tally, Wanted
from labadapt.cli.problems import render_problem
from labadapt.schema.problems import Problem, Refusal

NEGATIVE = Path(__file__).parent / "negative"
SAMPLES = sorted(path for path in NEGATIVE.iterdir() if path.suffix != ".expected")
NOW = 1_796_200_000_000_000_000
OF_THE_WHOLE = {"NO_SPANS", "NOT_TRACES"}
OF_A_SPAN = {"BAD_ID", "BAD_TIME", "BAD_FIELD"}
every = pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)


def code_of(path: Path) -> str:
    return re.split(r"[-.]", path.name)[0]


@pytest.fixture
def refused() -> Callable[[Path], Problem]:
    """Give a function that reads a file by the source that its content asks for, and tells the first problem."""

    def read(path: Path) -> Problem:
        stream = io.BufferedReader(io.BytesIO(path.read_bytes()))  # type: ignore[arg-type] # any raw stream will do
        item = Input(path.name, stream)
        reading = Reading(Wanted(everything=True), Tally(), Limits(), NOW)
        with pytest.raises(Refusal) as refusal:
            list(choose(item, sources().admitted(), Limits()).decode(item, reading))
        (problem,) = refusal.value.problems
        return problem

    return read


@every
def test_what_is_told_of_a_broken_file(
    refused: Callable[[Path], Problem], golden: Callable[[Path, str], None], path: Path
) -> None:
    problem = refused(path)
    assert problem.code == code_of(path)
    golden(path.with_name(path.name + ".expected"), click.unstyle(render_problem(problem)) + "\n")


@every
def test_every_refusal_says_where(refused: Callable[[Path], Problem], path: Path) -> None:
    problem = refused(path)
    where = problem.where
    assert where.file == path.name
    if problem.code in OF_THE_WHOLE:
        return
    assert where.line is not None or where.offset is not None
    if where.offset is not None and path.read_bytes()[:2] != b"\x1f\x8b":
        assert 0 <= where.offset <= len(path.read_bytes()) or path.suffix == ".zst"
    if problem.code in OF_A_SPAN:
        assert where.trace_id is not None or problem.code == "BAD_ID"
        assert where.span_ids or problem.code == "BAD_ID"


@pytest.mark.parametrize("path", [path for path in SAMPLES if code_of(path) in OF_A_SPAN], ids=lambda path: path.name)
def test_the_path_in_a_refusal_leads_to_what_is_wrong(refused: Callable[[Path], Problem], path: Path) -> None:
    """From the first byte of its document; what is not there, its parent lacks."""
    problem = refused(path)
    if path.suffix == ".pb":
        assert problem.where.pointer is None
        return
    assert problem.where.pointer
    assert problem.where.offset is not None
    text = path.read_bytes()[problem.where.offset :].decode()
    value = json.JSONDecoder().raw_decode(text[text.index("{") if text[0] not in "{[" else 0 :])[0]
    steps = [step.replace("~1", "/").replace("~0", "~") for step in problem.where.pointer.split("/")[1:]]
    for number, step in enumerate(steps):
        if number == len(steps) - 1 and isinstance(value, dict) and step not in value:
            break
        value = value[int(step)] if isinstance(value, list) else value[step]


def test_every_format_and_every_foreign_one_has_a_sample() -> None:
    names = " ".join(path.name for path in SAMPLES)
    for source in sources():
        assert f"BAD_ID-{source}" in names or source == "langfuse"
    for foreign in ("parquet", "arrow", "sqlite", "zip", "node-console", "datadog", "x-ray", "langsmith", "honeycomb"):
        assert f"UNSUPPORTED_FORMAT-{foreign}" in names


def test_every_sample_is_told_of(golden: Callable[[Path, str], None]) -> None:
    told = {path.name for path in NEGATIVE.glob("*.expected")}
    assert told == {path.name + ".expected" for path in SAMPLES}
