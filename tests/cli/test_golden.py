"""Whole outputs for people, as they stand in ``golden/``: a change of one is read before it is committed."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PRODUCERS = sorted(path.name for path in (ROOT / "samples" / "producers").iterdir() if path.is_dir())


def test_the_verdict_of_the_authored_cases(labadapt, golden) -> None:
    golden(HERE / "golden" / "fixtures.txt", labadapt("fixtures", "--policy", "both").stdout)


@pytest.mark.parametrize("producer", PRODUCERS)
def test_an_inspection(labadapt, golden, producer: str) -> None:
    done = labadapt("inspect", f"samples/producers/{producer}", cwd=ROOT)
    assert (done.stderr, done.returncode) == ("", 0)
    golden(HERE / "golden" / "inspect" / f"{producer}.txt", done.stdout)


@pytest.mark.parametrize("producer", PRODUCERS)
def test_what_is_said_of_refused_runs(labadapt, golden, producer: str) -> None:
    parallel = f"samples/producers/{producer}/09_parallel*"
    nested = f"samples/producers/{producer}/10_nested.*"
    done = labadapt("otlp", parallel, nested, cwd=ROOT)
    assert (done.stdout, done.returncode) == ("", 2)
    assert set(re.findall(r"error\[(\w+)\]", done.stderr)) <= {"CONCURRENT_STEPS", "NESTED_STEPS"}
    golden(HERE / "golden" / "refused" / f"{producer}.txt", done.stderr)
