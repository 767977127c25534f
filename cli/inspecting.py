"""Looking into exports, and showing what is there to a person on the first day."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from labadapt.cli.escaping import printable
from labadapt.cli.session import Session

if TYPE_CHECKING:
    from labadapt.adapters.inspect import Candidate, Inspection, ToolSeen

_MOST = 5


def inspect_files(names: Iterable[str], session: Session, max_size: int | None = None) -> "Inspection":
    """What is in the files. Raises `Refusal` for what cannot be read."""
    from labadapt.adapters.conversion import Options
    from labadapt.adapters.inspect import inspect
    from labadapt.adapters.span import Limits
    from labadapt.cli.files import expand
    from labadapt.cli.progress import opened, watching
    from labadapt.cli.sources import by_content

    limits = Limits() if max_size is None else Limits(max_size=max_size)
    files = expand(names)
    with watching(files, session) as watch:
        return inspect(opened(files, watch), by_content(limits), Options(now_ns=time.time_ns(), limits=limits))


def render_inspection(seen: "Inspection") -> str:
    """For a person: the counts, then what is there, then what is missing, then the next command."""
    sections = [
        [_headline(seen)],
        list(_tools(seen.tools)),
        list(_counted("conventions", {one.name: one.spans for one in seen.conventions})),
        list(_counted("producers", {one.name or "(no scope)": one.spans for one in seen.scopes})),
        list(_names(seen)),
        list(_counted("left aside", {**seen.spans_aside, **seen.records_aside})),
        list(_warnings(seen)),
        list(_next(seen)),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def _headline(seen: "Inspection") -> str:
    files = printable(seen.files[0]) if len(seen.files) == 1 else f"{len(seen.files)} files"
    counts = [_count(seen.spans, "span"), _count(seen.traces, "trace"), _count(seen.runs, "run")]
    return f"{files} ({', '.join(map(printable, seen.sources))}): {', '.join(counts)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _tools(tools: "Sequence[ToolSeen]") -> Iterator[str]:
    if not tools:
        yield "tools: no span was recognised as a tool call"
        return
    names = [printable(tool.name) or "(no name)" for tool in tools]
    width = max(18, *(min(40, len(name)) for name in names))
    yield f"{'tools':<{width + 2}}  calls  arguments  results  ids  failed  operation"
    for name, tool in zip(names, tools, strict=True):
        counts = f"{tool.calls:>5}  {tool.with_arguments:>9}  {tool.with_results:>7}  {tool.with_call_ids:>3}"
        yield f"  {name:<{width}}  {counts}  {tool.failed:>6}  {', '.join(tool.operations)}"


def _counted(title: str, counts: Mapping[str, int]) -> Iterator[str]:
    if counts:
        yield title
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        yield from (f"  {count:>8}  {printable(name)}" for name, count in ordered)


def _names(seen: "Inspection") -> Iterator[str]:
    yield f"cases     {_candidates(seen.cases) or 'none recorded'}"
    yield f"policies  {_candidates(seen.policies) or 'none recorded'}"
    yield f"outputs   {_count(seen.outputs, 'span')} whose final message is an output"
    yield f"models    {_count(seen.model_spans, 'span')}, which propose {_count(seen.proposals, 'call')}"
    yield f"clock     steps of {seen.clock_resolution_ns} ns"


def _candidates(candidates: "Sequence[Candidate]") -> str:
    shown = [f"{printable(one.value)} ({_count(one.spans, 'span')})" for one in candidates[:_MOST]]
    return ", ".join([*shown, *(["…"] if len(candidates) > _MOST else [])])


def _warnings(seen: "Inspection") -> Iterator[str]:
    """What will be refused, and what cannot be seen."""
    if seen.concurrent:
        yield f"{_count(seen.concurrent, 'run')} with overlapping calls: refused (labadapt explain CONCURRENT_STEPS)"
    if seen.nested:
        yield f"{_count(seen.nested, 'run')} with nested calls: refused, unless --nested outer or --nested leaf"
    if seen.refused_traces:
        yield f"{_count(seen.refused_traces, 'trace')} whose spans contradict each other: refused"
    if seen.missing_parents:
        yield f"{_count(seen.missing_parents, 'parent')} missing: whether those runs came to their end is unknown"
    if seen.content_off:
        yield "no call carries arguments or a result: content capture is off"
        yield from (
            f"  {one.name}: {printable(one.capture)}" for one in seen.conventions if one.leading and one.capture
        )


def _next(seen: "Inspection") -> Iterator[str]:
    export = printable(seen.files[0]) if len(seen.files) == 1 else "FILE..."
    case = "" if seen.cases else " --case NAME" if seen.runs <= 1 else " --case-attribute KEY"
    yield "next"
    if any("unknown" in tool.operations for tool in seen.tools):
        yield f"  labadapt mapping init {export} > mapping.yaml"
        yield f"  labadapt convert {export}{case} --mapping mapping.yaml > bundle.json"
    else:
        yield f"  labadapt convert {export}{case} > bundle.json"
