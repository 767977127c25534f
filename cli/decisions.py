"""A gate's decision for people: the word first, then each thing asked, within 80 columns."""

from collections.abc import Iterator

import click
from labadapt.cli.comparisons import number, share, wrapped
from labadapt.cli.coverages import listed
from labadapt.cli.escaping import printable
from labadapt.schema.gate import Aggregate, CriticalFailure, Decision, Effort, Gap, Part
from labadapt.schema.reliability import Cost

_COLOURS = {
    "promote": "green",
    "block": "red",
    "not enough evidence": "yellow",
    "met": "green",
    "not met": "red",
    "not asked for": None,
}
_NEW = {True: "new: the baseline passes", False: "the baseline fails too", None: "baseline: not known"}


def render(decision: Decision) -> str:
    """The whole decision."""
    word = click.style(decision.decision.upper(), fg=_COLOURS[decision.decision], bold=True)
    blocks = [
        [f"{word}  {printable(decision.policy)}"],
        [line for part in decision.parts for line in _part(part)],
        [line for failure in decision.critical_failures for line in _failure(failure)],
        [*_aggregate("routine quality", decision.routine), *_aggregate("held-out quality", decision.holdout)],
        list(_gaps(decision)),
        list(_effort_lines(decision)),
        list(_comparison(decision)),
        [line for part in decision.uncounted for line in _uncounted(part.reason, part.ids)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _part(part: Part) -> Iterator[str]:
    yield f"{part.name:<18} {click.style(part.state, fg=_COLOURS[part.state])}"
    names = f": {listed(part.cases)}" if part.cases and part.state in {"not met", "not enough evidence"} else ""
    yield from wrapped(printable(part.reason) + names, "  ")


def _failure(failure: CriticalFailure) -> Iterator[str]:
    word = click.style("CRITICAL", fg="red", bold=True)
    held = ", held out" if failure.holdout else ""
    yield f"{word}  {printable(failure.case_id)}  [{printable(failure.severity)}]{held}"
    yield from wrapped(f"{failure.failed} of {number(failure.trials, 'trial')} failed; {_NEW[failure.new]}", "  ")
    for reason in failure.reasons:
        yield from wrapped(printable(reason), "  ", "    ")


def _aggregate(name: str, aggregate: Aggregate) -> Iterator[str]:
    rate = aggregate.rate
    if not rate.trials:
        yield f"{name}: no such case"
        return
    open_ = f", {rate.open} missing or inconclusive" if rate.open else ""
    yield f"{name}: {rate.successes} of {number(rate.trials, 'trial')} passed{open_}"
    interval = "unavailable" if rate.interval is None else f"{rate.interval[0]:.3f} to {rate.interval[1]:.3f}"
    yield from wrapped(f"interval {interval} ({rate.method})", "  ")
    yield from wrapped(f"exact one-sided bounds {share(aggregate.lower)} and {share(aggregate.upper)}", "  ")


def _gaps(decision: Decision) -> Iterator[str]:
    for gap in decision.gaps:
        yield from wrapped(_gap(gap), "", "  ")
    for loop, name in decision.accepted_in_vain:
        yield from wrapped(f"accepted in vain: {printable(loop)}, {printable(name)} is no gap", "", "  ")
    if decision.empty_cells:
        yield f"{number(decision.empty_cells, 'cell')} of loops by classes without a case that people tune on"


def _gap(gap: Gap) -> str:
    what = f"{printable(gap.loop)}, {printable(gap.failure_class)}"
    counts = f"{gap.decided} of {number(gap.required, 'case')} decided, {gap.cases} written"
    if gap.accepted is None:
        return f"gap: {what}: {counts}"
    return f"gap accepted: {what}: {counts}; {printable(gap.accepted)}"


def _effort_lines(decision: Decision) -> Iterator[str]:
    yield from _effort("effort", decision.effort)
    if decision.baseline_effort is not None:
        yield from _effort("effort of the baseline", decision.baseline_effort)


def _effort(name: str, effort: Effort) -> Iterator[str]:
    yield f"{name}, for {number(effort.successes, 'run')} that {'passes' if effort.successes == 1 else 'pass'}"
    yield f"  review: {_review(effort)}"
    if effort.cost_usd is None:
        yield "  cost: unavailable"
        return
    yield from wrapped(f"cost: {_cost(effort.cost_usd)}; {_amount(effort.cost_usd_per_success)} for each", "  ", "    ")


def _review(effort: Effort) -> str:
    if effort.review_minutes is None:
        return "unavailable"
    return f"{effort.review_minutes:g} minutes, {_amount(effort.review_minutes_per_success)} for each"


def _amount(value: float | None) -> str:
    return "unavailable" if value is None else f"{value:g}"


def _cost(cost: Cost) -> str:
    parts = [
        f"{total:g} USD {word} ({number(runs, 'run')})"
        for total, word, runs in (
            (cost.billed, "billed", cost.billed_runs),
            (cost.estimated, "estimated", cost.estimated_runs),
            (cost.unstated, "of no stated source", cost.unstated_runs),
        )
        if total is not None
    ]
    if cost.unavailable:
        parts.append(f"unavailable for {number(cost.unavailable, 'run')}")
    return ", ".join(parts)


def _comparison(decision: Decision) -> Iterator[str]:
    if decision.comparison is None:
        return
    summary, suite = decision.comparison.summary, decision.comparison.suite
    yield from wrapped(f"against the baseline {printable(decision.comparison.baseline.policy)}", "")
    counts = [number(summary.regression, "regression"), number(summary.improvement, "improvement")]
    rest = f"{summary.unchanged} unchanged, {summary.inconclusive} inconclusive, {summary.unmatched} unmatched"
    yield from wrapped(", ".join([*counts, rest]), "  ")
    if suite.difference is not None:
        rates = f"pass rate {share(suite.baseline_rate)} before, {share(suite.candidate_rate)} now"
        yield from wrapped(f"{rates}: {suite.evidence}", "  ")


def _uncounted(reason: str, ids: list[str]) -> list[str]:
    return wrapped(f"not counted, {reason}: {len(ids)} ({listed(ids)})", "", "  ")
