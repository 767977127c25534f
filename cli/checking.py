"""Checking bundles and printing the verdict, as `check`, `fixtures` and ``--check`` do."""

from collections.abc import Sequence

from labadapt.cli.outputs import write
from labadapt.cli.session import complain, session, show, show_bytes
from labadapt.cli.statuses import Status
from labadapt.schema.result import Results, Summary

CONTRACT_HINT = (
    "hint: runs without a contract cannot pass; write one for each case:\n"
    "      labadapt cases init bundle.json > cases.yaml\n"
    "      labadapt check bundle.json --cases cases.yaml"
)


def status_of(summary: Summary) -> Status:
    """The exit status: failures before doubts, and nothing checked is no success."""
    if summary.failed:
        return Status.FAILED
    return Status.INCONCLUSIVE if summary.inconclusive or not summary.total else Status.PASSED


def joined(parts: Sequence[Results]) -> Results:
    """The results of several bundles as one, in their order."""
    summaries = [part.summary for part in parts]
    return Results(
        schema_version=1,
        generator=parts[0].generator,
        summary=Summary(
            total=sum(summary.total for summary in summaries),
            passed=sum(summary.passed for summary in summaries),
            failed=sum(summary.failed for summary in summaries),
            inconclusive=sum(summary.inconclusive for summary in summaries),
        ),
        results=[result for part in parts for result in part.results],
    )


def report(results: Results, form: str, *, beside: bool = False, files: Sequence[str | None] = ()) -> Status:
    """Print the verdict in the form asked for; `beside` something else on standard output, on standard error.

    `files` names the bundle of each run, for the forms that point into files.
    """
    if form == "json":
        from labadapt.schema.codec import encode_results

        data = encode_results(results)
        complain(data.decode().rstrip("\n")) if beside else show_bytes(data)
    else:
        (complain if beside else show)(_rendered(results, form, files))
    return status_of(results.summary)


def _rendered(results: Results, form: str, files: Sequence[str | None]) -> str:
    if form == "text":
        from labadapt.cli.verdicts import render_results

        return render_results(results)
    from labadapt import __version__
    from labadapt.cli.formats import of_results, render

    return render(of_results(results, version=__version__, files=files), form)


def save(results: Results, name: str | None) -> None:
    """Write the result file, where one was asked for."""
    if name is not None:
        from labadapt.schema.codec import encode_results

        write(name, [encode_results(results)])


def say_how_to_add_contracts(missing: int) -> None:
    """Tell who checks runs without contracts where contracts come from."""
    if missing:
        session().say(CONTRACT_HINT)
