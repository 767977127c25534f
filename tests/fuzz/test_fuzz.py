"""Whatever is done to an export: its spans, or a refusal that says where; in bounded time and memory.

For longer than a test run has time for: ``LABADAPT_FUZZ_SECONDS=600 pytest tests/fuzz``, and ``make fuzz``.
"""

import os
import resource
import time
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HERE = Path(__file__).parent
CORPUS = sorted(path for path in (HERE / "corpus").glob("*/*") if path.is_file())
SOURCES = ("otlp", "protojson", "tempo", "jaeger", "java-logging", "zipkin", "phoenix", "python-console", "go-stdout")
SOURCES += ("clickhouse", "mlflow")
LONGER = "LABADAPT_FUZZ_SECONDS" in os.environ
SECONDS = float(os.environ.get("LABADAPT_FUZZ_SECONDS", "60")) / len(SOURCES)
EXAMPLES = 300  # at most; the clock may stop them earlier
SLOWEST = 10.0  # seconds for one example, on a busy machine
MOST_MEMORY = 2**20  # KiB that this process may grow by: the target's limit is 32 MB of content
NAMES = (
    "cut", "cut_front", "flip", "any_byte", "splice", "hole", "drop", "twice", "nest", "duplicate_key", "line_between",
    "field_changed", "field_nested", "length_changed", "gzipped", "zstandardised", "framed", "utf16", "marked",
    "bad text", "half a pair", "control", "number", "number for a value", "value", "identifier", "time",
)  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_an_export_that_was_broken_in_any_way(target: ModuleType, mutations: ModuleType, source: str) -> None:
    assert set(NAMES) == set(mutations.MUTATIONS)
    stop = time.monotonic() + SECONDS
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(
        st.sampled_from(target.seeds()[source]),
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=4),
        st.integers(0, 2**32),
    )
    def examined(seed: Path, names: list[str], number: int) -> None:
        if time.monotonic() > stop:
            return
        began = time.monotonic()
        target.examine(source, mutations.mutated(seed.read_bytes(), names, number))
        assert time.monotonic() - began < SLOWEST

    examined()
    while LONGER and time.monotonic() < stop:
        examined()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MEMORY


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_was_once_found_stays_mended(target: ModuleType, path: Path) -> None:
    """A find is kept in the folder of its source, under the name of what is said of it: ``CODE-what-it-was``."""
    began = time.monotonic()
    assert target.examine(path.parent.name, path.read_bytes()) == path.name.split("-")[0].split(".")[0]
    assert time.monotonic() - began < SLOWEST
