"""The cases file: read, checked, and joined to runs."""

import msgspec
from labadapt.schema.cases import Case, CasesFile
from labadapt.schema.model import Request, Run
from labadapt.schema.problems import Problem, Refusal, Where
from msgspec import UNSET


def attach(run: Run, cases: CasesFile) -> Run:
    """The run with the request and contract that its case has. Refused: `MISSING_CASE`, `REQUEST_MISMATCH`.

    The contract of the cases file counts, being the one that people review; a request that the run already carries
    must be the same.
    """
    case = cases.cases.get(run.case_id)
    if case is None:
        raise Refusal(_missing(run, cases))
    request = run.request
    if case.request is not UNSET and case.request is not None:
        if request is not UNSET and request != case.request:
            raise Refusal(_mismatch(run, request, case.request))
        request = case.request
    contract = run.contract if case.contract is UNSET or case.contract is None else case.contract
    return msgspec.structs.replace(run, request=request, contract=contract, provenance=_provenance(run, case))


def _provenance(run: Run, case: Case) -> object:
    if case.scenario_version is UNSET:
        return run.provenance
    return {**(run.provenance or {}), "scenarioVersion": case.scenario_version}


def _missing(run: Run, cases: CasesFile) -> Problem:
    known = sorted(cases.cases)
    return Problem(
        code="MISSING_CASE",
        message=f'The cases file has no case "{run.case_id}".',
        where=Where(run=f"{run.case_id} / {run.policy}"),
        found=run.case_id,
        expected="one of " + ", ".join(known[:10]) + (" …" if len(known) > 10 else ""),
    )


def _mismatch(run: Run, found: Request, expected: Request) -> Problem:
    return Problem(
        code="REQUEST_MISMATCH",
        message=f'The run of case "{run.case_id}" and the cases file disagree on the request.',
        where=Where(run=f"{run.case_id} / {run.policy}", pointer="/request"),
        found=_text(found),
        expected=_text(expected),
    )


def _text(request: Request) -> str:
    return msgspec.json.encode(request, order="deterministic").decode()
