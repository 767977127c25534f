"""What one invocation of the command line was told about its own behaviour, and the two streams that it writes to."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click
from labadapt.cli.escaping import printable_json, printable_lines
from labadapt.schema.problems import Problem, Refusal, Where


@dataclass(slots=True)
class Session:
    """Settings that every command shares: `quiet` keeps notes and summaries back, never errors or results.

    `inputs`: the real paths of the files that the command reads, so that no output replaces one.
    """

    debug: bool = False
    quiet: bool = False
    progress: bool = True
    inputs: set[str] = field(default_factory=set)

    def say(self, text: str) -> None:
        """A line for people on standard error, unless ``--quiet``. Control characters are escaped."""
        if not self.quiet:
            complain(text)


def session() -> Session:
    """The session of the running command; outside of one, settings that nobody changed."""
    context = click.get_current_context(silent=True)
    return Session() if context is None else context.ensure_object(Session)


def complain(text: str) -> None:
    """Write to standard error whatever ``--quiet`` says. Text from the input must have been escaped."""
    click.echo(text, err=True, color=_colour())


def show(text: str) -> None:
    """Write a result for people to standard output. Text from the input must have been escaped."""
    with _standard_output():
        click.echo(text, color=_colour())


def _colour() -> bool | None:
    """False where ``NO_COLOR`` forbids it (no-color.org); None: on a terminal only."""
    return False if os.environ.get("NO_COLOR") else None


def show_bytes(data: bytes, *, is_json: bool = True) -> None:
    """Write a result for programs to standard output, byte for byte; to a terminal, with controls escaped."""
    with _standard_output():
        if sys.stdout.isatty():
            text = data.decode("utf-8", "backslashreplace")
            click.echo(printable_json(text) if is_json else printable_lines(text), nl=False)
        else:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


def show_json(value: Any) -> None:
    """Write a JSON document to standard output. A lone surrogate, as a file's name may hold, becomes its escape."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    show_bytes(text.encode("utf-8", "backslashreplace") + b"\n")


@contextmanager
def _standard_output() -> Iterator[None]:
    if sys.stdout is None:  # Python's way to say that the descriptor is closed, as by `>&-`
        raise Refusal(unwritable("standard output", OSError("it is closed")))
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Refusal(unwritable("standard output", error)) from error


def unwritable(name: str, error: OSError) -> Problem:
    """The problem of an output that cannot be written."""
    return Problem(
        code="UNWRITABLE_FILE", message=f"cannot be written: {error.strerror or error}", where=Where(file=name)
    )
