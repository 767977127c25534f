"""Which results count for a case of a cases file: those that were held to what the file says now."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from labadapt.engine.digests import record_digest
from labadapt.schema.cases import Case, CasesFile
from labadapt.schema.result import RunResult
from msgspec import UNSET


@dataclass(frozen=True, slots=True)
class Standing:
    """Results by case, in a fixed order, and those that do not count as ``case (policy)``, by reason."""

    counted: Mapping[str, list[RunResult]]
    uncounted: Mapping[str, list[str]] = field(default_factory=dict)


def standing(results: Iterable[RunResult], cases: CasesFile) -> Standing:
    """The results that count for the cases.

    A result does not where the file has no such case, or where the request or the contract it was held to is another
    than the file's, or not recorded.
    """
    asked = {name: _asked(case) for name, case in cases.cases.items()}
    counted: dict[str, list[RunResult]] = {name: [] for name in sorted(cases.cases)}
    uncounted: dict[str, list[str]] = defaultdict(list)
    for result in sorted(results, key=lambda one: (one.case_id, one.policy, one.outcome)):
        reason = _objection(result, asked)
        if reason is None:
            counted[result.case_id].append(result)
        else:
            uncounted[reason].append(f"{result.case_id} ({result.policy})")
    return Standing(counted, uncounted)


def _asked(case: Case) -> dict[str, object]:
    """The digests that a result must have, of what the file says."""
    digests = {
        name: UNSET if record is None else record_digest(record)
        for name, record in (("request", case.request), ("contract", case.contract))
    }
    return {name: digest for name, digest in digests.items() if digest is not UNSET}


def _objection(result: RunResult, asked: Mapping[str, Mapping[str, object]]) -> str | None:
    if result.case_id not in asked:
        return "not in the cases file"
    held = {"request": result.request_digest, "contract": result.contract_digest}
    for name, digest in asked[result.case_id].items():
        if held[name] is UNSET:
            return f"the {name} it was held to is not recorded"
        if held[name] != digest:
            return f"held to another {name} than the cases file's"
    return None
