"""A result file for people: one line a run, and for each check that did not hold what it asked for and what it saw."""

import json
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import click
from labadapt.cli.escaping import printable
from labadapt.cli.problems import shorten
from labadapt.schema.result import CheckResult, Results, RunResult, Summary
from msgspec import UNSET

WIDTH = 80
_INDENT = " " * 6
_COLOURS = {"pass": "green", "fail": "red", "inconclusive": "yellow"}
_WORDS = {"pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE"}


def render_results(results: Results) -> str:
    """Every run, and the sum at the end."""
    return "\n".join(
        [*(line for run in results.results for line in _run_lines(run)), "", render_summary(results.summary)]
    )


def render_summary(summary: Summary) -> str:
    """One line: ``8 runs: 6 passed, 1 failed, 1 inconclusive``."""
    runs = "1 run" if summary.total == 1 else f"{summary.total} runs"
    return f"{runs}: {summary.passed} passed, {summary.failed} failed, {summary.inconclusive} inconclusive"


def render_run(run: RunResult) -> str:
    """One run, as it stands among the others."""
    return "\n".join(_run_lines(run))


def _run_lines(run: RunResult) -> Iterator[str]:
    word = click.style(_WORDS[run.outcome], fg=_COLOURS[run.outcome], bold=True)
    severity = "" if run.severity is UNSET or run.outcome != "fail" else f"  [{printable(run.severity)}]"
    yield f"{word}  {printable(run.case_id)}  ({printable(run.policy)}){severity}"
    if run.outcome == "inconclusive":  # a failure's reason is that of its checks
        yield from _wrapped(printable(run.reason), "  ")
    if run.outcome != "pass":
        yield from (line for check in _decisive(run.checks) for line in _check_lines(check))


def _decisive(checks: Iterable[CheckResult]) -> Iterator[CheckResult]:
    return (check for check in checks if check.verdict in {"fail", "unevaluable"})


def _check_lines(check: CheckResult) -> Iterator[str]:
    yield f"  {check.id}: {'failed' if check.verdict == 'fail' else check.verdict}"
    yield from _wrapped(f"expected  {_value(check.expected)}", _INDENT)
    yield from _wrapped(f"observed  {_value(check.observed)}", _INDENT)
    yield from _wrapped(f"because   {printable(check.reason)}", _INDENT)
    if check.evidence:
        yield from _wrapped(f"see       {printable(', '.join(check.evidence))}", _INDENT)


def _wrapped(text: str, indent: str) -> list[str]:
    """The text within the width; further lines stand under the value, not under its label."""
    under = indent + " " * 10 * (indent == _INDENT)
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=under, break_on_hyphens=False)


def _value(value: Any) -> str:
    return shorten(printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)), 200)
