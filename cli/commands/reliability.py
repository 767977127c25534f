"""``labadapt reliability``: what repeated trials come to."""

from typing import TYPE_CHECKING, Any

import click
from labadapt.cli.files import expand
from labadapt.cli.options import common, files, output_format
from labadapt.cli.session import show, show_bytes
from labadapt.cli.statuses import Status

if TYPE_CHECKING:
    from labadapt.engine.trials import Trial
    from labadapt.schema.reliability import Reliability

_SHARE = click.FloatRange(0, 1)


@click.command("reliability", short_help="Rates, intervals and pass^k of repeated trials.")
@files()
@click.option("--scheduled", metavar="N", type=click.IntRange(min=1), help="Trials of each case that were to be made.")
@click.option("--k", metavar="K", type=click.IntRange(1, 1000), help="Tell pass^1 to pass^K.")
@click.option(
    "--confidence",
    metavar="LEVEL",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Level of intervals and bounds.",
)
@click.option("--policy", "policies", metavar="NAME", multiple=True, help="Only this policy; may be repeated.")
@click.option("--at-least", metavar="RATE", type=_SHARE, help="Hold end-to-end success to at least this rate.")
@output_format("text", "json")
@common
def command(files: tuple[str, ...], policies: tuple[str, ...], form: str, **asked: Any) -> int:
    """Tell how reliably cases succeed over repeated trials.

    Each FILE is a trial: a bundle, a result file, or a directory of them; or a table of outcomes (CSV or JSON Lines
    with case, trial, outcome) that holds many. With --at-least the exit status is 0 when the rate is shown to be met,
    1 when it is shown not to be, and 3 when the trials are not enough evidence; without it, 0.

    \b
    Example:
      labadapt reliability trials/ --scheduled 5
    """
    from labadapt.cli.trials import read_trials, uncollected
    from labadapt.engine.reliability import reliability

    trials = read_trials(expand(files))
    _require_policies(policies, trials)
    with uncollected():
        report = reliability(trials, policies=policies, **asked)
    _print(report, form)
    return _status(report)


def _print(report: "Reliability", form: str) -> None:
    if form == "json":
        import msgspec

        show_bytes(msgspec.json.Encoder(order="deterministic").encode(report) + b"\n")
    else:
        from labadapt.cli.reliabilities import render

        show(render(report))


def _status(report: "Reliability") -> Status:
    """Failures before doubts; without a gate the report is all that was asked for."""
    states = {gate.state for gate in report.gates or ()}
    if "not met" in states:
        return Status.FAILED
    return Status.INCONCLUSIVE if "not enough evidence" in states else Status.PASSED


def _require_policies(policies: tuple[str, ...], trials: "list[Trial]") -> None:
    """A policy that no trial has is a misspelt one, and would count less than was asked for."""
    from labadapt.schema.problems import Problem, Refusal

    there = {trial.policy for trial in trials}
    if missing := [policy for policy in policies if policy not in there]:
        raise Refusal(
            Problem(
                code="BAD_USAGE",
                message=f"no trial has the policy {missing[0]!r}",
                found=", ".join(sorted(policy for policy in there if policy is not None)) or "no policy at all",
                hint="Give --policy one of those found.",
            )
        )
