"""Observations of one trace to runs: duplicates, missing and cyclic parents, and which subtree is a run.

Everything here is a function of the *set* of observations: they are sorted first, so that neither the order of spans
nor their split into files can change what follows. No recursion: a chain of parents may be as deep as it likes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeAlias

import msgspec
from labadapt.adapters.observation import Observation
from labadapt.schema.problems import Problem, Where

Children: TypeAlias = dict[str, list[Observation]]

EXACT_DUPLICATE = "exact duplicate"
UNFINISHED_COPY = "unfinished copy of a finished span"
PENDING_COPY = "pending copy of a span that arrived"
CONFLICTING_COPY = "conflicting copy of a span outside every run"
NO_RUN = "in a trace without an agent, model or tool span"
TOOL_SERVER = "a tool server's own trace: no agent in it"
OUTSIDE = "outside of every run of its trace"
STRAY = "its parent is missing, and its trace holds several runs"
EMPTY_CASE = "carries a case id, and its run is another span of the trace"

_by_start = attrgetter("start_ns", "span_id")
_CONTENT = frozenset({"tool", "agent", "model"})


class RunSpans(msgspec.Struct):
    """The spans of one run, parents before children, siblings in order of start.

    `root` is None where the run's root is missing and several spans stand at its top. `children` covers the whole
    trace, by span id of the parent. `missing` holds the ids of parents that are not in the input, `notes` what a
    person should read, `problems` what refuses the run. `traces` and
    `grouped_by`: of a conversation, the traces that are its turns, and the attribute that says so.
    """

    trace_id: str
    root: Observation | None
    spans: list[Observation]
    children: Children
    missing: tuple[str, ...] = ()
    stray: bool = False
    notes: tuple[str, ...] = ()
    problems: list[Problem] = msgspec.field(default_factory=list)
    traces: tuple[str, ...] = ()
    grouped_by: str = ""


class Trace(msgspec.Struct):
    """What a trace came to: its runs, the spans left aside by reason, and, for a trace that is refused whole, why.

    `refused_groups`: the conversations that lack a turn by that.
    """

    trace_id: str
    runs: list[RunSpans] = msgspec.field(default_factory=list)
    aside: dict[str, int] = msgspec.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    refused_spans: int = 0
    refused_groups: frozenset[str] = frozenset()

    def leave(self, reason: str, count: int = 1) -> None:
        """Count spans left aside for a reason."""
        if count:
            self.aside[reason] = self.aside.get(reason, 0) + count


def join_trace(trace_id: str, observations: list[Observation]) -> Trace:
    """Join the observations of one trace (any order, copies included) to runs.

    Every observation is in one run's `spans`, or counted in `Trace.aside`, or, where the parents run in a circle,
    in `refused_spans`.
    """
    trace = Trace(trace_id)
    ordered = sorted(observations, key=_by_start)
    spans = {observation.span_id: observation for observation in ordered}
    conflicts: list[_Conflict] = []
    if len(spans) != len(ordered):
        spans, conflicts = _without_copies(ordered, trace)
    _drop_pending(spans, trace)
    children, tops, rank = _tree(spans)
    reached = descend(tops, children)
    if len(reached) != len(spans):
        return _cyclic(trace, spans, reached, conflicts)
    trace.runs = _runs(trace, reached, tops, children, rank)
    for conflict in conflicts:
        _refuse_conflict(trace, conflict)
    return trace


def descend(tops: list[Observation], children: Children) -> list[Observation]:
    """All spans at and below `tops`, level by level, parents before children."""
    order = list(tops)
    for observation in order:  # grows while it is walked
        below = children.get(observation.span_id)
        if below is not None:
            order.extend(below)
    return order


def _tree(spans: dict[str, Observation]) -> tuple[Children, list[Observation], int | None]:
    """Children by parent, the spans whose parent is none or missing, and the best rank of a case id."""
    children: Children = {}
    tops: list[Observation] = []
    rank: int | None = None
    for observation in spans.values():
        parent = observation.parent_id
        if not parent or parent not in spans:
            tops.append(observation)
        elif parent in children:
            children[parent].append(observation)
        else:
            children[parent] = [observation]
        case = observation.case_id
        if case is not None and (rank is None or case[0] < rank):
            rank = case[0]
    return children, tops, rank


# -- copies of one span ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Conflict:
    span_id: str
    copies: int
    parents: frozenset[str]
    problem: Problem


def _without_copies(ordered: list[Observation], trace: Trace) -> tuple[dict[str, Observation], list[_Conflict]]:
    copies: dict[str, list[Observation]] = {}
    for observation in ordered:
        copies.setdefault(observation.span_id, []).append(observation)
    kept: list[Observation] = []
    conflicts: list[_Conflict] = []
    for same in copies.values():
        if len(same) == 1:
            kept.append(same[0])
            continue
        survivors = _distinct(same, trace)
        kept.append(survivors[0])
        if len(survivors) > 1:
            conflicts.append(_conflict(survivors))
    kept.sort(key=_by_start)  # the copy kept need not be the one that started first
    return {observation.span_id: observation for observation in kept}, conflicts


def _distinct(same: list[Observation], trace: Trace) -> list[Observation]:
    """The copies that differ, finished ones alone where there are any, in an order that content alone decides."""
    by_content: dict[tuple[bytes, int], Observation] = {}
    for observation in sorted(same, key=_place):
        by_content.setdefault((_content(observation), observation.digest), observation)
    distinct = list(by_content.values())
    trace.leave(EXACT_DUPLICATE, len(same) - len(distinct))
    finished = [observation for observation in distinct if observation.end_ns]
    if finished and len(finished) < len(distinct):
        trace.leave(UNFINISHED_COPY, len(distinct) - len(finished))
        distinct = finished
    return sorted(distinct, key=_content) if len(distinct) > 1 else distinct


def _place(observation: Observation) -> tuple[str, int, int]:
    where = observation.where
    return (where.file or "", where.line or 0, where.offset or 0)


def _content(observation: Observation) -> bytes:
    """What was read of a span, whatever the file it came from; no digest, which may differ between processes."""
    bare = msgspec.structs.replace(observation, digest=0, where=Where(), problem=None)
    return msgspec.json.encode(bare, order="deterministic")


def _conflict(survivors: list[Observation]) -> _Conflict:
    first = survivors[0]
    places = sorted({_describe(observation.where) for observation in survivors})
    problem = Problem(
        code="CONFLICTING_DUPLICATE",
        message=f'Span {first.span_id} ("{first.name}") arrived {len(survivors)} times with different content.',
        where=msgspec.structs.replace(first.where, trace_id=first.trace_id, span_ids=(first.span_id,)),
        found="; ".join([*places[:10], *(["…"] if len(places) > 10 else [])]),
        expected="copies of one span that are equal",
    )
    parents = frozenset(observation.parent_id for observation in survivors)
    return _Conflict(first.span_id, len(survivors), parents, problem)


def _describe(where: Where) -> str:
    parts = [where.file or "an input"]
    if where.line is not None:
        parts.append(f"line {where.line}")
    if where.offset is not None:
        parts.append(f"byte {where.offset}")
    return ", ".join(parts)


def _refuse_conflict(trace: Trace, conflict: _Conflict) -> None:
    """Refuse the run that holds the span, or all of them where the copies disagree even on the parent."""
    everywhere = len(conflict.parents) > 1
    hit = [run for run in trace.runs if everywhere or any(span.span_id == conflict.span_id for span in run.spans)]
    for run in hit:
        run.problems.append(conflict.problem)
    trace.leave("refused: CONFLICTING_DUPLICATE" if hit else CONFLICTING_COPY, conflict.copies - 1)


def _drop_pending(spans: dict[str, Observation], trace: Trace) -> None:
    """Drop the pending spans whose real span, their parent, is there."""
    for observation in [observation for observation in spans.values() if observation.pending]:
        real = spans.get(observation.parent_id)
        if real is not None and not real.pending:
            del spans[observation.span_id]
            trace.leave(PENDING_COPY)


# -- cyclic parents ----------------------------------------------------------------------------------------------------


def _cyclic(
    trace: Trace, spans: dict[str, Observation], reached: list[Observation], conflicts: list[_Conflict]
) -> Trace:
    below = {observation.span_id for observation in reached}
    circle = _circle(spans, next(key for key in spans if key not in below))
    first = spans[circle[0]]
    shown = circle[:10]
    trace.problems = (
        Problem(
            code="BAD_PARENT",
            message=f"{len(circle)} spans of the trace name each other as parents in a circle."
            if len(circle) > 1
            else f'Span {first.span_id} ("{first.name}") names itself as its parent.',
            where=msgspec.structs.replace(first.where, trace_id=trace.trace_id, span_ids=tuple(shown)),
            found=" -> ".join([*shown, "…" if len(circle) > len(shown) else circle[0]]),
            expected="parents that lead to a root",
        ),
        *(conflict.problem for conflict in conflicts),
    )
    trace.refused_groups = frozenset(span.group[1] for span in spans.values() if span.group is not None)
    trace.refused_spans = len(spans) + sum(conflict.copies - 1 for conflict in conflicts)
    return trace


def _circle(spans: dict[str, Observation], start: str) -> list[str]:
    """The span ids of the circle above `start`, from the smallest on, each followed by its parent."""
    seen: dict[str, None] = {}
    span_id = start
    while span_id not in seen:
        seen[span_id] = None
        span_id = spans[span_id].parent_id
    path = list(seen)
    circle = path[path.index(span_id) :]
    turn = circle.index(min(circle))
    return circle[turn:] + circle[:turn]


# -- runs --------------------------------------------------------------------------------------------------------------


def _runs(
    trace: Trace, reached: list[Observation], tops: list[Observation], children: Children, rank: int | None
) -> list[RunSpans]:
    if rank is None and not _holds_run(reached):
        _leave_whole(trace, reached)
        return []
    if len(tops) == 1 and (rank is None or _rank(tops[0]) == rank):
        if rank is None:
            return [_run(trace.trace_id, tops, reached, children)]
        return [_case_run(trace, tops, reached, children)]
    if rank is None:
        return _runs_at_roots(trace, reached, tops, children)
    return _runs_at_cases(trace, rank, tops, children)


def _rank(observation: Observation) -> int | None:
    return None if observation.case_id is None else observation.case_id[0]


def _holds_run(spans: list[Observation]) -> bool:
    """Whether an agent is at work here; the spans of a tool server alone are not an agent's."""
    roles = {observation.role for observation in spans}
    if "agent" in roles or "model" in roles:
        return True
    return "tool" in roles and any(not is_mcp(observation) for observation in spans if observation.role == "tool")


def is_mcp(observation: Observation) -> bool:
    """Whether the span is one of the Model Context Protocol."""
    return any(name == "mcp" or name.startswith("mcp-") for name in observation.conventions)


def _leave_whole(trace: Trace, spans: list[Observation]) -> None:
    default = TOOL_SERVER if any(observation.role == "tool" for observation in spans) else NO_RUN
    for observation in spans:
        trace.leave(observation.reason or default)


def _run(trace_id: str, tops: list[Observation], spans: list[Observation], children: Children) -> RunSpans:
    missing = sorted({top.parent_id for top in tops if top.parent_id})
    return RunSpans(trace_id, tops[0] if len(tops) == 1 else None, spans, children, tuple(missing))


def _runs_at_roots(
    trace: Trace, reached: list[Observation], tops: list[Observation], children: Children
) -> list[RunSpans]:
    """Runs of a trace that carries no case id: at its root, or where it has none, at its orphans together."""
    roots = [top for top in tops if not top.parent_id]
    if len(roots) <= 1:
        run = _run(trace.trace_id, tops, reached, children)
        run.root = roots[0] if roots else run.root
        return [run]
    runs = []
    for root in roots:
        below = descend([root], children)
        if _holds_run(below):
            runs.append(RunSpans(trace.trace_id, root, below, children))
        else:
            _leave_all(trace, below, NO_RUN)
    return _with_strays(trace, runs, [top for top in tops if top.parent_id], children)


def _runs_at_cases(trace: Trace, rank: int, tops: list[Observation], children: Children) -> list[RunSpans]:
    """Runs of a trace in which spans carry case ids: each outermost one is the root of a run."""
    roots: list[Observation] = []
    orphans: list[Observation] = []
    strays: list[Observation] = []
    for top in tops:
        found, outside = _outermost(top, rank, children)
        if found or not top.parent_id:
            _leave_all(trace, outside, OUTSIDE)
        else:
            strays.append(top)
        (orphans if found == [top] and top.parent_id else roots).extend(found)
    runs = [_case_run(trace, group, descend(group, children), children) for group in _grouped(roots, orphans)]
    return _with_strays(trace, _with_content(trace, runs), strays, children)


def _grouped(roots: list[Observation], orphans: list[Observation]) -> list[list[Observation]]:
    """The tops of each run. Orphans that carry one case id belong together, and to the one root that carries it too.

    That is how it looks when the resource, and so every span, carries the case id, and a span in between is missing.
    """
    groups = [[root] for root in roots]
    homes: dict[str, list[list[Observation]]] = {}
    for group in groups:
        homes.setdefault(_value(group[0]), []).append(group)
    for orphan in orphans:
        home = homes.setdefault(_value(orphan), [])
        if not home:
            home.append([])
            groups.append(home[0])
        if len(home) == 1:
            home[0].append(orphan)
        else:
            groups.append([orphan])
    return groups


def _value(root: Observation) -> str:
    return "" if root.case_id is None else root.case_id[1]


def _outermost(top: Observation, rank: int, children: Children) -> tuple[list[Observation], list[Observation]]:
    """The outermost spans at and below `top` that carry a case id of the rank, and the spans outside of them."""
    roots: list[Observation] = []
    outside: list[Observation] = []
    waiting = [top]
    for observation in waiting:  # grows while it is walked
        if _rank(observation) == rank:
            roots.append(observation)
        else:
            outside.append(observation)
            waiting.extend(children.get(observation.span_id, ()))
    return roots, outside


def _case_run(trace: Trace, tops: list[Observation], below: list[Observation], children: Children) -> RunSpans:
    """A run at one span that carries the case id, or at several of which at most the first is no orphan."""
    first = tops[0]
    run = RunSpans(trace.trace_id, first, below, children)
    if len(tops) > 1:
        run.root = None if _is_orphan(first, children) else first
        run.missing = tuple(sorted({top.parent_id for top in tops if _is_orphan(top, children)}))
    elif _is_orphan(first, children):
        run.notes += ("the parent of the span that carries the case id is not in the input",)
    others = {span.case_id for span in below}
    if len(others) > 2 or others - {None, first.case_id}:
        others = {case for case in others if case is not None and case[0] == _rank(first)}
    if len(others - {None}) > 1:
        run.notes += ("a span within the run carries another case id; the outermost one counts",)
    return run


def _is_orphan(observation: Observation, children: Children) -> bool:
    return bool(observation.parent_id) and observation.parent_id not in children


def _with_content(trace: Trace, runs: list[RunSpans]) -> list[RunSpans]:
    """Without the spans that carry a case id and hold no run, where another span of the trace holds that case's."""
    full = {_value(run.spans[0]) for run in runs if _holds_run(run.spans)}
    kept = []
    for run in runs:
        if _value(run.spans[0]) in full and not _holds_run(run.spans):
            _leave_all(trace, run.spans, EMPTY_CASE)
        else:
            kept.append(run)
    return kept


def _with_strays(trace: Trace, runs: list[RunSpans], strays: list[Observation], children: Children) -> list[RunSpans]:
    """Spans whose parents are missing belong to the trace's one run; with several runs nobody knows to which."""
    if not strays:
        return runs
    below = descend(strays, children)
    if len(runs) == 1:
        runs[0].spans = runs[0].spans + below
        runs[0].missing = tuple(sorted({*runs[0].missing, *(stray.parent_id for stray in strays)}))
        return runs
    _leave_all(trace, below, STRAY)
    for run in runs:
        run.stray = True
    return runs


def _leave_all(trace: Trace, spans: Iterable[Observation], reason: str) -> None:
    for observation in spans:
        trace.leave(observation.reason or reason)
