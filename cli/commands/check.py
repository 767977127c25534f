"""``labadapt check``: runs against their contracts."""

from typing import TYPE_CHECKING

import click
from labadapt.cli.files import STANDARD_STREAM, display_name, expand, read_file
from labadapt.cli.gathering import gather
from labadapt.cli.options import FILE, common, files, out, output_format

if TYPE_CHECKING:
    from labadapt.schema.model import Bundle


@click.command("check", short_help="Check the runs of bundles against their contracts.")
@files()
@click.option("--cases", metavar="FILE", type=FILE, help="Take requests and contracts from this cases file.")
@click.option("--policy", "policies", metavar="NAME", multiple=True, help="Only runs of this policy; may be repeated.")
@out("Write the result file (JSON) here as well.")
@output_format("text", "json", "junit", "sarif", "github", "markdown")
@common
def command(files: tuple[str, ...], cases: str | None, policies: tuple[str, ...], out: str | None, form: str) -> int:
    """Check every run of each bundle FILE against its contract.

    The exit status is 0 when every run passes, 1 when one fails, 3 when none fails and one is inconclusive, and 2
    when the input is invalid.

    \b
    Example:
      labadapt check bundle.json --cases cases.yaml
    """
    from labadapt import __version__
    from labadapt.cli.checking import joined, report, save, say_how_to_add_contracts
    from labadapt.cli.exports import read_bundle
    from labadapt.engine.check import check_bundle
    from msgspec import UNSET

    names = expand(files, (cases,))
    bundles = gather(read_bundle, names)
    _require_policies(policies, bundles)
    if cases is not None:
        bundles = _with_cases(bundles, cases)
    chosen = [_of_policies(bundle, policies) for bundle in bundles]
    results = joined([check_bundle(bundle, version=__version__) for bundle in chosen if bundle.runs])
    save(results, out)
    places = [place for name, bundle in zip(names, chosen, strict=True) for place in [_place(name)] * len(bundle.runs)]
    status = report(results, form, beside=out == STANDARD_STREAM, files=places)
    say_how_to_add_contracts(sum(run.contract is UNSET for bundle in chosen for run in bundle.runs))
    return status


def _place(name: str) -> str | None:
    """The bundle as it was named; standard input is no file."""
    return None if name == STANDARD_STREAM else name


def _require_policies(policies: tuple[str, ...], bundles: "list[Bundle]") -> None:
    """A policy that no run has is a misspelt one, and would check less than was asked for."""
    from labadapt.schema.problems import Problem, Refusal

    there = {run.policy for bundle in bundles for run in bundle.runs}
    if missing := [policy for policy in policies if policy not in there]:
        raise Refusal(
            Problem(
                code="BAD_USAGE",
                message=f"no run has the policy {missing[0]!r}",
                found=", ".join(sorted(there)),
                hint="Give --policy one of those found.",
            )
        )


def _of_policies(bundle: "Bundle", policies: tuple[str, ...]) -> "Bundle":
    """The bundle's runs of these policies; a bundle may have none of one that another has."""
    import msgspec

    if not policies:
        return bundle
    return msgspec.structs.replace(bundle, runs=[run for run in bundle.runs if run.policy in policies])


def _with_cases(bundles: "list[Bundle]", name: str) -> "list[Bundle]":
    import msgspec
    from labadapt.adapters.cases import attach, read_cases

    cases = read_cases(read_file(name), display_name(name))
    attached = iter(gather(lambda run: attach(run, cases), (run for bundle in bundles for run in bundle.runs)))
    return [msgspec.structs.replace(bundle, runs=[next(attached) for _ in bundle.runs]) for bundle in bundles]
