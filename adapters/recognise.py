"""From a span to an observation, by the tables of the conventions.

The tables are compiled once. Which of them claim a span depends on few attributes; their values are the key of a
plan, and a plan is made once for each combination that occurs, so that a span costs a few dictionary look-ups.
Order and precedence are those of telemetry.md: the first table that recognises a span reads it; a field that it
does not find comes from the next that claims the span too; two that disagree on the tool's name or call id are
refused.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
from labadapt.adapters import proposals
from labadapt.adapters.messages import FINAL_MESSAGES
from labadapt.adapters.observation import Call, Observation, Role
from labadapt.adapters.registry import FAMILIES
from labadapt.adapters.span import Convention, Failing, Field, Match, Origin, Span, Wanted
from labadapt.adapters.values import (
    ENCODINGS,
    ENVELOPES,
    BadEncoding,
    Envelope,
    direct_causes,
    is_redacted,
    is_timeout,
    named_error,
    unwrap,
)
from labadapt.schema.model import Usage
from labadapt.schema.problems import Problem, Where
from msgspec import UNSET

Getter: TypeAlias = Callable[[Span], Any]
Test: TypeAlias = Callable[[Span], bool]

_ROLES: tuple[Role, ...] = ("tool", "evaluator", "agent", "model")
_ALL_ENVELOPES = {**ENVELOPES, **FINAL_MESSAGES}
_CASE_KEYS = ("lab.case.id", "test.case.id", "test.case.name", "langfuse.experiment.item.id")
_POLICY_KEYS = ("lab.policy", "gen_ai.agent.version", "service.version", "gen_ai.agent.name", "service.name")
_LAB_PARTS = ("metric", "window", "rows", "value", "source")
_LAB_RUN = ("lab.output", "lab.infrastructure")
_LAB_KEYS = frozenset({*(f"lab.{part}" for part in _LAB_PARTS), "lab.operation", "lab.blocked", *_LAB_RUN})
_ERROR_KEYS = frozenset({"error.type", "exception.type", "exception.message", "exception.stacktrace"})
_PLANS = 4096  # a bound for hostile input; real exports have a few dozen combinations
_PENDING = "logfire.span_type"
_INCOMPLETE_ANSWER = ""  # a final message that was recorded and holds no output object
_VAGUE = frozenset({"", "Exception", "Error", "_OTHER", "TOOL_ERROR", "tool_error", "ToolException"})


class _Unreadable(Exception):
    """A field that is not what its convention says."""

    def __init__(self, key: str, why: str, *, cut: bool) -> None:
        super().__init__(why)
        self.key, self.why, self.cut = key, why, cut


# -- compiling the tables ----------------------------------------------------------------------------------------------


def table_fault(convention: Convention) -> str | None:
    """What is wrong with a table: an unknown encoding, envelope or shape, or no way to recognise a span."""
    for field in _fields(convention):
        if field.encoding not in ENCODINGS:
            return f"unknown encoding {field.encoding!r:.40}"
        unknown = [name for name in field.envelope if name not in _ALL_ENVELOPES]
        if unknown:
            return f"unknown envelope {unknown[0]!r:.40}"
    shapes = [rule.shape for rule in convention.proposals if rule.shape not in proposals.SHAPES]
    if shapes:
        return f"unknown shape of proposals {shapes[0]!r:.40}"
    matches = [*convention.tool, *convention.agent, *convention.model, *convention.evaluator]
    if any(match == Match() for match in matches):
        return "a match without a condition would claim every span"
    return None if matches or convention.aside else "it recognises no span"


def _fields(convention: Convention) -> Iterable[Field]:
    for part in (*_PARTS, "error_type", "error_message", "output", "input"):
        yield from getattr(convention, part)
    for fields in convention.usage.values():
        yield from fields


_PARTS = ("tool_name", "call_id", "arguments", "result", "operation")


def _test(match: Match) -> Test:
    """The condition as a function of a span."""
    tests: list[Test] = []
    if match.attribute:
        key, values = match.attribute, match.equals
        tests.append(
            (lambda span: span.attributes.get(key) in values) if values else (lambda span: key in span.attributes)
        )
    if match.scopes:
        tests.append(lambda span: span.origin.scope_name in match.scopes)
    if match.scope_prefixes:
        tests.append(lambda span: span.origin.scope_name.startswith(match.scope_prefixes))
    if match.names:
        tests.append(lambda span: span.name in match.names)
    if match.name_prefixes:
        tests.append(lambda span: span.name.startswith(match.name_prefixes))
    if match.absent:
        tests.append(lambda span: not any(key in span.attributes for key in match.absent))
    if match.dropped:
        tests.append(lambda span: span.dropped > 0)
    return lambda span: all(test(span) for test in tests)


def _raw(field: Field) -> Getter:
    """The recorded value of a field, undecoded; UNSET where it is not recorded."""
    key = field.key
    if field.place == "attribute":
        return lambda span: span.attributes.get(key, UNSET)
    if field.place == "name":
        return lambda span: span.name or UNSET
    if field.place == "name-suffix":
        return lambda span: span.name[len(key) :] if span.name.startswith(key) and span.name != key else UNSET
    if field.place == "status":
        return lambda span: span.status_message or UNSET
    if field.place == "resource":
        return lambda span: span.origin.resource.get(key, UNSET)
    return lambda span: _of_event(span, field.event, key)


def _of_event(span: Span, name: str, key: str) -> Any:
    for event in span.events:
        if event.name == name and key in event.attributes:
            return event.attributes[key]
    return UNSET


def _getter(field: Field) -> Getter:
    """The decoded and unwrapped value of a field; UNSET where it is not recorded. Raises `_Unreadable`."""
    if field.place == "attribute" and not (field.none or field.inside or field.envelope or field.when):
        return _plain_getter(field)
    raw, decode, none = _raw(field), ENCODINGS[field.encoding], field.none
    envelopes: tuple[Envelope, ...] = tuple(_ALL_ENVELOPES[name] for name in field.envelope)
    when = _test(field.when) if field.when else None

    def get(span: Span) -> Any:
        value = raw(span)
        if value is UNSET or (when is not None and not when(span)) or value in none or is_redacted(value):
            return UNSET
        try:
            value = decode(value)
        except BadEncoding as error:
            raise _Unreadable(field.key or field.place, str(error), cut=error.cut) from None
        for key in field.inside:
            value = value[key] if isinstance(value, dict) and key in value else UNSET
        value = unwrap(value, envelopes) if envelopes else value
        return UNSET if is_redacted(value) else value

    return get


def _plain_getter(field: Field) -> Getter:
    """The same for the most frequent kind: an attribute, without exceptions and envelopes."""
    key, decode = field.key, ENCODINGS[field.encoding]

    def get(span: Span) -> Any:
        value = span.attributes.get(key, UNSET)
        if value is UNSET or is_redacted(value):
            return UNSET
        try:
            value = decode(value)
        except BadEncoding as error:
            raise _Unreadable(key, str(error), cut=error.cut) from None
        return UNSET if is_redacted(value) else value

    return get


@dataclass(frozen=True, slots=True)
class _Read:
    """One place of one part: the table's name, how to get it, and whether it is only the span's own name."""

    table: str
    get: Getter
    weak: bool


@dataclass(frozen=True, slots=True)
class _Fails:
    """One failing rule, compiled."""

    rule: Failing
    test: Test | None
    result: tuple[Getter, ...]


@dataclass(frozen=True, slots=True)
class _Amount:
    """One field of the usage: attribute keys where it stands as it is, or getters where it must be decoded."""

    name: str
    keys: tuple[str, ...]
    getters: tuple[Getter, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """How to read the spans of one combination of deciding values."""

    role: Role
    reason: str
    tables: tuple[str, ...]
    reads: dict[str, tuple[_Read, ...]]
    fails: tuple[_Fails, ...]
    output: tuple[Getter, ...]
    input: tuple[Getter, ...]
    usage: tuple[_Amount, ...]
    proposals: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    """One convention with its matches as functions."""

    convention: Convention
    roles: tuple[tuple[Role, tuple[Test, ...]], ...]
    aside: tuple[tuple[Test, str], ...]


def _compiled(convention: Convention) -> _Table:
    roles: tuple[tuple[Role, tuple[Test, ...]], ...] = tuple(
        (role, tuple(_test(match) for match in getattr(convention, role))) for role in _ROLES
    )
    return _Table(convention, roles, tuple((_test(aside.match), aside.reason) for aside in convention.aside))


def in_order(conventions: Iterable[Convention]) -> list[Convention]:
    """The declared order (telemetry.md): families first, then the rows, then the name."""
    return sorted(conventions, key=lambda one: (FAMILIES.index(one.family), one.order, one.name))


# -- the recogniser ----------------------------------------------------------------------------------------------------


class Recogniser:
    """Makes one `Observation` of each span.

    `case_attribute` and `policy_attribute` are attribute keys that name a run's case and policy before all others.
    `keep_input` keeps what the agent was asked and its final message as text, for a `match` or an expression;
    `keep_attributes` keeps all attributes of the span. `wanted` is what a source must materialise.
    """

    def __init__(
        self,
        conventions: Sequence[Convention],
        *,
        case_attribute: str | None = None,
        policy_attribute: str | None = None,
        keep_input: bool = False,
        keep_attributes: bool = False,
    ) -> None:
        """Compile the tables."""
        ordered = in_order(conventions)
        self._tables = [_compiled(convention) for convention in ordered]
        self._case_keys = (case_attribute,) if case_attribute else _CASE_KEYS
        self._policy_keys = (policy_attribute,) if policy_attribute else _POLICY_KEYS
        self._case_set = frozenset(self._case_keys)
        self._keep_input = keep_input
        self._keep_attributes = keep_attributes
        matches = [match for convention in ordered for match in _matches(convention)]
        self._deciding = tuple(sorted({match.attribute for match in matches if match.equals}))
        present = {match.attribute for match in matches if match.attribute and not match.equals}
        self._present = tuple(sorted(present | {key for match in matches for key in match.absent}))
        self._plans: dict[Any, _Plan] = {}
        self._named = any(match.names or match.name_prefixes for match in matches)
        self._names = frozenset(name for match in matches for name in match.names)
        self._prefixes = tuple(sorted({prefix for match in matches for prefix in match.name_prefixes}))
        keys = {*self._case_keys, *self._policy_keys, *self._deciding, *self._present}
        self.wanted = _wanted(ordered, frozenset(keys), inputs=keep_input, everything=keep_attributes)

    def recognise(self, span: Span) -> Observation:
        """Read one span. Total: what cannot be read becomes the observation's `problem`."""
        attributes = span.attributes
        plan = self._plan(span)
        observation = Observation(
            trace_id=span.trace_id,
            span_id=span.span_id,
            parent_id=span.parent_id,
            name=span.name,
            start_ns=span.start_ns,
            end_ns=span.end_ns,
            where=span.where,
            scope=span.origin.scope_name,
            role=plan.role,
            reason=plan.reason,
            conventions=plan.tables,
        )
        if plan.role == "tool":
            self._read_call(span, plan, observation)
        elif plan.role in ("agent", "model", "evaluator"):
            self._read_talk(span, plan, observation)
        if not _LAB_KEYS.isdisjoint(attributes):
            _read_lab(span, observation)
        if not self._case_set.isdisjoint(attributes) or not self._case_set.isdisjoint(span.origin.resource):
            observation.case_id = _candidate(self._case_keys, span)
        if plan.role == "agent" or not span.parent_id:
            observation.policy = _candidate(self._policy_keys, span)
        if span.status_code == 2 and plan.role != "tool":
            observation.failed, observation.failure = True, span.status_message
        if attributes.get(_PENDING) == "pending_span":
            observation.pending = True
        if self._keep_attributes:
            observation.attributes = {**span.origin.resource, **attributes}
        return observation

    def _plan(self, span: Span) -> _Plan:
        attributes = span.attributes
        name = span.name
        key = (
            span.origin.scope_name,
            name if name in self._names or name.startswith(self._prefixes) else "",
            span.dropped > 0,
            bool(span.events),
            *map(attributes.get, self._deciding),
            *map(attributes.__contains__, self._present),
        )
        try:
            plan = self._plans.get(key)
        except TypeError:  # a list where a word belongs: no table matches it, and it cannot be a key
            return self._made(span)
        if plan is None:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            plan = self._plans[key] = self._made(span)
        return plan

    def _made(self, span: Span) -> _Plan:
        role: Role = "other"
        claims: list[Convention] = []
        for table in self._tables:
            if role == "other":
                for test, reason in table.aside:
                    if test(span):
                        return _plan_of("aside", reason, [table.convention], events=False)
            for claimed, tests in table.roles:
                if (role in ("other", claimed)) and any(test(span) for test in tests):
                    role = claimed
                    claims.append(table.convention)
                    break
        return _plan_of(role, "", claims, events=bool(span.events))

    def _read_call(self, span: Span, plan: _Plan, observation: Observation) -> None:
        fields: dict[str, str] = {}
        try:
            name = _agreed("tool_name", span, plan, fields)
            call_id = _agreed("call_id", span, plan, fields)
        except _Disagreement as error:
            observation.problem = error.problem(span)
            name = error.values[0][1]
            call_id = ""
        values: dict[str, Any] = {"arguments": UNSET, "result": UNSET, "operation": UNSET}
        truncated: list[str] = []
        for part in values:
            try:
                values[part] = _first(part, span, plan, fields)
            except _Unreadable as error:
                truncated.append(part)
                observation.problem = observation.problem or _unreadable(span, part, error)
        if span.dropped and observation.problem is None and values["arguments"] is UNSET:
            truncated.append("arguments")
        status, error_type, error_message = _failure(span, plan, values["result"])
        operation = values["operation"]
        observation.call = Call(
            tool=name,
            call_id=call_id,
            arguments=values["arguments"],
            result=values["result"] if status in ("ok", "unknown") else UNSET,
            status=status,
            error_type=error_type,
            error_message=error_message,
            operation=operation if operation in ("read", "write") else "unknown",
            conventions=plan.tables,
            fields=fields,
            truncated=tuple(truncated),
        )

    def _read_talk(self, span: Span, plan: _Plan, observation: Observation) -> None:
        if plan.usage:
            observation.usage = _usage(span, plan)
        if plan.role == "evaluator":
            return
        if plan.proposals and plan.role == "model":
            observation.proposals = proposals.read(span, plan.proposals)
        observation.output = self._final(span, plan)
        if observation.output is UNSET and observation.proposals:
            observation.output = _INCOMPLETE_ANSWER  # the reply was recorded: it asked for tools, and said nothing
        if self._keep_input:
            observation.input = _text(span, plan.input)

    def _final(self, span: Span, plan: _Plan) -> Any:
        for get in plan.output:
            try:
                message = get(span)
            except _Unreadable:
                return _INCOMPLETE_ANSWER
            if isinstance(message, str):
                if "disposition" in message and message.lstrip()[:1] == "{":
                    decoded = ENCODINGS["structured"](message) if message.rstrip()[-1:] == "}" else message
                    return decoded if isinstance(decoded, dict) or self._keep_input else _INCOMPLETE_ANSWER
                return message if self._keep_input else _INCOMPLETE_ANSWER
            if isinstance(message, dict):
                return message if "disposition" in message or self._keep_input else _INCOMPLETE_ANSWER
        return UNSET


def _matches(convention: Convention) -> Iterable[Match]:
    for role in _ROLES:
        yield from getattr(convention, role)
    yield from (aside.match for aside in convention.aside)


def _wanted(conventions: list[Convention], keys: frozenset[str], *, inputs: bool, everything: bool) -> Wanted:
    """All that the tables may look at; what the agent was asked only where somebody asks for it."""
    found: set[str] = {*keys, *_LAB_KEYS, *_ERROR_KEYS, _PENDING}
    prefixes: set[str] = set()
    events = {"exception"}
    for convention in conventions:
        for field in _fields(convention):
            if not inputs and field in convention.input:
                continue
            if field.place != "name-suffix":
                found.add(field.key)
            events.add(field.event)
            if field.when:
                found |= {field.when.attribute, *field.when.absent}
        for failing in convention.failing:
            if failing.match:
                found.add(failing.match.attribute)
        for rule in convention.proposals:
            key, prefix, event = proposals.wanted(rule)
            found.add(key)
            prefixes.add(prefix)
            events.add(event)
    return Wanted(frozenset(found - {""}), tuple(sorted(prefixes - {""})), frozenset(events - {""}), everything)


def _plan_of(role: Role, reason: str, claims: list[Convention], *, events: bool) -> _Plan:
    def fields(part: str) -> tuple[tuple[str, Field], ...]:
        return _distinct(part, claims, events=events)

    results = tuple(_getter(_bare(field)) for _, field in fields("result"))
    return _Plan(
        role=role,
        reason=reason,
        tables=tuple(one.name for one in claims),
        reads={part: tuple(_read(*found) for found in fields(part)) for part in _PARTS} if role == "tool" else {},
        fails=tuple(
            _Fails(rule, _test(rule.match) if rule.match else None, results) for one in claims for rule in one.failing
        ),
        output=tuple(_getter(field) for _, field in fields("output")),
        input=tuple(_getter(field) for _, field in fields("input")),
        usage=_usage_getters(claims),
        proposals=tuple(dict.fromkeys(rule for one in claims for rule in one.proposals if events or not rule.event)),
    )


def _distinct(part: str, claims: list[Convention], *, events: bool) -> tuple[tuple[str, Field], ...]:
    """The places of a part, with the first table that names each. A span without events needs no look at them."""
    found: dict[Field, str] = {}
    for one in claims:
        for field in getattr(one, part):
            if events or field.place != "event":
                found.setdefault(field, one.name)
    return tuple((table, field) for field, table in found.items())


def _bare(field: Field) -> Field:
    return Field(field.key, field.encoding, field.place, field.event, field.inside, field.none, (), field.when)


def _read(table: str, field: Field) -> _Read:
    return _Read(table, _getter(field), field.place in ("name", "name-suffix"))


def _usage_getters(claims: list[Convention]) -> tuple[_Amount, ...]:
    merged: dict[str, dict[Field, None]] = {}
    for one in claims:
        for name, fields in one.usage.items():
            merged.setdefault(name, {}).update(dict.fromkeys(fields))
    return tuple(_amount_of(name, list(fields)) for name, fields in merged.items())


def _amount_of(name: str, fields: list[Field]) -> _Amount:
    plain = all(field == Field(field.key, field.encoding) and field.encoding in ("typed", "text") for field in fields)
    keys = tuple(field.key for field in fields) if plain else ()
    return _Amount(name, keys, () if plain else tuple(_getter(field) for field in fields))


# -- calls -------------------------------------------------------------------------------------------------------------


class _Disagreement(Exception):
    """Two tables read different names, or call ids, from one span."""

    def __init__(self, part: str, values: list[tuple[str, str]]) -> None:
        super().__init__(part)
        self.part, self.values = part, values

    def problem(self, span: Span) -> Problem:
        (one, found), (other, expected) = self.values[:2]
        what = "the tool's name" if self.part == "tool_name" else "the call id"
        return Problem(
            code="AMBIGUOUS_CONVENTION",
            message=f'the conventions {one} and {other} both claim the span "{span.name}" and disagree on {what}',
            where=_place(span),
            found=f"{one}: {found}",
            expected=f"{other}: {expected}",
        )


def _place(span: Span) -> Where:
    where = span.where
    return Where(
        file=where.file, line=where.line, offset=where.offset, trace_id=span.trace_id, span_ids=(span.span_id,)
    )


def _agreed(part: str, span: Span, plan: _Plan, fields: dict[str, str]) -> str:
    """The name or call id on which all tables agree that find one; the span's own name counts only as a last resort."""
    first = weak = ""
    first_table = weak_table = ""
    for read in plan.reads[part]:
        if read.table == first_table:
            continue  # a table's own later places are for spans that lack the earlier ones
        try:
            value = read.get(span)
        except _Unreadable:
            continue
        if not isinstance(value, str) or not value:
            continue
        if read.weak:
            weak, weak_table = weak or value, weak_table or read.table
        elif not first:
            first, first_table = value, read.table
        elif value != first:
            raise _Disagreement(part, [(first_table, first), (read.table, value)])
    if first or weak:
        fields[part] = first_table if first else weak_table
    return first or weak


def _first(part: str, span: Span, plan: _Plan, fields: dict[str, str]) -> Any:
    for read in plan.reads[part]:
        value = read.get(span)
        if value is not UNSET:
            fields[part] = read.table
            return value
    return UNSET


def _unreadable(span: Span, part: str, error: _Unreadable) -> Problem:
    code = "TRUNCATED_CONTENT" if error.cut or span.dropped else "BAD_CONTENT"
    message = f'the {part} of the tool span "{span.name}" cannot be read from attribute "{error.key}"'
    return Problem(code=code, message=message, where=_place(span), found=error.why, expected="a whole JSON value")


# -- failures ----------------------------------------------------------------------------------------------------------


def _failure(span: Span, plan: _Plan, result: Any) -> tuple[Any, str, str]:
    """Status, error type and message of a call, from all the places where a record says that it failed."""
    status = ""
    for fails in plan.fails:
        status = _failed_by(span, fails, result)
        if status:
            break
    if status in ("blocked", "unknown"):
        return status, "", ""
    if not status and span.status_code != 2 and "error.type" not in span.attributes and not _exception(span):
        return "ok", "", ""
    kind, message, timeout = _error(span, result if status else UNSET)
    return ("timeout" if timeout else "error"), kind, message


def _failed_by(span: Span, fails: _Fails, result: Any) -> str:
    rule = fails.rule
    if fails.test is not None and not fails.test(span):
        return ""
    if rule.key == "<absent>":
        return rule.status if result is UNSET and span.status_code != 2 else ""
    if not rule.key:
        return rule.status
    for get in fails.result:
        try:
            value = get(span)
        except _Unreadable:
            continue
        for key in rule.key.split("."):
            value = value.get(key, UNSET) if isinstance(value, dict) else UNSET
        if value is not UNSET and _counts(value, rule):
            return rule.status
    return ""


def _counts(value: Any, rule: Failing) -> bool:
    if rule.containing:
        return isinstance(value, str) and any(text in value for text in rule.containing)
    if rule.values:
        return value in rule.values
    return value is not None and value is not False


def _exception(span: Span) -> dict[str, Any]:
    for event in span.events:
        if event.name == "exception":
            return dict(event.attributes)
    return {}


def _error(span: Span, result: Any) -> tuple[str, str, bool]:
    """Type and message of an error, and whether it was a timeout."""
    exception = _exception(span)
    candidates = [_text_in(exception, "exception.type"), _text_in(span.attributes, "error.type")]
    said = _error_text(result)
    message = _text_in(exception, "exception.message") or said or span.status_message
    kind = next((one for one in candidates if one not in _VAGUE), "")
    for text in (_text_in(exception, "exception.message"), said, span.status_message):
        named, rest = named_error(text)
        if named and (not kind or is_timeout(named)):
            kind = kind or named
            candidates.append(named)
            message = rest or message if text == message else message
    candidates += direct_causes(_text_in(exception, "exception.stacktrace"))
    kind = kind or next((one for one in candidates if one), "")
    return kind, message, any(is_timeout(one) for one in candidates)


def _text_in(values: Any, key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""


def _error_text(result: Any) -> str:
    """The text of a result that is an error."""
    if isinstance(result, dict):
        for key in ("error", "message", "content"):
            if isinstance(result.get(key), str):
                return str(result[key])
    return result if isinstance(result, str) else ""


# -- runs --------------------------------------------------------------------------------------------------------------


def _candidate(keys: Sequence[str], span: Span) -> tuple[int, str] | None:
    """The first key that names something, with its rank; a span's own attribute before the resource's."""
    for rank, key in enumerate(keys):
        for offset, values in ((0, span.attributes), (1, span.origin.resource)):
            value = values.get(key)
            if isinstance(value, str) and value:
                return 2 * rank + offset, value
            if isinstance(value, int) and not isinstance(value, bool):
                return 2 * rank + offset, str(value)
    return None


def _text(span: Span, getters: tuple[Getter, ...]) -> Any:
    for get in getters:
        try:
            value = get(span)
        except _Unreadable:
            continue
        if value is not UNSET:
            return value
    return UNSET


def _usage(span: Span, plan: _Plan) -> Any:
    found: dict[str, Any] = {}
    attributes = span.attributes
    for part in plan.usage:
        for key in part.keys:
            value = attributes.get(key)
            if value is not None:
                if type(value) is not int or value < 0:
                    value = _amount(part.name, value)
                if value is not UNSET:
                    found[part.name] = value
                    break
        for get in part.getters:
            try:
                value = _amount(part.name, get(span))
            except _Unreadable:
                continue
            if value is not UNSET:
                found[part.name] = value
                break
    return Usage(**found) if found else UNSET


def _amount(name: str, value: Any) -> Any:
    if name in ("model", "cost_source"):
        return value if isinstance(value, str) and value else UNSET
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        return UNSET
    if name == "cost_usd":
        return value if value != float("inf") else UNSET
    return int(value) if value == int(min(value, 2.0**62)) else UNSET


def _read_lab(span: Span, observation: Observation) -> None:
    """The lab's own attributes: an application that instruments itself has the last word."""
    attributes = span.attributes
    if "lab.output" in attributes:
        try:
            observation.lab_output = ENCODINGS["json"](attributes["lab.output"])
        except BadEncoding as error:
            unreadable = _Unreadable("lab.output", str(error), cut=error.cut)
            observation.problem = observation.problem or _unreadable(span, "output", unreadable)
    if isinstance(attributes.get("lab.infrastructure"), str):
        observation.infrastructure = attributes["lab.infrastructure"]
    if observation.call is not None:
        parts = {part: attributes[f"lab.{part}"] for part in _LAB_PARTS if f"lab.{part}" in attributes}
        blocked = attributes.get("lab.blocked") in (True, "true")
        status = "blocked" if blocked else observation.call.status
        observation.call = msgspec.structs.replace(observation.call, lab=parts, status=status)
        if blocked:
            observation.call = msgspec.structs.replace(observation.call, result=UNSET, error_type="", error_message="")


def shared_resource(origin: Origin) -> str:
    """The name of the service that a span belongs to, for people."""
    value = origin.resource.get("service.name")
    return value if isinstance(value, str) else ""
