"""Workflow commands of GitHub Actions: an error for each failure, a warning for each entry that is inconclusive."""

from labadapt.cli.escaping import printable
from labadapt.cli.formats import Entry, Report
from labadapt.cli.formats.texts import entry_lines

_LEVELS = {"fail": "error", "inconclusive": "warning"}
_WHOLE = {"pass": "notice", **_LEVELS}


def render(report: Report) -> str:
    """One command a line; the last line sums up. What passes is in the sum only."""
    lines = [_command(entry) for entry in report.entries if entry.outcome != "pass"]
    return "\n".join([*lines, f"::{_WHOLE[report.outcome]} title=labadapt {report.command}::{_data(report.summary)}"])


def _command(entry: Entry) -> str:
    properties = {"title": f"{entry.name} ({entry.group}): {entry.word}"}
    if entry.file is not None:
        properties["file"] = entry.file
    listed = ",".join(f"{name}={_property(text)}" for name, text in properties.items())
    return f"::{_LEVELS[entry.outcome]} {listed}::{'%0A'.join(map(_data, entry_lines(entry)))}"


def _data(text: str) -> str:
    """As the toolkit escapes a message; what a terminal obeys is an escape already."""
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
