"""What is in an export: for the first day, before anything is converted or declared."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec
from labadapt.adapters.conversion import Options
from labadapt.adapters.convert import Into, SourceChoice, named, read_traces
from labadapt.adapters.join import RunSpans, Trace, join_trace
from labadapt.adapters.keeping import HeldObservations, Traces
from labadapt.adapters.observation import Observation
from labadapt.adapters.sequence import sort_roles
from labadapt.adapters.span import Convention, Input, Source, Tally
from labadapt.adapters.structure import arrange
from msgspec import UNSET

MOST_SHOWN = 20


class ToolSeen(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One tool: how many spans call it, and how many of those carry arguments, a result, a call id, and failed."""

    name: str
    calls: int
    with_arguments: int
    with_results: int
    with_call_ids: int
    failed: int
    operations: list[str]


class ConventionSeen(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One convention, how many spans it claims, of how many it is the first to be asked, and its content setting."""

    name: str
    spans: int
    leading: int
    capture: str


class ScopeSeen(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One instrumentation scope, and the number of its spans by role."""

    name: str
    spans: int
    roles: dict[str, int]


class Candidate(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A name that telemetry offers for a case or policy, and on how many spans it stands."""

    value: str
    spans: int


class Inspection(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was found.

    `clock_resolution_ns`: the largest power of ten, at most one millisecond, that divides every time. `concurrent` and
    `nested` count runs. `content_off`: tools are called, and no call carries arguments or a result.
    """

    files: list[str]
    sources: list[str]
    spans: int
    traces: int
    runs: int
    records_aside: dict[str, int]
    spans_aside: dict[str, int]
    scopes: list[ScopeSeen]
    conventions: list[ConventionSeen]
    tools: list[ToolSeen]
    cases: list[Candidate]
    policies: list[Candidate]
    model_spans: int
    proposals: int
    outputs: int
    missing_parents: int
    refused_traces: int
    concurrent: int
    nested: int
    content_off: bool
    clock_resolution_ns: int


@dataclass(slots=True)
class _Seen:
    """Counts while the observations pass by."""

    scopes: dict[str, Counter[str]] = field(default_factory=dict)
    conventions: Counter[str] = field(default_factory=Counter)
    leading: Counter[str] = field(default_factory=Counter)
    tools: dict[str, Counter[str]] = field(default_factory=dict)
    cases: Counter[str] = field(default_factory=Counter)
    policies: Counter[str] = field(default_factory=Counter)
    model_spans: int = 0
    proposals: int = 0
    outputs: int = 0
    resolution: int = 1_000_000


def inspect(
    inputs: Iterable[Input],
    source: Source | SourceChoice,
    options: Options,
    conventions: Sequence[Convention] | None = None,
) -> Inspection:
    """Read the inputs and say what is in them. Raises `Refusal` for what cannot be read; an empty input is no fault."""
    tally = Tally()
    files: list[str] = []
    kept = HeldObservations()
    names = read_traces(named(inputs, files), source, options, conventions, Into(tally, kept))
    return inspect_traces(kept.by_trace, tally, files, sorted(names), _captures(conventions))


def _captures(conventions: Sequence[Convention] | None) -> dict[str, str]:
    from labadapt.adapters.registry import conventions as installed

    return {table.name: table.capture for table in (installed().admitted() if conventions is None else conventions)}


def inspect_traces(
    traces: Traces, tally: Tally, files: list[str], sources: list[str], captures: dict[str, str]
) -> Inspection:
    """The same for observations that were read already."""
    seen = _Seen()
    for observations in traces.values():
        for observation in observations:
            _look(seen, observation)
    joined = [join_trace(trace_id, traces[trace_id]) for trace_id in sorted(traces)]
    runs = [run for trace in joined for run in trace.runs]
    codes = Counter(code for run in runs for code in _structure(run))
    tools = _tools(seen)
    return Inspection(
        files=files,
        sources=sources,
        spans=tally.read,
        traces=len(traces),
        runs=len(runs),
        records_aside=dict(sorted(tally.records_aside.items())),
        spans_aside=_aside(joined, runs),
        scopes=_scopes(seen),
        conventions=_conventions(seen, captures),
        tools=tools,
        cases=_candidates(seen.cases),
        policies=_candidates(seen.policies),
        model_spans=seen.model_spans,
        proposals=seen.proposals,
        outputs=seen.outputs,
        missing_parents=sum(len(run.missing) for run in runs),
        refused_traces=sum(1 for trace in joined if trace.problems),
        concurrent=codes["CONCURRENT_STEPS"],
        nested=codes["NESTED_STEPS"],
        content_off=bool(tools) and not any(tool.with_arguments or tool.with_results for tool in tools),
        clock_resolution_ns=seen.resolution if traces else 1,
    )


def _look(seen: _Seen, observation: Observation) -> None:
    seen.scopes.setdefault(observation.scope, Counter())[observation.role] += 1
    seen.conventions.update(observation.conventions)
    seen.leading.update(observation.conventions[:1])
    if observation.case_id is not None:
        seen.cases[observation.case_id[1]] += 1
    if observation.policy is not None:
        seen.policies[observation.policy[1]] += 1
    if observation.role == "model":
        seen.model_spans += 1
        seen.proposals += len(observation.proposals)
    if isinstance(observation.output, dict) or observation.lab_output is not UNSET:
        seen.outputs += 1
    while observation.start_ns % seen.resolution or observation.end_ns % seen.resolution:
        seen.resolution //= 10
    if observation.role == "tool":
        _look_at_call(seen, observation)


def _look_at_call(seen: _Seen, observation: Observation) -> None:
    call = observation.call
    if call is None:
        return
    counts = seen.tools.setdefault(call.tool, Counter())
    counts["calls"] += 1
    counts["arguments"] += call.arguments is not UNSET
    counts["results"] += call.result is not UNSET
    counts["ids"] += bool(call.call_id)
    counts["failed"] += call.status in ("error", "timeout")
    counts[f"operation {call.operation}"] += 1


def _structure(run: RunSpans) -> set[str]:
    """Which of the two structural refusals the run would meet."""
    roles = sort_roles(run)
    tools = sorted(roles.tools, key=lambda tool: (tool.start_ns, tool.end_ns, tool.span_id))
    if not tools or any(tool.end_ns < tool.start_ns for tool in tools):
        return set()
    codes = {problem.code for problem in arrange(run, tools, "refuse").problems}
    if "NESTED_STEPS" in codes:
        codes |= {problem.code for problem in arrange(run, tools, "leaf").problems}
    return codes


def _aside(joined: Sequence[Trace], runs: list[RunSpans]) -> dict[str, int]:
    aside: Counter[str] = Counter()
    for trace in joined:
        aside.update(trace.aside)
        if trace.problems:
            aside[f"refused: {trace.problems[0].code}"] += trace.refused_spans
    for run in runs:
        aside.update(sort_roles(run).aside)
    return dict(sorted(aside.items()))


def _tools(seen: _Seen) -> list[ToolSeen]:
    return [
        ToolSeen(
            name=name,
            calls=counts["calls"],
            with_arguments=counts["arguments"],
            with_results=counts["results"],
            with_call_ids=counts["ids"],
            failed=counts["failed"],
            operations=sorted(key.split()[1] for key in counts if key.startswith("operation ")),
        )
        for name, counts in sorted(seen.tools.items())
    ]


def _scopes(seen: _Seen) -> list[ScopeSeen]:
    return [
        ScopeSeen(name=name, spans=roles.total(), roles=dict(sorted(roles.items())))
        for name, roles in sorted(seen.scopes.items())
    ]


def _conventions(seen: _Seen, captures: dict[str, str]) -> list[ConventionSeen]:
    return [
        ConventionSeen(name=name, spans=spans, leading=seen.leading[name], capture=captures.get(name, ""))
        for name, spans in sorted(seen.conventions.items())
    ]


def _candidates(counts: Counter[str]) -> list[Candidate]:
    """The most frequent names first."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [Candidate(value=value, spans=spans) for value, spans in ranked[:MOST_SHOWN]]
