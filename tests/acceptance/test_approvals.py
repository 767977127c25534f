"""A write that awaits approval is never a pass of the read-only check by guess."""

import io
from collections import defaultdict
from pathlib import Path

import pytest
from labadapt.adapters.conversion import Options
from labadapt.adapters.convert import convert
from labadapt.adapters.mapping import read_mapping
from labadapt.adapters.sources.otlp import SOURCE
from labadapt.adapters.span import Input
from labadapt.engine.check import check_run
from labadapt.schema.model import Contract
from msgspec.structs import replace

SAMPLES = Path(__file__).parents[2] / "samples"
MAPPING = read_mapping((SAMPLES / "metric-agent.mapping.yaml").read_bytes(), "mapping.yaml")
PENDING: dict[str, list[Path]] = defaultdict(list)
for found in sorted(SAMPLES.glob("producers/*/08b_*.pb")):
    PENDING[found.parent.name].append(found)
# ADK's record says that the call was refused for want of an approval: it is seen not to have run.
SEEN_BLOCKED = {"google-adk@2.13.0-schema2"}


@pytest.mark.parametrize("producer", sorted(PENDING))
def test_a_pending_write_leaves_the_read_only_check_open(producer: str) -> None:
    inputs = [Input(path.name, io.BytesIO(path.read_bytes())) for path in PENDING[producer]]
    (run,) = convert(inputs, SOURCE, Options(now_ns=1_796_200_000_000_000_000, mapping=MAPPING)).runs
    result = check_run(replace(run, contract=Contract(disposition="answer", max_calls=5)))
    (read_only,) = [check for check in result.checks if check.id == "read_only"]
    assert read_only.verdict == ("pass" if producer in SEEN_BLOCKED else "unevaluable")
    assert result.outcome != "pass"
    statuses = [step.status for step in run.steps if step.tool == "restart_service"]
    assert statuses == (["blocked"] if producer in SEEN_BLOCKED else statuses)
    assert "ok" not in statuses
