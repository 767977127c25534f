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
from labadapt.adapters.span import Convention, Failing, Field, Match, Proposals, Span
from labadapt.adapters.values import ENCODINGS, ENVELOPES, BadEncoding, Envelope, inside, is_redacted, unwrap
from msgspec import UNSET

Getter: TypeAlias = Callable[[Span], Any]
Test: TypeAlias = Callable[[Span], bool]

ROLES: tuple[Role, ...] = ("tool", "evaluator", "agent", "model")
PARTS = ("tool_name", "call_id", "arguments", "result", "operation")
_OTHER_PARTS = ("error_type", "error_message", "output", "input")
_ALL_ENVELOPES = {**ENVELOPES, **FINAL_MESSAGES}
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


# -- conditions --------------------------------------------------------------------------------------------------------


def test_of(match: Match) -> Test:
    """The condition as a function of a span."""
    tests = [*_attribute_tests(match), *_origin_tests(match)]
    if len(tests) == 1:
        return tests[0]
    return lambda span: all(test(span) for test in tests)


def _attribute_tests(match: Match) -> Iterable[Test]:
    key, values = match.attribute, match.equals
    if key and values:
        yield lambda span: span.attributes.get(key) in values
    elif key:
        yield lambda span: key in span.attributes
    if match.absent:
        yield lambda span: not any(absent in span.attributes for absent in match.absent)


def _origin_tests(match: Match) -> Iterable[Test]:
    if match.scopes:
        yield lambda span: span.origin.scope_name in match.scopes
    if match.scope_prefixes:
        yield lambda span: span.origin.scope_name.startswith(match.scope_prefixes)
    if match.names:
        yield lambda span: span.name in match.names
    if match.name_prefixes:
        yield lambda span: span.name.startswith(match.name_prefixes)
    if match.dropped:
        yield lambda span: span.dropped > 0


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


@dataclass(frozen=True, slots=True)
class Slot:
    """One place with its encoding, and its number among those of a plan."""

    number: int
    label: str
    raw: Getter
    decode: Callable[[Any], Any]
    none: tuple[str, ...]

    def value(self, span: Span) -> Any:
        """The decoded value, UNSET where it is not recorded, or what makes it `Unreadable`, unraised."""
        value = self.raw(span)
        if value is UNSET or (self.none and value in self.none) or is_redacted(value):
            return UNSET
        try:
            value = self.decode(value)
        except BadEncoding as error:
            return Unreadable(self.label, str(error), cut=error.cut)
        return UNSET if is_redacted(value) else value


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
            value = self._found[slot.number] = slot.value(self.span)
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
    when: Test | None = None
    weak: bool = False

    def of(self, values: Values) -> Any:
        """The unwrapped value; UNSET where it is not recorded. Raises `Unreadable`."""
        if self.when is not None and not self.when(values.span):
            return UNSET
        value = values.of(self.slot)
        if value is UNSET or not (self.path or self.envelopes):
            return value
        value = inside(value, self.envelopes, self.path) if self.path else unwrap(value, self.envelopes)
        return UNSET if is_redacted(value) else value


@dataclass(frozen=True, slots=True)
class Fails:
    """One failing rule, compiled. `results`: where its table has the results."""

    rule: Failing
    test: Test | None
    envelopes: tuple[Envelope, ...]
    path: tuple[str, ...]
    results: tuple[Read, ...]


@dataclass(frozen=True, slots=True)
class Amount:
    """One field of the usage: attribute keys where it stands as it is, or reads where it must be decoded."""

    name: str
    keys: tuple[str, ...]
    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to read the spans that the same tables claim. `places` is how many different ones it looks at."""

    role: Role
    reason: str
    tables: tuple[str, ...]
    places: int
    reads: dict[str, tuple[Read, ...]]
    fails: tuple[Fails, ...]
    usage: tuple[Amount, ...]
    proposals: tuple[Proposals, ...]
    fallback: bool


def plan_of(
    role: Role, claims: Sequence[Convention], *, reason: str = "", tells: tuple[Failing, ...] = (), events: bool = True
) -> Plan:
    """Compile what `claims` say, in their order. A span without `events` needs no look at them."""
    slots = _Slots(claims)
    parts = PARTS if role == "tool" else ()
    reads = {part: tuple(_reads(part, claims, slots, events=events)) for part in (*parts, *_OTHER_PARTS)}
    failing = [(one, rule) for one in claims for rule in (one.failing if role == "tool" else tells)]
    usage = tuple(_amounts(claims, slots))
    return Plan(
        role=role,
        reason=reason,
        tables=tuple(one.name for one in claims),
        reads=reads,
        fails=tuple(_fails(one, rule, slots, events=events) for one, rule in failing),
        usage=usage,
        proposals=tuple(dict.fromkeys(rule for one in claims for rule in one.proposals if events or not rule.event)),
        fallback=bool(claims) and claims[0].family == "fallback",
        places=len(slots),
    )


class _Slots:
    """The different places of a plan. What one table declares to mean *not recorded* means so for all that claim."""

    def __init__(self, claims: Sequence[Convention]) -> None:
        self._slots: dict[tuple[str, ...], Slot] = {}
        self._none: dict[tuple[str, ...], set[str]] = {}
        for field in (field for one in claims for field in fields_of(one)):
            self._none.setdefault((field.place, field.event, field.key), set()).update(field.none)

    def __len__(self) -> int:
        return len(self._slots)

    def of(self, field: Field) -> Slot:
        place = (field.place, field.event, field.key)
        key = (*place, field.encoding)
        if key not in self._slots:
            none = tuple(sorted(self._none.get(place, ())))
            label = field.key or field.place
            self._slots[key] = Slot(len(self._slots), label, _raw(field), ENCODINGS[field.encoding], none)
        return self._slots[key]


def _reads(part: str, claims: Sequence[Convention], slots: _Slots, *, events: bool) -> Iterable[Read]:
    """The places of a part in order, each once, with the first table that names it."""
    named: dict[Field, str] = {}
    for one in claims:
        for field in getattr(one, part):
            if events or field.place != "event":
                named.setdefault(replace(field, none=()), one.name)
    return (_read(table, field, slots) for field, table in named.items())


def _read(table: str, field: Field, slots: _Slots) -> Read:
    return Read(
        table,
        slots.of(field),
        field.inside,
        _envelopes(field.envelope),
        test_of(field.when) if field.when else None,
        field.place in ("name", "name-suffix"),
    )


def _envelopes(names: tuple[str, ...]) -> tuple[Envelope, ...]:
    return tuple(_ALL_ENVELOPES[name] for name in names)


def _fails(one: Convention, rule: Failing, slots: _Slots, *, events: bool) -> Fails:
    places = [field for field in one.result if rule.key and (events or field.place != "event")]
    results = dict.fromkeys(replace(field, envelope=(), inside=(), none=()) for field in places)
    return Fails(
        rule,
        test_of(rule.match) if rule.match else None,
        _envelopes(rule.envelope),
        tuple(rule.key.split(".")) if rule.key else (),
        tuple(_read(one.name, field, slots) for field in results),
    )


def _amounts(claims: Sequence[Convention], slots: _Slots) -> Iterable[Amount]:
    merged: dict[str, dict[Field, None]] = {}
    for one in claims:
        for name, fields in one.usage.items():
            merged.setdefault(name, {}).update(dict.fromkeys(fields))
    for name, found in merged.items():
        if all(field == Field(field.key, field.encoding) and field.encoding in ("typed", "text") for field in found):
            yield Amount(name, tuple(field.key for field in found), ())
        else:
            yield Amount(name, (), tuple(_read("", field, slots) for field in found))
