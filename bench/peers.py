"""Whole commands beside two peers on the same JSON Lines: wall time, spans a second, peak memory, cold start.

    python bench/peers.py [--traces N]... [--rounds N] [--environments FOLDER]

The workload is that of `bench/convert.py`. The peers are installed from the package index, each in an environment of
its own, and do the part of their work that is nearest to a conversion: from the file to the calls that they would
evaluate; they write nothing. Every way is a fresh process, every round takes all in turn, and each must find every
tool call.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from convert import SPANS, workload

HERE = Path(__file__).parent
PEERS = {  # what is installed: the program that its interpreter runs
    "agentevals-cli==0.11.0": "read_with_agentevals.py",
    "strands-agents-evals==1.7.0": "read_with_strands.py",
}
CALLS = 5  # in a trace


@dataclass(frozen=True)
class Taken:
    """One process: seconds of wall time, its peak of resident memory in bytes, its standard output."""

    seconds: float
    peak: int
    said: str


def run(command: list[str]) -> Taken:
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    said = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return Taken(seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024), said)


def installed(requirement: str, folder: Path) -> Path:
    """The interpreter of an environment that holds a peer; it is made where it is not there yet."""
    environment = folder / requirement.replace("=", "-")
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-qq", requirement], check=True)
    return python


def ways(environments: Path) -> dict[str, list[str]]:
    """Each way by its name: a command to which the export is appended."""
    own = [sys.executable, "-m", "labadapt", "otlp", "--quiet", "--out", os.devnull]
    made = {"labadapt otlp": own}
    for requirement, program in PEERS.items():
        made[requirement] = [str(installed(requirement, environments)), str(HERE / "peers" / program)]
    return made


def measure(commands: dict[str, list[str]], export: Path, rounds: int, calls: int) -> dict[str, list[Taken]]:
    taken: dict[str, list[Taken]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            one = run([*command, str(export)])
            if one.said.strip() not in ("", str(calls)):
                raise SystemExit(f"{name} finds {one.said.strip()} calls of {calls}")
            taken[name].append(one)
    return taken


def report(traces: int, rounds: int, commands: dict[str, list[str]], folder: Path) -> None:
    export, single = folder / "export.jsonl", folder / "single.jsonl"
    export.write_bytes(workload(traces)[1])
    single.write_bytes(workload(1)[1])
    cold = measure(commands, single, rounds, CALLS)
    taken = measure(commands, export, rounds, traces * CALLS)
    size = export.stat().st_size / 1e6
    print(f"{traces} traces of {SPANS} spans, {size:.1f} MB as JSON Lines; medians of {rounds} rounds")
    print(f"{'way':30}{'s':>8}{'spans/s':>11}{'x labadapt':>12}{'peak MB':>9}{'cold s':>8}")
    own = statistics.median(one.seconds for one in taken["labadapt otlp"])
    for name, results in taken.items():
        seconds = statistics.median(one.seconds for one in results)
        peak = statistics.median(one.peak for one in results) / 1e6
        start = statistics.median(one.seconds for one in cold[name])
        rate = traces * SPANS / seconds
        print(f"{name:30}{seconds:8.2f}{rate:11,.0f}{seconds / own:12.2f}{peak:9.1f}{start:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, action="append", help="size of the workload; 2000 and 40000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--environments", type=Path, default=HERE / ".environments")
    given = parser.parse_args()
    commands = ways(given.environments)
    with tempfile.TemporaryDirectory() as folder:
        for traces in given.traces or [2_000, 40_000]:
            report(traces, given.rounds, commands, Path(folder))


if __name__ == "__main__":
    main()
