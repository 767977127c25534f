"""The whole way from inputs to runs: read, recognise each span at once, join, sequence, attach the cases.

Of every span only the small `Observation` is kept. The sum always holds: spans read = spans used + spans left aside.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec
from labadapt.adapters.cases import attach
from labadapt.adapters.conversion import Conversion, Options, RefusedRun
from labadapt.adapters.grouping import Turns
from labadapt.adapters.identity import Matcher, identify, label, matchers
from labadapt.adapters.join import RunSpans, Trace, join_trace
from labadapt.adapters.mapping import rules
from labadapt.adapters.observation import Observation
from labadapt.adapters.sequence import Identity, Sequenced, Way, sequence
from labadapt.adapters.span import Convention, Input, Reading, Source, Tally
from labadapt.schema.model import Run
from labadapt.schema.problems import Problem, Refusal, Where
from msgspec import UNSET

SourceChoice: TypeAlias = Callable[[Input], Source]
Traces: TypeAlias = dict[str, list[Observation]]

UNKNOWN_NAME = Identity("", "")


def convert(
    inputs: Iterable[Input],
    source: Source | SourceChoice,
    options: Options,
    conventions: Sequence[Convention] | None = None,
) -> Conversion:
    """Convert inputs to runs; spans are joined across all of them.

    `source` reads every input, or is asked for each input which source reads it (it may look at the stream, not
    consume it). `conventions`: those installed, unless others are given. Refused runs are in the conversion; raised
    are only refusals of the input itself, `NO_SPANS` and `NO_RUNS` among them.
    """
    tally = Tally()
    files: list[str] = []
    traces, names = read_traces(named(inputs, files), source, options, conventions, tally)
    where = Where(file=files[0]) if len(files) == 1 else Where()
    if not tally.read:
        raise Refusal(_no_spans(tally, where))
    conversion = assemble(traces, options, tally, "+".join(sorted(names)))
    if not conversion.runs and not conversion.refused:
        raise Refusal(_no_runs(tally, where))
    return conversion


def named(inputs: Iterable[Input], files: list[str]) -> Iterator[Input]:
    """The inputs; the name of each is put into `files` when it is read."""
    for item in inputs:
        files.append(item.name)
        yield item


def read_traces(
    inputs: Iterable[Input],
    source: Source | SourceChoice,
    options: Options,
    conventions: Sequence[Convention] | None,
    tally: Tally,
) -> tuple[Traces, set[str]]:
    """Read inputs to the observations of each trace, and the names of the sources that read them."""
    from labadapt.adapters.recognise import Recogniser
    from labadapt.adapters.registry import conventions as installed

    viewed = needs_view(options)
    recogniser = Recogniser(
        installed().admitted() if conventions is None else conventions,
        case_attribute=options.case_attribute,
        policy_attribute=options.policy_attribute,
        group_by=options.group_by,
        keep_input=viewed,
        keep_attributes=viewed,
    )
    reading = Reading(
        wanted=recogniser.wanted,
        tally=tally,
        limits=options.limits,
        now_ns=options.now_ns,
        options=options.source_options,
    )
    recognise = recogniser.recognise
    traces: Traces = {}
    names: set[str] = set()
    for item in inputs:
        chosen = source if isinstance(source, Source) else source(item)
        names.add(chosen.name)
        for span in chosen.decode(item, reading):
            observation = recognise(span)
            same = traces.get(observation.trace_id)
            if same is None:
                traces[observation.trace_id] = [observation]
            else:
                same.append(observation)
    return traces, names


def needs_view(options: Options) -> bool:
    """Whether an expression or a `match` needs what the agent was asked, and all attributes."""
    mapping, cases = options.mapping, options.cases
    if mapping is not None and mapping.run is not UNSET:
        return True
    return cases is not None and any(case.match is not UNSET for case in cases.cases.values())


def _no_spans(tally: Tally, where: Where) -> Problem:
    seen = ", ".join(f"{count} {reason}" for reason, count in sorted(tally.records_aside.items()))
    return Problem(
        code="NO_SPANS",
        message="The input holds no span.",
        where=where,
        found=seen or "nothing else",
        expected="spans of a trace",
    )


def _no_runs(tally: Tally, where: Where) -> Problem:
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(tally.aside.items()))
    return Problem(
        code="NO_RUNS",
        message=f"None of the {tally.read} spans belongs to a run of an agent.",
        where=where,
        found=reasons,
        expected="at least one agent, model or tool span that a convention recognises",
    )


# -- runs --------------------------------------------------------------------------------------------------------------


class _Made(msgspec.Struct, frozen=True):
    """A run, and of its spans only what is told of them; the spans themselves are let go."""

    run: Run
    sequenced: Sequenced
    trace_id: str
    span_id: str
    spans: int


@dataclass(slots=True)
class _Assembly:
    """What is built up trace by trace."""

    options: Options
    way: Way
    matching: tuple[Matcher, ...]
    tally: Tally
    made: list[_Made] = field(default_factory=list)
    refused: list[RefusedRun] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=dict)


def assemble(traces: Traces, options: Options, tally: Tally, source: str = "") -> Conversion:
    """Make runs of the observations of each trace (the traces are consumed). `tally` receives the sum of spans.

    The same observations give the same conversion, whatever their order and the order of the traces.
    """
    way = Way(rules(options.mapping), options.nested, source, options.version)
    assembly = _Assembly(options, way, matchers(options.cases), tally)
    turns = Turns()
    for trace_id in sorted(traces):
        trace = join_trace(trace_id, traces.pop(trace_id))
        if options.group_by is not None:
            turns.take(trace)
        _add_trace(assembly, trace)
    for spans in turns.conversations(options.group_by or ""):
        _add_run(assembly, spans)
    made = sorted(assembly.made, key=_order)
    if not options.trials:
        made = _without_repetitions(assembly, made)
    for one in made:
        _account(assembly, one)
    assembly.refused.sort(key=lambda refused: (refused.case_id, refused.policy, refused.trace_id))
    return Conversion(
        runs=[one.run for one in made],
        refused=assembly.refused,
        tally=tally,
        undeclared=sorted({tool for one in made for tool in one.sequenced.undeclared}),
        notes=_told(assembly.notes),
    )


def _order(one: _Made) -> tuple[str, str, int, str, str]:
    return (one.run.case_id, one.run.policy, one.sequenced.start_ns, one.trace_id, one.span_id)


def _add_trace(assembly: _Assembly, trace: Trace) -> None:
    for reason, count in trace.aside.items():
        assembly.tally.leave(reason, count)
    if trace.problems:
        _refuse(assembly, UNKNOWN_NAME, trace.trace_id, trace.problems, trace.refused_spans)
    for spans in trace.runs:
        _add_run(assembly, spans)


def _add_run(assembly: _Assembly, spans: RunSpans) -> None:
    options = assembly.options
    identity = UNKNOWN_NAME
    try:
        identity = identify(spans, options, assembly.way.rules, assembly.matching)
        sequenced = sequence(spans, identity, assembly.way)
        run = sequenced.run if options.cases is None else attach(sequenced.run, options.cases)
    except Refusal as refusal:
        _refuse(assembly, identity, spans.trace_id, refusal.problems, len(spans.spans))
    else:
        first = spans.spans[0].span_id
        assembly.made.append(_Made(run, sequenced, spans.trace_id, first, len(spans.spans)))


def _refuse(assembly: _Assembly, identity: Identity, trace_id: str, problems: tuple[Problem, ...], spans: int) -> None:
    placed = tuple(_placed(problem, identity, trace_id) for problem in problems)
    assembly.refused.append(RefusedRun(trace_id, identity.case_id, identity.policy, placed, spans))
    assembly.tally.leave(f"refused: {placed[0].code}", spans)


def _placed(problem: Problem, identity: Identity, trace_id: str) -> Problem:
    if problem.where.trace_id is None:
        problem = msgspec.structs.replace(problem, where=msgspec.structs.replace(problem.where, trace_id=trace_id))
    return problem if identity is UNKNOWN_NAME else label(identity, problem)


def _account(assembly: _Assembly, one: _Made) -> None:
    assembly.tally.used += one.sequenced.used
    for reason, count in one.sequenced.aside.items():
        assembly.tally.leave(reason, count)
    for note in one.sequenced.notes:
        assembly.notes.setdefault(note, []).append(one.trace_id)


def _told(notes: dict[str, list[str]]) -> list[str]:
    """Each note once, with how many runs it is about and the first of their traces."""
    told = []
    for text, traces in sorted(notes.items()):
        distinct = len(traces)
        about = f"trace {min(traces)}" if distinct == 1 else f"{distinct} times, first in trace {min(traces)}"
        told.append(f"{text} ({about})")
    return told


# -- repetitions -------------------------------------------------------------------------------------------------------


def _without_repetitions(assembly: _Assembly, made: list[_Made]) -> list[_Made]:
    """Refuse every run of a case and policy that stands more than once: nobody says which of them is meant."""
    pairs: dict[tuple[str, str], list[_Made]] = {}
    for one in made:
        pairs.setdefault((one.run.case_id, one.run.policy), []).append(one)
    kept = []
    for same in pairs.values():
        if len(same) == 1:
            kept.append(same[0])
            continue
        problem = _repeated(same)
        for one in same:
            identity = Identity(one.run.case_id, one.run.policy)
            _refuse(assembly, identity, one.trace_id, (problem,), one.spans)
    return kept


def _repeated(same: list[_Made]) -> Problem:
    first = same[0].run
    shown = [f"trace {one.trace_id} (span {one.span_id})" for one in same[:10]]
    return Problem(
        code="DUPLICATE_PAIR",
        message=f'Case "{first.case_id}" under policy "{first.policy}" stands {len(same)} times.',
        where=Where(span_ids=()),
        found="; ".join(shown) + ("; …" if len(same) > len(shown) else ""),
        expected="each case and policy once",
    )
