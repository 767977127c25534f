"""What one invocation of the command line was told about its own behaviour, and the two streams that it writes to."""

import sys
from dataclasses import dataclass

import click
from labadapt.cli.escaping import printable_json, printable_lines


@dataclass(slots=True)
class Session:
    """Settings that every command shares: `quiet` keeps notes and summaries back, never errors or results."""

    debug: bool = False
    quiet: bool = False
    progress: bool = True

    def say(self, text: str) -> None:
        """A line for people on standard error, unless ``--quiet``. Control characters are escaped."""
        if not self.quiet:
            complain(text)


def session() -> Session:
    """The session of the running command."""
    return click.get_current_context().ensure_object(Session)


def complain(text: str) -> None:
    """Write to standard error whatever ``--quiet`` says."""
    click.echo(printable_lines(text), err=True)


def show(text: str) -> None:
    """Write a result for people to standard output."""
    click.echo(printable_lines(text))


def show_bytes(data: bytes, *, json: bool = True) -> None:
    """Write a result for programs to standard output, byte for byte; to a terminal, with controls escaped."""
    if sys.stdout.isatty():
        text = data.decode("utf-8", "backslashreplace")
        click.echo(printable_json(text) if json else printable_lines(text), nl=False)
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
