"""A reliability report for people: counts beside each rate, what left each denominator, within 80 columns."""

import textwrap
from collections.abc import Iterator, Sequence

import click
from labadapt.cli.escaping import printable
from labadapt.cli.problems import shorten
from labadapt.schema.reliability import (
    CaseReliability,
    Consumption,
    Cost,
    Duration,
    Gate,
    LeftOut,
    PassK,
    PolicyReliability,
    Rate,
    Reliability,
    UsageReport,
)
from msgspec import UNSET

WIDTH = 80
_IDS = 5
_CASES = 20
_COLOURS = {"met": "green", "not met": "red", "not enough evidence": "yellow"}


def render(report: Reliability) -> str:
    """The whole report."""
    blocks = [list(_policy_lines(policy, report)) for policy in report.policies]
    if report.gates is not UNSET:
        blocks.append([line for gate in report.gates for line in _gate_lines(gate, report.confidence)])
    return "\n\n".join("\n".join(block) for block in blocks)


def _policy_lines(policy: PolicyReliability, report: Reliability) -> Iterator[str]:
    yield from _head(policy, report)
    yield ""
    yield _row("rate", "trials", "share", f"{_percent(report.confidence)} interval")
    told: set[tuple[str, tuple[str, ...]]] = set()
    yield from (line for rate in policy.rates for line in _rate_lines(rate, told, of=True))
    if policy.checks:
        yield "\nchecks, of the trials in which each could be evaluated"
        yield from (line for rate in policy.checks for line in _rate_lines(rate, told, of=False))
    yield from _pass_k_lines(policy.pass_k)
    yield from _case_lines(policy.by_case, report.confidence)
    if policy.usage is not None:
        yield from _usage_lines(policy.usage)


def _head(policy: PolicyReliability, report: Reliability) -> Iterator[str]:
    name = "trials of no named policy" if policy.policy is None else printable(policy.policy)
    yield from _wrapped(f"{name}: {_number(policy.cases, 'case')}, {_number(policy.made, 'trial')} made", "")
    summary = policy.summary
    missing = "missing not known: no --scheduled" if policy.missing is None else f"{policy.missing} missing"
    outcomes = f"{summary.passed} passed, {summary.failed} failed, {summary.inconclusive} inconclusive"
    yield from _wrapped(f"{outcomes}; {missing}", "  ")
    fewest, most = policy.trials_by_case
    if fewest != most:
        yield f"  the cases have unequal numbers of trials: {fewest} to {most}"
    if report.scheduled is not None:
        yield f"  {_number(report.scheduled, 'trial')} of each case scheduled"
    for part in policy.differing:
        yield from _wrapped(f"{part.reason} ({_number(len(part.ids), 'case')}): {_ids(part.ids)}", "  ")


# -- rates -------------------------------------------------------------------------------------------------------------


def _rate_lines(rate: Rate, told: set[tuple[str, tuple[str, ...]]], *, of: bool) -> Iterator[str]:
    """A rate; what left its denominator is listed once, and then only counted."""
    interval = _range(rate.interval) + (" by case" if rate.method == "clustered by case" else "")
    yield _row(rate.name, f"{rate.successes}/{rate.trials}", _share_of(rate), interval if rate.interval else "-")
    if of:
        yield from _wrapped(f"of {rate.of}", "    ")
    if rate.open:
        yield f"    {rate.open} inconclusive could go either way"
    for part in rate.left_out:
        known = (part.reason, tuple(part.ids))
        yield from _left_out(part, "left out", again=known in told)
        told.add(known)


def _row(name: str, counts: str, share: str, interval: str) -> str:
    return f"  {name:<28}{counts:>13}  {share:<15}{interval}".rstrip()


def _share_of(rate: Rate) -> str:
    if rate.lower is None or rate.upper is None:
        return "unavailable"
    return _range((rate.lower, rate.upper))


def _range(bounds: tuple[float, float] | None) -> str:
    """Both ends with three decimals; one that is not quite 0 or 1 is never shown nearer to the other end than it is."""
    if bounds is None:
        return "unavailable"
    low, high = bounds
    if low == high:
        return _share(low)
    return f"{min(low, 1.0 if low == 1 else 0.999):.3f}-{max(high, 0.0 if high == 0 else 0.001):.3f}"


def _share(value: float) -> str:
    """Three decimals; what is not quite 0 or 1 is not shown as that."""
    text = f"{value:.3f}"
    if text == "1.000" and value < 1:
        return ">0.999"
    return "<0.001" if text == "0.000" and value > 0 else text


def _left_out(part: LeftOut, what: str, *, again: bool = False) -> list[str]:
    return _wrapped(f"{what}, {part.reason} ({len(part.ids)}): {'as above' if again else _ids(part.ids)}", "    ")


def _ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _IDS} more" if len(ids) > _IDS else ""
    return ", ".join(shorten(printable(one), 40) for one in ids[:_IDS]) + more


# -- pass^k and cases --------------------------------------------------------------------------------------------------


def _pass_k_lines(figures: Sequence[PassK]) -> Iterator[str]:
    if not figures:
        return
    yield "\npass^k, all of k trials succeed, mean over the cases"
    yield f"  {'':<8}{'missing left out':<26}missing counted as failure"
    for failure, left in zip(figures[::2], figures[1::2], strict=True):
        yield f"  {f'pass^{left.k}':<8}{_pass_k(left):<26}{_pass_k(failure)}".rstrip()
    yield from _without(figures)


def _pass_k(figure: PassK) -> str:
    if figure.lower is None or figure.upper is None:
        return "unavailable"
    return f"{_range((figure.lower, figure.upper))} ({_number(figure.cases, 'case')})"


def _without(figures: Sequence[PassK]) -> Iterator[str]:
    """Once for each reason, at the largest k: the smaller ones lack no more."""
    for figure in figures[-2:]:
        if figure.left_out and figure.left_out[0].reason == "no schedule is known":
            yield "    missing counted as failure: unavailable, no --scheduled was given"
        else:
            for part in figure.left_out:
                yield from _left_out(part, f"pass^{figure.k}, {figure.missing}: no figure")


def _case_lines(cases: Sequence[CaseReliability], confidence: float) -> Iterator[str]:
    """The cases in which something did not pass, those that passed least first."""
    told = sorted((case for case in cases if case.passed < case.made + (case.missing or 0)), key=_standing)
    if not told:
        yield "\nevery case passed in every trial"
        return
    yield f"\ncases that did not pass in every trial: {len(told)} of {len(cases)}"
    yield f"  {'case':<30}{'pass':>5}{'fail':>5}{'open':>5}{'miss':>5}  {_percent(confidence)} interval"
    for case in told[:_CASES]:
        counts = f"{case.passed:>5}{case.failed:>5}{case.inconclusive:>5}{_missing(case):>5}"
        yield f"  {shorten(printable(case.case_id), 28):<30}{counts}  {_range(case.interval)}"
    if len(told) > _CASES:
        yield f"  and {len(told) - _CASES} more; --format json has every case"


def _standing(case: CaseReliability) -> tuple[float, str]:
    trials = case.made + (case.missing or 0)
    return (case.passed / trials if trials else 0.0, case.case_id)


def _missing(case: CaseReliability) -> str:
    return "-" if case.missing is None else str(case.missing)


# -- usage and gate ----------------------------------------------------------------------------------------------------


def _usage_lines(usage: UsageReport) -> Iterator[str]:
    yield "\nusage, of the runs that record it"
    for duration in usage.durations:
        yield from _wrapped(_duration(duration), "  ")
    for who, used in (("target", usage.target), ("judge", usage.judge)):
        if used is not None:
            yield from _consumption_lines(who, used)


def _duration(duration: Duration) -> str:
    figures = f"median {duration.median} ms, p95 {duration.p95} ms, {duration.least} to {duration.most} ms"
    known = figures if duration.runs else "unavailable"
    return f"duration, {duration.mode}: {known} ({_known(duration.runs, duration.unavailable)})"


def _consumption_lines(who: str, used: Consumption) -> Iterator[str]:
    amounts = {
        "input tokens": used.input_tokens,
        "of these cached": used.cached_input_tokens,
        "output tokens": used.output_tokens,
        "of these reasoning": used.reasoning_tokens,
        "model calls": used.model_calls,
    }
    for name, amount in amounts.items():
        if amount.runs:
            yield from _wrapped(f"{who}, {name}: {amount.total} ({_known(amount.runs, amount.unavailable)})", "  ")
    if not _has_no_cost(used.cost_usd):
        yield from _wrapped(f"{who}, cost: {_cost(used.cost_usd)}", "  ")
    if used.models:
        models = (f"{shorten(printable(name), 40)} ({_number(runs, 'run')})" for name, runs in used.models.items())
        yield from _wrapped(f"{who}, models: {', '.join(models)}", "  ")
    lacking = [_WHOLE.get(name, name) for name, amount in amounts.items() if not amount.runs]
    if lacking := lacking + ["cost"] * _has_no_cost(used.cost_usd):
        yield from _wrapped(f"{who}, unavailable of every run: {', '.join(lacking)}", "  ")


_WHOLE = {"of these cached": "cached input tokens", "of these reasoning": "reasoning tokens"}


def _has_no_cost(cost: Cost) -> bool:
    return not (cost.billed_runs or cost.estimated_runs or cost.unstated_runs)


def _cost(cost: Cost) -> str:
    parts = (
        ("billed", cost.billed, cost.billed_runs),
        ("estimated", cost.estimated, cost.estimated_runs),
        ("of no stated source", cost.unstated, cost.unstated_runs),
    )
    known = [f"{total} USD {name} ({_number(runs, 'run')})" for name, total, runs in parts if runs]
    lacking = [f"unavailable of {_number(cost.unavailable, 'run')}"] if cost.unavailable else []
    return "; ".join(known + lacking)


def _known(runs: int, unavailable: int) -> str:
    return f"{_number(runs, 'run')}, {unavailable} unavailable" if unavailable else _number(runs, "run")


def _gate_lines(gate: Gate, confidence: float) -> Iterator[str]:
    word = click.style(gate.state.upper(), fg=_COLOURS[gate.state], bold=True)
    name = "" if gate.policy is None else f"  {shorten(printable(gate.policy), 40)}"
    yield f"{word}{name}: end-to-end success at least {gate.at_least}"
    counts = f"{gate.successes}/{gate.trials} succeeded" + (f", {gate.open} could go either way" if gate.open else "")
    if gate.lower is None or gate.upper is None:
        yield "  there is no trial"
        return
    bounds = f"at least {_share(gate.lower)} and at most {_share(gate.upper)}"
    each = f"each at {_percent(confidence)} confidence (one-sided Clopper-Pearson)"
    yield from _wrapped(f"{counts}; {bounds}, {each}", "  ")


def _percent(confidence: float) -> str:
    return f"{confidence * 100:.6g}%"


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)
