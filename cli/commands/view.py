"""``labadapt view``: checked runs for a person, or for a program that reads with a small window."""

import shutil
from typing import TYPE_CHECKING

import click
from labadapt.cli.files import display_name, read_file
from labadapt.cli.options import FILE, common

if TYPE_CHECKING:
    from labadapt.schema.model import Run
    from labadapt.schema.result import Results

_NARROWEST, _WIDEST = 80, 160  # columns


@click.command("view", short_help="Show runs, their checks and their timelines.")
@click.argument("file", type=FILE)
@click.option(
    "--cases", metavar="FILE", type=FILE, help="Take requests and contracts of a bundle from this cases file."
)
@click.option("--case", "case_id", metavar="ID", help="Only the runs of this case.")
@click.option("--policy", metavar="NAME", help="Only the runs of this policy.")
@click.option("--json", "as_json", is_flag=True, help="A bounded projection: failures first, and what was cut.")
@click.option("--raw", is_flag=True, help="The whole result, as JSON.")
@click.option("--html", metavar="FILE", type=FILE, help="Write one self-contained page here.")
@common
def command(  # noqa: PLR0913, PLR0917 - the options of the command
    file: str, cases: str | None, case_id: str | None, policy: str | None, as_json: bool, raw: bool, html: str | None
) -> None:
    """Show the runs of FILE: a bundle, which is checked now, or a result file, which has no timeline.

    For each run the outcome, the phase that failed, each check that did not hold with what it asked for, what the
    record shows, why and where, and the steps to scale. Showing is no verdict: the exit status is 0.

    \b
    Example:
      labadapt view bundle.json --cases cases.yaml
    """
    if sum((as_json, raw, html is not None)) > 1:
        raise click.UsageError("--json, --raw and --html exclude each other.", click.get_current_context())
    from labadapt.cli.checking import joined
    from labadapt.cli.viewing import of_results, projection, render_view

    results, runs = _chosen(*_read(file, cases), case_id, policy)
    shown = of_results(results, runs)
    if html is not None:
        from labadapt.cli.outputs import write_text
        from labadapt.cli.page import page

        write_text(html, page(results.summary, shown))
    elif raw:
        from labadapt.cli.session import show_bytes
        from labadapt.schema.codec import encode_results

        show_bytes(encode_results(joined([results])))
    elif as_json:
        from labadapt.cli.session import show_json

        show_json(projection(results, shown))
    else:
        from labadapt.cli.session import show

        width = min(_WIDEST, max(_NARROWEST, shutil.get_terminal_size((_NARROWEST, 24)).columns))
        show(render_view(shown, width))


def _read(file: str, cases: str | None) -> "tuple[Results, list[Run] | None]":
    from labadapt import __version__
    from labadapt.cli.checked import attached, read_cases_file
    from labadapt.cli.exports import bundle_of
    from labadapt.cli.trials import has_results
    from labadapt.engine.check import check_bundle
    from labadapt.schema.codec import decode_results

    data, shown = read_file(file), display_name(file)
    if has_results(data):
        if cases is not None:
            raise click.UsageError("a result file keeps the contracts that it was checked against.")
        return decode_results(data, shown), None
    bundle = bundle_of(data, shown)
    if cases is not None:
        bundle = attached(bundle, read_cases_file(cases))
    return check_bundle(bundle, version=__version__), bundle.runs


def _chosen(
    results: "Results", runs: "list[Run] | None", case_id: str | None, policy: str | None
) -> "tuple[Results, list[Run] | None]":
    """The results of one case or policy. Raises `Refusal` (``BAD_USAGE``) where none has the name."""
    import msgspec
    from labadapt.schema.problems import Problem, Refusal
    from labadapt.schema.result import Summary

    kept = [
        number
        for number, result in enumerate(results.results)
        if case_id in (None, result.case_id) and policy in (None, result.policy)
    ]
    if not kept:
        there = sorted({result.case_id for result in results.results})
        found = ", ".join(there[:20]) + (", …" if len(there) > 20 else "")
        raise Refusal(Problem(code="BAD_USAGE", message="no run has that case and policy", found=found))
    chosen = [results.results[number] for number in kept]
    outcomes = [result.outcome for result in chosen]
    summary = Summary(
        total=len(chosen),
        passed=outcomes.count("pass"),
        failed=outcomes.count("fail"),
        inconclusive=outcomes.count("inconclusive"),
    )
    picked = None if runs is None else [runs[number] for number in kept]
    return msgspec.structs.replace(results, summary=summary, results=chosen), picked
