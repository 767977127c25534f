"""How the command line starts, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from labadapt.schema.problems import CODES

HEAVY = ("google.protobuf", "jsonschema", "rich", "ruamel", "jmespath", "opentelemetry", "zstandard")


def test_the_version(labadapt) -> None:
    for flag in ("--version",):
        done = labadapt(flag)
        assert (done.stdout, done.stderr, done.returncode) == ("labadapt 0.1.0\n", "", 0)


@pytest.mark.parametrize("arguments", [["--version"], ["explain", "NO_SPANS"], ["otlp", "--help"], ["check", "--help"]])
def test_what_needs_no_heavy_module_loads_none(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from labadapt.cli.main import invoke\n"
        f"invoke({arguments!r})\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_starts_quickly() -> None:
    def quickest(*command: str) -> float:
        times = []
        for _ in range(7):
            started = time.perf_counter()
            subprocess.run([sys.executable, *command], check=True, capture_output=True)
            times.append(time.perf_counter() - started)
        return min(times)

    assert quickest("-m", "labadapt", "--version") - quickest("-c", "pass") < 0.150


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "--nope"], "No such option"),
        (["nonsense"], "No such command"),
        (["validate"], "Missing argument"),
        (["schema", "nothing"], "is not one of"),
        (["otlp", "x.pb", "--case", "a", "--case-attribute", "b"], "--case and --case-attribute exclude each other."),
        (["otlp", "x.pb", "--out", "a", "--trials", "b"], "--out and --trials exclude each other."),
        (["otlp", "x.pb", "--max-size", "many"], "is no size"),
        (["otlp", "x.pb", "--refusals", "-"], "--refusals - and the bundle would share standard output"),
    ],
)
def test_a_wrong_command_line_is_a_problem_like_any_other(labadapt, arguments: list[str], message: str) -> None:
    done = labadapt(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error[BAD_USAGE]: ")
    assert message in done.stderr
    assert "\n  = help: Run `labadapt" in done.stderr


def test_without_arguments_the_help_stands_on_standard_error(labadapt) -> None:
    done = labadapt()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: labadapt ")


@pytest.fixture
def broken(tmp_path: Path) -> dict[str, str]:
    """An environment in which reading the table of codes fails as only a defect can."""
    (tmp_path / "sitecustomize.py").write_text(
        "import labadapt.schema.problems as problems\n"
        "class Broken(dict):\n"
        "    def __iter__(self):\n"
        "        raise ZeroDivisionError('\\x1b[31mboom')\n"
        "problems.CODES = Broken(problems.CODES)\n"
    )
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


def test_a_defect_shows_no_traceback(broken: dict[str, str]) -> None:
    command = [sys.executable, "-m", "labadapt", "explain"]
    done = subprocess.run(command, env=broken, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error[INTERNAL]: ZeroDivisionError: \\x1b[31mboom\n")
    assert done.stderr.endswith("  = help: Run again with --debug and report what it prints.\n")
    assert "Traceback" not in done.stderr


def test_debug_shows_the_traceback(broken: dict[str, str]) -> None:
    command = [sys.executable, "-m", "labadapt", "explain", "--debug"]
    done = subprocess.run(command, env=broken, capture_output=True, text=True, check=False)
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert "\x1b" not in done.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [sys.executable, "-m", "labadapt", "schema"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_full_disk_behind_standard_output_is_told() -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "labadapt", "explain"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[:2] == [
        "error[UNWRITABLE_FILE]: cannot be written: No space left on device",
        "  --> standard output",
    ]


def test_closed_standard_streams_are_told() -> None:
    command = f"{sys.executable} -m labadapt"
    done = subprocess.run(f"{command} explain >&-", shell=True, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error[UNWRITABLE_FILE]: cannot be written: it is closed\n")
    done = subprocess.run(f"{command} otlp - <&-", shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error[UNREADABLE_FILE]: cannot be read: it is closed\n")


@pytest.mark.parametrize(("sent", "status", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "")])
def test_an_interrupted_command_says_so_and_leaves_nothing(
    tmp_path: Path, environment: dict[str, str], sent: signal.Signals, status: int, said: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "labadapt", "otlp", "pipe", "--out", "bundle.json"]
    with (
        (tmp_path / "pipe").open("r+b", buffering=0) as pipe,  # both ends, so that opening waits for nobody
        subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process,
    ):
        pipe.write(b"\n{")
        time.sleep(1)
        process.send_signal(sent)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors.strip()) == (status, said)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_explain_knows_every_code(labadapt) -> None:
    assert labadapt("explain").stdout.split() == list(CODES)
    text = labadapt("explain", "nested_steps").stdout
    assert text.startswith("NESTED_STEPS\n\n  One tool call runs inside another")
    assert "--nested outer" in text


def test_explain_guesses_what_was_meant(labadapt) -> None:
    done = labadapt("explain", "NESTED_STEP")
    assert done.returncode == 2
    assert "  = help: Did you mean NESTED_STEPS?\n" in done.stderr


# -- shell completion --------------------------------------------------------------------------------------------------


def completions(words: str, environment: dict[str, str]) -> list[str]:
    """What bash is offered after these words."""
    count = len(words.split(" ")) - 1
    asked = {"_LABADAPT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    command = [sys.executable, "-m", "labadapt"]
    done = subprocess.run(command, env={**environment, **asked}, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_shell_completes_commands_options_choices_and_files(environment: dict[str, str]) -> None:
    assert completions("labadapt ot", environment) == ["plain,otlp"]
    assert "plain,--on-refusal" in completions("labadapt otlp --o", environment)
    assert completions("labadapt otlp --nested le", environment) == ["plain,leaf"]
    assert completions("labadapt check tra", environment) == ["file,tra"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_completion(environment: dict[str, str], shell: str) -> None:
    asked = {**environment, "_LABADAPT_COMPLETE": f"{shell}_source"}
    done = subprocess.run([sys.executable, "-m", "labadapt"], env=asked, capture_output=True, text=True, check=True)
    assert "_LABADAPT_COMPLETE" in done.stdout
