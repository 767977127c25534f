"""What differs on a terminal: colour, a progress bar, and escaped results; and what turns each of them off."""

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[2] / "samples" / "producers" / "pydantic-ai@2.68.0-v5" / "01_supported.pb"
FAILING = ("fixtures", "--policy", "direct")


def on_a_terminal(*arguments: str | Path, cwd: Path, **variables: str) -> str:
    """What a terminal receives of the command's standard output and error."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **variables}
    environment = {name: value for name, value in environment.items() if name != "NO_COLOR" or name in variables}
    command = [sys.executable, "-m", "labadapt", *map(str, arguments)]
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
    assert process.returncode in {0, 1}, received
    return received.decode()


def test_verdicts_are_coloured_on_a_terminal_only(labadapt, tmp_path: Path) -> None:
    assert "\x1b[31m\x1b[1mFAIL" in on_a_terminal(*FAILING, cwd=tmp_path)
    assert "\x1b" not in labadapt(*FAILING).stdout


def test_no_color_is_respected(tmp_path: Path) -> None:
    assert "\x1b" not in on_a_terminal(*FAILING, cwd=tmp_path, NO_COLOR="1")


@pytest.mark.parametrize(("option", "shown"), [((), True), (("--no-progress",), False), (("--quiet",), False)])
def test_a_progress_bar_is_shown_on_a_terminal_unless_it_is_not_wanted(
    tmp_path: Path, option: tuple[str, ...], shown: bool
) -> None:
    text = on_a_terminal("otlp", SAMPLE, "--out", "bundle.json", *option, cwd=tmp_path)
    assert ("\x1b[" in text) is shown
    assert json.loads((tmp_path / "bundle.json").read_text())["runs"]


def test_no_progress_bar_off_a_terminal(labadapt) -> None:
    done = labadapt("otlp", SAMPLE)
    assert "\x1b" not in done.stderr


def test_a_bundle_on_a_terminal_is_the_same_value_with_nothing_to_obey(tmp_path: Path) -> None:
    shown = on_a_terminal("otlp", SAMPLE, "--case", "csi-\u202e", "--quiet", cwd=tmp_path)
    assert "csi-\\u202e" in shown
    assert "\u202e" not in shown
    assert json.loads(shown)["runs"][0]["caseId"] == "csi-\u202e"
