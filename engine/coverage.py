"""Loops by classes of failure: which cells have cases, and what results show of them (docs/results.md)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from labadapt.engine.likeness import THRESHOLD, equal_groups, similar, text_of
from labadapt.engine.rates import left_out
from labadapt.engine.standing import Standing, standing
from labadapt.schema.cases import Case, CasesFile
from labadapt.schema.coverage import FAILURE_CLASSES, Cell, CellCounts, CellState, Coverage, Likeness
from labadapt.schema.result import Outcome, RunResult

EQUAL = "the same request after normalising"
Place: TypeAlias = tuple[str | None, str | None]  # loop and failure class


def coverage(cases: CasesFile, results: Iterable[RunResult] | None = None) -> Coverage:
    """What the cases cover, and where results are given what they show, in whatever order they come. Total."""
    stood = standing(results or (), cases)
    by_place = _by_place(cases)
    loops = sorted({loop for loop, _ in by_place if loop is not None})
    own = sorted({name for _, name in by_place if name is not None} - {*FAILURE_CLASSES})
    classes = [*FAILURE_CLASSES, *own]
    cells = [_cell(loop, name, by_place.get((loop, name), ()), cases, stood) for loop in loops for name in classes]
    empty = [cell for cell in cells if not cell.open.cases]
    return Coverage(
        schema_version=1,
        loops=loops,
        failure_classes=classes,
        own_classes=own,
        with_results=results is not None,
        cells=cells,
        empty=[(cell.loop, cell.failure_class) for cell in empty],
        holdout_only=[(cell.loop, cell.failure_class) for cell in empty if cell.holdout.cases],
        unplaced=left_out(_unplaced(by_place)),
        uncounted=left_out(stood.uncounted),
        near_duplicates=list(_near_duplicates(by_place, cases)),
        likeness_threshold=THRESHOLD,
        alike_spellings=list(_alike_spellings(classes, own)),
    )


def _by_place(cases: CasesFile) -> Mapping[Place, list[str]]:
    places: dict[Place, list[str]] = defaultdict(list)
    for name in sorted(cases.cases):
        case = cases.cases[name]
        places[case.loop or None, case.failure_class or None].append(name)
    return places


def _unplaced(by_place: Mapping[Place, list[str]]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = defaultdict(list)
    for (loop, name), cases in by_place.items():
        missing = [word for word, value in (("loop", loop), ("failureClass", name)) if value is None]
        if missing:
            reasons[f"no {' and no '.join(missing)}"] += cases
    return {reason: sorted(ids) for reason, ids in reasons.items()}


def is_held_out(case: Case) -> bool:
    """Whether a case is kept apart from those that people tune on."""
    return case.holdout is True


# -- cells -------------------------------------------------------------------------------------------------------------


def _cell(loop: str, name: str, ids: Sequence[str], cases: CasesFile, stood: Standing) -> Cell:
    held = [one for one in ids if is_held_out(cases.cases[one])]
    tuned = [one for one in ids if not is_held_out(cases.cases[one])]
    return Cell(loop=loop, failure_class=name, open=_counts(tuned, stood), holdout=_counts(held, stood))


def _counts(ids: list[str], stood: Standing) -> CellCounts:
    outcomes = {one: {result.outcome for result in stood.counted[one]} for one in ids}
    counts: Counter[Outcome] = Counter(result.outcome for one in ids for result in stood.counted[one])
    return CellCounts(
        cases=ids,
        passed=counts["pass"],
        failed=counts["fail"],
        inconclusive=counts["inconclusive"],
        not_run=[one for one in ids if not outcomes[one]],
        undecided=[one for one in ids if outcomes[one] == {"inconclusive"}],
        state=_state(ids, counts),
    )


def _state(ids: Sequence[str], counts: Mapping[Outcome, int]) -> CellState:
    if counts.get("pass") or counts.get("fail"):
        return "decided"
    if counts.get("inconclusive"):
        return "undecided"
    return "not run" if ids else "no case"


# -- cases that are alike ----------------------------------------------------------------------------------------------


def _near_duplicates(by_place: Mapping[Place, list[str]], cases: CasesFile) -> Iterator[Likeness]:
    """Within one cell only: the same request with another failure provoked is another case."""
    for place in sorted(by_place, key=lambda one: (one[0] or "", one[1] or "")):
        texts = {one: text_of(cases.cases[one]) for one in by_place[place]}
        groups = equal_groups(texts)
        for group in groups:
            if len(group) > 1:
                yield _likeness(group, place, cases, 1.0, EQUAL)
        firsts = {group[0]: texts[group[0]] for group in groups}
        for one, other, similarity in similar(firsts):
            yield _likeness((one, other), place, cases, similarity, f"{similarity:.2f} of their words are shared")


def _likeness(ids: Sequence[str], place: Place, cases: CasesFile, similarity: float, reason: str) -> Likeness:
    held = {is_held_out(cases.cases[one]) for one in ids}
    return Likeness(
        cases=list(ids),
        loop=place[0],
        failure_class=place[1],
        similarity=similarity,
        across_holdout=len(held) > 1,
        reason=reason,
    )


def _alike_spellings(classes: Sequence[str], own: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Own classes that are another class but for case and separators: most likely a misspelt one."""
    known: dict[str, str] = {}
    for name in classes:
        first = known.setdefault("".join(filter(str.isalnum, name.casefold())), name)
        if first != name and name in own:
            yield name, first
