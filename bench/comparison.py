"""What `compare` says of two policies that do not differ, and how often it sees one that does: simulated, fixed seed.

    python bench/comparison.py [--repeats N]

Each case has a rate from a beta distribution (mean 0.8), the same for both sides, or lower for the candidate by `drop`
of itself. Of the repeats: how many show a difference over all cases, in how many the interval holds the true
difference, and how many call a single case a shown change. Without a drop the first and the third are false, and stay
below 5% by construction; with one they are the power.
"""

import argparse
import random

from labadapt.engine.compare import compare
from labadapt.schema.comparison import Comparison
from labadapt.schema.result import RunResult

SAME = "sha256:" + "a" * 64


def result(case: str, passes: bool, policy: str) -> RunResult:
    outcome = "pass" if passes else "fail"
    held = {"mode": "recorded", "request_digest": SAME, "contract_digest": SAME}
    return RunResult(case_id=case, policy=policy, outcome=outcome, reason="", phases=[], checks=[], **held)


def simulated(chance: random.Random, cases: int, trials: int, drop: float) -> tuple[Comparison, float]:
    """A comparison, and the true difference of the mean rates of its cases."""
    rates = [chance.betavariate(4, 1) for _ in range(cases)]
    sides = {"before": rates, "now": [rate * (1 - drop) for rate in rates]}
    results = [
        [result(f"c{case}", chance.random() < rate, name) for case, rate in enumerate(its) for _ in range(trials)]
        for name, its in sides.items()
    ]
    return compare(*results), (sum(sides["now"]) - sum(rates)) / cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=400)
    repeats = parser.parse_args().repeats
    print(f"{'cases':>6}{'trials':>8}{'drop':>7}{'shown %':>10}{'interval %':>12}{'a case %':>10}")
    for cases, trials in ((10, 1), (30, 1), (100, 1), (10, 5), (30, 5), (30, 10)):
        for drop in (0.0, 0.2):
            chance = random.Random(20261201)  # noqa: S311 - a simulation, no secret
            made = [simulated(chance, cases, trials, drop) for _ in range(repeats)]
            shown = sum(one.suite.evidence == "difference shown" for one, _ in made)
            held = sum(bool(iv := one.suite.interval) and iv[0] <= true <= iv[1] for one, true in made)
            single = sum(any(c.test and c.test.evidence == "difference shown" for c in one.cases) for one, _ in made)
            shares = [number / repeats * 100 for number in (shown, held, single)]
            print(f"{cases:>6}{trials:>8}{drop:>7}{shares[0]:>10.1f}{shares[1]:>12.1f}{shares[2]:>10.1f}")


if __name__ == "__main__":
    main()
