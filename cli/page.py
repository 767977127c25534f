"""One self-contained page of checked runs: no script, no network, light and dark, and every text of the input escaped.

The filter by outcome is a group of radio buttons and a style sheet: it works by keyboard, with a screen reader, and
where scripts are forbidden. The policy of the page allows its own style sheet, by its digest, and nothing else.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from labadapt.cli.escaping import printable
from labadapt.cli.viewing import Shown, failed_phase, severity
from labadapt.schema.model import Run, Step
from labadapt.schema.result import CheckResult, Phase, Summary

_LONGEST = 2_000  # characters of a value
_WORDS = {"pass": "passed", "fail": "failed", "inconclusive": "inconclusive"}
_CHOICES = ("all", "fail", "inconclusive", "pass")
_MARKS = {"pass": "✓", "fail": "✗", "inconclusive": "?"}  # no outcome is told by colour alone
_STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--quiet:#57606a;--paper:#fff;--line:#d0d7de;--card:#f6f8fa;
--pass:#116329;--fail:#a40e26;--inconclusive:#6a4400;--bar:#0550ae}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--quiet:#9da7b1;--paper:#0d1117;--line:#3d444d;--card:#161b22;
--pass:#56d364;--fail:#ff938a;--inconclusive:#e3b341;--bar:#79c0ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:70rem;padding:1rem;background:var(--paper);color:var(--ink);
font:1rem/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:.5rem 0}h2,h3{font-size:1rem;margin:.75rem 0 .25rem}
h2,td,th,p,li,code{overflow-wrap:anywhere}
fieldset{border:1px solid var(--line);border-radius:.5rem;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:1rem 0}
label{padding:.5rem 0;cursor:pointer}
input{width:1.1rem;height:1.1rem;vertical-align:-.15rem}
:focus-visible{outline:3px solid var(--bar);outline-offset:2px}
.run{border:1px solid var(--line);border-left-width:.4rem;border-radius:.5rem;padding:.5rem 1rem;margin:.75rem 0;
background:var(--card)}
.run h2{margin:.25rem 0}
.pass{border-left-color:var(--pass)}.fail{border-left-color:var(--fail)}
.inconclusive{border-left-color:var(--inconclusive)}
.pass .mark{color:var(--pass)}.fail .mark{color:var(--fail)}.inconclusive .mark{color:var(--inconclusive)}
.quiet{color:var(--quiet)}
table{border-collapse:collapse;width:100%;table-layout:fixed;margin:.25rem 0}
th,td{border-top:1px solid var(--line);padding:.25rem .5rem .25rem 0;text-align:left;vertical-align:top}
th{width:6.5rem}
summary{cursor:pointer;padding:.5rem 0}
ol{list-style:none;margin:0;padding:0}
svg{display:block;width:100%;height:1rem;border:1px solid var(--line);background:var(--paper)}
svg rect{fill:var(--bar)}
body:has(#show-fail:checked) .run:not(.fail),body:has(#show-pass:checked) .run:not(.pass),
body:has(#show-inconclusive:checked) .run:not(.inconclusive){display:none}
"""


def page(summary: Summary, shown: Sequence[Shown]) -> str:
    """The page, as one HTML document."""
    return "".join(_page(summary, shown))


def _page(summary: Summary, shown: Sequence[Shown]) -> Iterator[str]:
    digest = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    runs = "1 run" if summary.total == 1 else f"{summary.total} runs"
    yield (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>labadapt: {runs}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{runs}</h1>\n"
        f"<p>{summary.passed} passed, {summary.failed} failed, {summary.inconclusive} inconclusive</p>\n"
    )
    yield from _filter(summary)
    for one in shown:
        yield from _run(one)
    yield "</main>\n</body>\n</html>\n"


def _filter(summary: Summary) -> Iterator[str]:
    counts = {
        "all": summary.total,
        "fail": summary.failed,
        "inconclusive": summary.inconclusive,
        "pass": summary.passed,
    }
    yield "<fieldset>\n<legend>Show</legend>\n"
    for choice in _CHOICES:
        checked = " checked" if choice == "all" else ""
        yield (
            f'<label><input type="radio" name="show" id="show-{choice}" value="{choice}"{checked}> '
            f"{_WORDS.get(choice, choice)} ({counts[choice]})</label>\n"
        )
    yield "</fieldset>\n"


def _text(value: Any) -> str:
    """A value of the input as text of the page: one place for all, so that none is forgotten."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
    return escape(printable(cut), quote=True)


def _run(one: Shown) -> Iterator[str]:
    result = one.result
    grave = severity(result)
    yield f'<article class="run {result.outcome}">\n'
    yield f'<h2><span class="mark" aria-hidden="true">{_MARKS[result.outcome]}</span> {_text(result.case_id)}: '
    yield f'{_WORDS[result.outcome]}</h2>\n<p class="quiet">policy {_text(result.policy)}, {result.mode}'
    yield f"{'' if grave is None else f', severity {_text(grave)}'}</p>\n"
    yield f"<p>{_text(result.reason)}</p>\n"
    failed = failed_phase(result)
    yield f"<p>Failed in: {failed}</p>\n" if failed is not None else ""
    for check in result.checks:
        if check.verdict in {"fail", "unevaluable"}:
            yield from _check(check)
    yield from _phases(result.phases)
    yield from _timeline(one.run)
    yield "</article>\n"


def _check(check: CheckResult) -> Iterator[str]:
    verdict = "failed" if check.verdict == "fail" else "unevaluable"
    yield f"<h3>{check.id}: {verdict}</h3>\n<table>\n"
    rows = (("must", check.expected), ("observed", check.observed), ("why", check.reason))
    for name, value in (*rows, ("where", ", ".join(check.evidence) or "nowhere in the record")):
        yield f'<tr><th scope="row">{name}</th><td>{_text(value)}</td></tr>\n'
    yield "</table>\n"


def _phases(phases: Sequence[Phase]) -> Iterator[str]:
    told = ", ".join(f"{phase.name} {phase.state.replace('_', ' ')}" for phase in phases)
    yield f'<p class="quiet">Phases: {told}</p>\n'


def _timeline(run: Run | None) -> Iterator[str]:
    if run is None:
        yield '<p class="quiet">A result file holds no steps, so there is no timeline.</p>\n'
        return
    calls = "1 call" if len(run.steps) == 1 else f"{len(run.steps)} calls"
    yield f"<details open>\n<summary>Timeline: {calls} in {run.duration_ms} ms</summary>\n<ol>\n"
    for step in run.steps:
        yield from _step(step, run.duration_ms)
    yield "</ol>\n</details>\n"


def _step(step: Step, whole: float) -> Iterator[str]:
    took = step.end_ms - step.start_ms
    told = f"{_text(step.tool)}, {step.status}, from {step.start_ms} ms for {took:.10g} ms"
    first = step.start_ms / whole * 1000 if whole > 0 else 0.0
    width = max(4.0, took / whole * 1000) if whole > 0 else 1000.0
    yield (
        f'<li>{told}<svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        f'<rect x="{min(first, 996.0):.3f}" y="0" width="{width:.3f}" height="10"/></svg></li>\n'
    )
