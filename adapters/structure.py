"""Which tool spans of a run are its calls: one call seen by several spans, calls within calls, calls at once."""

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec
from labadapt.adapters.conversion import Nested
from labadapt.adapters.join import RunSpans, is_mcp
from labadapt.adapters.observation import Call, Observation
from labadapt.schema.problems import Problem, Where
from msgspec import UNSET

SAME_CALL_MCP = "the same call, as the Model Context Protocol sees it"
SAME_CALL_INSIDE = "the same call, as a second instrumentation sees it"
NESTED_OUTER = "inside another tool call (--nested outer)"
NESTED_LEAF = "encloses other tool calls (--nested leaf)"
# What is heard of a call from within: a part that failed, and above all one that says that nothing was invoked.
_SEVERITY = {"ok": 0, "unknown": 0, "error": 1, "timeout": 2, "blocked": 3}
MOST_PROBLEMS = 20  # of one kind in one run; a million spans at once are no million messages


class Arranged(msgspec.Struct):
    """The tool spans that are the run's calls, in order of time, and why the others are not.

    `calls` holds, by span id, the calls that took a field over from another span of the same call.
    """

    kept: list[Observation]
    calls: dict[str, Call] = msgspec.field(default_factory=dict)
    aside: dict[str, int] = msgspec.field(default_factory=dict)
    problems: list[Problem] = msgspec.field(default_factory=list)
    dropped: frozenset[str] = frozenset()

    def leave(self, reason: str) -> None:
        """Count one span left aside."""
        self.aside[reason] = self.aside.get(reason, 0) + 1

    def hear(self, host: Observation, part: Call) -> None:
        """Take over what a span within the tool span `host`, a part of its call, says of how the call came out."""
        call = self.calls.get(host.span_id, host.call)
        if call is not None and _SEVERITY[part.status] > _SEVERITY[call.status]:
            fields = {name: table for name, table in call.fields.items() if name != "result"}
            self.calls[host.span_id] = msgspec.structs.replace(
                call,
                status=part.status,
                result=UNSET,
                error_type=part.error_type,
                error_message=part.error_message,
                fields=fields,
            )

    def absorb(self, host: Observation, guest: Observation, reason: str) -> None:
        """Leave `guest` aside as another view of the call of `host`, which takes over what it did not record."""
        self.leave(reason)
        if host.call is not None and guest.call is not None:
            call = self.calls.get(host.span_id, host.call)
            self.calls[host.span_id] = _filled(call, guest.call)


def arrange(run: RunSpans, tools: list[Observation], nested: Nested, *, enclosing: bool = True) -> Arranged:
    """Decide which of the tool spans are calls of the run.

    `tools` in order of (start, end, span id); `enclosing`: one of them has spans within it.
    """
    arranged = Arranged(tools)
    if enclosing:
        _unfold(run, arranged, nested)
    start_ns = run.root.start_ns if run.root is not None else min(span.start_ns for span in run.spans)
    _sweep(arranged, start_ns)
    return arranged


# -- calls within calls ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shelter:
    """The tool span around others; `direct` while no agent or model stands in between."""

    tool: Observation
    direct: bool


def _unfold(run: RunSpans, arranged: Arranged, nested: Nested) -> None:
    candidates = {tool.span_id for tool in arranged.kept}
    around: dict[str, _Shelter] = {}  # by span id: what encloses the children of that span
    outer_of: dict[str, Observation] = {}
    gone: set[str] = set()
    for span in run.spans:
        shelter = around.get(span.parent_id)
        if span.span_id in candidates:
            if shelter is not None and shelter.direct and (reason := _same_call(shelter.tool, span)):
                arranged.absorb(shelter.tool, span, reason)
                gone.add(span.span_id)
                around[span.span_id] = shelter
                continue
            if shelter is not None:
                outer_of[span.span_id] = shelter.tool
            around[span.span_id] = _Shelter(span, True)
        elif shelter is not None:
            if span.role == "aside" and span.call is not None and shelter.direct:
                arranged.hear(shelter.tool, span.call)
            crossing = span.role in ("agent", "model")
            around[span.span_id] = _Shelter(shelter.tool, False) if crossing and shelter.direct else shelter
    arranged.kept = [tool for tool in arranged.kept if tool.span_id not in gone]
    if outer_of:
        _choose(run, arranged, nested, outer_of)


def _same_call(host: Observation, guest: Observation) -> str:
    """Why `guest`, directly within `host`, is the same call; empty if it is another one."""
    outer, inner = host.call, guest.call
    if outer is None or inner is None or not _compatible_ids(outer, inner):
        return ""
    unlike = outer.arguments is not UNSET and inner.arguments is not UNSET and not _equal_arguments(outer, inner)
    if is_mcp(guest) and not unlike and _same_name(outer.tool, inner.tool):
        return SAME_CALL_MCP
    if host.scope != guest.scope and outer.tool == inner.tool and _equal_arguments(outer, inner):
        return SAME_CALL_INSIDE
    return ""


def _same_name(outer: str, inner: str) -> bool:
    """Frameworks put the server's name before that of the tool, as in ``mcp__metrics__query``; some record none."""
    return (
        not inner
        or outer == inner
        or (outer.endswith(inner) and outer[: -len(inner)].endswith(("_", ".", "-", "/", ":")))
    )


def _compatible_ids(one: Call, other: Call) -> bool:
    return not one.call_id or not other.call_id or one.call_id == other.call_id


def _equal_arguments(one: Call, other: Call) -> bool:
    """Whether both recorded their arguments, and the same ones. `1`, `1.0` and `true` differ."""
    if one.arguments is UNSET or other.arguments is UNSET:
        return False
    encode = msgspec.json.encode
    return encode(one.arguments, order="deterministic") == encode(other.arguments, order="deterministic")


def _filled(call: Call, other: Call) -> Call:
    """The call with what it did not record taken from another span of the same call, and where that came from."""
    fields = dict(call.fields)
    changes: dict[str, object] = {}
    source = other.conventions[0] if other.conventions else ""
    for name, absent in (("call_id", ""), ("arguments", UNSET), ("result", UNSET), ("operation", "unknown")):
        theirs = getattr(other, name)
        if getattr(call, name) == absent and theirs != absent:
            changes[name] = theirs
            fields[name] = other.fields.get(name, source)
    if call.status == "error" and other.status == "timeout":  # the same failure, of which the other span knows more
        changes["status"] = "timeout"
        fields["status"] = other.fields.get("tool_name", source)
    if not changes:
        return call
    names = tuple(dict.fromkeys((*call.conventions, *other.conventions)))
    return msgspec.structs.replace(call, **changes, fields=fields, conventions=names)


def _choose(run: RunSpans, arranged: Arranged, nested: Nested, outer_of: dict[str, Observation]) -> None:
    outers = {tool.span_id for tool in outer_of.values()}
    if nested == "refuse":
        start_ns = run.root.start_ns if run.root is not None else run.spans[0].start_ns
        pairs = [(outer_of[tool.span_id], tool) for tool in arranged.kept if tool.span_id in outer_of]
        arranged.problems.extend(_capped((_nested_problem(*pair, start_ns) for pair in pairs), len(pairs)))
    drop, reason = (set(outer_of), NESTED_OUTER) if nested == "outer" else (outers, NESTED_LEAF)
    for _ in drop if nested != "refuse" else ():
        arranged.leave(reason)
    arranged.dropped = frozenset(drop)
    arranged.kept = [tool for tool in arranged.kept if tool.span_id not in drop]


def _nested_problem(outer: Observation, inner: Observation, start_ns: int) -> Problem:
    return Problem(
        code="NESTED_STEPS",
        message=f"Tool call {named(inner)} runs inside tool call {named(outer)}.",
        where=place(outer, inner),
        found=f"{interval(outer, start_ns)}; within it {interval(inner, start_ns)}",
        expected="one tool call after another",
    )


# -- calls at once -----------------------------------------------------------------------------------------------------


def _sweep(arranged: Arranged, start_ns: int) -> None:
    """Find the calls that overlap, and those that are one call seen twice. Touching ends are no overlap."""
    kept: list[Observation] = []
    pairs: list[tuple[Observation, Observation]] = []
    last: Observation | None = None
    last_end = -1
    seen_by: dict[str, set[str]] = {}
    for tool in arranged.kept:
        if last is not None and (tool.start_ns < last_end or tool.start_ns == last.start_ns):
            scopes = seen_by.setdefault(last.span_id, {last.scope})
            if _is_twin(last, tool) and tool.scope not in scopes:
                scopes.add(tool.scope)
                arranged.absorb(last, tool, SAME_CALL_INSIDE)
                continue
            if tool.start_ns < last_end:
                pairs.append((last, tool))
        kept.append(tool)
        if tool.end_ns >= last_end:
            last, last_end = tool, tool.end_ns
    arranged.kept = kept
    if pairs and not arranged.problems:
        arranged.problems.extend(_capped((_concurrent_problem(*pair, start_ns) for pair in pairs), len(pairs)))


def _is_twin(one: Observation, other: Observation) -> bool:
    """Whether two overlapping spans, neither inside the other, are one call seen by two instrumentations."""
    if one.scope == other.scope or one.call is None or other.call is None or one.call.tool != other.call.tool:
        return False
    if other.start_ns >= one.end_ns and (one.start_ns, one.end_ns) != (other.start_ns, other.end_ns):
        return False
    return _compatible_ids(one.call, other.call) and _equal_arguments(one.call, other.call)


def _concurrent_problem(one: Observation, other: Observation, start_ns: int) -> Problem:
    overlap = min(one.end_ns, other.end_ns) - other.start_ns
    return Problem(
        code="CONCURRENT_STEPS",
        message=f"Tool calls {named(one)} and {named(other)} overlap"
        + (f" by {in_ms(overlap)} ms." if overlap else ": the second lies within the first."),
        where=place(one, other),
        found=f"{interval(one, start_ns)}; {interval(other, start_ns)}",
        expected="one tool call after another",
    )


# -- words for people --------------------------------------------------------------------------------------------------


def _capped(problems: Iterable[Problem], count: int) -> list[Problem]:
    shown = [problem for problem, _ in zip(problems, range(MOST_PROBLEMS), strict=False)]
    if count > MOST_PROBLEMS:
        last = shown[-1]
        shown[-1] = msgspec.structs.replace(last, message=f"{last.message} {count - MOST_PROBLEMS} more pairs do.")
    return shown


def named(tool: Observation) -> str:
    """The tool's name and the span's id."""
    return f'"{tool.call.tool if tool.call is not None else tool.name}" (span {tool.span_id})'


def interval(span: Observation, start_ns: int) -> str:
    """Both times of a span, in milliseconds since the start of its run."""
    return f"{span.span_id}: {in_ms(span.start_ns - start_ns)} to {in_ms(span.end_ns - start_ns)} ms"


def in_ms(nanoseconds: int) -> str:
    """Nanoseconds in milliseconds, exactly, without trailing zeros."""
    sign = "-" if nanoseconds < 0 else ""
    whole, rest = divmod(abs(nanoseconds), 1_000_000)
    return f"{sign}{whole}" + (f".{rest:06d}".rstrip("0") if rest else "")


def place(*spans: Observation) -> Where:
    """The place of one span or several of one trace."""
    first = spans[0]
    return msgspec.structs.replace(first.where, trace_id=first.trace_id, span_ids=tuple(span.span_id for span in spans))
