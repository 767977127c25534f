"""Several processes give what one gives: the bundle, the account and the refusals, byte for byte."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

SAMPLES = Path(__file__).parents[2] / "samples" / "producers" / "pydantic-ai@2.68.0-v5"
Done = subprocess.CompletedProcess[str]


@pytest.fixture
def scattered(tmp_path: Path) -> Path:
    """The spans of all samples, each span a file's own group, over three files in no order; some of them twice."""
    groups = []
    for sample in sorted(SAMPLES.glob("*.pb")):
        for group in TracesData.FromString(sample.read_bytes()).resource_spans:
            for scoped in group.scope_spans:
                for span in scoped.spans:
                    made = TracesData()
                    added = made.resource_spans.add(resource=group.resource)
                    added.scope_spans.add(scope=scoped.scope, spans=[span])
                    groups.append(made.SerializeToString())
    draw = random.Random(7)  # noqa: S311 - the same order on every run, and no secret
    groups += draw.sample(groups, 20)
    draw.shuffle(groups)
    folder = tmp_path / "traces"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.pb").write_bytes(b"".join(groups[number::3]))
    return folder


def told(done: Done) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("jobs", ["2", "3"])
def test_scattered_traces_give_the_same_bytes_account_and_refusals(labadapt, scattered: Path, jobs: str) -> None:
    arguments = ("otlp", scattered.name, "--on-refusal", "skip", "--refusals", "refused.jsonl")
    one = labadapt(*arguments)
    refused = (scattered.parent / "refused.jsonl").read_bytes()
    several = labadapt(*arguments, "--jobs", jobs)
    assert one.returncode == 0
    assert "runs: 11 converted, 3 refused" in one.stderr
    assert told(several) == told(one)
    assert (scattered.parent / "refused.jsonl").read_bytes() == refused


def test_copies_that_contradict_each_other_are_found_across_processes(labadapt, tmp_path: Path) -> None:
    sample = SAMPLES / "02_timeout_recovered.pb"
    shutil.copy(sample, tmp_path / "a.pb")
    changed = TracesData.FromString(sample.read_bytes())
    for group in changed.resource_spans:
        for scoped in group.scope_spans:
            for span in scoped.spans:
                span.end_time_unix_nano += 1
    (tmp_path / "b.pb").write_bytes(changed.SerializeToString())
    one, two = labadapt("otlp", "a.pb", "b.pb"), labadapt("otlp", "a.pb", "b.pb", "--jobs", "2")
    assert "error[CONFLICTING_DUPLICATE]" in one.stderr
    assert told(two) == told(one)


def test_a_broken_file_in_the_middle_is_told_as_by_one_process(labadapt, scattered: Path) -> None:
    (scattered / "1.pb").write_bytes((scattered / "1.pb").read_bytes()[:-5])
    (scattered / "2.pb").write_bytes(b"no traces")
    one = labadapt("convert", scattered.name)
    assert (one.returncode, one.stdout) == (2, "")
    assert told(labadapt("convert", scattered.name, "--jobs", "2")) == told(one)


def test_a_missing_file_and_one_without_spans_are_told_as_by_one_process(labadapt, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text('{"resourceSpans": []}', encoding="utf-8")
    for files in (("a.json", "missing.json"), ("a.json", "b.json")):
        one = labadapt("otlp", *files)
        assert one.returncode == 2
        assert told(labadapt("otlp", *files, "--jobs", "2")) == told(one)


def test_no_input_is_replaced(labadapt, scattered: Path) -> None:
    before = (scattered / "0.pb").read_bytes()
    done = labadapt("otlp", "traces", "--jobs", "2", "--on-refusal", "skip", "--out", "traces/0.pb")
    assert "error[UNWRITABLE_FILE]: is an input of this command" in done.stderr
    assert (scattered / "0.pb").read_bytes() == before


def test_what_one_process_has_to_do_is_said(labadapt, tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "01_supported.pb", tmp_path / "a.pb")
    one, several = labadapt("otlp", "a.pb"), labadapt("otlp", "a.pb", "--jobs", "2")
    assert several.stdout == one.stdout
    assert several.stderr.startswith("note: one process does the work: --jobs shares out several files")


def test_the_cases_and_the_check_are_those_of_one_process(labadapt, scattered: Path) -> None:
    mapping = SAMPLES.parents[1] / "metric-agent.mapping.yaml"
    arguments = ("otlp", "traces", "--mapping", mapping, "--on-refusal", "skip", "--check", "--quiet")
    one = labadapt(*arguments)
    assert one.returncode == 3
    assert told(labadapt(*arguments, "--jobs", "0")) == told(one)
