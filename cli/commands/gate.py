"""``labadapt gate``: whether a candidate may be promoted."""

from typing import TYPE_CHECKING, Any

import click
from labadapt.cli.files import expand
from labadapt.cli.options import FILE, Rate, common, files, out, output_format
from labadapt.cli.statuses import Status

if TYPE_CHECKING:
    from labadapt.schema.gate import Decision, GateFile
    from labadapt.schema.result import RunResult


@click.command("gate", short_help="Promote, block, or not enough evidence.")
@files("RESULT...")
@click.option("--cases", metavar="FILE", type=FILE, required=True, help="The cases file that results are held to.")
@click.option("--config", metavar="FILE", type=FILE, help="The gate file (TOML), which says what is asked for.")
@click.option("--baseline", "before", metavar="FILE", type=FILE, multiple=True, help="Runs to compare with.")
@click.option("--policy", metavar="NAME", help="The candidate's policy, where there are several.")
@click.option("--baseline-policy", metavar="NAME", help="The baseline's policy, where there are several.")
@click.option("--at-least", metavar="RATE", type=Rate(0, 1), help="Least rate of routine success.")
@click.option("--review-minutes", metavar="N", type=Rate(0), help="Minutes that people spent on reviewing these runs.")
@out("Write the decision (JSON) here as well.")
@output_format("text", "json", "junit", "sarif", "github", "markdown")
@common
def command(files: tuple[str, ...], cases: str, config: str | None, out: str | None, form: str, **asked: Any) -> int:
    """Decide whether the policy of each RESULT may be promoted.

    A RESULT is a result file, a bundle, or a directory of them. A failure of a case whose severity is critical blocks,
    whatever the mean is. Routine cases count in aggregate: the exact lower bound of their rate must reach the rate that
    is asked for. The gate file says what else is asked; `labadapt schema gate` describes it.

    The exit status is 0 for promote, 1 for block, 3 for not enough evidence, and 2 when the input is invalid.

    \b
    Example:
      labadapt gate after.json --cases cases.yaml --config gate.toml --baseline before.json
    """
    from labadapt import __version__
    from labadapt.cli.checked import of_policy, read_cases_file, read_checked
    from labadapt.cli.decisions import render
    from labadapt.cli.formats import of_decision
    from labadapt.cli.gatefiles import read_gate_file
    from labadapt.cli.reports import deliver
    from labadapt.engine.gate import decide

    named, before = expand(files, (cases, config, *asked["before"])), expand(asked["before"])
    read, gate = read_cases_file(cases), _asked(read_gate_file(config), asked)
    candidate = of_policy(read_checked(named, read), asked["policy"], "--policy")
    baseline: list[RunResult] | None = None
    if before:
        baseline = of_policy(read_checked(before, read), asked["baseline_policy"], "--baseline-policy")
    decision = decide(candidate, read, gate, baseline=baseline)
    deliver(decision, form, render, out, lambda made: of_decision(made, version=__version__))
    return status_of(decision)


def _asked(gate: "GateFile", given: dict[str, Any]) -> "GateFile":
    """The gate file with what the command line says instead."""
    import msgspec

    names = [name for name in ("at_least", "review_minutes") if given[name] is not None]
    return msgspec.structs.replace(gate, **{name: given[name] for name in names})


_STATUSES = {"promote": Status.PASSED, "block": Status.FAILED, "not enough evidence": Status.INCONCLUSIVE}


def status_of(decision: "Decision") -> Status:
    """The exit status of a decision."""
    return _STATUSES[decision.decision]
