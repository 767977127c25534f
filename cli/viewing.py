"""What a person is shown of a run: its outcome, the phase that failed, each check that did not hold, and its timeline.

Pure functions of checked runs; `labadapt view` prints what they give. Text from the input is escaped here.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from labadapt.cli.escaping import printable
from labadapt.cli.problems import shorten
from labadapt.cli.verdicts import render_run
from labadapt.schema.model import Run, Step
from labadapt.schema.result import CheckResult, Results, RunResult
from msgspec import UNSET

MOST_RUNS = 20  # in the projection, failures first
MOST_CHECKS = 10  # of one run in the projection
MOST_CHARACTERS = 200  # of one value in the projection
_ORDER = {"fail": 0, "inconclusive": 1, "pass": 2}
_NARROWEST = 10  # columns of a bar
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
    phases = "  ".join(f"{phase.name} {phase.state.replace('_', ' ')}" for phase in one.result.phases)
    yield f"  phases: {phases}"
    if (failed := failed_phase(one.result)) is not None:
        yield f"  failed in: {failed}"
    if one.run is None:
        yield f"  {_NO_TIMELINE}"
    else:
        yield from timeline(one.run, width)


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
    """What matters of each run within fixed limits, failures first; `cut` says what was left out and how to have it."""
    ordered = sorted(shown, key=lambda one: _ORDER[one.result.outcome])
    summary = results.summary
    counts = {"total": summary.total, "passed": summary.passed, "failed": summary.failed}
    cut = {"runs": max(0, len(ordered) - MOST_RUNS), "checks": 0, "values": 0}
    runs = [_projected(one, cut) for one in ordered[:MOST_RUNS]]
    how = "labadapt view FILE --case ID for one run, --raw for everything"
    return {"summary": {**counts, "inconclusive": summary.inconclusive}, "runs": runs, "cut": {**cut, "toSeeAll": how}}


def _projected(one: Shown, cut: dict[str, int]) -> dict[str, Any]:
    result = one.result
    open_ = [check for check in result.checks if check.verdict in {"fail", "unevaluable"}]
    cut["checks"] += max(0, len(open_) - MOST_CHECKS)
    projected: dict[str, Any] = {
        "caseId": result.case_id,
        "policy": result.policy,
        "outcome": result.outcome,
        "why": result.reason,
        "failedPhase": failed_phase(result),
        "checks": [_check(check, cut) for check in open_[:MOST_CHECKS]],
    }
    if one.run is not None:
        projected["steps"] = len(one.run.steps)
    return projected


def _check(check: CheckResult, cut: dict[str, int]) -> dict[str, Any]:
    return {
        "id": check.id,
        "verdict": check.verdict,
        "must": _bounded(check.expected, cut),
        "observed": _bounded(check.observed, cut),
        "why": _bounded(check.reason, cut),
        "where": check.evidence[:MOST_CHECKS],
    }


def _bounded(value: Any, cut: dict[str, int]) -> Any:
    """The value, or its JSON up to the limit where it is longer."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= MOST_CHARACTERS:
        return value
    cut["values"] += 1
    return text[: MOST_CHARACTERS - 1] + "…"


def of_results(results: Results, runs: Sequence[Run] | None) -> list[Shown]:
    """Each result with its run, which stands at the same place of the bundle; without a bundle, alone."""
    if runs is None:
        return [Shown(result) for result in results.results]
    return [Shown(result, run) for result, run in zip(results.results, runs, strict=True)]


def severity(result: RunResult) -> str | None:
    """The contract's severity; None where it names none."""
    return None if result.severity is UNSET else result.severity
