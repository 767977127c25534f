"""The conventions' tables compiled: conditions as functions of a span, and how to read a span that tables claim.

A recorded value is decoded once for a span, however many places of however many tables look into it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import msgspec
from labadapt.adapters import proposals
from labadapt.adapters.messages import FINAL_MESSAGES
from labadapt.adapters.observation import Role
from labadapt.adapters.registry import FAMILIES
from labadapt.adapters.span import Aside, Convention, Failing, Field, Match, Proposals, Span
from labadapt.adapters.values import ENCODINGS, ENVELOPES, BadEncoding, Envelope, inside, is_redacted, unwrap
from labadapt.schema.model import Usage
from msgspec import UNSET

Getter: TypeAlias = Callable[[Span], Any]

ROLES: tuple[Role, ...] = ("tool", "evaluator", "agent", "model")
PARTS = ("tool_name", "call_id", "arguments", "result", "operation")
_OTHER_PARTS = ("error_type", "error_message", "output", "input")
_ALL_ENVELOPES = {**ENVELOPES, **FINAL_MESSAGES}
_CONTENT = frozenset({"arguments", "result"})
_PLAIN = frozenset({"typed", "text"})
_UNREAD: Any = object()  # a place of a span at which nobody has looked yet


class Unreadable(Exception):
    """A value that is not what its convention says. `cut`: it stops in the middle. Never leaves the adapters."""

    def __init__(self, key: str, why: str, *, cut: bool) -> None:
        """Hold the attribute's key and the reason."""
        super().__init__(why)
        self.key, self.why, self.cut = key, why, cut


# -- what a table may say ----------------------------------------------------------------------------------------------


def table_fault(convention: Convention) -> str | None:
    """What is wrong with a table: a wrong type, an unknown word, or no way to recognise a span; None for a good one."""
    try:
        msgspec.convert(msgspec.to_builtins(convention), Convention)
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        return f"its table is malformed: {error}"
    matches = list(matches_of(convention))
    if any(not _is_positive(match) for match in matches):
        return "a match without a condition of its own would claim every span"
    return _unknown_word(convention) or (None if matches else "it recognises no span")


def _is_positive(match: Match) -> bool:
    """Whether a match asks for something that is there; what is absent is absent from most spans."""
    return bool(match.attribute or match.scopes or match.scope_prefixes or match.names or match.name_prefixes)


def _unknown_word(convention: Convention) -> str | None:
    named = [name for field in fields_of(convention) for name in field.envelope]
    named += [name for failing in failing_of(convention) for name in failing.envelope]
    unknown = [name for name in named if name not in _ALL_ENVELOPES]
    if unknown:
        return f"unknown envelope {unknown[0]!r:.40}"
    amounts = [name for name in convention.usage if name not in Usage.__struct_fields__]
    if amounts:
        return f"unknown field of the usage {amounts[0]!r:.40}"
    shapes = [rule.shape for rule in convention.proposals if rule.shape not in proposals.SHAPES]
    return f"unknown shape of proposals {shapes[0]!r:.40}" if shapes else None


def fields_of(convention: Convention) -> Iterable[Field]:
    """Every place that a table names."""
    for part in (*PARTS, *_OTHER_PARTS):
        yield from getattr(convention, part)
    for fields in convention.usage.values():
        yield from fields


def failing_of(convention: Convention) -> Iterable[Failing]:
    """Every rule by which a table tells that a call failed."""
    yield from convention.failing
    for aside in convention.aside:
        yield from aside.tells


def matches_of(convention: Convention) -> Iterable[Match]:
    """Every condition by which a table recognises a span."""
    for role in ROLES:
        yield from getattr(convention, role)
    yield from (aside.match for aside in convention.aside)


def in_order(conventions: Iterable[Convention]) -> list[Convention]:
    """The declared order (telemetry.md): families first, then the rows, then the name."""
    return sorted(conventions, key=lambda one: (FAMILIES.index(one.family), one.order, one.name))


def conditions_of(convention: Convention) -> Iterable[Match]:
    """Every condition that a table names, those of its fields and rules too."""
    yield from matches_of(convention)
    yield from (field.when for field in fields_of(convention) if field.when)
    yield from (failing.match for failing in failing_of(convention) if failing.match)


def holds(match: Match | None, span: Span) -> bool:
    """Whether a span meets all conditions of a match; none at all is met."""
    return match is None or (_attributes_hold(match, span) and _origin_holds(match, span))


def _attributes_hold(match: Match, span: Span) -> bool:
    attributes = span.attributes
    if match.attribute and match.attribute not in attributes:
        return False
    if match.equals and attributes.get(match.attribute) not in match.equals:
        return False
    return not any(key in attributes for key in match.absent)


def _origin_holds(match: Match, span: Span) -> bool:
    scope = span.origin.scope_name
    return (
        (not match.scopes or scope in match.scopes)
        and (not match.scope_prefixes or scope.startswith(match.scope_prefixes))
        and (not match.names or span.name in match.names)
        and (not match.name_prefixes or span.name.startswith(match.name_prefixes))
        and (not match.dropped or span.dropped > 0)
    )


# -- places ------------------------------------------------------------------------------------------------------------


def _raw(field: Field) -> Getter:
    """The recorded value of a place, undecoded; UNSET where it is not recorded."""
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


def _decoded(field: Field, none: frozenset[str]) -> Getter:
    """The decoded value of a place, UNSET where it is not recorded, or what makes it `Unreadable`, unraised."""
    raw, decode, label = _raw(field), ENCODINGS[field.encoding], field.key or field.place
    if field.encoding in _PLAIN and field.place == "attribute" and not none:
        return _plain(field.key)

    def read(span: Span) -> Any:
        value = raw(span)
        if value is UNSET or is_redacted(value) or (none and type(value) is str and value in none):
            return UNSET
        try:
            value = decode(value)
        except BadEncoding as error:
            return Unreadable(label, str(error), cut=error.cut)
        return UNSET if is_redacted(value) else value

    return read


def _plain(key: str) -> Getter:
    """The same for the most frequent kind of place: an attribute that stands as it is."""

    def read(span: Span) -> Any:
        value = span.attributes.get(key, UNSET)
        return UNSET if is_redacted(value) else value

    return read


@dataclass(frozen=True, slots=True)
class Slot:
    """One place with its encoding, and its number among those of a plan."""

    number: int
    label: str
    raw: Getter
    read: Getter


class Values:
    """What was recorded on one span, each place decoded when it is first asked for."""

    __slots__ = ("_found", "span")

    def __init__(self, span: Span, places: int) -> None:
        """Look at nothing yet."""
        self.span = span
        self._found = [_UNREAD] * places

    def of(self, slot: Slot) -> Any:
        """The value at a place; UNSET where it is not recorded. Raises `Unreadable`."""
        value = self._found[slot.number]
        if value is _UNREAD:
            value = self._found[slot.number] = slot.read(self.span)
        if type(value) is Unreadable:
            raise value
        return value


@dataclass(frozen=True, slots=True)
class Read:
    """One place of one part of a call: the table that names it, and how to unwrap what stands there.

    `weak`: it is only the span's own name, which counts where nothing else names the tool.
    """

    table: str
    slot: Slot
    path: tuple[str, ...] = ()
    envelopes: tuple[Envelope, ...] = ()
    weak: bool = False

    def of(self, values: Values) -> Any:
        """The unwrapped value; UNSET where it is not recorded. Raises `Unreadable`."""
        value = values.of(self.slot)
        if value is UNSET or not (self.path or self.envelopes):
            return value
        value = inside(value, self.envelopes, self.path) if self.path else unwrap(value, self.envelopes)
        return UNSET if is_redacted(value) else value


@dataclass(frozen=True, slots=True)
class Fails:
    """One failing rule whose match holds, compiled. `results`: where its table has the results."""

    rule: Failing
    envelopes: tuple[Envelope, ...]
    path: tuple[str, ...]
    results: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Amount:
    """One field of the usage: attribute keys where it stands as it is, or reads where it must be decoded."""

    name: str
    keys: tuple[str, ...]
    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to read the spans of one shape: the same attributes are there, and all conditions come out the same.

    `reads` leaves out the attributes that these spans do not have; `named` holds the parts for which the tables name
    a place at all. `places` is how many different places it looks at; `fallback`: only the last resort recognised the
    span; `tells`: the span is no call, but tells of the one around it.
    """

    role: Role
    reason: str
    tables: tuple[str, ...]
    places: int
    reads: dict[str, tuple[Read, ...]]
    named: frozenset[str]
    fails: tuple[Fails, ...]
    usage: tuple[Amount, ...]
    proposals: tuple[Proposals, ...]
    fallback: bool
    tells: bool


def plan_of(role: Role, claims: Sequence[Convention], span: Span, aside: Aside | None = None) -> Plan:
    """Compile what `claims`, the tables that claim a span in their order, say of spans like this one."""
    compiler = _Compiler(claims, span)
    parts = (*PARTS, *_OTHER_PARTS) if role == "tool" else _OTHER_PARTS
    reads = {part: tuple(compiler.reads(part)) for part in parts}
    fails = tuple(compiler.fails(() if role != "aside" or aside is None else aside.tells, own=role == "tool"))
    usage = tuple(compiler.amounts())
    rules = dict.fromkeys(rule for one in claims for rule in one.proposals if span.events or not rule.event)
    return Plan(
        role=role,
        reason="" if aside is None else aside.reason,
        tables=tuple(one.name for one in claims),
        reads=reads,
        named=frozenset(part for part in parts if any(map(compiler.applies, compiler.fields(part)))),
        fails=fails,
        usage=usage,
        proposals=tuple(rules),
        fallback=bool(claims) and claims[0].family == "fallback",
        tells=aside is not None and bool(aside.tells),
        places=compiler.places,
    )


class _Compiler:
    """Tables to a plan. What one table declares to mean *not recorded* means so for all that claim the span."""

    def __init__(self, claims: Sequence[Convention], span: Span) -> None:
        self._claims = claims
        self._span = span
        self._slots: dict[tuple[str, ...], Slot] = {}
        self._none: dict[tuple[str, ...], set[str]] = {}
        for field in (field for one in claims for field in fields_of(one)):
            self._none.setdefault((field.place, field.event, field.key), set()).update(field.none)

    @property
    def places(self) -> int:
        return len(self._slots)

    def reads(self, part: str) -> Iterable[Read]:
        """The places of a part in order, each once, with the first table that names it."""
        named: dict[Field, str] = {}
        content: set[tuple[str, ...]] = set()
        for one in self._claims:
            for field in filter(self._counts, getattr(one, part)):
                place = (field.place, field.event, field.key)
                if part not in _CONTENT or place not in content:  # what is redacted for the first is so for all
                    named.setdefault(replace(field, none=(), when=None), one.name)
                content.add(place)
        return (self._read(table, field) for field, table in named.items())

    def fails(self, tells: tuple[Failing, ...], *, own: bool) -> Iterable[Fails]:
        """The rules that may say that a call failed: those of a part of it, or the tables' `own`."""
        for one in self._claims:
            first: dict[tuple[str, ...], Slot] = {}
            for field in filter(self._counts, one.result):
                first.setdefault((field.place, field.event, field.key), self._slot(field))
            places = tuple(first.values())
            for rule in one.failing if own else tells:
                if holds(rule.match, self._span):
                    path = tuple(rule.key.split(".")) if rule.key else ()
                    yield Fails(rule, _envelopes(rule.envelope), path, places)

    def amounts(self) -> Iterable[Amount]:
        """The fields of the usage, each with its places in order."""
        merged: dict[str, dict[Field, None]] = {}
        for one in self._claims:
            for name, fields in one.usage.items():
                merged.setdefault(name, {}).update(dict.fromkeys(filter(self.applies, fields)))
        for name, places in merged.items():
            found = tuple(filter(self._counts, places))
            if not found:
                continue
            # by all its places, so that the attributes that happen to be there do not change how one of them is read
            if all(field == Field(field.key, field.encoding) and field.encoding in _PLAIN for field in places):
                yield Amount(name, tuple(field.key for field in found), ())
            else:
                yield Amount(name, (), tuple(self._read("", field) for field in found))

    def fields(self, part: str) -> Iterable[Field]:
        """The fields of a part, in all tables."""
        return (field for one in self._claims for field in getattr(one, part))

    def applies(self, field: Field) -> bool:
        """Whether a field is one of spans like this; one without events needs no look at them."""
        return (bool(self._span.events) or field.place != "event") and holds(field.when, self._span)

    def _counts(self, field: Field) -> bool:
        """Whether a field says anything of the span; one whose attribute is not there does not."""
        return (field.place != "attribute" or field.key in self._span.attributes) and self.applies(field)

    def _read(self, table: str, field: Field) -> Read:
        weak = field.place in ("name", "name-suffix")
        return Read(table, self._slot(field), field.inside, _envelopes(field.envelope), weak)

    def _slot(self, field: Field) -> Slot:
        place = (field.place, field.event, field.key)
        key = (*place, field.encoding)
        if key not in self._slots:
            read = _decoded(field, frozenset(self._none.get(place, ())))
            self._slots[key] = Slot(len(self._slots), field.key or field.place, _raw(field), read)
        return self._slots[key]


def _envelopes(names: tuple[str, ...]) -> tuple[Envelope, ...]:
    return tuple(_ALL_ENVELOPES[name] for name in names)
