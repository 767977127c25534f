"""The entry point: finds the command, runs it, and turns whatever ends it into a message and an exit status."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn, cast

import click
from labadapt import __version__
from labadapt.cli.escaping import printable, printable_lines
from labadapt.cli.problems import render_problems
from labadapt.cli.session import Session, complain, unwritable
from labadapt.cli.statuses import MEANINGS, Status
from labadapt.schema.problems import Problem, Refusal, Where

PROGRAM = "labadapt"

# Name → module under `labadapt.cli.commands`, section of the help, and short help. A command's module is imported
# when the command is named, so that `--version` and a mistyped word cost nothing. A test holds the short help equal.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "langfuse": ("langfuse", "Convert", "Convert runs of a Langfuse dataset, live or from saved files."),
    "convert": ("convert", "Convert", "Convert an export whose format is recognised from its content."),
    "validate": ("validate", "Validate and check", "Hold bundles to the format; every fault is named."),
    "check": ("check", "Validate and check", "Check the runs of bundles against their contracts."),
    "fixtures": ("fixtures", "Validate and check", "Run the eight authored cases; no model, no telemetry."),
    "view": ("view", "Validate and check", "Show runs, their checks and their timelines."),
    "reliability": ("reliability", "Measure", "Rates, intervals and pass^k of repeated trials."),
    "compare": ("compare", "Measure", "Compare a candidate with a baseline, case by case."),
    "coverage": ("coverage", "Measure", "Which failures the cases provoke in which loop."),
    "gate": ("gate", "Measure", "Promote, block, or not enough evidence."),
    "assign": ("assign", "Measure", "Assign tasks to baseline or candidate, always alike."),
    "inspect": ("inspect", "Help oneself", "Show what is in an export, and what is missing."),
    "cases": ("cases", "Help oneself", "Start or check a cases file."),
    "mapping": ("mapping", "Help oneself", "Start or check a mapping file."),
    "schema": ("schema", "Help oneself", "Print the JSON Schema of a file format."),
    "explain": ("explain", "Help oneself", "Say what a problem code means, and what to do."),
    "adapters": ("adapters", "Help oneself", "List installed sources and conventions, with their origin."),
}
SECTIONS = ("Convert", "Validate and check", "Measure", "Help oneself")


class LazyGroup(click.Group):
    """The commands of `COMMANDS`, and one for each source that the registry admits, loaded when they are named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Sources first, as the help shows them."""
        return [*source_summaries(), *COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command, imported now; None for a word that names none."""
        if cmd_name in COMMANDS:
            module = import_module(f"labadapt.cli.commands.{COMMANDS[cmd_name][0]}")
            return cast(click.Command, module.command)
        from labadapt.cli.commands.source import source_command

        return source_command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """The commands by section, without importing one of them."""
        rows = {section: [(n, text) for n, (_, at, text) in COMMANDS.items() if at == section] for section in SECTIONS}
        rows["Convert"] = [*source_summaries().items(), *rows["Convert"]]
        for section, listed in rows.items():
            with formatter.section(section):
                formatter.write_dl(listed)
        with formatter.section("Exit status"):
            formatter.write_dl([(str(int(status)), meaning) for status, meaning in MEANINGS.items()])


def source_summaries() -> dict[str, str]:
    """Name and summary of every admitted source. Loads the sources, which is why only the help asks for it."""
    from labadapt.cli.sources import named_sources

    return {name: printable(source.summary) for name, source in named_sources().items()}


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
def group() -> None:
    """Turn recorded agent traces into run bundles, and check them against contracts that a person wrote.

    Results go to standard output, everything else to standard error; - is standard input or output.

    \b
    Example:
      labadapt otlp traces.pb > bundle.json
    """


def main() -> NoReturn:
    """Run the command line and exit with its status. What ``labadapt`` and ``python -m labadapt`` call."""
    _complete_for_the_shell()
    signal.signal(signal.SIGTERM, _terminate)
    for stream in (sys.stdout, sys.stderr):
        if callable(adapt := getattr(stream, "reconfigure", None)):
            adapt(errors="backslashreplace")  # a character that the terminal cannot show is no reason to fail
    status = invoke(sys.argv[1:])
    sys.exit(_flushed(status))


def invoke(arguments: list[str]) -> int:
    """Run one command. Returns the exit status; messages stand on standard error."""
    session = Session(debug="--debug" in arguments)
    return _guarded(lambda: _dispatch(arguments, session), session)


def _dispatch(arguments: list[str], session: Session) -> int:
    with group.make_context(PROGRAM, list(arguments), obj=session) as context:
        status = group.invoke(context)
    return int(status or 0)


def _guarded(run: Callable[[], int], session: Session) -> int:
    try:
        return run()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the outermost place: no traceback may reach a user
        if session.debug and not isinstance(error, click.exceptions.Exit):
            complain(printable_lines(traceback.format_exc()))
        return next(end(error) for kind, end in _ENDINGS if isinstance(error, kind))


def _refused(problems: Iterable[Problem]) -> int:
    complain(render_problems(problems))
    return Status.INVALID


def _interrupted() -> int:
    complain("interrupted")
    return Status.INTERRUPTED


def _helped(error: click.exceptions.NoArgsIsHelpError) -> int:
    complain(error.format_message())
    return Status.INVALID


def _usage_problem(error: click.ClickException) -> Problem:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else PROGRAM
    return Problem(code="BAD_USAGE", message=error.format_message(), hint=f"Run `{path} --help`.")


def _system_problem(error: OSError) -> Problem:
    """A file that broke while it was being read, such as on a network share."""
    name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else None
    return Problem(code="UNREADABLE_FILE", message=f"the system says: {error}", where=Where(file=name))


def _internal_problem(error: Exception) -> Problem:
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = Where(file=last.filename.rpartition("/")[2], line=last.lineno)
    return Problem(code="INTERNAL", message=f"{type(error).__name__}: {error}", where=place)


# What ends a command, the narrower kind first, and what then happens.
_ENDINGS: tuple[tuple[type[BaseException], Callable[[Any], int]], ...] = (
    (click.exceptions.Exit, lambda error: int(error.exit_code)),
    (Refusal, lambda error: _refused(error.problems)),
    (click.exceptions.NoArgsIsHelpError, _helped),
    (click.ClickException, lambda error: _refused([_usage_problem(error)])),
    (click.Abort, lambda _: _interrupted()),
    (KeyboardInterrupt, lambda _: _interrupted()),
    (BrokenPipeError, lambda _: Status.BROKEN_PIPE),
    (OSError, lambda error: _refused([_system_problem(error)])),
    (Exception, lambda error: _refused([_internal_problem(error)])),
)


def _flushed(status: int) -> int:
    """The status, once everything is written. A reader that went away is noticed here at the latest."""
    if sys.stdout is None:
        return status
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        status = Status.BROKEN_PIPE
    except OSError as error:
        complain(render_problems([unwritable("standard output", error)]))
        status = Status.INVALID
    if status in {Status.BROKEN_PIPE, Status.INVALID}:
        _abandon_standard_output()
    return status


def _abandon_standard_output() -> None:
    """Let the interpreter's own flush at exit go nowhere: it would print a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    """End through the open context managers, so that no temporary file stays behind."""
    sys.exit(Status.TERMINATED)


def _complete_for_the_shell() -> None:
    instruction = os.environ.get("_LABADAPT_COMPLETE")
    if instruction:
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(group, {}, PROGRAM, "_LABADAPT_COMPLETE", instruction))
