"""``labadapt langfuse`` against a server, run as a user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def test_the_datasets_are_listed(langfuse_command: Any) -> None:
    done = langfuse_command("--list")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "DATASET        UPDATED\nlabadapt demo  2026-12-01T04:50:35.154Z\n"


def test_the_runs_of_a_dataset_are_listed(langfuse_command: Any) -> None:
    done = langfuse_command("--dataset", "labadapt demo", "--list")
    assert done.stdout == (
        "RUN                     ITEMS  STARTED                   ID\n"
        "policy B, with comma é  4      2026-12-01T04:50:37.313Z  04be845c6a15d2f7\n"
        "policy A                4      2026-12-01T04:50:36.583Z  1c17506e8c0680c5\n"
    )


def test_names_are_listed_with_nothing_for_a_terminal_to_obey(langfuse_command: Any, store: Any) -> None:
    store.datasets[0]["name"] = "a\x1b[2J\u202e"
    assert "a\\x1b[2J\\u202e" in langfuse_command("--list").stdout


def test_nothing_is_configured(langfuse_command: Any) -> None:
    done = langfuse_command("--list", LANGFUSE_BASE_URL="", LANGFUSE_PUBLIC_KEY="", LANGFUSE_SECRET_KEY="")
    assert done.returncode == 2
    assert [line for line in done.stderr.splitlines() if line.startswith("error")] == [
        "error[NO_CREDENTIALS]: LANGFUSE_BASE_URL is not set in the environment",
        "error[NO_CREDENTIALS]: LANGFUSE_PUBLIC_KEY is not set in the environment",
        "error[NO_CREDENTIALS]: LANGFUSE_SECRET_KEY is not set in the environment",
    ]


def test_the_older_name_of_the_address_counts_where_the_newer_is_not_set(langfuse_command: Any, langfuse: Any) -> None:
    done = langfuse_command("--list", LANGFUSE_BASE_URL="", LANGFUSE_HOST=langfuse.address + "/")
    assert done.returncode == 0


def test_a_key_with_characters_of_no_key_is_refused(langfuse_command: Any) -> None:
    done = langfuse_command("--list", LANGFUSE_SECRET_KEY="sk\tlf")  # noqa: S106 - no password
    assert "error[NO_CREDENTIALS]: LANGFUSE_SECRET_KEY holds characters that no key has" in done.stderr


def test_a_traceback_carries_no_header_and_no_key(langfuse_command: Any, langfuse: Any, lab: Any) -> None:
    langfuse.faults = [lab.error(403, {"message": f"no {lab.SECRET_KEY}"}, headers={"Set-Cookie": "session=abc"})]
    done = langfuse_command("--list", "--debug")
    assert "Traceback" in done.stderr
    assert "session=abc" not in done.stderr
    assert "error[ANSWERED_WITH_ERROR]: the server answered 403 Forbidden: no [key removed]" in done.stderr


def test_what_a_server_says_is_escaped(langfuse_command: Any, langfuse: Any, lab: Any) -> None:
    langfuse.faults = [lab.error(403, {"message": "\x1b[2Jgone"})]
    assert "\\x1b[2Jgone" in langfuse_command("--list").stderr


def test_plain_http_to_another_machine_is_refused(langfuse_command: Any) -> None:
    done = langfuse_command("--list", LANGFUSE_BASE_URL="http://langfuse.example.com")
    assert done.returncode == 2
    assert done.stderr.startswith("error[UNSAFE_ADDRESS]: plain HTTP would send the keys to langfuse.example.com")


def test_without_the_extra_the_command_says_how_to_install_it(environment: dict[str, str], tmp_path: Path) -> None:
    hidden = (
        "import sys; sys.modules['httpx'] = sys.modules['langfuse'] = None; sys.argv = ['labadapt', *sys.argv[1:]]; "
    )
    code = hidden + "from labadapt.cli.main import main; main()"
    command = [sys.executable, "-c", code, "langfuse", "--list"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "error[MISSING_EXTRA]: the Langfuse SDK is not installed\n  = help: pip install 'labadapt[langfuse]'\n"
    )


def test_a_run_is_the_same_live_and_from_its_saved_pages(langfuse_command: Any, tmp_path: Path) -> None:
    live = langfuse_command(
        "--dataset", "labadapt demo", "--save", "pages", "--on-refusal", "skip", "--out", "live.json"
    )
    assert live.returncode == 0, live.stderr
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == [
        "dataset-items-0001.json",
        "dataset.json",
        "experiment-items-0001.json",
        "experiment-items-0002.json",
        "experiments-0001.json",
        "observations-0001.json",
    ]
    saved = langfuse_command("pages", "--on-refusal", "skip", "--out", "saved.json", LANGFUSE_BASE_URL="")
    assert saved.returncode == 0, saved.stderr
    assert (tmp_path / "live.json").read_bytes() == (tmp_path / "saved.json").read_bytes()
    runs = json.loads((tmp_path / "live.json").read_text())["runs"]
    assert {run["policy"] for run in runs} == {"policy A", "policy B, with comma é"}


def test_a_run_that_cannot_be_read_whole_writes_nothing(
    langfuse_command: Any, langfuse: Any, lab: Any, tmp_path: Path
) -> None:
    langfuse.faults = [lab.on("experiment-items", lab.without("648b3375e36791c7"))]
    done = langfuse_command("--dataset", "labadapt demo", "--run", "policy A", "--save", "pages", "--out", "b.json")
    assert done.returncode == 2
    assert "error[INCOMPLETE_ANSWER]" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_pages_are_not_saved_over_others(langfuse_command: Any, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "mine").write_text("")
    done = langfuse_command("--dataset", "labadapt demo", "--save", "pages")
    assert "error[OUTPUT_EXISTS]" in done.stderr


def on_a_terminal(environment: dict[str, str], *arguments: str, cwd: Path, typed: bytes = b"") -> bytes:
    """What a terminal receives of the command; `typed` is entered when it asks for the secret key."""
    import pty
    import select
    import time

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "labadapt", "langfuse", *arguments]
    given = environment | {"TERM": "xterm-256color", "COLUMNS": "80"}
    with subprocess.Popen(command, cwd=cwd, env=given, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        received = b""
        while select.select([ours], [], [], 30)[0]:
            try:
                received += os.read(ours, 65536)
            except OSError:  # Linux: the other end is closed
                break
            if typed and received == b"LANGFUSE_SECRET_KEY: ":
                time.sleep(0.2)  # until the terminal has stopped to echo
                os.write(ours, typed + b"\n")
    os.close(ours)
    assert process.returncode == 0, received
    return received


def test_keys_are_asked_for_on_a_terminal_and_not_shown(environment: dict[str, str], lab: Any, tmp_path: Path) -> None:
    del environment["LANGFUSE_SECRET_KEY"]
    received = on_a_terminal(environment, "--list", cwd=tmp_path, typed=lab.SECRET_KEY.encode())
    assert b"labadapt demo" in received
    assert lab.SECRET_KEY.encode() not in received


@pytest.mark.parametrize(("option", "shown"), [((), True), (("--no-progress",), False), (("--quiet",), False)])
def test_progress_is_shown_on_a_terminal_unless_it_is_not_wanted(
    option: tuple[str, ...], shown: bool, environment: dict[str, str], tmp_path: Path
) -> None:
    wanted = ("--dataset", "labadapt demo", "--run", "policy A", "--on-refusal", "skip", "--out", "bundle.json")
    environment["NO_COLOR"] = "1"  # what is then left of control sequences is the bar's
    assert (b"\x1b[" in on_a_terminal(environment, *wanted, *option, cwd=tmp_path)) is shown


def test_repetitions_become_bundles_of_their_own(langfuse_command: Any, store: Any, tmp_path: Path) -> None:
    for row in store.experiments + store.experiment_items:
        row["experimentName" if "experimentName" in row else "name"] = "policy A"
    ambiguous = langfuse_command("--dataset", "labadapt demo", "--run", "policy A")
    assert "error[AMBIGUOUS_RUN]: 2 runs have the name 'policy A'" in ambiguous.stderr
    done = langfuse_command(
        "--dataset", "labadapt demo", "--run", "policy A", "--on-refusal", "skip", "--trials", "trials"
    )
    assert done.returncode == 0, done.stderr
    bundles = [json.loads(path.read_text())["runs"] for path in sorted((tmp_path / "trials").iterdir())]
    assert [[run["caseId"] for run in runs] for runs in bundles] == [["case-1", "case-2", "case-4"]] * 2
    assert bundles[0][0]["provenance"]["experimentId"] == "1c17506e8c0680c5"
    assert bundles[1][0]["provenance"]["experimentId"] == "04be845c6a15d2f7"


def test_a_run_may_be_checked_at_once_against_the_datasets_contracts(langfuse_command: Any, store: Any) -> None:
    contract = {"disposition": "answer", "maxCalls": 1}
    for row in store.dataset_items:
        row["expectedOutput"] = contract
    done = langfuse_command("--dataset", "labadapt demo", "--run", "policy A", "--on-refusal", "skip", "--check")
    assert done.returncode == 1, done.stderr
    assert "FAIL  case-1  (policy A)\n" in done.stdout
    assert "because   2 calls attempted, at most 1 permitted" in done.stdout
