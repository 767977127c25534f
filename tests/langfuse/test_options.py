"""What the command line of ``labadapt langfuse`` takes, and what it does not."""

from typing import Any

import pytest


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--run", "policy A"),
        ("--save", "pages"),
        ("--dataset", "labadapt demo", "pages"),
        ("--list", "pages"),
        ("--dataset", "labadapt demo", "--since", "yesterday"),
        ("--dataset", "labadapt demo", "--wait", "-1"),
        ("--dataset", "labadapt demo", "--timeout", "0"),
    ],
)
def test_a_command_line_that_asks_for_two_things_or_none_is_refused(arguments: Any, langfuse_command: Any) -> None:
    done = langfuse_command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error[BAD_USAGE]" in done.stderr


@pytest.mark.parametrize("since", ["2026-12-01", "2026-12-01T04:50:37.4Z", "2026-12-01T05:50:37.4+01:00", "52000w"])
def test_runs_may_be_limited_to_those_active_since(since: str, langfuse_command: Any) -> None:
    done = langfuse_command("--dataset", "labadapt demo", "--since", since, "--list")
    assert done.returncode == 0, done.stderr
    assert ("policy A" in done.stdout) is ("T" not in since)
