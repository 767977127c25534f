"""``labadapt compare``: a candidate against a baseline."""

from typing import TYPE_CHECKING, Any

import click
from labadapt.cli.files import expand
from labadapt.cli.options import FILE, Rate, common, out, output_format
from labadapt.cli.statuses import Status

if TYPE_CHECKING:
    from labadapt.schema.cases import CasesFile
    from labadapt.schema.comparison import Comparison
    from labadapt.schema.result import RunResult

GATES = ("strict", "regressions-only", "report-only")  # said again here, so that naming the command loads no model


@click.command("compare", short_help="Compare a candidate with a baseline, case by case.")
@click.argument("baseline_file", metavar="BASELINE", type=FILE)
@click.argument("candidate_file", metavar="[CANDIDATE]", required=False, type=FILE)
@click.option("--baseline", metavar="POLICY", help="The baseline's policy, where its files have several.")
@click.option("--candidate", metavar="POLICY", help="The candidate's policy, where its files have several.")
@click.option("--gate", type=click.Choice(GATES), default="strict", show_default=True, help="What is asked for.")
@click.option("--cases", metavar="FILE", type=FILE, help="Take requests and contracts from this cases file.")
@click.option(
    "--confidence",
    metavar="LEVEL",
    type=Rate(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Level of intervals and tests.",
)
@out("Write the comparison (JSON) here as well.")
@output_format("text", "json", "junit", "sarif", "github", "markdown")
@common
def command(
    baseline_file: str, candidate_file: str | None, cases: str | None, out: str | None, form: str, **asked: Any
) -> int:
    """Compare the runs of CANDIDATE with those of BASELINE, paired by case.

    Each is a bundle, a result file, or a directory of them, whose repetitions of a case are its trials. Without
    CANDIDATE, two policies of BASELINE are compared. Runs are compared only where request, contract and mode are equal.

    The exit status is 0 when the gate passes, 1 when it fails, 3 when it could not be evaluated, and 2 when the input
    is invalid. The gate strict asks that every case is decided and none lost; regressions-only, that none is lost or
    may be; report-only, nothing.

    \b
    Example:
      labadapt compare before.json after.json --cases cases.yaml
    """
    from labadapt.cli.checked import read_cases_file
    from labadapt.cli.trials import uncollected
    from labadapt.engine.compare import compare

    files = [name for name in (baseline_file, candidate_file) if name is not None]
    policies: tuple[str | None, str | None] = (asked["baseline"], asked["candidate"])
    if candidate_file is None:
        _require_two_policies(*policies)
    expand(files, (cases,))  # standard input can be only one of them
    with uncollected():
        one, other = _sides(files, policies, None if cases is None else read_cases_file(cases))
        comparison = compare(one, other, gate=asked["gate"], confidence=asked["confidence"])
        return report(comparison, form, out)


def _require_two_policies(baseline: str | None, candidate: str | None) -> None:
    """One file is compared with itself only under two policies."""
    if baseline is None or candidate is None or baseline == candidate:
        from labadapt.schema.problems import Problem, Refusal

        raise Refusal(
            Problem(
                code="BAD_USAGE",
                message="with one file, two of its policies are to be named",
                hint="Give --baseline POLICY and --candidate POLICY, or a CANDIDATE file.",
            )
        )


def _sides(
    files: list[str], policies: tuple[str | None, str | None], cases: "CasesFile | None"
) -> "tuple[list[RunResult], list[RunResult]]":
    from labadapt.cli.checked import of_policy, read_checked
    from labadapt.cli.gathering import gather

    read = gather(lambda name: read_checked(expand([name]), cases, strict=True), files)
    return of_policy(read[0], policies[0], "--baseline"), of_policy(read[-1], policies[1], "--candidate")


def report(comparison: "Comparison", form: str, out: str | None) -> int:
    """Print and save the comparison; gives the exit status of its gate."""
    from labadapt import __version__
    from labadapt.cli.comparisons import render
    from labadapt.cli.formats import of_comparison
    from labadapt.cli.reports import deliver

    deliver(comparison, form, render, out, lambda made: of_comparison(made, version=__version__))
    return status_of(comparison)


_STATUSES = {"passes": Status.PASSED, "fails": Status.FAILED, "could not evaluate": Status.INCONCLUSIVE}


def status_of(comparison: "Comparison") -> Status:
    """The exit status of the gate."""
    return _STATUSES[comparison.gate.state]
