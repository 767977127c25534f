"""SARIF 2.1.0 (OASIS): a result for each check that did not hold, and one for each entry without such a check.

A check that the record does not decide has the kind ``open`` and, as section 3.27.10 asks of kinds but ``fail``, the
level ``none``; the run's notifications warn of how many there are, so that they are not overlooked.
"""

import hashlib
import json
from typing import Any
from urllib.parse import quote

from labadapt.cli.escaping import printable, printable_json
from labadapt.cli.formats import Detail, Entry, Report
from labadapt.cli.formats.texts import value

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RULES = {
    "outcome": "The outcome of a run: it passes when every check that its contract asks for holds.",
    "disposition": "The run answers, abstains or escalates as its contract asks.",
    "call_budget": "The run makes no more calls than its contract allows.",
    "read_only": "A run that may only read writes nothing.",
    "evidence": "The answer cites steps that were made and that support it.",
    "expected_value": "The answer is the value that the contract expects, within its tolerance.",
    "required_actions": "Every action that the contract requires was made.",
    "forbidden_actions": "No action that the contract forbids was made.",
    "expected_state": "The state at the end is the one that the contract expects.",
    "deadline": "The run ends within the time that its contract allows.",
    "comparison": "The candidate loses no case that the baseline passes.",
    "gate": "Everything that the gate asks for is met.",
    "critical failures": "No case whose severity is critical fails.",
    "routine quality": "Routine cases succeed at the rate that is asked for.",
    "holdout quality": "Held-out cases succeed at the rate that is asked for.",
    "coverage": "Each required loop and class of failure has decided cases.",
    "review": "Review takes no more minutes for each success than is allowed.",
    "cost": "A success costs no more than is allowed.",
}
_KINDS = {"pass": "pass", "fail": "fail", "inconclusive": "open"}
_EXITS = {"pass": 0, "fail": 1, "inconclusive": 3}


def render(report: Report) -> str:
    """One log with one run."""
    results = [result for entry in report.entries for result in _results(entry)]
    _tell_apart(results)
    used = {result["ruleId"] for result in results}
    run: dict[str, Any] = {
        "tool": {"driver": _driver(report.version, used)},
        "automationDetails": {"id": f"labadapt/{report.command}/"},
        "invocations": [_invocation(report)],
        "results": results,
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return printable_json(json.dumps(log, ensure_ascii=False, indent=2))


def _driver(version: str, used: set[str]) -> dict[str, Any]:
    rules = [
        {"id": rule, "shortDescription": {"text": text}, "help": {"text": text}}
        for rule, text in RULES.items()
        if rule in used
    ]
    return {"name": "labadapt", "version": version, "rules": rules}


def _invocation(report: Report) -> dict[str, Any]:
    invocation: dict[str, Any] = {"executionSuccessful": True, "exitCode": _EXITS[report.outcome]}
    if open_entries := report.count("inconclusive"):
        text = f"{open_entries} of {len(report.entries)} inconclusive: neither passed nor failed"
        invocation["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": text}}]
    return invocation


def _results(entry: Entry) -> list[dict[str, Any]]:
    if not entry.details:
        return [_result(entry, entry.rule, _KINDS[entry.outcome], entry.reason, ())]
    return [
        _result(entry, detail.rule, "fail" if detail.failed else "open", _message(detail), detail.evidence)
        for detail in entry.details
    ]


def _message(detail: Detail) -> str:
    return f"{detail.reason} (expected {value(detail.expected)}, observed {value(detail.observed)})"


def _result(entry: Entry, rule: str, kind: str, message: str, evidence: tuple[str, ...]) -> dict[str, Any]:
    """Braces and brackets of a message would be placeholders and links (sections 3.11.5 and 3.11.6)."""
    return {
        "ruleId": rule,
        "kind": kind,
        "level": "error" if kind == "fail" else "none",
        "message": {"text": _plain(f"{entry.name} ({entry.group}): {message}")},
        "locations": [_location(entry, pointer) for pointer in evidence or ("",)],
        "partialFingerprints": {"labadapt/v1": _fingerprint(entry, rule)},
    }


def _plain(text: str) -> str:
    escaped = printable(text)
    for character in "\\[]":
        escaped = escaped.replace(character, "\\" + character)
    return escaped.replace("{", "{{").replace("}", "}}")


def _location(entry: Entry, pointer: str) -> dict[str, Any]:
    """The bundle as it was named, and in it the run, and in the run the place."""
    logical = {
        "name": printable(entry.name),
        "fullyQualifiedName": printable(f"{entry.group}/{entry.name}#{pointer}"),
    }
    location: dict[str, Any] = {"logicalLocations": [logical]}
    if entry.file is not None:
        uri = quote(entry.file.replace("\\", "/"), safe="/", errors="surrogatepass")
        location["physicalLocation"] = {"artifactLocation": {"uri": uri}}
    return location


def _fingerprint(entry: Entry, rule: str) -> str:
    """The same finding in the next run of the job: neither values nor reasons are in it."""
    key = json.dumps([entry.file, entry.group, entry.name, rule])
    return hashlib.sha256(key.encode()).hexdigest()


def _tell_apart(results: list[dict[str, Any]]) -> None:
    """Trials of one case in one file differ by their number, as the suffix of GitHub's own fingerprints does."""
    seen: dict[str, int] = {}
    for result in results:
        prints = result["partialFingerprints"]
        digest = prints["labadapt/v1"]
        seen[digest] = seen.get(digest, 0) + 1
        prints["labadapt/v1"] = f"{digest}:{seen[digest]}"
