"""What a conversion says about itself on standard error: every span, every refused run, and what to do next."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labadapt.cli.escaping import printable
from labadapt.cli.problems import problem_as_json, render_alike
from labadapt.schema.problems import Problem

if TYPE_CHECKING:
    from labadapt.adapters.conversion import Conversion, RefusedRun
    from labadapt.adapters.span import Tally


def summary_lines(conversion: "Conversion") -> Iterator[str]:
    """The conservation sum, the runs, the notes, and the hints."""
    yield from _sum_lines(conversion.tally)
    yield f"runs: {len(conversion.runs)} converted, {len(conversion.refused)} refused"
    yield from (f"note: {printable(note)}" for note in conversion.notes)
    yield from (f"note: {printable(note)} ({count})" for note, count in sorted(conversion.tally.notes.items()))
    yield from _undeclared_lines(conversion.undeclared)
    yield from _contract_lines(conversion)


def _sum_lines(tally: "Tally") -> Iterator[str]:
    yield f"spans: {tally.read} read = {tally.used} used + {sum(tally.aside.values())} left aside"
    yield from _count_lines(tally.aside)
    if tally.records_aside:
        yield f"other records left aside: {sum(tally.records_aside.values())}"
        yield from _count_lines(tally.records_aside)


def _count_lines(counts: Mapping[str, int]) -> Iterator[str]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return (f"  {count:>8}  {printable(reason)}" for reason, count in ordered)


def _undeclared_lines(tools: Sequence[str]) -> Iterator[str]:
    if tools:
        yield f"undeclared: {', '.join(map(printable, tools))}"
        yield "  whether these read or write is unknown, so read_only cannot be evaluated; declare them:"
        yield "  labadapt mapping init EXPORT > mapping.yaml, then --mapping mapping.yaml"


def _contract_lines(conversion: "Conversion") -> Iterator[str]:
    if missing := conversion.without_contract:
        yield f"without a contract: {missing} of {len(conversion.runs)} runs"
        yield "  they cannot pass; a person writes a contract for each case:"
        yield "  labadapt cases init bundle.json > cases.yaml, then --cases cases.yaml"


def render_refused(refused: Iterable["RefusedRun"]) -> str:
    """Every problem of every refused run, each once with all its places."""
    return render_alike(problem for run in refused for problem in run.problems)


def refusal_lines(refused: Iterable["RefusedRun"]) -> Iterator[bytes]:
    """JSON Lines, one refused run a line."""
    return (_line(_refused_as_json(run)) for run in refused)


def input_refusal_lines(problems: Iterable[Problem]) -> Iterator[bytes]:
    """One JSON line for an input that was refused as a whole: it has no run."""
    yield _line({"problems": [problem_as_json(problem) for problem in problems]})


def _refused_as_json(run: "RefusedRun") -> dict[str, Any]:
    return {
        "traceId": run.trace_id,
        "caseId": run.case_id,
        "policy": run.policy,
        "spans": run.spans,
        "problems": [problem_as_json(problem) for problem in run.problems],
    }


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
