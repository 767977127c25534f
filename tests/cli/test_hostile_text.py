"""Text that tries to command a terminal, in every field of an export: no output of any command obeys it."""

import json
import os
import pty
import select
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

OBEYED = "\x1b[2J\x1b]0;owned\x07\x9b31m\x85\u202egnp\u2066x\u2069\u200f\u2028\ufeff\r\n\t\b\x7f\x00"
BIDI = "a\u202egnp\u2066x\u2069\u200f\u2028\ufeff"
NAME = "\x1b[2J\x9b\u202e\n\t\u2028"  # as a file may be called: no NUL, no slash
TRACE, START = "0af7651916cd43dd8448eb211c80319c", 1_796_000_000_000_000_000
FIELDS = (
    "span name", "tool name", "call id", "arguments", "result", "agent name", "attribute key", "scope", "version",
    "service", "status message", "event name", "event attribute", "case", "policy", "lab output", "model",
)  # fmt: skip


def value(text: Any) -> dict[str, Any]:
    return {"stringValue": text}


def document(fields: set[str], hostile: str = OBEYED) -> dict[str, Any]:
    """A run with the hostile text in some of its fields."""

    def text(field: str, usual: str) -> str:
        return hostile if field in fields else usual

    def span(number: int, name: str, times: tuple[int, int], attributes: dict[str, str]) -> dict[str, Any]:
        return {
            "traceId": TRACE,
            "spanId": f"{number:016x}",
            "parentSpanId": "" if number == 1 else f"{1:016x}",
            "name": name,
            "startTimeUnixNano": str(START + times[0] * 1_000_000),
            "endTimeUnixNano": str(START + times[1] * 1_000_000),
            "attributes": [{"key": key, "value": value(content)} for key, content in attributes.items()],
            "status": {"code": 2, "message": text("status message", "timed out")},
            "events": [
                {
                    "name": text("event name", "exception"),
                    "timeUnixNano": str(START + 5),
                    "attributes": [{"key": "exception.message", "value": value(text("event attribute", "slow"))}],
                }
            ],
        }

    output = {"disposition": "answer", "value": 1.5, "evidence": ["call-1"]}
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": text("agent name", "metrics"),
        "lab.case.id": text("case", "one"),
        "my.policy": text("policy", "v1"),
        "lab.output": json.dumps({**output, "disposition": text("lab output", "answer")}),
        text("attribute key", "other"): "x",
    }
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": text("tool name", "query"),
        "gen_ai.tool.call.id": text("call id", "call-1"),
        "gen_ai.tool.call.arguments": hostile if "arguments" in fields else '{"metric":"latency"}',
        "gen_ai.tool.call.result": json.dumps({text("result", "value"): text("result", "1")}),
        "gen_ai.request.model": text("model", "m"),
    }
    spans = [
        span(1, text("span name", "invoke_agent"), (0, 100), agent),
        span(2, text("span name", "execute_tool query"), (10, 20), tool),
    ]
    scope = {"name": text("scope", "agents"), "version": text("version", "1")}
    resource = {"attributes": [{"key": "service.name", "value": value(text("service", "shop"))}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]}


def on_a_terminal(*arguments: str, cwd: Path) -> str:
    """All that a terminal without colours receives."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "labadapt", *arguments]
    with subprocess.Popen(command, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        received = b""
        while select.select([ours], [], [], 30)[0]:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux: the other end is closed
                break
            received += part
    os.close(ours)
    assert process.returncode in {0, 1, 2, 3}, received
    return received.decode()


def obeyed(text: str) -> set[str]:
    """What of a text a terminal, or a reader's eye, would obey; the terminal makes CRLF of each newline itself."""
    kept = set(text.replace("\r\n", ""))
    return {one for one in kept if unicodedata.category(one) in {"Cc", "Zl", "Zp", "Cs"}} | (
        kept & set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
    )


def commands(file: str) -> Iterator[tuple[str, ...]]:
    named = ("--case-attribute", "lab.case.id", "--policy-attribute", "my.policy", "--no-progress")
    yield ("convert", file, *named)
    yield ("convert", file, *named, "--check")
    yield ("convert", file, *named, "--out", "bundle.json")
    yield ("check", "bundle.json")
    yield ("inspect", file, "--no-progress")
    yield ("cases", "init", "bundle.json")
    yield ("mapping", "init", file, "--no-progress")
    yield ("otlp", file, "--case", OBEYED.replace("\0", ""), "--policy", "v1", "--no-progress", "--check")


CONTENT = {"arguments", "lab output", "case", "policy"}


@pytest.mark.parametrize(
    ("fields", "hostile", "converted"),
    [
        (set(FIELDS), OBEYED, False),
        (set(FIELDS) - {"arguments"}, OBEYED, False),
        (set(FIELDS) - CONTENT, OBEYED, True),
        (set(FIELDS) - {"arguments", "lab output"}, BIDI, True),
    ],
)
def test_no_command_sends_what_a_terminal_obeys(
    tmp_path: Path, fields: set[str], hostile: str, converted: bool
) -> None:
    file = f"{NAME}.json"
    (tmp_path / file).write_text(json.dumps(document(fields, hostile)))
    shown = []
    for command in commands(file):
        text = on_a_terminal(*command, cwd=tmp_path)
        assert text
        assert obeyed(text) == set(), command[0]
        shown.append(text)
    assert any("\\u202e" in text for text in shown)
    assert (tmp_path / "bundle.json").exists() is converted


def test_a_bundle_cases_or_mapping_file_commands_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "bundle.json").write_text(json.dumps({"schemaVersion": 1, OBEYED: OBEYED, "runs": [{OBEYED: 1}]}))
    (tmp_path / "export.json").write_text(json.dumps(document(set())))
    (tmp_path / "cases.json").write_text(json.dumps({"schemaVersion": 1, "cases": {OBEYED: {OBEYED: OBEYED}}}))
    (tmp_path / "mapping.json").write_text(json.dumps({"schemaVersion": 1, "tools": {OBEYED: {"value": OBEYED}}}))
    for command in (
        ("validate", "bundle.json"),
        ("check", "bundle.json"),
        ("cases", "lint", "cases.json"),
        ("mapping", "lint", "mapping.json"),
        ("convert", "export.json", "--cases", "cases.json"),
        ("convert", "export.json", "--mapping", "mapping.json"),
        ("convert", f"{NAME}.pb"),
        ("explain", OBEYED.replace("\0", "")),
        ("convert", f"--{NAME}"),
        (NAME,),
    ):
        text = on_a_terminal(*command, cwd=tmp_path)
        assert text
        assert obeyed(text) == set(), command[0]


@pytest.mark.parametrize("damage", [b'"kind"', b'"spanId"', b'"startTimeUnixNano"', b'"attributes"', b'"value"'])
def test_a_refusal_quotes_and_commands_nothing(tmp_path: Path, damage: bytes) -> None:
    data = json.dumps(document(set(FIELDS))).encode()
    hostile = json.dumps(OBEYED).encode()
    for broken in (
        data.replace(damage + b": ", damage + b": " + hostile + b", " + hostile + b": ", 1),
        data.replace(damage, hostile, 1),
        data[: data.index(damage)] + OBEYED.encode() + data[data.index(damage) :] if damage in data else data,
    ):
        (tmp_path / NAME).write_bytes(broken)
        assert obeyed(on_a_terminal("convert", NAME, "--no-progress", cwd=tmp_path)) == set()


def test_the_lines_of_refused_runs_hold_nothing_that_is_obeyed(tmp_path: Path, labadapt: Callable[..., Any]) -> None:
    """A file of JSON Lines is looked at on a terminal, too: its control characters are escapes."""
    (tmp_path / "export.json").write_text(json.dumps(document(set(FIELDS))))
    labadapt("convert", "export.json", "--refusals", "refused.jsonl", "--on-refusal", "skip", cwd=tmp_path)
    text = (tmp_path / "refused.jsonl").read_text()
    assert json.loads(text.splitlines()[0])
    assert obeyed(text.replace("\n", "")) == set()
