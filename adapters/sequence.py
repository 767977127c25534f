"""The spans of one run to a `Run`: its tool calls one after another, what it came to, and what it used.

Every rule is that of format.md (timing, steps, status) or telemetry.md (which span is a call). A run that the
sequential format cannot hold is refused with every problem that was found; nothing is moved, clamped or guessed.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Any

import msgspec
from labadapt.adapters.callids import Joined, join_proposals
from labadapt.adapters.conclusion import WRONG_PARTS, decoded, final_message, output_of, status_of
from labadapt.adapters.consumption import INCOMPLETE, run_usage
from labadapt.adapters.conversion import Nested
from labadapt.adapters.join import RunSpans
from labadapt.adapters.mapping import Rules, ToolRule
from labadapt.adapters.observation import Call, Observation
from labadapt.adapters.structure import MOST_PROBLEMS, Arranged, arrange, in_ms, interval, named, place
from labadapt.adapters.toolresult import result_of, shown
from labadapt.schema.model import Output, Run, RunUsage, Step, StepError
from labadapt.schema.problems import Problem, Refusal
from labadapt.schema.timing import milliseconds
from msgspec import UNSET, UnsetType

NOT_NEEDED = "no agent, model or tool span"
EVALUATORS_OWN = "under an evaluator"
TIED = "two steps carry the same times; which came first is not in the record"
OUTLIVES = "a step ends after the root span of its run"
LONG_CALL_ID = "a call id of more than 200 characters is left out"
UNREAD_MODEL = "a model span could not be read in full, so calls that it proposed may be missing"
UNKNOWN_RESULT = "the result of a call whose outcome is not recorded is left out"
BARE_TOOL = ToolRule()

_EPOCH = date(1970, 1, 1)
_LONGEST = 200


class Identity(msgspec.Struct, frozen=True):
    """What a run is called, and what the mapping's `output` found in it, before anything else is known."""

    case_id: str
    policy: str
    notes: tuple[str, ...] = ()
    output: Any = UNSET


@dataclass(frozen=True, slots=True)
class Way:
    """How to sequence: the mapping's rules, what to do with nested calls, and who converts, for provenance."""

    rules: Rules
    nested: Nested = "refuse"
    source: str = ""
    version: str = ""


class Roles(msgspec.Struct):
    """The spans of a run by what they are, each list in the run's order, and the accounting of the others.

    `backwards` holds the spans that end before they start, the unfinished ones among them; `enclosing` says that a
    tool span has spans within it.
    """

    tools: list[Observation] = msgspec.field(default_factory=list)
    models: list[Observation] = msgspec.field(default_factory=list)
    agents: list[Observation] = msgspec.field(default_factory=list)
    judges: list[Observation] = msgspec.field(default_factory=list)
    copies: list[Observation] = msgspec.field(default_factory=list)
    outputs: list[Observation] = msgspec.field(default_factory=list)
    reporting: list[Observation] = msgspec.field(default_factory=list)
    pending: list[Observation] = msgspec.field(default_factory=list)
    unreadable: list[Observation] = msgspec.field(default_factory=list)
    backwards: list[Observation] = msgspec.field(default_factory=list)
    enclosing: bool = False
    used: int = 0
    aside: dict[str, int] = msgspec.field(default_factory=dict)


class Sequenced(msgspec.Struct, frozen=True):
    """A run, and the sum of its spans: `used` and those left aside by reason."""

    run: Run
    start_ns: int
    used: int
    aside: dict[str, int]
    notes: list[str]
    undeclared: tuple[str, ...]


class _Work(msgspec.Struct):
    """One run while it is being sequenced."""

    run: RunSpans
    roles: Roles
    way: Way
    start_ns: int
    arranged: Arranged
    joined: Joined
    calls: list[Call]
    notes: list[str]


def sequence(run: RunSpans, identity: Identity, way: Way) -> Sequenced:
    """Put the tool calls of a run in sequence.

    Raises `Refusal` with every problem of the run, in an order that does not depend on the order of the input.
    """
    start_ns, end_ns = bounds(run)
    work = _begin(run, identity, way, start_ns)
    steps, undeclared = _steps(work)
    own = own_spans(run, work.roles)
    output, message = _conclude(work, own, identity.output)
    kept = work.arranged.kept
    last_ns = kept[-1].end_ns if kept else end_ns  # they stand in sequence
    if last_ns > end_ns:
        work.notes.append(OUTLIVES)
    made = Run(
        case_id=identity.case_id,
        policy=identity.policy,
        mode="recorded",
        duration_ms=milliseconds(max(end_ns, last_ns) - start_ns),
        steps=steps,
        output=_resolved(output, work, steps),
        status=status_of(
            run,
            own.agents,
            work.roles.reporting,
            _unseen(work, own, message),
            silent=output is UNSET and message is UNSET,
            bare=not (kept or work.roles.models or work.roles.outputs or (run.root and run.root.case_id)),
        ),
        usage=_usage(work),
        provenance=_provenance(work),
    )
    aside = work.roles.aside
    for reason, count in work.arranged.aside.items():
        aside[reason] = aside.get(reason, 0) + count
    used = work.roles.used - sum(work.arranged.aside.values())
    return Sequenced(made, start_ns, used, aside, work.notes, undeclared)


def _begin(run: RunSpans, identity: Identity, way: Way, start_ns: int) -> _Work:
    """Sort, arrange and join, refusing what cannot stand in sequence."""
    roles = sort_roles(run)
    _refuse(run.problems + _unfit(run, roles))
    tools = sorted(roles.tools, key=lambda tool: (tool.start_ns, tool.end_ns, tool.span_id))
    arranged = arrange(run, tools, way.nested, enclosing=roles.enclosing)
    _refuse(_unreadable(arranged.kept) + arranged.problems + _early(run, arranged.kept, start_ns))
    notes = [*identity.notes, *run.notes]
    if any(span.role == "model" for span in roles.unreadable):
        notes.append(UNREAD_MODEL)
    tied = _ties(arranged.kept)
    joined = join_proposals(roles.tools + roles.copies, roles.models, tied=bool(tied))
    if tied:
        _break_ties(arranged, joined, tied, notes)
    return _Work(run, roles, way, start_ns, arranged, joined, _calls(arranged, joined), notes)


def bounds(run: RunSpans) -> tuple[int, int]:
    """Start and end of a run in nanoseconds since 1970: of its root, or where that is missing of all its spans."""
    if run.root is not None:
        return run.root.start_ns, run.root.end_ns
    return min(span.start_ns for span in run.spans), max(span.end_ns for span in run.spans)


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise Refusal(problems)


# -- roles -------------------------------------------------------------------------------------------------------------


def sort_roles(run: RunSpans) -> Roles:
    """Sort the spans of a run by role, and account for those that are none of the agent's."""
    roles = Roles()
    lists = {"tool": roles.tools, "model": roles.models, "agent": roles.agents, "evaluator": roles.judges}
    for span in run.spans:
        chosen = lists.get(span.role)
        if chosen is not None:
            chosen.append(span)
        elif span is not run.root:
            _leave(roles, span)
        if span.lab_output is not UNSET:
            roles.outputs.append(span)
        if span.infrastructure:
            roles.reporting.append(span)
        if span.end_ns < span.start_ns:
            roles.backwards.append(span)
        if span.pending:
            roles.pending.append(span)
        if span.problem is not None and span.role != "tool":
            roles.unreadable.append(span)
    roles.used = len(run.spans) - sum(roles.aside.values())
    children = run.children
    roles.enclosing = bool([tool for tool in roles.tools if tool.span_id in children])
    if roles.judges:
        _set_judges_apart(run, roles)
    return roles


def _leave(roles: Roles, span: Observation) -> None:
    reason = span.reason or NOT_NEEDED
    roles.aside[reason] = roles.aside.get(reason, 0) + 1
    if span.call is not None:
        roles.copies.append(span)


def _set_judges_apart(run: RunSpans, roles: Roles) -> None:
    """What stands under an evaluator's span is the evaluator's: its model calls are its usage, its tools no steps."""
    below = _below(run, roles.judges)
    for span in roles.tools:
        if span.span_id in below:
            roles.aside[EVALUATORS_OWN] = roles.aside.get(EVALUATORS_OWN, 0) + 1
            roles.used -= 1
    roles.judges += [span for span in roles.models + roles.agents if span.span_id in below]
    roles.tools = [span for span in roles.tools if span.span_id not in below]
    roles.models = [span for span in roles.models if span.span_id not in below]
    roles.agents = [span for span in roles.agents if span.span_id not in below]


class Own(msgspec.Struct, frozen=True):
    """The spans of the agent itself: its outermost agent spans, and the model spans inside no tool call."""

    agents: list[Observation]
    models: list[Observation]


def own_spans(run: RunSpans, roles: Roles) -> Own:
    """Tell the agent's own spans from those of agents that its tools run."""
    if not roles.enclosing and len(roles.agents) <= 1:
        return Own(roles.agents, roles.models)
    in_tool = _below(run, roles.tools)
    in_agent = _below(run, roles.agents)
    agents = [agent for agent in roles.agents if agent.span_id not in in_tool and agent.span_id not in in_agent]
    return Own(agents, [model for model in roles.models if model.span_id not in in_tool])


def _below(run: RunSpans, tops: list[Observation]) -> set[str]:
    """The ids of all spans of the run that stand below one of these."""
    above = {top.span_id for top in tops}
    below: set[str] = set()
    for span in run.spans:
        if span.parent_id in above or span.parent_id in below:
            below.add(span.span_id)
    return below


# -- what refuses a run ------------------------------------------------------------------------------------------------


def _unfit(run: RunSpans, roles: Roles) -> list[Problem]:
    """Spans that are needed and have no end, or end before they start."""
    if not roles.backwards and not roles.pending:
        return []
    needed = [span for span in roles.backwards if span.role in ("tool", "model", "agent") or span is run.root]
    problems = [_unfinished(span) if span.end_ns == 0 else _reversed(span) for span in needed if not span.pending]
    return [*problems, *(_unfinished(span) for span in roles.pending)][:MOST_PROBLEMS]


def _unreadable(tools: list[Observation]) -> list[Problem]:
    """Calls whose content cannot be read, or whose name no step can have."""
    problems = []
    for tool in tools:
        if tool.problem is not None:
            problems.append(_located(tool.problem, tool))
        elif tool.call is None or not 0 < len(tool.call.tool) <= _LONGEST:
            problems.append(_bad_tool_name(tool))
    return problems[:MOST_PROBLEMS]


def _located(problem: Problem, span: Observation) -> Problem:
    if problem.where.span_ids:
        return problem
    where = place(span)
    return msgspec.structs.replace(problem, where=msgspec.structs.replace(where, pointer=problem.where.pointer))


def _unfinished(span: Observation) -> Problem:
    pending = " Only its pending copy arrived." if span.pending else ""
    return Problem(
        code="UNFINISHED_SPAN",
        message=f'Span {span.span_id} ("{span.name}") has no end.{pending}',
        where=place(span),
        expected="a span with an end time",
    )


def _reversed(span: Observation) -> Problem:
    return Problem(
        code="REVERSED_TIMING",
        message=f'Span {span.span_id} ("{span.name}") ends {in_ms(span.start_ns - span.end_ns)} ms before it starts.',
        where=place(span),
        found=f"start {span.start_ns} ns, end {span.end_ns} ns since 1970",
        expected="an end at or after the start",
    )


def _bad_tool_name(tool: Observation) -> Problem:
    name = tool.call.tool if tool.call is not None else ""
    return Problem(
        code="BAD_CONTENT",
        message=f"The tool's name in span {tool.span_id} is {'empty' if not name else 'too long'}.",
        where=place(tool),
        found=f"{len(name)} characters",
        expected=f"1 to {_LONGEST} characters",
    )


def _early(run: RunSpans, tools: list[Observation], start_ns: int) -> list[Problem]:
    """Steps that start before their run; they stand first in order of time."""
    problems: list[Problem] = []
    for tool in tools:
        if tool.start_ns >= start_ns or len(problems) == MOST_PROBLEMS:
            break
        root = "" if run.root is None else run.root.span_id
        problems.append(
            Problem(
                code="OUT_OF_RANGE_TIMING",
                message=f"Tool call {named(tool)} starts {in_ms(start_ns - tool.start_ns)} ms before its run.",
                where=place(tool),
                found=interval(tool, start_ns),
                expected=f"a start at or after that of the run's root span {root}",
            )
        )
    return problems


# -- steps -------------------------------------------------------------------------------------------------------------


def _ties(kept: list[Observation]) -> list[tuple[Observation, Observation]]:
    """Neighbours of equal times."""
    return [
        (one, other) for one, other in pairwise(kept) if one.start_ns == other.start_ns and one.end_ns == other.end_ns
    ]


def _break_ties(
    arranged: Arranged, joined: Joined, tied: list[tuple[Observation, Observation]], notes: list[str]
) -> None:
    """Order calls of equal times by their proposals; where these do not decide, say so."""
    last = (2**63, 0)
    turns = joined.turns
    arranged.kept.sort(key=lambda t: (t.start_ns, t.end_ns, turns.get(t.span_id, last), t.span_id))
    if any(
        one.span_id not in turns or other.span_id not in turns or turns[one.span_id] == turns[other.span_id]
        for one, other in tied
    ):
        notes.append(TIED)


def _steps(work: _Work) -> tuple[list[Step], tuple[str, ...]]:
    arranged, notes, start_ns = work.arranged, work.notes, work.start_ns
    calls = work.calls
    ids = _step_ids(arranged.kept, calls)
    steps: list[Step] = []
    undeclared: list[str] = []
    problems: list[Problem] = []
    tool_rules = work.way.rules.tools
    for tool, call, step_id in zip(arranged.kept, calls, ids, strict=True):
        rule = tool_rules.get(call.tool, BARE_TOOL) if tool_rules else BARE_TOOL
        try:
            step = _step(tool, call, rule, step_id, start_ns)
        except Refusal as refusal:
            problems.extend(_located(problem, tool) for problem in refusal.problems)
            continue
        if step.operation == "unknown":
            undeclared.append(call.tool)
        if call.call_id and step.call_id is UNSET:
            notes.append(LONG_CALL_ID)
        if call.result is not UNSET and step.status == "unknown":
            notes.append(UNKNOWN_RESULT)
        steps.append(step)
    _refuse(problems[:MOST_PROBLEMS])
    return steps, tuple(undeclared)


def _calls(arranged: Arranged, joined: Joined) -> list[Call]:
    """The calls of the spans kept, completed from other spans of the same call and from the proposals."""
    calls = []
    for tool in arranged.kept:
        call = arranged.calls.get(tool.span_id, tool.call)
        if call is None:
            continue  # refused before: a tool span without a call has no name
        call_id = joined.call_ids.get(tool.span_id, "")
        if call_id and not call.call_id:
            call = msgspec.structs.replace(call, call_id=call_id, fields={**call.fields, "call_id": "proposal"})
        if tool.span_id in joined.arguments:
            fields = {**call.fields, "arguments": "proposal"}
            call = msgspec.structs.replace(call, arguments=joined.arguments[tool.span_id], fields=fields)
        calls.append(call)
    return calls


def _step_ids(tools: list[Observation], calls: list[Call]) -> list[str]:
    """The call id where it is unique in the run and short enough, else the span id, which always is."""
    ids = [call.call_id for call in calls]
    if len(set(ids)) == len(ids) and all(0 < len(call_id) <= _LONGEST for call_id in ids):
        return ids
    counts: dict[str, int] = {}
    for call_id in ids:
        counts[call_id] = counts.get(call_id, 0) + 1
    span_ids = {tool.span_id for tool in tools}
    return [
        call_id if 0 < len(call_id) <= _LONGEST and counts[call_id] == 1 and call_id not in span_ids else tool.span_id
        for tool, call_id in zip(tools, ids, strict=True)
    ]


def _step(tool: Observation, call: Call, rule: ToolRule, step_id: str, start_ns: int) -> Step:
    status = call.status
    error: StepError | UnsetType = UNSET
    if status in ("error", "timeout") and (call.error_type or call.error_message):
        error = StepError(type=call.error_type or UNSET, message=call.error_message or UNSET)
    return Step(
        id=step_id,
        tool=call.tool,
        operation=call.operation if rule.operation is None else _operation(call, rule),
        arguments=call.arguments,
        status=status,
        start_ms=milliseconds(tool.start_ns - start_ns),
        end_ms=milliseconds(tool.end_ns - start_ns),
        call_id=call.call_id if 0 < len(call.call_id) <= _LONGEST else UNSET,
        result=result_of(call, rule.fields) if status == "ok" else UNSET,
        error=error,
    )


def _operation(call: Call, rule: ToolRule) -> Any:
    """The mapping's word. It may correct a server's hint, but not what the application itself says of the call."""
    if call.operation not in ("unknown", rule.operation) and call.fields.get("operation") == "lab":
        raise Refusal(
            Problem(
                code="BAD_CONTENT",
                message=f'The mapping says that "{call.tool}" is a {rule.operation}, the span says lab.operation '
                f"{call.operation}.",
                found=call.operation,
                expected=str(rule.operation),
                hint="Correct the one that is wrong; a write must not be declared away.",
            )
        )
    return rule.operation


# -- conclusion --------------------------------------------------------------------------------------------------------


def _conclude(work: _Work, own: Own, mapped: Any) -> tuple[Output | UnsetType, Any]:
    """The output, and the agent's final message as it stands (a proposal of the same content is no call)."""
    words, notes = work.way.rules.dispositions, work.notes
    message, span = final_message(work.run, own.agents, own.models)
    message = decoded(message)
    if mapped is not UNSET and mapped is not None:
        return output_of(decoded(mapped), None, words, notes, declared=True), message
    if work.roles.unreadable:
        _refuse(_unheard(work))
    said = _lab_output(work.run, work.roles)
    if said is not None:
        return output_of(decoded(said.lab_output), said, words, notes, declared=True), message
    if span is None:
        return UNSET, UNSET
    if span.problem is not None:
        raise Refusal(_located(span.problem, span))
    return output_of(message, span, words, notes, declared=False), message


def _unheard(work: _Work) -> list[Problem]:
    """The problems of spans whose `lab.output` or final message might have been the run's output."""
    return [
        _located(span.problem, span)
        for span in work.roles.unreadable
        if span.problem is not None and (span.role in ("agent", "other") or span is work.run.root)
    ]


def _usage(work: _Work) -> RunUsage | UnsetType:
    roles = work.roles
    usage, incomplete = run_usage(work.run, roles.models, roles.agents, roles.judges)
    if incomplete:
        work.notes.append(INCOMPLETE)
    return usage


def _lab_output(run: RunSpans, roles: Roles) -> Observation | None:
    """The span whose `lab.output` counts: the root, else the only one of the run that carries it."""
    if not roles.outputs:
        return None
    if run.root is not None and run.root.lab_output is not UNSET:
        return run.root
    if len(roles.outputs) > 1:
        raise Refusal(
            Problem(
                code="BAD_CONTENT",
                message=f"{len(roles.outputs)} spans of the run carry lab.output, and none of them is its root.",
                where=place(*roles.outputs[:10]),
                expected="lab.output on the run's root span",
            )
        )
    return roles.outputs[0]


def _unseen(work: _Work, own: Own, final: Any) -> int:
    """How many proposed calls are known to be missing from the steps."""
    unseen = work.joined.unseen
    if unseen and work.way.nested == "outer":  # what a sub-agent called is no step then, with a span or without
        ours = {model.span_id for model in own.models}
        unseen = [offer for offer in unseen if offer.model.span_id in ours]
    return sum(1 for offer in unseen if offer.proposal.arguments is UNSET or offer.proposal.arguments != final)


def _resolved(output: Output | UnsetType, work: _Work, steps: list[Step]) -> Output | UnsetType:
    """The output with cited call ids and span ids turned into step ids. Ids that name no step stay as cited."""
    if output is UNSET or output.evidence is UNSET or not output.evidence:
        return output
    step_ids = {step.id for step in steps}
    if step_ids.issuperset(output.evidence):
        return output
    kept = work.arranged.kept
    carried: dict[str, list[int]] = {}
    for number, (tool, call) in enumerate(zip(kept, work.calls, strict=True)):
        for name in {call.call_id, tool.span_id} - {""}:
            carried.setdefault(name, []).append(number)
    evidence = []
    for cited in output.evidence:
        numbers = carried.get(cited, [])
        if len(numbers) > 1:
            raise Refusal(_ambiguous(cited, [kept[number] for number in numbers]))
        evidence.append(steps[numbers[0]].id if numbers and cited not in step_ids else cited)
    if all(0 < len(cited) <= _LONGEST for cited in evidence):
        return msgspec.structs.replace(output, evidence=evidence)
    work.notes.append(WRONG_PARTS)
    return msgspec.structs.replace(output, evidence=UNSET)


def _ambiguous(cited: str, tools: list[Observation]) -> Problem:
    return Problem(
        code="AMBIGUOUS_EVIDENCE",
        message=f"The agent's evidence cites the call id {shown(cited)}, which {len(tools)} steps carry.",
        where=place(*tools[:10]),
        found="; ".join(named(tool) for tool in tools[:10]),
        expected="a call id that one step carries",
    )


# -- provenance --------------------------------------------------------------------------------------------------------


def _provenance(work: _Work) -> dict[str, Any]:
    run, version = work.run, work.way.version
    used = (work.arranged.kept, work.roles.models, work.roles.agents)
    conventions = {span.conventions for spans in used for span in spans}
    provenance: dict[str, Any] = {
        "source": work.way.source,
        "adapter": f"labadapt {version}" if version else "labadapt",
        "conventions": sorted({name for names in conventions for name in names}),
        "traceId": run.trace_id,
        "spanIds": [tool.span_id for tool in work.arranged.kept],
        "recordedStart": rfc3339(work.start_ns),
    }
    if run.grouped_by:
        provenance |= {"groupedBy": run.grouped_by, "traceIds": list(run.traces)}
    if run.root is not None:
        provenance["rootSpanId"] = run.root.span_id
    fields = _foreign_fields(work)
    if fields:
        provenance["fields"] = fields
    return provenance


def _foreign_fields(work: _Work) -> dict[str, dict[str, str]]:
    """By span id, the fields of a call that another table gave than the one that reads the span."""
    foreign: dict[str, dict[str, str]] = {}
    for tool, call in zip(work.arranged.kept, work.calls, strict=True):
        if call is tool.call and len(call.conventions) < 2:
            continue
        own = call.conventions[0] if call.conventions else ""
        others = {name: table for name, table in call.fields.items() if table != own}
        if others:
            foreign[tool.span_id] = others
    return foreign


def rfc3339(nanoseconds: int) -> str:
    """Nanoseconds since 1970 as RFC 3339 in UTC, with all nine decimals."""
    day, rest = divmod(nanoseconds, 86_400_000_000_000)
    seconds, rest = divmod(rest, 1_000_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{_date(day)}T{hour:02d}:{minute:02d}:{second:02d}.{rest:09d}Z"


@lru_cache(maxsize=64)
def _date(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).isoformat()
