"""From a span to an observation, by the tables of the conventions.

The tables are compiled once for each shape of a span that occurs: which of the attributes that a table names are
there, and the values of the few that decide which table claims it. A span of a known shape costs a few dictionary
look-ups, and only the places are looked at that hold something.
Order and precedence are those of telemetry.md: the first table that recognises a span reads it; a field that it
does not find comes from the next that claims the span too; two that disagree on the tool's name or call id are
refused.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from labadapt.adapters import proposals
from labadapt.adapters.failure import ERROR_KEYS, OK, outcome_of
from labadapt.adapters.observation import Call, Observation, Role
from labadapt.adapters.span import Convention, Span, Wanted
from labadapt.adapters.tables import (
    ROLES,
    Plan,
    Read,
    Unreadable,
    Values,
    conditions_of,
    fields_of,
    holds,
    in_order,
    plan_of,
)
from labadapt.adapters.values import ENCODINGS, BadEncoding
from labadapt.schema.model import Usage
from labadapt.schema.problems import Problem, Where
from msgspec import UNSET

_ITEM, _ITEM_ROOT = "langfuse.experiment.item.id", "langfuse.experiment.item.root_observation_id"
_CASE_KEYS = ("lab.case.id", "test.case.id", "test.case.name", _ITEM)
# fmt: off
_POLICY_KEYS = (
    "lab.policy", "langfuse.experiment.name", "gen_ai.agent.version", "service.version", "gen_ai.agent.name",
    "service.name",
)
# fmt: on
_LAB_PARTS = ("metric", "window", "rows", "value", "source")
_LAB_RUN = ("lab.output", "lab.infrastructure")
_LAB_KEYS = frozenset({*(f"lab.{part}" for part in _LAB_PARTS), "lab.operation", "lab.blocked", *_LAB_RUN})
_LAB_WORDS = {"lab.operation": ("read", "write"), "lab.blocked": (True, False, "true", "false")}
_PLANS = 4096  # bounds for hostile input; real exports have a few dozen combinations
_SHAPES = 4096
_PENDING = "logfire.span_type"
_INCOMPLETE_ANSWER = ""  # a final message that was recorded and holds no output object


# -- the recogniser ----------------------------------------------------------------------------------------------------


class Recogniser:
    """Makes one `Observation` of each span.

    `case_attribute` and `policy_attribute` are attribute keys that name a run's case and policy before all others.
    `group_by` is the attribute whose value is kept as `Observation.group`.
    `keep_input` keeps what the agent was asked and its final message as text, for a `match` or an expression;
    `keep_attributes` keeps all attributes of the span. `wanted` is what a source must materialise.
    """

    def __init__(  # noqa: PLR0913 - each is an attribute, or a kind of content, that a caller asks for
        self,
        conventions: Sequence[Convention],
        *,
        case_attribute: str | None = None,
        policy_attribute: str | None = None,
        group_by: str | None = None,
        keep_input: bool = False,
        keep_attributes: bool = False,
    ) -> None:
        """Compile the tables."""
        ordered = in_order(conventions)
        self._conventions = ordered
        self._case_keys = (case_attribute,) if case_attribute else _CASE_KEYS
        self._policy_keys = (policy_attribute,) if policy_attribute else _POLICY_KEYS
        self._group_keys = (group_by,) if group_by else ()
        self._case_set = frozenset(self._case_keys)
        # Every span of an item carries the item's id, evaluators and what surrounds it too: only its root is the run.
        self._beside_item = tuple(key for key in self._case_keys if key != _ITEM)
        self._keep_input = keep_input
        self._keep_attributes = keep_attributes
        conditions = [match for convention in ordered for match in conditions_of(convention)]
        self._deciding = tuple(sorted({match.attribute for match in conditions if match.equals}))
        present = {match.attribute for match in conditions if match.attribute and not match.equals}
        absent = {key for match in conditions for key in match.absent}
        self._named = frozenset({*self._deciding, *present, *absent, *_attributes_of(ordered)})
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._plans: dict[Any, Plan] = {}
        self._names = frozenset(name for match in conditions for name in match.names)
        self._prefixes = tuple(sorted({prefix for match in conditions for prefix in match.name_prefixes}))
        keys = {*self._case_keys, _ITEM_ROOT, *self._policy_keys, *self._group_keys, *self._deciding, *present, *absent}
        self.wanted = _wanted(ordered, frozenset(keys), inputs=keep_input, everything=keep_attributes)

    def recognise(self, span: Span) -> Observation:
        """Read one span. Total: what cannot be read becomes the observation's `problem`."""
        attributes = span.attributes
        plan = self._plan(span)
        role = plan.role
        observation = Observation(
            trace_id=span.trace_id,
            span_id=span.span_id,
            parent_id=span.parent_id,
            name=span.name,
            start_ns=span.start_ns,
            end_ns=span.end_ns,
            where=span.where,
            scope=span.origin.scope_name,
            role=role,
            reason=plan.reason,
            conventions=plan.tables,
        )
        if role == "tool":
            _read_call(Values(span, plan.places), plan, observation)
        elif role == "aside":
            _read_part(span, plan, observation)
        elif role != "other":
            self._read_talk(Values(span, plan.places), plan, observation)
        if role == "evaluator":
            observation.parent_id = _judged(span)
        if not _LAB_KEYS.isdisjoint(attributes):
            _read_lab(span, observation)
        if not self._case_set.isdisjoint(attributes) or not self._case_set.isdisjoint(span.origin.resource):
            at_root = attributes.get(_ITEM_ROOT, span.span_id) == span.span_id
            observation.case_id = _candidate(self._case_keys if at_root else self._beside_item, span)
        if role == "agent" or not span.parent_id:
            observation.policy = _candidate(self._policy_keys, span)
        if self._group_keys:
            observation.group = _candidate(self._group_keys, span)
        if span.status_code == 2 and role != "tool":
            said = attributes.get("langfuse.observation.status_message")  # without the exception's type before it
            observation.failed, observation.failure = True, said if isinstance(said, str) else span.status_message
        if attributes.get(_PENDING) == "pending_span":
            observation.pending = True
        if self._keep_attributes:
            observation.attributes = {**span.origin.resource, **attributes}
        return observation

    def _plan(self, span: Span) -> Plan:
        attributes = span.attributes
        name = span.name
        keys = tuple(attributes)
        shape = self._shapes.get(keys) or self._shape(keys)
        key = (
            span.origin.scope_name,
            name if name in self._names or name.startswith(self._prefixes) else "",
            span.dropped > 0,
            bool(span.events),
            shape.named,
            *map(attributes.__getitem__, shape.deciding),
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

    def _shape(self, keys: tuple[str, ...]) -> "_Shape":
        """What the keys of a span's attributes, in their order, mean to the tables."""
        if len(self._shapes) >= _SHAPES:
            self._shapes.clear()
        named = self._named.intersection(keys)
        shape = self._shapes[keys] = _Shape(named, tuple(key for key in self._deciding if key in named))
        return shape

    def _made(self, span: Span) -> Plan:
        role: Role = "other"
        claims: list[Convention] = []
        for one in self._conventions:
            if role == "other":
                for aside in one.aside:
                    if holds(aside.match, span):
                        return plan_of("aside", [one], span, aside)
            for claimed in ROLES:
                if role in ("other", claimed) and any(holds(match, span) for match in getattr(one, claimed)):
                    role = claimed
                    claims.append(one)
                    break
        return plan_of(role, claims, span)

    def _read_talk(self, values: Values, plan: Plan, observation: Observation) -> None:
        if plan.usage:
            observation.usage = _usage(values, plan)
        if plan.role == "evaluator":
            return
        if plan.proposals and plan.role == "model":
            observation.proposals = proposals.read(values.span, plan.proposals)
        try:
            observation.output = self._final(values, plan)
        except Unreadable as error:
            observation.problem = _unreadable(values.span, "final message", error)
        if observation.output is UNSET and observation.proposals:
            observation.output = _INCOMPLETE_ANSWER  # the reply was recorded: it asked for tools, and said nothing
        if self._keep_input:
            observation.input = _asked(values, plan)

    def _final(self, values: Values, plan: Plan) -> Any:
        """The final message; raises `Unreadable` for one that was cut, of which nobody knows what it was."""
        for read in plan.reads["output"]:
            try:
                message = read.of(values)
            except Unreadable as error:
                if error.cut:
                    raise
                return _INCOMPLETE_ANSWER
            if isinstance(message, str):
                return self._final_text(message, read.slot.label)
            if isinstance(message, dict):
                return message if "disposition" in message or self._keep_input else _INCOMPLETE_ANSWER
        return UNSET

    def _final_text(self, message: str, label: str) -> Any:
        """The object that a text is, where it may be the output; no other text is kept unless it is asked for."""
        if "disposition" in message and message.lstrip()[:1] == "{":
            try:
                decoded = ENCODINGS["structured"](message)
            except BadEncoding as error:
                raise Unreadable(label, str(error), cut=error.cut) from None
            return decoded if isinstance(decoded, dict) or self._keep_input else _INCOMPLETE_ANSWER
        return message if self._keep_input else _INCOMPLETE_ANSWER


class _Shape(NamedTuple):
    """The attributes of a span that some table names, and those whose values decide which table claims it."""

    named: frozenset[str]
    deciding: tuple[str, ...]


def _attributes_of(conventions: list[Convention]) -> Iterator[str]:
    """Every attribute at which a field of a table may stand."""
    for convention in conventions:
        yield from (field.key for field in fields_of(convention) if field.place == "attribute")


def _wanted(conventions: list[Convention], keys: frozenset[str], *, inputs: bool, everything: bool) -> Wanted:
    """All that the tables may look at; what the agent was asked only where somebody asks for it."""
    found: set[str] = {*keys, *_LAB_KEYS, *ERROR_KEYS, _PENDING}
    prefixes: set[str] = set()
    events = {"exception"}
    for convention in conventions:
        for field in fields_of(convention):
            if not inputs and field in convention.input:
                continue
            if field.place != "name-suffix":
                found.add(field.key)
            events.add(field.event)
        for rule in convention.proposals:
            key, prefix, event = proposals.wanted(rule)
            found.add(key)
            prefixes.add(prefix)
            events.add(event)
    return Wanted(frozenset(found - {""}), tuple(sorted(prefixes - {""})), frozenset(events - {""}), everything)


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
    return msgspec.structs.replace(span.where, trace_id=span.trace_id, span_ids=(span.span_id,))


def _read_call(values: Values, plan: Plan, observation: Observation) -> None:
    fields: dict[str, str] = {}
    try:
        name = _agreed("tool_name", values, plan, fields)
        call_id = _agreed("call_id", values, plan, fields)
    except _Disagreement as error:
        observation.problem = error.problem(values.span)
        name, call_id = error.values[0][1], ""
    arguments, bad_arguments = _content("arguments", values, plan, fields)
    result, bad_result = _content("result", values, plan, fields)
    operation, _ = _content("operation", values, plan, fields)
    outcome = outcome_of(plan, values, result)
    if outcome.status in ("error", "timeout", "blocked"):
        result, bad_result = UNSET, None
        fields.pop("result", None)
    bad = bad_arguments or bad_result
    if values.span.dropped and not bad:
        bad = _dropped(values.span, plan, arguments, result, outcome.status)
    observation.problem = observation.problem or bad
    observation.call = Call(
        tool=name,
        call_id=call_id,
        arguments=arguments,
        result=result,
        status=outcome.status,
        error_type=outcome.error_type,
        error_message=outcome.error_message,
        operation=operation if operation in ("read", "write") else "unknown",
        conventions=plan.tables,
        fields=fields,
    )


def _read_part(span: Span, plan: Plan, observation: Observation) -> None:
    """What a span that is a part of the tool span around it says of that call: that it failed, or was not invoked."""
    if plan.tells:
        outcome = outcome_of(plan, Values(span, plan.places), UNSET)
        if outcome is not OK:
            observation.call = Call(
                tool="",
                status=outcome.status,
                error_type=outcome.error_type,
                error_message=outcome.error_message,
                conventions=plan.tables,
            )


def _agreed(part: str, values: Values, plan: Plan, fields: dict[str, str]) -> str:
    """The name or call id on which all tables agree that find one; the span's own name counts only as a last resort."""
    first = weak = ""
    first_table = weak_table = ""
    for read in plan.reads[part]:
        if read.table == first_table:
            continue  # a table's own later places are for spans that lack the earlier ones
        value = _word(read, values)
        if not value:
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


def _word(read: Read, values: Values) -> str:
    try:
        value = read.of(values)
    except Unreadable:
        return ""
    return value if isinstance(value, str) else ""


def _content(part: str, values: Values, plan: Plan, fields: dict[str, str]) -> tuple[Any, Problem | None]:
    """The first place of a part that holds something; one that cannot be read is a problem, and no other is tried."""
    for read in plan.reads[part]:
        try:
            value = read.of(values)
        except Unreadable as error:
            return UNSET, _unreadable(values.span, part, error)
        if value is not UNSET:
            fields[part] = read.table
            return value, None
    return UNSET, None


def _unreadable(span: Span, part: str, error: Unreadable) -> Problem:
    code = "TRUNCATED_CONTENT" if error.cut or span.dropped else "BAD_CONTENT"
    message = f'the {part} of the span "{span.name}" cannot be read from attribute "{error.key}"'
    return Problem(code=code, message=message, where=_place(span), found=error.why, expected="a whole JSON value")


def _dropped(span: Span, plan: Plan, arguments: Any, result: Any, status: str) -> Problem | None:
    """A part that the table records and that is not there, on a span of which the exporter dropped attributes."""
    missing = ""
    if arguments is UNSET and ("arguments" in plan.named or plan.fallback):
        missing = "arguments"
    elif result is UNSET and status == "ok" and "result" in plan.named:
        missing = "result"
    if not missing:
        return None
    return Problem(
        code="TRUNCATED_CONTENT",
        message=f'the tool span "{span.name}" has no {missing}, and its exporter dropped attributes',
        where=_place(span),
        found=f"{span.dropped} dropped attributes",
        expected="none",
    )


# -- runs --------------------------------------------------------------------------------------------------------------


def _judged(span: Span) -> str:
    """The parent of an evaluator: it stands beside the root of the item that it judges, and names it."""
    root = span.attributes.get(_ITEM_ROOT)
    return root if isinstance(root, str) and root and root != span.span_id else span.parent_id


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


def _asked(values: Values, plan: Plan) -> Any:
    for read in plan.reads["input"]:
        try:
            value = read.of(values)
        except Unreadable:
            continue
        if value is not UNSET:
            return value
    return UNSET


def _usage(values: Values, plan: Plan) -> Any:
    found: dict[str, Any] = {}
    attributes = values.span.attributes
    for part in plan.usage:
        for key in part.keys:
            value = attributes.get(key)
            if value is not None:
                if type(value) is not int or value < 0:
                    value = _amount(part.name, value)
                if value is not UNSET:
                    found[part.name] = value
                    break
        for read in part.reads:
            try:
                value = _amount(part.name, read.of(values))
            except Unreadable:
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
    for key, words in _LAB_WORDS.items():
        if key in attributes and attributes[key] not in words:
            observation.problem = observation.problem or _no_lab_word(span, key, words)
    if "lab.output" in attributes:
        try:
            observation.lab_output = ENCODINGS["json"](attributes["lab.output"])
        except BadEncoding as error:
            unreadable = Unreadable("lab.output", str(error), cut=error.cut)
            observation.problem = observation.problem or _unreadable(span, "output", unreadable)
    if isinstance(attributes.get("lab.infrastructure"), str):
        observation.infrastructure = attributes["lab.infrastructure"]
    if observation.role == "tool" and observation.call is not None:
        parts = {part: attributes[f"lab.{part}"] for part in _LAB_PARTS if f"lab.{part}" in attributes}
        call = msgspec.structs.replace(observation.call, lab=parts)
        if attributes.get("lab.blocked") in (True, "true"):
            call = msgspec.structs.replace(call, status="blocked", result=UNSET, error_type="", error_message="")
        observation.call = call


def _no_lab_word(span: Span, key: str, words: tuple[object, ...]) -> Problem:
    return Problem(
        code="BAD_CONTENT",
        message=f'the attribute "{key}" of the span "{span.name}" holds another word than it may',
        where=_place(span),
        found=f"{span.attributes[key]!r:.60}",
        expected=" or ".join(str(word) for word in words if not isinstance(word, bool)),
    )
