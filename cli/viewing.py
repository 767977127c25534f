"""What a person is shown of a run: its outcome, the phase that failed, each check that did not hold, and its timeline.

Pure functions of checked runs; `labadapt view` prints what they give. Text from the input is escaped here.
"""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from labadapt.cli.escaping import printable
from labadapt.cli.problems import shorten
from labadapt.cli.verdicts import render_run
from labadapt.schema.model import Run, Step
from labadapt.schema.result import CheckResult, Results, RunResult
from msgspec import UNSET

MOST_RUNS = 20  # in the projection, failures first
MOST_CHECKS = 10  # of one run in the projection
MOST_PLACES = 10  # of one check in the projection
MOST_CHARACTERS = 200  # of one value, reason or place in the projection
MOST_IN_ALL = 40_000  # characters of all runs as JSON without spaces to indent; the first run is shown in any case
_ORDER = {"fail": 0, "inconclusive": 1, "pass": 2}
_NARROWEST = 10  # columns of a bar
_Item = TypeVar("_Item")
_NO_TIMELINE = "timeline: a result file holds no steps; give the bundle"


@dataclass(frozen=True, slots=True)
class Shown:
    """A checked run, and the run itself where a bundle was given."""

    result: RunResult
    run: Run | None = None


def failed_phase(result: RunResult) -> str | None:
    """The first phase that failed; None where none did."""
    return next((phase.name for phase in result.phases if phase.state == "failed"), None)


# -- text --------------------------------------------------------------------------------------------------------------


def render_view(shown: Sequence[Shown], width: int) -> str:
    """Every run, for a terminal of `width` columns."""
    return "\n\n".join("\n".join(_run_lines(one, width)) for one in shown)


def _run_lines(one: Shown, width: int) -> Iterator[str]:
    yield render_run(one.result)
    yield from _phase_lines(one.result, width)
    if (failed := failed_phase(one.result)) is not None:
        yield f"  failed in: {failed}"
    if one.run is None:
        yield f"  {_NO_TIMELINE}"
    else:
        yield from timeline(one.run, width)


def _phase_lines(result: RunResult, width: int) -> Iterator[str]:
    """How each phase ended; a state is one word until the lines are broken, so that none is torn apart."""
    told = "  ".join(f"{phase.name}\N{NO-BREAK SPACE}{phase.state}" for phase in result.phases)
    for line in textwrap.wrap(f"phases: {told}", width, initial_indent="  ", subsequent_indent=" " * 10):
        yield line.replace("\N{NO-BREAK SPACE}", " ").replace("_", " ")


def timeline(run: Run, width: int) -> Iterator[str]:
    """The steps of a run to scale: number, tool, status, start and duration in milliseconds, and a bar."""
    if not run.steps:
        yield f"  timeline: no call in {run.duration_ms} ms"
        return
    yield f"  timeline of {run.duration_ms} ms ({run.mode})"
    names = [shorten(printable(step.tool), 24) for step in run.steps]
    widest = max(map(len, names))
    for number, (name, step) in enumerate(zip(names, run.steps, strict=True)):
        head = f"  {number:>3} {name:<{widest}} {step.status:<7} {step.start_ms:>10.10g} +{_duration(step):<9.9g}"
        yield f"{head} {bar(step, run.duration_ms, max(_NARROWEST, width - len(head) - 3))}"


def _duration(step: Step) -> float:
    return step.end_ms - step.start_ms


def bar(step: Step, whole: float, columns: int) -> str:
    """Where a step stands in its run, to scale; at least one column wide, so that no call is invisible."""
    if whole <= 0:
        return f"|{'█' * columns}|"
    first = min(columns - 1, int(step.start_ms / whole * columns))
    last = min(columns, max(first + 1, round(step.end_ms / whole * columns)))
    return f"|{'·' * first}{'█' * (last - first)}{'·' * (columns - last)}|"


# -- a projection for programs that read with a small window -----------------------------------------------------------


def projection(results: Results, shown: Iterable[Shown]) -> dict[str, Any]:
    """What matters of each run within fixed limits, failures first; `cut` counts what was left out, and says where
    it is. The counts of checks, places and values are those of the runs that are shown."""
    ordered = sorted(shown, key=lambda one: _ORDER[one.result.outcome])
    runs, cut = _fitting(ordered[:MOST_RUNS])
    summary = results.summary
    return {
        "summary": {
            "total": summary.total,
            "passed": summary.passed,
            "failed": summary.failed,
            "inconclusive": summary.inconclusive,
        },
        "runs": runs,
        "cut": {
            "runs": len(ordered) - len(runs),
            **{name: cut[name] for name in ("checks", "places", "values")},
            "toSeeAll": "labadapt view FILE --case ID for one run, --raw for everything",
        },
    }


def _fitting(ordered: Iterable[Shown]) -> tuple[list[dict[str, Any]], Counter[str]]:
    """The runs that fit into the limit together, and what was cut in them."""
    runs: list[dict[str, Any]] = []
    cut: Counter[str] = Counter()
    left = MOST_IN_ALL
    for one in ordered:
        cut_here: Counter[str] = Counter()
        projected = _projected(one, cut_here)
        left -= len(json.dumps(projected, ensure_ascii=False))
        if runs and left < 0:
            break
        runs.append(projected)
        cut += cut_here
    return runs, cut


def _projected(one: Shown, cut: Counter[str]) -> dict[str, Any]:
    result = one.result
    open_ = [check for check in result.checks if check.verdict in {"fail", "unevaluable"}]
    projected: dict[str, Any] = {
        "caseId": result.case_id,
        "policy": result.policy,
        "outcome": result.outcome,
        "why": _bounded(result.reason, cut),
        "failedPhase": failed_phase(result),
        "checks": [_check(check, cut) for check in _first(open_, MOST_CHECKS, "checks", cut)],
    }
    if one.run is not None:
        projected["steps"] = len(one.run.steps)
    return projected


def _check(check: CheckResult, cut: Counter[str]) -> dict[str, Any]:
    return {
        "id": check.id,
        "verdict": check.verdict,
        "must": _bounded(check.expected, cut),
        "observed": _bounded(check.observed, cut),
        "why": _bounded(check.reason, cut),
        "where": [_bounded(place, cut) for place in _first(check.evidence, MOST_PLACES, "places", cut)],
    }


def _first(listed: Sequence[_Item], most: int, name: str, cut: Counter[str]) -> Sequence[_Item]:
    """As many as the limit allows; what is left out is counted."""
    cut[name] += max(0, len(listed) - most)
    return listed[:most]


def _bounded(value: Any, cut: Counter[str]) -> Any:
    """The value, or its JSON up to the limit where it is longer."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= MOST_CHARACTERS:
        return value
    cut["values"] += 1
    return shorten(text, MOST_CHARACTERS)


def of_results(results: Results, runs: Sequence[Run] | None) -> list[Shown]:
    """Each result with its run, which stands at the same place of the bundle; without a bundle, alone."""
    if runs is None:
        return [Shown(result) for result in results.results]
    return [Shown(result, run) for result, run in zip(results.results, runs, strict=True)]


def severity(result: RunResult) -> str | None:
    """The contract's severity; None where it names none."""
    return None if result.severity is UNSET else result.severity
