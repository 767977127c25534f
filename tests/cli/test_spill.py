"""What does not fit into the memory goes to disk: the same comes out, and the memory stays bounded."""

import importlib.util
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labadapt.cli.spill import Database, SpilledObservations, SpilledRuns, content_weight, sortable
from labadapt.schema.problems import Refusal

ROOT = Path(__file__).parents[2]
MB = 1_000_000
KEYS = st.tuples(
    st.text("a\0\x01b\U0001f600é\ud800", max_size=3),
    st.text("a\0\x01b", max_size=2),
    st.integers(-(2**70), 2**70),
    st.text("0a", max_size=2),
    st.text("0a", max_size=2),
)


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """The workload of the benchmarks."""
    spec = importlib.util.spec_from_file_location("bench_convert", ROOT / "bench" / "convert.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


def scattered(bench: ModuleType, traces: int, seed: int) -> list[tuple[bytes, dict]]:
    draw = random.Random(seed)  # noqa: S311 - the same workload on every run, and no secret
    spans = []
    for trace in range(traces):
        trace_id = draw.randbytes(16)
        own = bench.spans_of(trace, draw)
        spans += [(trace_id, span) for span in own]
        if trace % 5 == 0:
            spans.append((trace_id, own[0]))  # a copy
    draw.shuffle(spans)
    return spans


@pytest.fixture
def export(tmp_path: Path, bench: ModuleType) -> Path:
    """120 traces whose spans are mixed, with copies, two runs of one case, and a broken run."""
    spans = scattered(bench, 120, 7)
    agents = list({span["id"]: span for _, span in spans if span["parent"] == b""}.values())
    for number, span in enumerate(agents):
        span["attributes"]["app.case"] = f"case-{number if number > 1 else 0}"
    overlapping = next(span for _, span in spans if span["parent"] == agents[5]["id"] and "tool" in span["name"])
    overlapping["at"] = (agents[5]["at"][0], agents[5]["at"][1])
    path = tmp_path / "export.pb"
    path.write_bytes(b"".join(bench.as_protobuf(spans[first : first + 50]) for first in range(0, len(spans), 50)))
    return path


def outputs(labadapt, folder: Path, export: Path, memory: str, *options: str) -> tuple[int, str, str, dict[str, bytes]]:
    folder.mkdir()
    arguments = [
        "convert",
        export,
        "--case-attribute",
        "app.case",
        "--on-refusal",
        "skip",
        "--refusals",
        "refused.jsonl",
    ]
    done = labadapt(*arguments, "--memory", memory, *options, cwd=folder)
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return done.returncode, done.stdout, done.stderr, files


@pytest.mark.parametrize("options", [(), ("--out-dir", "out"), ("--trials", "out"), ("--check", "--out", "b.json")])
def test_the_same_comes_out_from_disk_as_from_memory(labadapt, tmp_path: Path, export: Path, options: tuple) -> None:
    held = outputs(labadapt, tmp_path / "held", export, "1G", *options)
    spilled = outputs(labadapt, tmp_path / "spilled", export, "1K", *options)
    assert spilled == held
    status, out, said, files = held
    assert "1200 used" not in said
    assert "exact duplicate" in said
    assert ("DUPLICATE_PAIR" in said) == ("--trials" not in options)
    assert b"caseId" in b"".join([out.encode(), *files.values()])
    assert files["refused.jsonl"].count(b"\n") == (1 if "--trials" in options else 3)
    assert status == (3 if "--check" in options else 0)


def test_nothing_stays_on_disk(bench: ModuleType, tmp_path: Path, environment: dict[str, str]) -> None:
    export = tmp_path / "export.pb"
    export.write_bytes(bench.as_protobuf(scattered(bench, 30, 1)) * 150)
    place = tmp_path / "temporary"
    place.mkdir()
    command = [sys.executable, "-m", "labadapt", "convert", str(export), "-", "--memory", "1K", "--out", "x.json"]
    where = {**environment, "SQLITE_TMPDIR": str(place), "TMPDIR": str(place)}
    process = subprocess.Popen(command, cwd=tmp_path, env=where, stdin=subprocess.PIPE)
    until = time.monotonic() + 20
    while not (found := open_files(process.pid, place)) and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait(20)
    assert found
    assert process.returncode == -signal.SIGKILL
    assert list(place.iterdir()) == []
    assert not (tmp_path / "x.json").exists()
    process.stdin.close()


def open_files(pid: int, place: Path) -> list[str]:
    files = Path(f"/proc/{pid}/fd")
    if not files.exists():
        pytest.skip("this system does not show the open files of a process")
    shown = []
    for file in files.iterdir():
        try:
            shown.append(str(file.readlink()))
        except OSError:  # closed meanwhile
            continue
    return [name for name in shown if name.startswith(str(place))]


def test_a_full_disk_refuses_and_says_what_to_do() -> None:
    database = Database()
    database.put(iter([(b"a", 1)]))
    database._connection.execute("PRAGMA max_page_count = 4")  # no test may fill a disk
    with pytest.raises(Refusal) as caught:
        database.put((b"key", "x" * 1000) for _ in range(100))
    (problem,) = caught.value.problems
    assert problem.code == "UNWRITABLE_FILE"
    assert problem.message == "the temporary database on disk cannot be written: database or disk is full"
    assert "SQLITE_TMPDIR" in problem.hint
    database.close()


@given(st.lists(KEYS, max_size=12))
@settings(max_examples=150, deadline=None)
def test_keys_stand_on_disk_in_the_order_that_they_have_in_memory(keys: list) -> None:
    assert sorted(keys) == sorted(keys, key=sortable)
    assert len(set(map(sortable, keys))) == len(set(keys))


def test_values_come_back_as_they_were_put_in() -> None:
    values = [2**200, "\ud800", {"a": [1.5, None, b"\0"]}, float("inf")]
    database = Database()
    database.put((b"key", value) for value in values)
    assert [value for _, _, value in database.ordered()] == values
    database.close()


def test_content_weighs_at_least_its_text() -> None:
    assert content_weight({"a": ["x" * 1000, {"b": "y" * 500}]}) > 1500


def test_nothing_is_opened_below_the_budget() -> None:
    assert SpilledObservations(1000).database.used is False
    assert list(SpilledRuns(1000).ordered()) == []


def peak(command: list[str]) -> int:
    """Peak memory of a command, in bytes, started from a small process: a child's counts from its parent's."""
    code = (
        "import os,sys; pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ); r = os.wait4(pid, 0);"
        "print(r[1], r[2].ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    status, used = done.stdout.split()[-2:]
    assert status == "0", done.stderr
    return int(used) * (1 if sys.platform == "darwin" else 1024)


def test_memory_does_not_grow_with_the_prompts_of_model_spans(tmp_path: Path, bench: ModuleType) -> None:
    peaks = []
    for length in (10, 20_000):
        path = tmp_path / f"{length}.pb"
        with path.open("wb") as stream:
            for number in range(150):
                spans = scattered(bench, 2, number)
                for _, span in spans:
                    if span["name"].startswith("chat"):
                        span["attributes"]["gen_ai.input.messages"] = "x" * length
                        span["attributes"]["gen_ai.system_instructions"] = "y" * length
                stream.write(bench.as_protobuf(spans))
        command = [sys.executable, "-m", "labadapt", "convert", str(path), "--out", str(tmp_path / "bundle.json")]
        peaks.append(peak(command))
    assert path.stat().st_size > 45 * MB
    assert peaks[1] - peaks[0] < 15 * MB


def test_a_large_export_is_converted_in_bounded_memory() -> None:
    command = [sys.executable, str(ROOT / "bench" / "large.py"), "--size", "30M", "--memory", "1M", "--scattered"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "exit 0" in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("peak ")]
    assert int(line.split()[1]) < 90
