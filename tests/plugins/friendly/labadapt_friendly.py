"""A source and a convention of an invented product, ACME: two values, named by two entry points."""

from collections.abc import Iterator

from labadapt.adapters.span import Convention, Field, Input, Match, Origin, Reading, Source, SourceOption, Span
from labadapt.schema.problems import Problem, Refusal, Where

MAGIC = b"#acme spans\n"
COLUMNS = 7


def claims(head: bytes) -> int:
    return 100 if head.startswith(MAGIC) else 0


def decode(given: Input, reading: Reading) -> Iterator[Span]:
    """One span a line: trace id, span id, parent id, start, end, name, and ``key=value;key=value``."""
    wanted = reading.options.get("tenant")
    try:
        lines = given.stream.read().decode().splitlines()
    except UnicodeDecodeError as error:
        where = Where(file=given.name, offset=error.start)
        raise Refusal(Problem(code="BAD_ENCODING", message="the file is not UTF-8", where=where)) from None
    for number, line in enumerate(lines, 1):
        if not line.startswith("#") and (wanted is None or f"tenant={wanted}" in line):
            reading.tally.read += 1
            yield span(line, Where(file=given.name, line=number))


def span(line: str, where: Where) -> Span:
    cells = line.split("|")
    if len(cells) != COLUMNS:
        raise Refusal(Problem(code="BAD_FIELD", message=f"a line of {len(cells)} cells", where=where, expected="7"))
    trace_id, span_id, parent_id, start, end, name, attributes = cells
    if not (start.isdigit() and end.isdigit()) or not all("=" in pair for pair in attributes.split(";")):
        raise Refusal(Problem(code="BAD_FIELD", message="a line that is cut", where=where, found=line[:40]))
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        name=name,
        start_ns=int(start),
        end_ns=int(end),
        origin=Origin({}, "acme", "", {}),
        attributes=dict(pair.split("=", 1) for pair in attributes.split(";")),
        where=where,
    )


TABULAR = Source(
    name="tabular",
    summary="Convert ACME's tabular traces.",
    claims=claims,
    decode=decode,
    options=(SourceOption("--tenant", "Only the spans of this tenant."),),
)

ACME = Convention(
    name="acme",
    title="ACME agents",
    specification="the README of ACME agents",
    version="1",
    family="plugin",
    order=1,
    tool=(Match(attribute="acme.kind", equals=("tool",)),),
    agent=(Match(attribute="acme.kind", equals=("agent",)),),
    tool_name=(Field("acme.tool"),),
    arguments=(Field("acme.arguments", encoding="json"),),
    result=(Field("acme.result", encoding="json"),),
)
