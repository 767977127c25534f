"""How fast validation is, beside bare typed decoding of the same bytes: 200 runs of 100 steps, medians, ratio.

    python bench/validate.py [--rounds N]

The second bundle has one wrong run, which is held to the JSON Schema in full.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import msgspec
from labadapt.schema.model import Bundle
from labadapt.schema.validate import validate

RUNS, STEPS = 200, 100


def bundle(*, wrong: bool) -> bytes:
    """200 runs of 100 steps each; in a wrong one the first step of the first run has a misspelt field."""
    steps = [
        {
            "id": f"s{index}",
            "tool": "query_metric",
            "operation": "read",
            "arguments": {"metric": "latency", "window": "PT1H"},
            "status": "ok",
            "startMs": index * 10,
            "endMs": index * 10 + 9.5,
            "result": {"metric": "latency", "window": "PT1H", "rows": 60, "value": 412.5, "source": "prom://eu"},
        }
        for index in range(STEPS)
    ]
    run = {"policy": "p", "mode": "recorded", "durationMs": STEPS * 10, "steps": steps}
    runs = [{"caseId": f"c{index}", **run} for index in range(RUNS)]
    if wrong:
        runs[0] = {**runs[0], "steps": [{**steps[0], "toool": 1}, *steps[1:]]}
    return msgspec.json.encode({"schemaVersion": 1, "runs": runs})


def median_ms(work: Callable[[], object], rounds: int) -> float:
    """Median CPU time in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    good, bad = bundle(wrong=False), bundle(wrong=True)
    if validate(good) or [problem.code for problem in validate(bad)] != ["UNKNOWN_FIELD"]:
        raise SystemExit("the workload is not what it should be")
    bare = median_ms(lambda: msgspec.json.decode(good, type=Bundle), rounds)
    rows = [("msgspec, typed", bare), ("validate", median_ms(lambda: validate(good), rounds))]
    rows.append(("validate, one run wrong", median_ms(lambda: validate(bad), rounds)))
    print(f"{RUNS} runs of {STEPS} steps, {len(good) / 1e6:.1f} MB; medians of {rounds} rounds")
    print(f"{'way':<26}{'ms':>8}{'x bare':>8}")
    for name, ms in rows:
        print(f"{name:<26}{ms:>8.1f}{ms / bare:>8.2f}")


if __name__ == "__main__":
    main()
