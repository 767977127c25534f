"""Reading runs that are checked: result files as they are, bundles checked now."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from labadapt import __version__
from labadapt.cli.files import display_name, read_file
from labadapt.cli.gathering import gather
from labadapt.cli.trials import has_results, require_once, say_copies, uncollected
from labadapt.schema.problems import Problem, Refusal, Where
from labadapt.schema.result import RunResult

if TYPE_CHECKING:
    from labadapt.schema.cases import CasesFile
    from labadapt.schema.model import Bundle, Run


def read_checked(names: Sequence[str], cases: "CasesFile | None" = None, *, strict: bool = False) -> list[RunResult]:
    """The results of all files, in their order; bundles are checked, with requests and contracts of `cases` if given.

    A result file keeps the contracts that it was checked against; `strict` refuses one where `cases` are given. Raises
    `Refusal` with every fault of every file; says which files are copies.
    """
    require_once(names)
    copies: dict[bytes, list[str]] = {}
    with uncollected():
        read = gather(lambda name: _read(name, cases, copies, strict=strict), names)
    say_copies(copies.values())
    return [result for results in read for result in results]


def _read(name: str, cases: "CasesFile | None", copies: dict[bytes, list[str]], *, strict: bool) -> list[RunResult]:
    data, shown = read_file(name), display_name(name)
    copies.setdefault(hashlib.sha256(data).digest(), []).append(shown)
    if not has_results(data):
        return _check(data, shown, cases)
    if strict and cases is not None:
        raise Refusal(_no_runs(shown))
    from labadapt.schema.codec import decode_results

    return decode_results(data, shown).results


def _check(data: bytes, shown: str, cases: "CasesFile | None") -> list[RunResult]:
    from labadapt.cli.exports import bundle_of
    from labadapt.engine.check import check_bundle

    bundle = bundle_of(data, shown)
    return check_bundle(bundle if cases is None else attached(bundle, cases), version=__version__).results


def attached(bundle: "Bundle", cases: "CasesFile") -> "Bundle":
    """The bundle with the requests and contracts of its cases. Raises `Refusal` with every run that has none."""
    import msgspec
    from labadapt.adapters.cases import attach

    def attach_one(run: "Run") -> "Run":
        return attach(run, cases)

    return msgspec.structs.replace(bundle, runs=gather(attach_one, bundle.runs))


def _no_runs(shown: str) -> Problem:
    return Problem(
        code="BAD_USAGE",
        message="a result file holds no runs that could be checked against a cases file",
        where=Where(file=shown),
        hint="Give the bundle, or leave --cases out: a result file keeps the contracts it was checked against.",
    )


def read_cases_file(name: str) -> "CasesFile":
    """The cases file. Raises `Refusal` with every fault."""
    from labadapt.adapters.cases import read_cases

    return read_cases(read_file(name), display_name(name))


def of_policy(results: Iterable[RunResult], policy: str | None, option: str) -> list[RunResult]:
    """The results of one policy: the one named, or the only one. `option` is how the command line names it.

    Raises `Refusal` (``BAD_USAGE``) where no result has it, or none is named and there are several.
    """
    listed = list(results)
    there = sorted({result.policy for result in listed})
    if policy is None and len(there) == 1:
        return listed
    if policy not in there:
        raise Refusal(_unclear(policy, there, option))
    return [result for result in listed if result.policy == policy]


def _unclear(policy: str | None, there: Sequence[str], option: str) -> Problem:
    several = "there are several policies, and none is named"
    return Problem(
        code="BAD_USAGE",
        message=several if policy is None else f"no run has the policy {policy!r}",
        found=", ".join(there) or "no run",
        hint=f"Give {option} one of those found.",
    )
