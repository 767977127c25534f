"""Every problem code, raised by the real command, and what it says word for word.

A folder of `negative` is named after its code: `command.txt` is what a user types in it, `expected.txt` what is told.
Codes of formats have their samples in ``tests/formats/negative``, those of bundles in ``tests/schema/negative``.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from labadapt.schema.problems import CODES

HERE = Path(__file__).parent
TESTS = HERE.parent
SAMPLES = sorted(path for path in (HERE / "negative").iterdir() if path.is_dir())
# Codes that take a server to answer: held where that server is.
ELSEWHERE = {
    "ANSWERED_WITH_ERROR": "langfuse", "BAD_ANSWER": "langfuse", "NOT_ON_SERVER": "langfuse",
    "AMBIGUOUS_RUN": "langfuse", "INCOMPLETE_ANSWER": "langfuse", "MISSING_EXTRA": "langfuse",
    "NO_ANSWER": "langfuse", "NO_CREDENTIALS": "langfuse", "UNSAFE_ADDRESS": "langfuse",
}  # fmt: skip


def code_of(path: Path) -> str:
    return re.split(r"[-.]", path.name)[0]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_the_command_says_what_is_wrong_and_what_to_do(
    tmp_path: Path, golden: Callable[[Path, str], None], sample: Path
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(sample, folder)
    words = shlex.split((sample / "command.txt").read_text())
    assert words[0] == "labadapt"
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-P", "-m", "labadapt", *words[1:]]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"error[{code_of(sample)}]: " in done.stderr
    golden(sample / "expected.txt", done.stderr)


def test_every_code_has_a_sample_that_pins_its_text() -> None:
    """A code that nothing raises, or whose text nobody reads, is not added to the table."""
    pinned = {code_of(path) for folder in TESTS.glob("*/negative") for path in folder.iterdir()}
    assert pinned <= set(CODES)
    assert set(CODES) - pinned == set(ELSEWHERE) - pinned


@pytest.mark.parametrize("code", ELSEWHERE)
def test_a_code_that_is_held_elsewhere_is_held_there(code: str) -> None:
    assert any(re.search(rf"\b{code}\b", path.read_text()) for path in (TESTS / ELSEWHERE[code]).glob("*.py"))
