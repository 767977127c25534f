"""A comparison for people: what changed first, then what it shows, within 80 columns."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

import click
from labadapt.cli.escaping import printable
from labadapt.schema.comparison import CaseComparison, CaseTest, Change, Comparison, Suite

WIDTH = 80
_UNCHANGED = 20  # how many unchanged cases are named; JSON holds all
_LISTED = 20  # how many of a change that is no regression are told
_ORDER: tuple[Change, ...] = ("regression", "inconclusive", "unmatched", "improvement", "unchanged")
_COLOURS: dict[str, str] = {
    "regression": "red",
    "inconclusive": "yellow",
    "unmatched": "yellow",
    "improvement": "green",
    "passes": "green",
    "fails": "red",
    "could not evaluate": "yellow",
}
_CONTROL = "control: the same target made both sides, so a difference is its own variation"
_SOURCES = {
    "control": _CONTROL,
    "mixed": "targets: the same for some cases and another, or not recorded, for others",
    "not recorded": "targets: not recorded, so these may be one target or two",
}


def render(comparison: Comparison) -> str:
    """The whole comparison; the gate stands last."""
    blocks = [
        list(_head(comparison)),
        *([*_case_lines(comparison.cases, change)] for change in _ORDER),
        list(_suite_lines(comparison)),
        list(_gate_lines(comparison)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _head(comparison: Comparison) -> Iterator[str]:
    for name, side in (("baseline", comparison.baseline), ("candidate", comparison.candidate)):
        counts = f"{number(side.trials, 'run')} of {number(side.cases, 'case')}"
        yield from wrapped(f"{name:<9}  {printable(side.policy)}: {counts}", "")
    if comparison.source in _SOURCES:
        yield from wrapped(_SOURCES[comparison.source], "")
    yield ""
    summary = comparison.summary
    words = [
        number(summary.regression, "regression"),
        number(summary.improvement, "improvement"),
        f"{summary.unchanged} unchanged, {summary.inconclusive} inconclusive, {summary.unmatched} unmatched",
    ]
    yield from wrapped(", ".join(words), "")


def _case_lines(cases: Sequence[CaseComparison], change: Change) -> Iterator[str]:
    """The cases of one change; of all but regressions, the first of many."""
    chosen = [case for case in cases if case.change == change]
    if not chosen:
        return
    if change == "unchanged":
        names = ", ".join(printable(case.case_id) for case in chosen[:_UNCHANGED])
        more = f" and {len(chosen) - _UNCHANGED} more" if len(chosen) > _UNCHANGED else ""
        yield from wrapped(f"unchanged: {names}{more}", "", "  ")
        return
    shown = chosen if change == "regression" else chosen[:_LISTED]
    for case in shown:
        yield from _case(case)
    if len(chosen) > len(shown):
        yield f"{click.style(change.upper(), fg=_COLOURS[change], bold=True)}  {len(chosen) - len(shown)} more"


def _case(case: CaseComparison) -> Iterator[str]:
    word = click.style(case.change.upper(), fg=_COLOURS[case.change], bold=True)
    severity = "" if case.severity is None else f"  [{printable(case.severity)}]"
    yield f"{word}  {printable(case.case_id)}{severity}"
    yield from wrapped(printable(case.reason), "  ")
    if case.difference is not None and case.test is not None:
        interval = "" if case.interval is None else f", interval {signed_range(case.interval)}"
        yield from wrapped(f"difference {signed(case.difference)}{interval}; {_test(case.test)}", "  ")


def _test(test: CaseTest) -> str:
    if test.evidence == "insufficient evidence":
        return f"insufficient evidence: the smallest corrected p of so few trials is {p_value(test.smallest_p)}"
    shown = "shown" if test.evidence == "difference shown" else "not shown"
    return f"{shown} against chance: p {p_value(test.p)}, corrected {p_value(test.adjusted_p)}"


def _suite_lines(comparison: Comparison) -> Iterator[str]:
    suite = comparison.suite
    yield f"over {number(suite.cases, 'case')} that {'is' if suite.cases == 1 else 'are'} matched and decided"
    for part in suite.left_out:
        names = ", ".join(printable(name) for name in part.ids[:5]) + (" ..." if len(part.ids) > 5 else "")
        yield from wrapped(f"left out, {part.reason}: {len(part.ids)} ({names})", "  ", "    ")
    if suite.difference is None or suite.p is None:
        yield "  insufficient evidence: there is nothing to compare"
        return
    yield from _figures(suite, suite.difference, suite.p, comparison.confidence)


def _figures(suite: Suite, difference: float, p: float, confidence: float) -> Iterator[str]:
    yield f"  pass rate {share(suite.baseline_rate)} before, {share(suite.candidate_rate)} now"
    interval = "unavailable" if suite.interval is None else signed_range(suite.interval)
    yield f"  difference {signed(difference)}, {confidence * 100:g}% interval {interval}"
    if suite.interval_method is not None:
        yield f"    ({suite.interval_method})"
    yield f"  {suite.better} better, {suite.worse} worse; {suite.method}: p {p_value(p)}"
    if suite.evidence == "insufficient evidence" and suite.smallest_p is not None:
        least = f"{number(suite.cases, 'case')} can give no p below {p_value(suite.smallest_p)}"
        yield from wrapped(f"insufficient evidence: {least}, and {suite.alpha:g} is asked for", "  ", "    ")
    else:
        yield f"  {suite.evidence} at {suite.alpha:g}"


def _gate_lines(comparison: Comparison) -> Iterator[str]:
    gate = comparison.gate
    word = click.style(gate.state.upper(), fg=_COLOURS[gate.state], bold=True)
    yield f"gate {gate.name}: {word}"
    names = ", ".join(printable(name) for name in gate.cases[:10]) + (" ..." if len(gate.cases) > 10 else "")
    yield from wrapped(gate.reason + (f": {names}" if names else ""), "  ")


# -- words and numbers -------------------------------------------------------------------------------------------------


def wrapped(text: str, indent: str, under: str | None = None) -> list[str]:
    """The text within the width."""
    further = indent if under is None else under
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=further, break_on_hyphens=False)


def number(count: int, word: str) -> str:
    """A count with its noun."""
    return f"1 {word}" if count == 1 else f"{count} {word}s"


def share(value: float | None) -> str:
    """A rate with three decimals."""
    return "unavailable" if value is None else f"{value:.3f}"


def signed(value: float) -> str:
    """A difference with its sign; none is 0."""
    return f"{value:+.3f}" if value else "0"


def signed_range(bounds: Iterable[float]) -> str:
    """The bounds of a difference."""
    low, high = bounds
    return f"{low:+.3f} to {high:+.3f}"


def p_value(p: float) -> str:
    """A p; one that is not quite 0 is not shown as that."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"
