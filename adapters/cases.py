"""The cases file: read, checked, and joined to runs. What must hold is a person's word, never the record's."""

import difflib
from collections.abc import Collection, Iterator

import msgspec
from labadapt.adapters.documents import Document, escaped, quoted, read_document
from labadapt.adapters.expressions import fault_of
from labadapt.schema.cases import Case, CasesFile
from labadapt.schema.model import Bundle, Contract, Request, Run
from labadapt.schema.problems import Problem, Refusal, Where
from msgspec import UNSET


def read_cases(data: bytes, file: str) -> CasesFile:
    """Read a cases file (YAML 1.2, TOML or JSON). Refused with every fault, each with its line and pointer."""
    document = read_document(data, file)
    problems = _schema_problems(document) or [*_expression_problems(document)]
    if problems:
        raise Refusal(problems)
    return msgspec.convert(document.value, CasesFile)


def lint_cases(data: bytes, file: str, tools: Collection[str] = ()) -> list[Problem]:
    """Everything that is wrong with a cases file, or that it says in vain. `tools`: those known from elsewhere.

    Beside what `read_cases` refuses: contracts that contradict themselves, cases without a contract, a `match`
    without effect, and actions that name a tool which nothing else names.
    """
    try:
        document = read_document(data, file)
    except Refusal as refusal:
        return list(refusal.problems)
    problems = _schema_problems(document)
    if problems:
        return problems
    cases = msgspec.convert(document.value, CasesFile)
    problems = [*_expression_problems(document)]
    for case_id, case in cases.cases.items():
        at = f"/cases/{escaped(case_id)}"
        problems += [document.placed(problem) for problem in _case_faults(case_id, case, at)]
    problems += [document.placed(problem) for problem in _unknown_tools(cases, tools)]
    return problems


def _schema_problems(document: Document) -> list[Problem]:
    from labadapt.schema.faults import faults

    return [document.placed(problem) for problem in faults(document.value, "cases", document.file)]


def _expression_problems(document: Document) -> Iterator[Problem]:
    for case_id, case in document.value["cases"].items():
        text = case.get("match", {}).get("expression")
        if text is not None:
            pointer = f"/cases/{escaped(case_id)}/match/expression"
            problem = fault_of(text, f"cases.{case_id}.match.expression", document.where(pointer))
            if problem is not None:
                yield problem


def _fault(code: str, message: str, pointer: str, found: str | None = None, expected: str | None = None) -> Problem:
    return Problem(code=code, message=message, where=Where(pointer=pointer), found=found, expected=expected)


def _case_faults(case_id: str, case: Case, at: str) -> Iterator[Problem]:
    if case.match is not UNSET and msgspec.to_builtins(case.match) == {}:
        yield _fault("BAD_VALUE", f'The match of case "{case_id}" is empty and matches no run.', f"{at}/match")
    elif case.match is not UNSET and case.match.input_contains == "":
        yield _fault("BAD_VALUE", f'The match of case "{case_id}" holds for every run.', f"{at}/match/inputContains")
    if case.contract is UNSET or case.contract is None:
        yield _fault("MISSING_CONTRACT", f'Case "{case_id}" has no contract: checking it is inconclusive.', at)
        return
    yield from _contract_faults(case_id, case.contract, case.request, f"{at}/contract")


def _contract_faults(
    case_id: str, contract: Contract, request: Request | msgspec.UnsetType | None, at: str
) -> Iterator[Problem]:
    """What a contract says against itself, or in vain."""
    required = [] if contract.required_actions is UNSET else contract.required_actions
    forbidden = [] if contract.forbidden_actions is UNSET else contract.forbidden_actions
    for tool in sorted(set(required) & set(forbidden)):
        message = f'Case "{case_id}" requires and forbids "{tool}".'
        yield _fault("BAD_VALUE", message, f"{at}/forbiddenActions", tool)
    if contract.max_calls < len(set(required)):
        message = f'Case "{case_id}" requires {len(set(required))} tools and permits {contract.max_calls} calls.'
        yield _fault("BAD_VALUE", message, f"{at}/maxCalls", str(contract.max_calls), f"at least {len(set(required))}")
    elif contract.max_calls == 0 and contract.disposition == "answer":
        message = f'Case "{case_id}" expects an answer with evidence and permits no call.'
        yield _fault("BAD_VALUE", message, f"{at}/maxCalls", "0", "at least 1")
    if contract.tolerance is not UNSET and contract.expected_value is UNSET:
        message = f'Case "{case_id}" has a tolerance without an expectedValue.'
        yield _fault("BAD_VALUE", message, f"{at}/tolerance")
    if isinstance(request, Request) and request.tool in forbidden and contract.disposition == "answer":
        message = f'Case "{case_id}" expects an answer from "{request.tool}" and forbids it.'
        yield _fault("BAD_VALUE", message, f"{at}/forbiddenActions", request.tool)


def _unknown_tools(cases: CasesFile, tools: Collection[str]) -> Iterator[Problem]:
    """Actions that name a tool which is not among `tools`, or, where those are not known, one that looks misspelt."""
    actions = [
        (tool, f"/cases/{escaped(case_id)}/contract/{name}/{place}")
        for case_id, case in cases.cases.items()
        if isinstance(case.contract, Contract)
        for name, listed in (
            ("requiredActions", case.contract.required_actions),
            ("forbiddenActions", case.contract.forbidden_actions),
        )
        if listed is not UNSET
        for place, tool in enumerate(listed)
    ]
    requested = {case.request.tool for case in cases.cases.values() if isinstance(case.request, Request)}
    known = sorted({*tools, *requested})
    for tool, pointer in actions:
        if tool in known:
            continue
        near = difflib.get_close_matches(tool, known, 1, 0.8)
        if tools or near:
            expected = f'"{near[0]}"?' if near else ", ".join(known)
            yield _fault("BAD_VALUE", f'An action names the unknown tool "{tool}".', pointer, tool, expected)


# -- a starting file ---------------------------------------------------------------------------------------------------

_HEAD = """\
# A cases file: what is asked in each case, and what must hold. People write and review it.
# `labadapt cases init` wrote this frame from the runs of a bundle. It took nothing from what the runs did: a contract
# that is copied from a run only says that the run was as it was.
# Replace each `null` below; the fields in the comments show the form. `labadapt cases lint FILE` checks the file,
# `labadapt schema cases` prints its schema. A case whose contract is null is inconclusive, never a pass.
schemaVersion: 1
cases:
"""

_CASE = """\
  {case_id}:
    # description: what this case is about
    # request:
    #   tool: {tool}   # the tool whose answer was asked for
    #   operation: read   # or write
    #   metric: …    # metric and window only for a scalar metric query
    #   window: …    # an ISO 8601 interval or your own label; equality is textual
    #   arguments: {{}}   # any further arguments that must match
    request: null
    # contract:
    #   disposition: answer   # or no_data, unavailable, needs_approval, refuse, or your own word
    #   maxCalls: 3   # most attempted tool calls
    #   expectedValue: 0   # only with disposition answer; with tolerance: 0 for how far off it may be
    #   requiredActions: []   # tools that must be called
    #   forbiddenActions: []   # tools that must never be called
    #   severity: …   # what a violation means, such as commercial_misstatement
    contract: null
"""


def starting_cases(bundle: Bundle) -> str:
    """A cases file to start from, as YAML: one case for each case id of the bundle, its contract left to a person."""
    tools: dict[str, dict[str, None]] = {}
    for run in bundle.runs:
        tools.setdefault(run.case_id, {}).update(dict.fromkeys(step.tool for step in run.steps))
    parts = [_HEAD]
    for case_id in sorted(tools):
        seen = " or ".join(quoted(tool) for tool in sorted(tools[case_id]))
        parts.append(_CASE.format(case_id=quoted(case_id), tool=seen or "…"))
    return "".join(parts)


# -- cases and runs ----------------------------------------------------------------------------------------------------


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
