"""``labadapt mapping``: a starting mapping file from an export, and the check of one."""

import click
from labadapt.cli.files import display_name, expand, read_file
from labadapt.cli.options import common, files, out
from labadapt.cli.session import session
from labadapt.cli.statuses import Status


@click.group("mapping", short_help="Start or check a mapping file.")
def command() -> None:
    """Start or check a mapping file: how to read one application's telemetry.

    \b
    Example:
      labadapt mapping lint mapping.yaml
    """


@command.command("init")
@files("EXPORT...")
@out("Write the mapping file here.")
@common
def init(files: tuple[str, ...], out: str | None) -> None:
    """Write a starting mapping file from what EXPORT holds: its tools, each with its operation left to declare.

    \b
    Example:
      labadapt mapping init traces.pb > mapping.yaml
    """
    from labadapt.adapters.mapping import starting_mapping
    from labadapt.cli.inspecting import inspect_files
    from labadapt.cli.outputs import write_text

    write_text(out, starting_mapping(inspect_files(files, session())))


@command.command("lint")
@files()
@common
def lint(files: tuple[str, ...]) -> int:
    """Name every fault of each mapping FILE, with its line.

    \b
    Example:
      labadapt mapping lint mapping.yaml
    """
    from labadapt.adapters.mapping import lint_mapping
    from labadapt.cli.commands.validate import report_faults

    found = {display_name(name): lint_mapping(read_file(name), display_name(name)) for name in expand(files)}
    report_faults(found)
    return Status.INVALID if any(found.values()) else Status.PASSED
