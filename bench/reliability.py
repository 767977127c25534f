"""How long five trials of 10,000 runs take from files to the reliability report, beside bare typed decoding.

    python bench/reliability.py [--runs N] [--trials N] [--rounds N]

Bundles and result files of the same trials; seconds of CPU time, the median of the rounds, and the ratio to bare
`msgspec` decoding of the same bytes in the same process.
"""

import argparse
import gc
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
from labadapt.cli.reliabilities import render
from labadapt.cli.trials import read_trials, uncollected
from labadapt.engine import check_bundle
from labadapt.engine.reliability import reliability
from labadapt.schema.codec import decode_bundle, encode_results
from labadapt.schema.model import Bundle
from labadapt.schema.result import Results


def bundle(runs: int, trial: int) -> bytes:
    """Runs of three steps with a contract; one in seven fails, and which of them changes with the trial."""
    question = {"metric": "latency_ms", "window": "PT1H"}
    steps = [
        {
            "id": f"s{number}",
            "tool": "query_metric",
            "operation": "read",
            "arguments": question,
            "status": "ok",
            "startMs": number * 100,
            "endMs": number * 100 + 62.5,
            "result": {**question, "rows": 60, "value": 412.5, "source": "prom://eu"},
        }
        for number in range(3)
    ]
    common = {
        "policy": "v1",
        "mode": "recorded",
        "request": {"tool": "query_metric", "operation": "read", **question},
        "contract": {"disposition": "answer", "maxCalls": 3, "expectedValue": 412.5},
        "steps": steps,
        "usage": {"inputTokens": 1200, "outputTokens": 80, "costUsd": 0.0125, "costSource": "estimated"},
    }
    made = []
    for index in range(runs):
        value = 400 if (index * 5 + trial) % 7 == 0 else 412.5
        output = {"disposition": "answer", "value": value, "evidence": ["s0"]}
        made.append({"caseId": f"case-{index:05}", "durationMs": 300 + index % 90, "output": output, **common})
    return msgspec.json.encode({"schemaVersion": 1, "runs": made})


def seconds(work: Callable[[], object], rounds: int) -> float:
    """Median CPU time."""
    times = []
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def report(names: Sequence[str]) -> str:
    """What the command does, from the files to the text."""
    trials = read_trials(names)
    with uncollected():
        made = reliability(trials, scheduled=len(names), at_least=0.8)
    return render(made)


def decode(files: Iterable[bytes], kind: type) -> None:
    for data in files:
        msgspec.json.decode(data, type=kind)


def measure(files: Sequence[bytes], kind: type, rounds: int) -> tuple[float, float, float]:
    """Bare decoding, the report, and the megabytes of the files."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"trial-{number}.json" for number, _ in enumerate(files)]
        for path, data in zip(paths, files, strict=True):
            path.write_bytes(data)
        whole = seconds(lambda: report(list(map(str, paths))), rounds)
    return seconds(lambda: decode(files, kind), rounds), whole, sum(map(len, files)) / 1e6


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    bundles = [bundle(asked.runs, trial) for trial in range(asked.trials)]
    results = [encode_results(check_bundle(decode_bundle(data))) for data in bundles]
    print(f"{asked.runs} runs x {asked.trials} trials, CPU seconds, medians of {asked.rounds} rounds")
    print(f"{'from':<16}{'MB':>8}{'bare s':>9}{'report s':>10}{'x bare':>8}")
    for name, files, kind in (("bundles", bundles, Bundle), ("result files", results, Results)):
        bare, whole, size = measure(files, kind, asked.rounds)
        print(f"{name:<16}{size:>8.1f}{bare:>9.2f}{whole:>10.2f}{whole / bare:>8.1f}")


if __name__ == "__main__":
    main()
