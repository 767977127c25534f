"""What every source promises of any bytes: spans, or a refusal that says where; bounded in time; nothing else.

`examine` is asked by hypothesis, by the coverage-guided fuzzer, and for each kept find.
"""

import io
import unicodedata
from collections.abc import Callable
from pathlib import Path

from labadapt.adapters.choice import choose
from labadapt.adapters.conversion import Options
from labadapt.adapters.convert import convert
from labadapt.adapters.inspect import inspect
from labadapt.adapters.registry import sources
from labadapt.adapters.span import Input, Limits, Reading, Source, Span, Tally, Wanted
from labadapt.cli.inspecting import render_inspection
from labadapt.cli.problems import problem_as_json, render_problem
from labadapt.schema.codec import decode_bundle, encode_bundle
from labadapt.schema.model import Bundle
from labadapt.schema.problems import CODES, Problem, Refusal

NOW = 1_796_200_000_000_000_000
SAMPLES = Path(__file__).parents[2] / "samples"
LIMITS = Limits(max_size=2**25, max_span=2**20)
WHOLE_INPUT = frozenset({"NO_SPANS", "NOT_TRACES"})  # told at the end, of the file as a whole
HEX = frozenset("0123456789abcdef")
OWN = ("otlp", "protojson", "tempo", "jaeger", "java-logging", "zipkin", "phoenix", "python-console", "go-stdout")
OWN += ("clickhouse", "mlflow")


def seeds() -> dict[str, list[Path]]:
    """Samples by the source that reads them; of every producer the shortest episode."""
    found: dict[str, list[Path]] = {name: [] for name in OWN}
    for path in sorted((SAMPLES / "formats").iterdir()):
        name = next((name for name in sorted(OWN, key=len, reverse=True) if path.name.startswith(name)), None)
        name = {"go-structs.json": "protojson"}.get(path.name, name)
        if name and path.suffix != ".md":
            found[name].append(path)
    for producer in sorted(path for path in (SAMPLES / "producers").iterdir() if path.is_dir()):
        found["otlp"].append(min(producer.iterdir(), key=lambda path: (path.stat().st_size, path.name)))
    return found


def examine(source: str, data: bytes) -> str:
    """Ask a source for everything in some bytes, and the whole way for what the content says; the outcome in a word.

    Raises AssertionError, or whatever leaves a source that should not.
    """
    outcome = _outcome(lambda: _decoded(source, data))
    _outcome(lambda: _converted(data))
    _outcome(lambda: _inspected(data))
    return outcome


def _outcome(ask: Callable[[], object]) -> str:
    refused: tuple[Problem, ...] = ()
    try:
        ask()
    except Refusal as refusal:
        refused = refusal.problems
    for problem in refused:
        _check(problem)
    return refused[0].code if refused else "read"


def _decoded(source: str, data: bytes) -> None:
    tally = Tally()
    reading = Reading(wanted=Wanted(everything=True), tally=tally, limits=LIMITS, now_ns=NOW)
    spans = list(sources()[source].decode(Input("traces", io.BytesIO(data)), reading))
    assert len(spans) == tally.read > 0
    for span in spans:
        _check_span(span)


def _check_span(span: Span) -> None:
    assert len(span.trace_id) == 32
    assert len(span.span_id) == 16
    assert len(span.parent_id) in {0, 16}
    assert set(span.trace_id + span.span_id + span.parent_id) <= HEX
    assert type(span.start_ns) is type(span.end_ns) is int
    assert span.start_ns > 0 <= span.end_ns
    assert type(span.status_code) is type(span.kind) is type(span.dropped) is int
    for text in (span.name, span.status_message, span.origin.scope_name, span.origin.scope_version):
        assert isinstance(text, str)
        text.encode()
    assert span.where.file == "traces"


def _input(data: bytes) -> Input:
    return Input("traces", io.BufferedReader(io.BytesIO(data)))  # type: ignore[arg-type] # any raw stream will do


def _chosen(item: Input) -> Source:
    return choose(item, [sources()[name] for name in OWN], LIMITS)


def _inspected(data: bytes) -> None:
    """What a person sees of an export on the first day."""
    shown = render_inspection(inspect([_input(data)], _chosen, Options(now_ns=NOW, limits=LIMITS)))
    assert not _commands(shown.replace("\n", ""))


def _converted(data: bytes) -> None:
    """From the choice of the source to the bytes of a bundle."""
    conversion = convert([_input(data)], _chosen, Options(now_ns=NOW, limits=LIMITS))
    tally = conversion.tally
    assert tally.read == tally.used + sum(tally.aside.values()) > 0
    for refused in conversion.refused:
        for problem in refused.problems:
            assert problem.where.trace_id is not None
            _check_told(problem)
    if conversion.runs:
        written = encode_bundle(Bundle(schema_version=1, runs=conversion.runs))
        assert encode_bundle(decode_bundle(written)) == written


def _check(problem: Problem) -> None:
    _check_told(problem)
    where = problem.where
    assert where.file == "traces" or problem.code == "NO_RUNS" or where.file is None is where.line, problem
    if problem.code not in WHOLE_INPUT | {"NO_RUNS"}:
        assert where.file == "traces", problem
        assert where.line is not None or where.offset is not None, problem
    if where.span_ids:
        assert all(len(one) == 16 and HEX.issuperset(one) for one in where.span_ids), problem
    if where.pointer:
        assert where.pointer.startswith("/"), problem


def _check_told(problem: Problem) -> None:
    """A problem is of the table, and nothing of the input reaches a terminal through it."""
    assert problem.code in CODES
    assert problem.code not in {"INTERNAL", "BAD_PLUGIN", "BAD_USAGE"}, problem
    shown = render_problem(problem).replace("\x1b[31m\x1b[1m", "").replace("\x1b[0m", "").replace("\n  ", "")
    assert not _commands(shown), problem
    assert problem_as_json(problem)
    assert len(shown) < 6_000, f"{len(shown)} characters of {problem.code}"


def _commands(shown: str) -> set[str]:
    """The characters that a terminal obeys."""
    return {one for one in set(shown) if unicodedata.category(one) in {"Cc", "Cs", "Zl", "Zp"}}
