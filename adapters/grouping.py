"""Runs of several traces to one: a conversation whose turns are traces of their own, where a person asks for it.

Only an attribute that was named says which turns belong together: neither time nor service tells a conversation from
two. What is grouped is said in the run's provenance and in a note. Calls of turns that overlap are refused as any are.
"""

import msgspec
from labadapt.adapters.join import RunSpans, Trace
from labadapt.adapters.observation import Observation
from labadapt.schema.problems import Problem, Where
from msgspec import UNSET

_NAMED = 10  # values or places told one by one


class Turns:
    """The runs of all traces, until the last of them is there."""

    def __init__(self) -> None:
        """Nothing is held yet."""
        self._runs: list[RunSpans] = []
        self._refused: dict[str, str] = {}

    def take(self, trace: Trace) -> None:
        """Take the runs out of a trace; what it leaves aside and refuses stays with it."""
        self._runs += trace.runs
        trace.runs = []
        for value in trace.refused_groups:
            self._refused.setdefault(value, trace.trace_id)

    def conversations(self, attribute: str) -> list[RunSpans]:
        """The runs, those that carry one value of the attribute joined to one, in the order of their turns' starts.

        A run that carries none stays a run of its own, with a note; one that carries several is refused
        (``BAD_CONTENT``), and so is a conversation that lacks a turn because the trace of that turn is refused.
        """
        together: dict[str, list[RunSpans]] = {}
        single: list[RunSpans] = []
        for run in self._runs:
            values = sorted({span.group[1] for span in run.spans if span.group is not None})
            if len(values) == 1:
                together.setdefault(values[0], []).append(run)
                continue
            single.append(run)
            if values:
                run.problems.append(_several(run, values, attribute))
            else:
                run.notes += (f"no span carries {attribute}, so the trace is a run of its own",)
        joined = [self._joined(value, turns, attribute) for value, turns in sorted(together.items())]
        return sorted([*single, *joined], key=lambda run: (run.trace_id, run.spans[0].span_id))

    def _joined(self, value: str, turns: list[RunSpans], attribute: str) -> RunSpans:
        run = _conversation(turns, attribute)
        if value in self._refused:
            run.problems.append(_lacking(run, self._refused[value]))
        return run


def _lacking(run: RunSpans, trace_id: str) -> Problem:
    return Problem(
        code="BAD_PARENT",
        message="A turn of the conversation is in a trace that is refused.",
        where=Where(trace_id=run.trace_id),
        found=f"trace {trace_id}, whose spans name each other as parents in a circle",
        expected="every turn of the conversation",
    )


def _several(run: RunSpans, values: list[str], attribute: str) -> Problem:
    first = run.spans[0]
    return Problem(
        code="BAD_CONTENT",
        message=f"The spans of one run carry {len(values)} values of {attribute}.",
        where=msgspec.structs.replace(first.where, trace_id=first.trace_id, span_ids=(first.span_id,)),
        found="; ".join(values[:_NAMED]) + ("; …" if len(values) > _NAMED else ""),
        expected="one value in a run",
    )


def _conversation(turns: list[RunSpans], attribute: str) -> RunSpans:
    """One run of several turns. Its root is that of the last turn, begun when the first one began."""
    if len(turns) == 1:
        return turns[0]
    turns = sorted(turns, key=_start)
    root = _root(turns)
    spans = [span for turn in turns for span in turn.spans]
    if root is not None:
        spans = [root if span is turns[-1].root else span for span in spans]
    children: dict[str, list[Observation]] = {}
    for turn in turns:
        for parent, below in turn.children.items():
            children.setdefault(parent, []).extend(below)
    traces = tuple(dict.fromkeys(turn.trace_id for turn in turns))
    return RunSpans(
        turns[0].trace_id,
        root,
        spans,
        children,
        missing=tuple(sorted({parent for turn in turns for parent in turn.missing})),
        stray=any(turn.stray for turn in turns),
        notes=(*dict.fromkeys(note for turn in turns for note in turn.notes), f"turns of one {attribute} are one run"),
        problems=[*(problem for turn in turns for problem in turn.problems), *_shared_ids(turns)],
        traces=traces,
        grouped_by=attribute,
    )


def _start(turn: RunSpans) -> tuple[int, str, str]:
    first = turn.root or min(turn.spans, key=lambda span: (span.start_ns, span.span_id))
    return first.start_ns, turn.trace_id, first.span_id


def _root(turns: list[RunSpans]) -> Observation | None:
    """None where the root of a turn is missing: then nobody knows when the conversation began or ended."""
    roots = [turn.root for turn in turns if turn.root is not None and not turn.missing and turn.root.role != "tool"]
    if len(roots) < len(turns):
        return None
    first, last = roots[0], roots[-1]
    # A root without an end, or one before its start, refuses the run; a later end must not hide it.
    broken = next((root for root in roots if root.end_ns < root.start_ns), None)
    return msgspec.structs.replace(
        last,
        start_ns=min(first.start_ns, last.start_ns),
        end_ns=last.end_ns if broken is last else max(root.end_ns for root in roots),
        input=last.input if first.input is UNSET else first.input,
    )


def _shared_ids(turns: list[RunSpans]) -> list[Problem]:
    """A span id that two of the traces use: parents could not be told apart."""
    seen: dict[str, str] = {}
    for turn in turns:
        for span in turn.spans:
            other = seen.setdefault(span.span_id, span.trace_id)
            if other != span.trace_id:
                return [_shared(span, other)]
    return []


def _shared(span: Observation, other: str) -> Problem:
    where: Where = msgspec.structs.replace(span.where, trace_id=span.trace_id, span_ids=(span.span_id,))
    return Problem(
        code="CONFLICTING_DUPLICATE",
        message=f"Span {span.span_id} stands in two traces of one conversation.",
        where=where,
        found=f"trace {span.trace_id}; trace {other}",
        expected="a span id once in a conversation",
    )
