"""JUnit's XML, as CI servers read it; the tests hold it to Jenkins' junit-4.xsd.

An inconclusive entry is an ``<error type="inconclusive">``: skipped tests are shown as green (decision record 26).
"""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from labadapt.cli.escaping import printable, printable_lines
from labadapt.cli.formats import Entry, Report
from labadapt.cli.formats.texts import entry_lines

# XML 1.0, production 2 (Char), lets these out beside the controls that `printable` escapes.
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")


def render(report: Report) -> str:
    """One test suite for each bundle file, one test case for each entry."""
    root = Element("testsuites", {"name": f"labadapt {report.command}", **_counts(report.entries)})
    for file, entries in _by_file(report).items():
        suite = SubElement(root, "testsuite", {"name": _line(file or f"labadapt {report.command}")})
        suite.attrib.update({**_counts(entries), "skipped": "0"})
        for entry in entries:
            _add(suite, entry)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")


def _by_file(report: Report) -> dict[str | None, list[Entry]]:
    suites: dict[str | None, list[Entry]] = {}
    for entry in report.entries:
        suites.setdefault(entry.file, []).append(entry)
    return suites


def _counts(entries: Sequence[Entry]) -> dict[str, str]:
    outcomes = [entry.outcome for entry in entries]
    counts = {"tests": len(outcomes), "failures": outcomes.count("fail"), "errors": outcomes.count("inconclusive")}
    return {name: str(count) for name, count in counts.items()}


def _add(suite: Element, entry: Entry) -> None:
    case = SubElement(suite, "testcase", {"classname": _line(entry.group), "name": _line(entry.name)})
    if entry.duration_ms is not None:
        case.set("time", f"{entry.duration_ms / 1000:.6f}")
    if entry.outcome == "pass":
        return
    kind = "failure" if entry.outcome == "fail" else "error"
    problem = SubElement(case, kind, {"message": _line(entry.reason), "type": _kind(entry)})
    problem.text = _lines("\n".join(entry_lines(entry)))


def _kind(entry: Entry) -> str:
    if entry.outcome == "inconclusive":
        return "inconclusive"
    return next((detail.rule for detail in entry.details if detail.failed), entry.rule)


def _line(text: str) -> str:
    return _NO_CHARACTERS.sub(_escaped, printable(text))


def _lines(text: str) -> str:
    return _NO_CHARACTERS.sub(_escaped, printable_lines(text))


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
