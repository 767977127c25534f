"""``labadapt coverage``: loops by classes of failure."""

import click
from labadapt.cli.files import expand
from labadapt.cli.options import FILE, common, output_format


@click.command("coverage", short_help="Which failures the cases provoke in which loop.")
@click.argument("cases", metavar="CASES", type=FILE)
@click.argument("files", metavar="[RESULT...]", nargs=-1, type=FILE)
@output_format("text", "json")
@common
def command(cases: str, files: tuple[str, ...], form: str) -> None:
    """Show which loops and classes of failure the cases file CASES covers, and what each RESULT shows of them.

    A RESULT is a result file, a bundle, or a directory of them. A run counts only where it was held to the request and
    the contract that CASES has now. Cases that are held out are counted apart. The exit status is 0; `labadapt gate`
    decides.

    \b
    Example:
      labadapt coverage cases.yaml bundle.json
    """
    from labadapt.cli.checked import read_cases_file, read_checked
    from labadapt.cli.coverages import render
    from labadapt.cli.reports import deliver
    from labadapt.engine.coverage import coverage

    named = expand(files, (cases,))
    read = read_cases_file(cases)
    report = coverage(read, read_checked(named, read) if named else None)
    deliver(report, form, render)
