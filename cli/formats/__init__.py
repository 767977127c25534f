"""Verdicts for other programs: one entry for each run, compared case or part of a gate, before a format writes it.

`of_results`, `of_comparison` and `of_decision` give a `Report`; each format of `FORMATS` is a pure function of one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, cast

from labadapt.schema.comparison import CaseComparison, Comparison
from labadapt.schema.gate import Decision, Part
from labadapt.schema.result import CheckResult, Results, RunResult
from msgspec import UNSET

FORMATS = ("junit", "sarif", "github", "markdown")

Outcome = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Detail:
    """One check that did not hold, or that the record does not decide."""

    rule: str
    failed: bool  # False: the record does not decide it
    reason: str
    expected: Any = None
    observed: Any = None
    evidence: tuple[str, ...] = ()  # RFC 6901 pointers into the run


@dataclass(frozen=True, slots=True)
class Entry:
    """One test case, annotation or row."""

    group: str  # the policy, or what a gate is asked of
    name: str  # the case, or the part of the gate
    outcome: Outcome
    word: str  # what the command itself calls the outcome
    reason: str
    rule: str = "outcome"
    file: str | None = None  # the bundle as it was named; None: standard input, or several
    duration_ms: float | None = None  # None: not recorded
    details: tuple[Detail, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What a command found. `outcome` is that of the whole, which its exit status says too."""

    command: str
    version: str
    summary: str
    outcome: Outcome
    entries: tuple[Entry, ...] = field(default_factory=tuple)

    def count(self, outcome: Outcome) -> int:
        """Entries of this outcome."""
        return sum(entry.outcome == outcome for entry in self.entries)


def render(report: Report, form: str) -> str:
    """The report in one of `FORMATS`."""
    module = import_module(f"labadapt.cli.formats.{form}")
    return cast(str, module.render(report))


def of_results(results: Results, *, version: str, files: Sequence[str | None] = ()) -> Report:
    """One entry for each run. `files` names the bundle of each, in the order of the runs; empty: not known."""
    from labadapt.cli.verdicts import render_summary

    names = files or [None] * len(results.results)
    entries = tuple(_of_run(run, name) for run, name in zip(results.results, names, strict=True))
    return Report("check", version, render_summary(results.summary), _worst(entries), entries)


def of_comparison(comparison: Comparison, *, version: str) -> Report:
    """One entry for each compared case, and one for the gate."""
    group = f"{comparison.candidate.policy} against {comparison.baseline.policy}"
    gate = comparison.gate
    outcome = _GATES[gate.state]
    cases = (_of_case(case, group) for case in comparison.cases)
    entries = (*cases, Entry("gate", gate.name, outcome, gate.state, gate.reason, rule="gate"))
    counts = comparison.summary
    summary = (
        f"{counts.regression} regressed, {counts.improvement} improved, {counts.unchanged} unchanged, "
        f"{counts.inconclusive} inconclusive, {counts.unmatched} unmatched; the gate {gate.name} {gate.state}"
    )
    return Report("compare", version, summary, outcome, entries)


def of_decision(decision: Decision, *, version: str) -> Report:
    """One entry for each thing asked, one for each critical failure, and one for the decision.

    What is not asked for is no entry, because it neither holds nor fails; the summary names it.
    """
    outcome = _DECISIONS[decision.decision]
    unasked = [part.name for part in decision.parts if part.state == "not asked for"]
    summary = f"{decision.policy}: {decision.decision}" + (f"; not asked for: {', '.join(unasked)}" if unasked else "")
    failures = (
        Entry(
            f"critical failures of {decision.policy}",
            failure.case_id,
            "fail",
            f"{failure.failed} of {failure.trials} failed",
            "; ".join(failure.reasons) or "a critical case failed",
            rule="critical failures",
        )
        for failure in decision.critical_failures
    )
    parts = (_of_part(part, decision.policy) for part in decision.parts if part.state in _PARTS)
    whole = Entry("gate", "decision", outcome, decision.decision, summary, rule="gate")
    return Report("gate", version, summary, outcome, (*failures, *parts, whole))


_GATES: dict[str, Outcome] = {"passes": "pass", "fails": "fail", "could not evaluate": "inconclusive"}
_DECISIONS: dict[str, Outcome] = {"promote": "pass", "block": "fail", "not enough evidence": "inconclusive"}
_PARTS: dict[str, Outcome] = {"met": "pass", "not met": "fail", "not enough evidence": "inconclusive"}
_CHANGES: dict[str, Outcome] = {
    "regression": "fail",
    "improvement": "pass",
    "unchanged": "pass",
    "inconclusive": "inconclusive",
    "unmatched": "inconclusive",
}


def _of_run(run: RunResult, name: str | None) -> Entry:
    return Entry(
        group=run.policy,
        name=run.case_id,
        outcome=run.outcome,
        word=run.outcome,
        reason=run.reason,
        file=name,
        duration_ms=None if run.duration_ms is UNSET else run.duration_ms,
        details=() if run.outcome == "pass" else tuple(_details(run.checks)),
    )


def _details(checks: Iterable[CheckResult]) -> Iterator[Detail]:
    for check in checks:
        if check.verdict in {"fail", "unevaluable"}:
            failed = check.verdict == "fail"
            yield Detail(check.id, failed, check.reason, check.expected, check.observed, tuple(check.evidence))


def _of_case(case: CaseComparison, group: str) -> Entry:
    return Entry(group, case.case_id, _CHANGES[case.change], case.change, case.reason, rule="comparison")


def _of_part(part: Part, policy: str) -> Entry:
    named = f" ({', '.join(part.cases)})" if part.cases else ""
    return Entry(policy, part.name, _PARTS[part.state], part.state, part.reason + named, rule=part.name)


def _worst(entries: Iterable[Entry]) -> Outcome:
    """A failure before a doubt, and nothing checked is no success."""
    outcomes = {entry.outcome for entry in entries}
    if "fail" in outcomes:
        return "fail"
    return "pass" if outcomes == {"pass"} else "inconclusive"
