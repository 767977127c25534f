"""Validation of a bundle: every fault, not only the first.

The way for good files is short: one typed decoding and the rules that types cannot say. Only runs that fail it are
held to the JSON Schema in full, so that one bad run in many costs little.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import msgspec
from labadapt.schema.model import Bundle, Contract, Run, Step
from labadapt.schema.problems import Problem, Where
from labadapt.schema.timing import nanoseconds, timing_problems
from msgspec import UNSET

LimitsName: TypeAlias = Literal["none", "workbench"]
WORKBENCH_BYTES, WORKBENCH_RUNS, WORKBENCH_STEPS = 2_000_000, 200, 100

_decode = msgspec.json.Decoder(Bundle).decode


def validate(
    data: bytes, *, file: str | None = None, limits: LimitsName = "none", require_contract: bool = False
) -> list[Problem]:
    """Every fault of a bundle file, in document order; empty for a valid one. Total: any bytes.

    `limits` ``workbench`` holds the file to the page's limits (2 MB, 200 runs, 100 steps a run); `require_contract`
    makes a run without a contract a fault. Source of the rules: docs/format.md.
    """
    from labadapt.schema.parsing import parse

    size = _size_problems(data, file) if limits == "workbench" else []
    value, problems = parse(data, file)  # the strict reading: duplicate keys, non-finite numbers
    if problems:
        return size + problems
    runs, structure = _typed(data, value, file)
    rules = [problem for index, run in runs for problem in _run_problems(index, run, file)]
    found = [*size, *structure, *rules, *_pairs(runs, file)]
    if limits == "workbench":
        found += _workbench(runs, file)
    if require_contract:
        found += [_no_contract(index, file) for index, run in runs if run.contract is UNSET]
    return found


def _typed(data: bytes, value: Any, file: str | None) -> tuple[list[tuple[int, Run]], list[Problem]]:
    """The runs that have the right shape, with their index, and the faults of all that has not."""
    try:
        return list(enumerate(_decode(data).runs)), []
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        reason = str(error)
    from labadapt.schema.faults import faults

    items = value.get("runs") if isinstance(value, dict) else None
    if not isinstance(items, list):
        return [], faults(value, "bundle", file) or [_unsaid(reason, file)]
    good: list[tuple[int, Run]] = []
    problems = faults({**value, "runs": [_SHAPE] * min(len(items), 1)}, "bundle", file)
    for index, item in enumerate(items):
        try:
            good.append((index, msgspec.json.decode(msgspec.json.encode(item), type=Run)))
        except (msgspec.DecodeError, RecursionError, UnicodeError, TypeError, ValueError):
            problems += faults(item, "bundle", file, key="Run", start=f"/runs/{index}")
    return good, problems or [_unsaid(reason, file)]


_SHAPE = {"caseId": "c", "policy": "p", "mode": "recorded", "durationMs": 0, "steps": []}


def _unsaid(reason: str, file: str | None) -> Problem:
    """What the decoder refuses and JSON Schema has no word for, such as a lone surrogate."""
    return Problem(code="BAD_ENCODING", message=f"the file cannot be read: {reason}", where=Where(file=file))


def _run_problems(index: int, run: Run, file: str | None) -> Iterator[Problem]:
    at = f"/runs/{index}"
    for problem in (*_conditions(run, at), *_ids(run, at), *_decimals(run, at), *timing_problems(run, at)):
        yield msgspec.structs.replace(problem, where=msgspec.structs.replace(problem.where, file=file))


def _conditions(run: Run, at: str) -> Iterator[Problem]:
    """The conditions between fields; the same as `labadapt.schema.schemas.CONDITIONS`."""
    contract = run.contract
    if type(contract) is Contract and contract.expected_value is not UNSET and contract.disposition != "answer":
        message = 'expectedValue stands only with disposition "answer"'
        yield _goes_with(f"{at}/contract/expectedValue", message, f'disposition "{contract.disposition}"', "answer")
    for number, step in enumerate(run.steps):
        if step.status != "ok" and step.result is not UNSET:
            message = "result stands only with status ok"
            yield _goes_with(f"{at}/steps/{number}/result", message, f'status "{step.status}"', "ok")
        if step.error is not UNSET and step.status not in ("timeout", "error"):
            message = "error stands only with status timeout or error"
            yield _goes_with(f"{at}/steps/{number}/error", message, f'status "{step.status}"', "timeout, error")


def _goes_with(at: str, message: str, found: str, expected: str) -> Problem:
    return Problem(code="BAD_VALUE", message=message, where=Where(pointer=at), found=found, expected=expected)


def _ids(run: Run, at: str) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for number, step in enumerate(run.steps):
        first = seen.setdefault(step.id, number)
        if first != number:
            yield Problem(
                code="DUPLICATE_STEP_ID",
                message=f'the step id "{step.id}" stands twice in the run',
                where=Where(pointer=f"{at}/steps/{number}/id"),
                found=f"also at {at}/steps/{first}/id",
            )


def _decimals(run: Run, at: str) -> Iterator[Problem]:
    """Times have at most six decimals, so that every one is a whole number of nanoseconds."""
    times: list[tuple[str, float]] = [(f"{at}/durationMs", run.duration_ms)]
    for number, step in enumerate(run.steps):
        times += _times(step, f"{at}/steps/{number}")
    for place, ms in times:
        if type(ms) is float and ms != nanoseconds(ms) / 1_000_000:
            yield Problem(
                code="OUT_OF_RANGE",
                message="a time has more than six decimals",
                where=Where(pointer=place),
                found=repr(ms),
                expected="whole nanoseconds, written as milliseconds with at most six decimals",
            )


def _times(step: Step, at: str) -> list[tuple[str, float]]:
    return [
        (f"{at}/{name}", ms) for name, ms in (("startMs", step.start_ms), ("endMs", step.end_ms)) if type(ms) is float
    ]


def _pairs(runs: list[tuple[int, Run]], file: str | None) -> Iterator[Problem]:
    seen: dict[tuple[str, str], int] = {}
    for index, run in runs:
        first = seen.setdefault((run.case_id, run.policy), index)
        if first != index:
            yield Problem(
                code="DUPLICATE_PAIR",
                message=f'case "{run.case_id}" under policy "{run.policy}" stands twice',
                where=Where(file=file, pointer=f"/runs/{index}"),
                found=f"also at /runs/{first}",
                hint="Repetitions are trials: one bundle for each.",
            )


def _no_contract(index: int, file: str | None) -> Problem:
    where = Where(file=file, pointer=f"/runs/{index}/contract")
    return Problem(code="MISSING_CONTRACT", message="the run has no contract", where=where, found="nothing")


def _size_problems(data: bytes, file: str | None) -> list[Problem]:
    if len(data) <= WORKBENCH_BYTES:
        return []
    return [_too_large(Where(file=file), "the file", f"{len(data)} bytes", f"{WORKBENCH_BYTES} bytes")]


def _workbench(runs: list[tuple[int, Run]], file: str | None) -> Iterator[Problem]:
    if len(runs) > WORKBENCH_RUNS:
        yield _too_large(Where(file=file, pointer="/runs"), "the list of runs", str(len(runs)), str(WORKBENCH_RUNS))
    for index, count in sorted(Counter({index: len(run.steps) for index, run in runs}).items()):
        if count > WORKBENCH_STEPS:
            where = Where(file=file, pointer=f"/runs/{index}/steps")
            yield _too_large(where, "the list of steps", str(count), str(WORKBENCH_STEPS))


def _too_large(where: Where, what: str, found: str, most: str) -> Problem:
    hint = "Convert with --out-dir: it writes bundles that each fit."
    message = f"{what} exceeds the workbench's limit"
    return Problem(code="TOO_LARGE", message=message, where=where, found=found, expected=f"at most {most}", hint=hint)
