"""Validation of a bundle: every fault, not only the first.

The way for good files is short: one typed decoding and the rules that types cannot say. Only runs that fail it are
held to the JSON Schema in full, so that one bad run in many costs little. What can be read of such a run is held to
the other rules all the same, so that no fault hides another.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec
from labadapt.schema.model import Bundle, Contract, Run, Step
from labadapt.schema.places import by_place, printable
from labadapt.schema.problems import Problem, Refusal, Where
from labadapt.schema.timing import Timeline, nanoseconds, timeline_of, timeline_problems
from msgspec import UNSET

LimitsName: TypeAlias = Literal["none", "workbench"]
WORKBENCH_BYTES, WORKBENCH_RUNS, WORKBENCH_STEPS = 2_000_000, 200, 100

_decode = msgspec.json.Decoder(Bundle).decode


@dataclass(frozen=True, slots=True)
class _Outline:
    """What the rules within a run and between runs ask of it; of a run with faults, as much as can be read."""

    index: int
    pair: tuple[str, str] | None
    ids: list[tuple[int, str]]
    timeline: Timeline
    step_count: int
    has_contract: bool
    run: Run | None = None  # None where the JSON Schema has told the faults of the run, broken conditions among them


def validate(
    data: bytes, *, file: str | None = None, limits: LimitsName = "none", require_contract: bool = False
) -> list[Problem]:
    """Every fault of a bundle file, in the order of their places; empty for a valid one. Total: any bytes.

    `limits` ``workbench`` holds the file to the page's limits (2 MB, 200 runs, 100 steps a run); `require_contract`
    makes a run without a contract a fault. Source of the rules: docs/format.md.
    """
    reading = _read(data, file)
    outlines, problems = reading.outlines, reading.problems
    if limits == "workbench":
        problems += [*_size_problems(data, file), *_workbench(outlines, file)]
    if require_contract:
        problems += [_no_contract(outline.index, file) for outline in outlines if not outline.has_contract]
    return by_place(problems) if problems else problems


def read_bundle(data: bytes, file: str | None = None) -> Bundle:
    """The bundle that a file holds. Raises `Refusal` with every fault that `validate` finds."""
    reading = _read(data, file)
    if reading.problems or reading.bundle is None:
        raise Refusal(by_place(reading.problems))
    return reading.bundle


@dataclass(slots=True)
class _Reading:
    """What was read of a bundle: itself where it has the right shape, the outlines of its runs, and the faults."""

    bundle: Bundle | None
    outlines: list[_Outline]
    problems: list[Problem]


def _read(data: bytes, file: str | None) -> _Reading:
    """Read a bundle, with every fault that no option asks for."""
    from labadapt.schema.parsing import parse

    parsed = parse(data, file)  # the strict reading: what typed decoding does not notice
    if not parsed.readable:
        return _Reading(None, [], parsed.problems)
    reading = _typed(data) if not parsed.problems else None
    if reading is None:
        reading = _by_runs(parsed.value, file)
    rules = [problem for outline in reading.outlines for problem in _rules(outline)]
    reading.problems = [
        *parsed.problems,
        *_untold(reading.problems, parsed.problems),
        *(_in_file(problem, file) for problem in rules),
        *_pairs(reading.outlines, file),
    ]
    return reading


def _typed(data: bytes) -> _Reading | None:
    """The short way: the bundle, or None where typed decoding does not take it."""
    try:
        bundle = _decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    return _Reading(bundle, [_outline(index, run) for index, run in enumerate(bundle.runs)], [])


def _by_runs(value: Any, file: str | None) -> _Reading:
    """The long way: each run by itself, and in full by the JSON Schema only those that have faults."""
    from labadapt.schema.faults import faults
    from labadapt.schema.schemas import with_integers

    items = value.get("runs") if isinstance(value, dict) else None
    if not isinstance(items, list):
        return _Reading(None, [], faults(value, "bundle", file))
    head = with_integers({**value, "runs": [_SHAPE] * min(len(items), 1)}, "bundle")
    problems, outlines, runs = faults(head, "bundle", file), list[_Outline](), list[Run]()
    for index, item in enumerate(items):
        run = _run(item)
        if run is not None:
            runs.append(run)
            outlines.append(_outline(index, run))
        else:
            problems += faults(with_integers(item, "bundle", "Run"), "bundle", file, key="Run", start=f"/runs/{index}")
            outlines += [_sketch(index, item)] if isinstance(item, dict) else []
    whole = not problems and len(runs) == len(items)
    bundle = msgspec.structs.replace(msgspec.convert(head, Bundle), runs=runs) if whole else None
    return _Reading(bundle, outlines, problems)


def _run(item: Any) -> Run | None:
    from labadapt.schema.schemas import with_integers

    try:
        return msgspec.convert(item, Run)
    except msgspec.ValidationError:
        pass
    try:
        return msgspec.convert(with_integers(item, "bundle", "Run"), Run)
    except msgspec.ValidationError:
        return None


_SHAPE = {"caseId": "c", "policy": "p", "mode": "recorded", "durationMs": 0, "steps": []}


def _untold(problems: list[Problem], told: list[Problem]) -> list[Problem]:
    """The problems without those of a place whose value could not be read: what it is instead of a number says less."""
    places = {problem.where.pointer for problem in told if problem.code == "OUT_OF_RANGE"}
    return [problem for problem in problems if problem.where.pointer not in places]


def _in_file(problem: Problem, file: str | None) -> Problem:
    return msgspec.structs.replace(problem, where=msgspec.structs.replace(problem.where, file=file))


# -- outlines ----------------------------------------------------------------------------------------------------------


def _outline(index: int, run: Run) -> _Outline:
    return _Outline(
        index=index,
        pair=(run.case_id, run.policy),
        ids=[(number, step.id) for number, step in enumerate(run.steps)],
        timeline=timeline_of(run),
        step_count=len(run.steps),
        has_contract=run.contract is not UNSET,
        run=run,
    )


def _sketch(index: int, item: dict[str, Any]) -> _Outline:
    """The outline of what can be read of a run with faults."""
    case_id, policy, steps = item.get("caseId"), item.get("policy"), item.get("steps")
    steps = steps if isinstance(steps, list) else []
    timed = [(number, step) for number, raw in enumerate(steps) if (step := _timed(raw)) is not None]
    ids = [(number, raw["id"]) for number, raw in enumerate(steps) if isinstance(raw, dict) and "id" in raw]
    return _Outline(
        index=index,
        pair=(case_id, policy) if isinstance(case_id, str) and isinstance(policy, str) else None,
        ids=[(number, step_id) for number, step_id in ids if isinstance(step_id, str)],
        timeline=Timeline(timed, _duration(item), item.get("mode") == "fixture" and len(timed) == len(steps)),
        step_count=len(steps),
        has_contract="contract" in item,
    )


def _timed(raw: Any) -> Step | None:
    """A step with the id and the times of one that has faults elsewhere; None where these have."""
    if not isinstance(raw, dict):
        return None
    known = {key: raw[key] for key in ("id", "startMs", "endMs") if key in raw}
    try:
        return msgspec.convert({"tool": "t", "operation": "read", "status": "ok", **known}, Step)
    except msgspec.ValidationError:
        return None


def _duration(item: dict[str, Any]) -> float | None:
    try:
        return msgspec.convert({**_SHAPE, "durationMs": item.get("durationMs")}, Run).duration_ms
    except msgspec.ValidationError:
        return None


# -- rules -------------------------------------------------------------------------------------------------------------


def _rules(outline: _Outline) -> Iterator[Problem]:
    at = f"/runs/{outline.index}"
    if outline.run is not None:
        yield from _conditions(outline.run, at)
    yield from _ids(outline.ids, at)
    yield from _decimals(outline.timeline, at)
    yield from timeline_problems(outline.timeline, at)


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


def _ids(ids: list[tuple[int, str]], at: str) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for number, step_id in ids:
        first = seen.setdefault(step_id, number)
        if first != number:
            yield Problem(
                code="DUPLICATE_STEP_ID",
                message=f'the step id "{printable(step_id)}" stands twice in the run',
                where=Where(pointer=f"{at}/steps/{number}/id"),
                found=f"also at {at}/steps/{first}/id",
            )


def _decimals(timeline: Timeline, at: str) -> Iterator[Problem]:
    """Times have at most six decimals, so that every one is a whole number of nanoseconds."""
    times = [] if timeline.duration_ms is None else [(f"{at}/durationMs", timeline.duration_ms)]
    for number, step in timeline.steps:
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


def _pairs(outlines: list[_Outline], file: str | None) -> Iterator[Problem]:
    seen: dict[tuple[str, str], int] = {}
    for outline in outlines:
        if outline.pair is None:
            continue
        first = seen.setdefault(outline.pair, outline.index)
        if first != outline.index:
            case_id, policy = map(printable, outline.pair)
            yield Problem(
                code="DUPLICATE_PAIR",
                message=f'case "{case_id}" under policy "{policy}" stands twice',
                where=Where(file=file, pointer=f"/runs/{outline.index}"),
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


def _workbench(outlines: list[_Outline], file: str | None) -> Iterator[Problem]:
    count = outlines[-1].index + 1 if outlines else 0
    if count > WORKBENCH_RUNS:
        yield _too_large(Where(file=file, pointer="/runs"), "the list of runs", str(count), str(WORKBENCH_RUNS))
    for outline in outlines:
        if outline.step_count > WORKBENCH_STEPS:
            where = Where(file=file, pointer=f"/runs/{outline.index}/steps")
            yield _too_large(where, "the list of steps", str(outline.step_count), str(WORKBENCH_STEPS))


def _too_large(where: Where, what: str, found: str, most: str) -> Problem:
    hint = "Convert with --out-dir: it writes bundles that each fit."
    message = f"{what} exceeds the workbench's limit"
    return Problem(code="TOO_LARGE", message=message, where=where, found=found, expected=f"at most {most}", hint=hint)
