"""``labadapt validate``: every fault of a bundle."""

from typing import Any, Literal

import click
from labadapt.cli.escaping import printable
from labadapt.cli.files import display_name, expand, read_file
from labadapt.cli.options import common, files, output_format
from labadapt.cli.problems import problem_as_json, render_problems
from labadapt.cli.session import show, show_json
from labadapt.cli.statuses import Status
from labadapt.schema.problems import Problem


@click.command("validate", short_help="Hold bundles to the format; every fault is named.")
@files()
@click.option(
    "--limits",
    type=click.Choice(["none", "workbench"]),
    default="none",
    show_default=True,
    help="Hold to the workbench's 2 MB, 200 runs and 100 steps a run.",
)
@click.option("--require-contract", is_flag=True, help="A run without a contract is a fault.")
@output_format("text", "json")
@common
def command(files: tuple[str, ...], limits: Literal["none", "workbench"], require_contract: bool, form: str) -> int:
    """Hold each FILE to the bundle format and name every fault, not only the first.

    \b
    Example:
      labadapt validate bundle.json
    """
    from labadapt.cli.exports import told_apart
    from labadapt.schema.validate import validate

    found: dict[str, list[Problem]] = {}
    for name in expand(files):
        shown = display_name(name)
        data = read_file(name)
        faults = validate(data, file=shown, limits=limits, require_contract=require_contract)
        found[shown] = told_apart(data, shown, faults)
    report_faults(found, form)
    return Status.INVALID if any(found.values()) else Status.PASSED


def report_faults(found: dict[str, list[Problem]], form: str = "text") -> None:
    """Print the faults of each file to standard output: they are this command's result."""
    if form == "json":
        show_json(_as_json(found))
    else:
        show(
            "\n\n".join(render_problems(faults) if faults else f"{printable(f)}: valid" for f, faults in found.items())
        )


def _as_json(found: dict[str, list[Problem]]) -> dict[str, Any]:
    return {
        "files": [
            {"file": name, "valid": not faults, "problems": [problem_as_json(fault) for fault in faults]}
            for name, faults in found.items()
        ]
    }
