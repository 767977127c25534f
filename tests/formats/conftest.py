"""What the tests of formats share: reading bytes with a named source, or with that of their content."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from labadapt.adapters.choice import choose
from labadapt.adapters.registry import sources
from labadapt.adapters.span import Input, Limits, Reading, Span, Tally, Wanted
from labadapt.schema.problems import Problem, Refusal

NOW = 1_796_200_000_000_000_000
SAMPLES = Path(__file__).parents[2] / "samples"


def read(source: str, data: bytes, wanted: Wanted | None = None) -> tuple[list[Span], Tally]:
    """All spans of some bytes by the source of a name; everything is kept unless `wanted` is given."""
    tally = Tally()
    reading = Reading(wanted=wanted or Wanted(everything=True), tally=tally, limits=Limits(), now_ns=NOW)
    return list(sources()[source].decode(Input("traces", io.BytesIO(data)), reading)), tally


def chosen(data: bytes) -> str:
    """The name of the source that the content asks for."""
    stream = io.BufferedReader(io.BytesIO(data))  # type: ignore[arg-type] # any raw stream will do
    return choose(Input("traces", stream), sources().admitted(), Limits()).name


@pytest.fixture
def read_with() -> Callable[..., tuple[list[Span], Tally]]:
    """Give `read`."""
    return read


@pytest.fixture
def chosen_for() -> Callable[[bytes], str]:
    """Give `chosen`."""
    return chosen


@pytest.fixture
def refused() -> Callable[[str, bytes], Problem]:
    """Give a function that tells the first problem of some bytes, which must be refused."""

    def refused(source: str, data: bytes) -> Problem:
        with pytest.raises(Refusal) as refusal:
            read(source, data)
        assert refusal.value.problems[0].where.file == "traces"
        return refusal.value.problems[0]

    return refused


@pytest.fixture
def sample() -> Callable[[str], bytes]:
    """Give the bytes of a file below samples/."""
    return lambda path: (SAMPLES / path).read_bytes()
