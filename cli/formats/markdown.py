"""Markdown (GitHub's) for a step's summary or a comment.

All that comes from input stands in a code span, where nothing is a link, a mention, HTML or emphasis. The characters
that could end the span or the table's cell are written as ``\\x60`` and ``\\x7c``.
"""

from collections.abc import Iterator

from labadapt.cli.escaping import printable
from labadapt.cli.formats import Entry, Report
from labadapt.cli.formats.texts import entry_lines

_WORDS = {"pass": "pass", "fail": "**FAIL**", "inconclusive": "**inconclusive**"}
_ESCAPES = str.maketrans({"`": "\\x60", "|": "\\x7c"})


def render(report: Report) -> str:
    """The sum, a table with a row for each entry, and each entry that does not pass in full."""
    lines = [f"## labadapt {report.command}: {_WORDS[report.outcome]}", "", code(report.summary), ""]
    lines += ["| outcome | name | of | says |", "|---|---|---|---|", *map(_row, report.entries)]
    for entry in report.entries:
        if entry.outcome != "pass":
            lines += _section(entry)
    return "\n".join(lines)


def code(text: str) -> str:
    """Text of the input as a code span that it cannot leave."""
    return f"`{printable(text).translate(_ESCAPES)}`" if text else "(empty)"


def _row(entry: Entry) -> str:
    return f"| {_WORDS[entry.outcome]} | {code(entry.name)} | {code(entry.group)} | {code(entry.word)} |"


def _section(entry: Entry) -> Iterator[str]:
    yield from ("", f"### {_WORDS[entry.outcome]} {code(entry.name)} ({code(entry.group)})", "")
    if entry.file is not None:
        yield f"- in {code(entry.file)}"
    yield from (f"- {code(' '.join(line.split()))}" for line in entry_lines(entry))
