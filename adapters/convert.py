"""The whole way from inputs to runs: read, recognise each span at once, join, sequence, attach the cases.

Of every span only the small `Observation` is kept. The sum always holds: spans read = spans used + spans left aside.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import NamedTuple, TypeAlias

import msgspec
from labadapt.adapters.cases import attach
from labadapt.adapters.conversion import Conversion, Options, RefusedRun
from labadapt.adapters.grouping import Turns
from labadapt.adapters.identity import Matcher, identify, label, matchers
from labadapt.adapters.join import RunSpans, Trace, join_trace
from labadapt.adapters.keeping import Held, HeldRuns, Keeping, Made, Observations, Runs, Traces
from labadapt.adapters.mapping import rules
from labadapt.adapters.sequence import Identity, Way, sequence
from labadapt.adapters.span import Convention, Input, Reading, Source, Tally
from labadapt.schema.problems import Problem, Refusal, Where
from msgspec import UNSET

SourceChoice: TypeAlias = Callable[[Input], Source]

UNKNOWN_NAME = Identity("", "")


def convert(
    inputs: Iterable[Input],
    source: Source | SourceChoice,
    options: Options,
    conventions: Sequence[Convention] | None = None,
    keeping: Keeping | None = None,
) -> Conversion:
    """Convert inputs to runs; spans are joined across all of them.

    `source` reads every input, or is asked for each input which source reads it (it may look at the stream, not
    consume it). `conventions`: those installed, unless others are given. `keeping`: where observations and runs wait,
    in memory unless another place is given. Refused runs are in the conversion; raised are only refusals of the input
    itself, `NO_SPANS` and `NO_RUNS` among them.
    """
    keeping = keeping or Held()
    tally = Tally()
    files: list[str] = []
    names = read_traces(named(inputs, files), source, options, conventions, Into(tally, keeping.observations))
    require_spans(tally, files)
    return require_runs(assembled(keeping, options, tally, "+".join(sorted(names))), files)


def require_spans(tally: Tally, files: Sequence[str]) -> None:
    """Refuse inputs without a span (``NO_SPANS``)."""
    if not tally.read:
        raise Refusal(_no_spans(tally, Where(file=files[0]) if len(files) == 1 else Where()))


def require_runs(conversion: Conversion, files: Sequence[str]) -> Conversion:
    """The conversion; refuse inputs whose spans hold no run of an agent (``NO_RUNS``)."""
    if not conversion.runs and not conversion.refused:
        raise Refusal(_no_runs(conversion.tally, Where(file=files[0]) if len(files) == 1 else Where()))
    return conversion


@dataclass(frozen=True, slots=True)
class Into:
    """What receives what is read: the count of it, and its observations."""

    tally: Tally
    observations: Observations


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
    into: "Into",
) -> set[str]:
    """Read inputs into what counts and keeps; returns the names of the sources that read them."""
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
        tally=into.tally,
        limits=options.limits,
        now_ns=options.now_ns,
        options=options.source_options,
    )
    recognise = recogniser.recognise
    add = into.observations.add
    names: set[str] = set()
    for item in inputs:
        chosen = source if isinstance(source, Source) else source(item)
        names.add(chosen.name)
        for span in chosen.decode(item, reading):
            add(recognise(span))
    return names


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


@dataclass(slots=True)
class _Assembly:
    """What is built up trace by trace."""

    options: Options
    way: Way
    matching: tuple[Matcher, ...]
    tally: Tally
    runs: Runs
    refused: list[RefusedRun] = field(default_factory=list)
    notes: dict[str, tuple[int, str]] = field(default_factory=dict)
    undeclared: set[str] = field(default_factory=set)
    bare: int = 0


def assemble(traces: Traces, options: Options, tally: Tally, source: str = "") -> Conversion:
    """Make runs of the observations of each trace (the traces are consumed). `tally` receives the sum of spans.

    The same observations give the same conversion, whatever their order and the order of the traces.
    """
    return assembled(Held(traces), options, tally, source)


def assembled(keeping: Keeping, options: Options, tally: Tally, source: str) -> Conversion:
    """The same of observations that are kept anywhere; so are the runs."""
    assembly = _begun(options, tally, source, keeping.runs)
    turns = Turns()
    for trace_id, observations in keeping.observations.traces():
        trace = join_trace(trace_id, observations)
        if options.group_by is not None:
            turns.take(trace)
        _add_trace(assembly, trace)
    for spans in turns.conversations(options.group_by or ""):
        _add_run(assembly, spans)
    return _finished(assembly)


def _begun(options: Options, tally: Tally, source: str, runs: Runs) -> _Assembly:
    way = Way(rules(options.mapping), options.nested, source, options.version)
    return _Assembly(options, way, matchers(options.cases), tally, runs)


def _finished(assembly: _Assembly) -> Conversion:
    """What can be told only when every trace has been seen."""
    kept = _kept(assembly)
    assembly.refused.sort(key=lambda refused: (refused.case_id, refused.policy, refused.trace_id))
    return Conversion(
        runs=assembly.runs.chosen(kept),
        refused=assembly.refused,
        tally=assembly.tally,
        undeclared=sorted(assembly.undeclared),
        notes=_told(assembly.notes),
        without_contract=assembly.bare,
    )


class Part(NamedTuple):
    """What some of the traces came to, before anything is known of the others."""

    made: list[Made]
    refused: list[RefusedRun]
    tally: Tally


def part_of(traces: Traces, options: Options, source: str) -> Part:
    """Make runs of whole traces, for `together`. Not with `group_by`, whose runs may stand in several parts."""
    runs = HeldRuns()
    assembly = _begun(options, Tally(), source, runs)
    for trace_id in sorted(traces):
        _add_trace(assembly, join_trace(trace_id, traces.pop(trace_id)))
    return Part([made for _, made in runs.ordered()], assembly.refused, assembly.tally)


def together(parts: Iterable[Part], options: Options, tally: Tally, source: str, runs: Runs) -> Conversion:
    """The conversion of the traces of all parts, as `assembled` gives it."""
    assembly = _begun(options, tally, source, runs)
    for part in parts:
        assembly.refused += part.refused
        tally.add(part.tally)
        for made in part.made:
            runs.add(made)
    return _finished(assembly)


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
        assembly.runs.add(Made(run, sequenced, spans.trace_id, first, len(spans.spans)))


def _refuse(assembly: _Assembly, identity: Identity, trace_id: str, problems: tuple[Problem, ...], spans: int) -> None:
    placed = tuple(_placed(problem, identity, trace_id) for problem in problems)
    assembly.refused.append(RefusedRun(trace_id, identity.case_id, identity.policy, placed, spans))
    assembly.tally.leave(f"refused: {placed[0].code}", spans)


def _placed(problem: Problem, identity: Identity, trace_id: str) -> Problem:
    if problem.where.trace_id is None:
        problem = msgspec.structs.replace(problem, where=msgspec.structs.replace(problem.where, trace_id=trace_id))
    return problem if identity is UNKNOWN_NAME else label(identity, problem)


def _account(assembly: _Assembly, one: Made) -> None:
    assembly.tally.used += one.sequenced.used
    for reason, count in one.sequenced.aside.items():
        assembly.tally.leave(reason, count)
    for note in one.sequenced.notes:
        count, first = assembly.notes.get(note, (0, one.trace_id))
        assembly.notes[note] = (count + 1, min(first, one.trace_id))
    assembly.undeclared.update(one.sequenced.undeclared)
    assembly.bare += one.run.contract is UNSET


def _told(notes: dict[str, tuple[int, str]]) -> list[str]:
    """Each note once, with how many runs it is about and the first of their traces."""
    told = []
    for text, (count, first) in sorted(notes.items()):
        about = f"trace {first}" if count == 1 else f"{count} times, first in trace {first}"
        told.append(f"{text} ({about})")
    return told


# -- repetitions -------------------------------------------------------------------------------------------------------


def _kept(assembly: _Assembly) -> "array[int]":
    """The numbers of the runs that stand, in order; each is accounted for.

    Unless trials are wanted, every run of a case and policy that stands more than once is refused: nobody says which
    of them is meant. They follow each other, so that one run at a time is looked at.
    """
    kept = array("q")
    for _, same in groupby(assembly.runs.ordered(), key=_pair):
        for number, one in _standing(assembly, same):
            kept.append(number)
            _account(assembly, one)
    return kept


def _standing(assembly: _Assembly, same: Iterator[tuple[int, Made]]) -> Iterator[tuple[int, Made]]:
    """Of the runs of one case and policy those that stand: all of them, or none."""
    first = next(same)
    second = None if assembly.options.trials else next(same, None)
    if second is None:
        return chain([first], same)
    _refuse_repeated(assembly, [_Repeated.of(made) for _, made in chain([first, second], same)])
    return iter(())


def _pair(numbered: tuple[int, Made]) -> tuple[str, str]:
    run = numbered[1].run
    return run.case_id, run.policy


class _Repeated(NamedTuple):
    """What is told of a run that stands more than once."""

    case_id: str
    policy: str
    trace_id: str
    span_id: str
    spans: int

    @classmethod
    def of(cls, made: Made) -> "_Repeated":
        return cls(made.run.case_id, made.run.policy, made.trace_id, made.span_id, made.spans)


def _refuse_repeated(assembly: _Assembly, same: list[_Repeated]) -> None:
    problem = _repeated(same)
    for one in same:
        _refuse(assembly, Identity(one.case_id, one.policy), one.trace_id, (problem,), one.spans)


def _repeated(same: list[_Repeated]) -> Problem:
    first = same[0]
    shown = [f"trace {one.trace_id} (span {one.span_id})" for one in same[:10]]
    return Problem(
        code="DUPLICATE_PAIR",
        message=f'Case "{first.case_id}" under policy "{first.policy}" stands {len(same)} times.',
        where=Where(span_ids=()),
        found="; ".join(shown) + ("; …" if len(same) > len(shown) else ""),
        expected="each case and policy once",
    )
