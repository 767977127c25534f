"""``labadapt assign`` through the real command."""

import pytest


def test_a_line_for_each_task(labadapt) -> None:
    done = labadapt("assign", "task-2", "task-1", "--share", "0.5")
    assert (done.stdout, done.stderr, done.returncode) == ("candidate\ttask-2\nbaseline\ttask-1\n", "", 0)


def test_tasks_from_standard_input(labadapt) -> None:
    done = labadapt("assign", "task-1", "-", "--share", "0.5", given="task-2\r\n\ntask-3\n")
    assert done.stdout == "baseline\ttask-1\ncandidate\ttask-2\ncandidate\ttask-3\n"
    assert labadapt("assign", "-", "--share", "1", given="").stdout == ""


@pytest.mark.parametrize("share", ["-0.1", "1.1", "nan", "half"])
def test_a_share_that_is_none_is_refused(labadapt, share) -> None:
    done = labadapt("assign", "task-1", "--share", share)
    assert (done.stdout, done.returncode) == ("", 2)
    assert "error[BAD_USAGE]" in done.stderr


def test_input_that_is_no_text_is_refused(labadapt) -> None:
    done = labadapt("assign", "-", "--share", "0.5", given=b"a\n\xff\n")
    assert (done.stdout, done.returncode) == ("", 2)
    assert "error[BAD_ENCODING]: the line is not UTF-8\n  --> standard input: line 2" in done.stderr
    done = labadapt("assign", "-", "-", "--share", "0.5")
    assert "standard input is named twice" in done.stderr


def test_names_command_no_terminal(labadapt) -> None:
    assert labadapt("assign", "-", "--share", "1", given="a\x1b[2J\n").stdout == "candidate\ta\\x1b[2J\n"
