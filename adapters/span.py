"""The neutral span and the two plug-in types: what a source yields, and what a convention is.

A *source* turns bytes (or an API) into spans. A *convention* is a frozen table that says how a span tells that it
is a tool call, and where the call's parts stand. Both are values: there is nothing to subclass.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal, TypeAlias

import msgspec
from labadapt.schema.problems import Where

AttributeValue: TypeAlias = Any  # str | bool | int | float | bytes | None | list[AttributeValue] | dict[str, ...]
Attributes: TypeAlias = Mapping[str, AttributeValue]


class Event(msgspec.Struct, gc=False):
    """A span event. `time_ns`: nanoseconds since 1970, 0 when not recorded."""

    name: str
    time_ns: int
    attributes: Attributes


class Origin(msgspec.Struct, frozen=True):
    """What the spans of one `ScopeSpans` share. Resource, scope and span attributes stay apart."""

    resource: Attributes
    scope_name: str
    scope_version: str
    scope_attributes: Attributes


class Span(msgspec.Struct):
    """One span, whatever it was written in.

    Ids are lower-case hex: 32 digits for the trace, 16 for the span; `parent_id` is empty when there is no parent.
    Times are nanoseconds since 1970 as integers; `end_ns` 0 means unfinished. `status_code` is 0 unset, 1 ok, 2
    error. `attributes` holds what the reader was told to keep (`Wanted`), no other content; `dropped` counts
    attributes that the exporter says it dropped. `where` is the place of the span in its file.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start_ns: int
    end_ns: int
    origin: Origin
    attributes: Attributes
    events: tuple[Event, ...] = ()
    status_code: int = 0
    status_message: str = ""
    kind: int = 0
    dropped: int = 0
    where: Where = Where()


@dataclass(frozen=True, slots=True)
class Wanted:
    """The attributes that a reader materialises; all others are skipped without being decoded into Python.

    `keys` are exact, `prefixes` open families such as ``llm.output_messages.``; `events` are the names of the events
    to keep. ``everything=True`` keeps all of them, for `inspect` and for mapping expressions over free attributes.
    """

    keys: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    events: frozenset[str] = frozenset()
    everything: bool = False

    def __or__(self, other: "Wanted") -> "Wanted":
        """Both together."""
        return Wanted(
            self.keys | other.keys,
            tuple(sorted({*self.prefixes, *other.prefixes})),
            self.events | other.events,
            self.everything or other.everything,
        )


@dataclass(slots=True)
class Tally:
    """What was read, for the conservation sum: spans read = spans used + spans left aside, by reason.

    `records_aside` counts what is no span at all (log records, metrics), which never enters the sum of spans.
    """

    read: int = 0
    used: int = 0
    aside: dict[str, int] = field(default_factory=dict)
    records_aside: dict[str, int] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)

    def leave(self, reason: str, count: int = 1) -> None:
        """Count spans left aside for a reason."""
        self.aside[reason] = self.aside.get(reason, 0) + count

    def leave_records(self, reason: str, count: int = 1) -> None:
        """Count records that are no spans."""
        self.records_aside[reason] = self.records_aside.get(reason, 0) + count

    def add(self, other: "Tally") -> None:
        """Count what another tally counted as well."""
        self.read += other.read
        self.used += other.used
        for own, theirs in (
            (self.aside, other.aside),
            (self.records_aside, other.records_aside),
            (self.notes, other.notes),
        ):
            for reason, count in theirs.items():
                own[reason] = own.get(reason, 0) + count

    def note(self, text: str, count: int = 1) -> None:
        """Count an observation that a person should read, such as clock ties."""
        self.notes[text] = self.notes.get(text, 0) + count


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that keep hostile input from hurting. Sizes in bytes; `ratio` is decompressed to compressed size."""

    max_size: int = 64 * 1024**3
    ratio: int = 1000
    ratio_floor: int = 8 * 1024**2
    depth: int = 100
    max_span: int = 256 * 1024**2


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source is given beside the bytes: what to keep, the limits, the tally, and the time now.

    `now_ns` (nanoseconds since 1970) comes from the command line, for the rule on impossible times; the core has no
    clock.
    """

    wanted: Wanted
    tally: Tally
    limits: Limits
    now_ns: int
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Input:
    """One opened input: its name for messages, and a binary stream at its first byte."""

    name: str
    stream: BinaryIO


@dataclass(frozen=True, slots=True)
class SourceOption:
    """An option of a source: a flag of its subcommand. `flag` such as ``--tenant``."""

    flag: str
    help: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A reader of one format. It becomes a subcommand of its name.

    `claims(head)` says by the first bytes (decompressed, up to 64 KiB) how sure it is that the format is its own: 0
    for not at all, 100 for certain. `decode(input, reading)` yields every span of the input, one at a time, counts
    ``reading.tally.read`` for each, and raises `labadapt.schema.problems.Refusal`, and nothing else, for what it
    cannot take. `export` is a name such as files of the format have, for the example of its help text.
    """

    name: str
    summary: str
    claims: Callable[[bytes], int]
    decode: Callable[[Input, Reading], Iterator[Span]]
    options: tuple[SourceOption, ...] = ()
    export: str = "FILE"


# -- conventions -------------------------------------------------------------------------------------------------------

Family: TypeAlias = Literal["lab", "plugin", "vendor", "general", "fallback"]
Encoding: TypeAlias = Literal["text", "json", "json-else-text", "json-text", "structured", "typed"]
Place: TypeAlias = Literal["attribute", "name", "name-suffix", "event", "status", "resource"]


@dataclass(frozen=True, slots=True)
class Match:
    """Conditions on one span; all that are given must hold. A tuple means: one of these.

    `attribute` with `equals`: that attribute has one of these values; without: it is present. `scopes` are exact
    names of instrumentation scopes, `scope_prefixes` their beginnings; `names` and `name_prefixes` are those of the
    span. `absent`: none of these attributes is present. `dropped`: the exporter says that it dropped attributes of
    the span.
    """

    attribute: str = ""
    equals: tuple[str | int | bool, ...] = ()
    scopes: tuple[str, ...] = ()
    scope_prefixes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    name_prefixes: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """Where one part of a call stands, and how it is encoded.

    `place` is ``attribute`` (of the span, called `key`), ``name`` (the span's name), ``name-suffix`` (the name
    after the prefix `key`), ``event`` (attribute `key` of the event called `event`), ``status`` (the status
    message) or ``resource``. `encoding`: ``text`` as it stands; ``json`` must parse, else the span is wrong;
    ``json-else-text`` JSON of any type, of a producer that says so and also writes bare text; ``json-text`` a JSON
    string, its quotes removed, anything else as it stands; ``structured`` decoded where it yields an object or a
    list, else the text as recorded; ``typed`` the attribute's own type. `none`: values that mean *not recorded*,
    for every table that claims the span. `envelope`: names of unwrapping rules (`labadapt.adapters.values`), each
    applied where it fits. `inside`: keys to follow within what is unwrapped; then the last envelope must fit.
    `when`: the field counts only on spans that match.
    """

    key: str = ""
    encoding: Encoding = "text"
    place: Place = "attribute"
    event: str = ""
    inside: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    envelope: tuple[str, ...] = ()
    when: Match | None = None


def texts(prefix: str, *keys: str) -> tuple[Field, ...]:
    """Attributes of a family that hold text, the first that is there to be read."""
    return tuple(Field(prefix + key) for key in keys)


def typed(prefix: str, *keys: str) -> tuple[Field, ...]:
    """Attributes of a family that hold numbers in their own type, the first that is there to be read."""
    return tuple(Field(prefix + key, "typed") for key in keys)


@dataclass(frozen=True, slots=True)
class Failing:
    """How a span says that its call failed, beside status ERROR, `error.type` and an exception event.

    `match` on the span, and `key`, a dotted path within the decoded result of the rule's own table: with `values` one
    of these, with `containing` a text that contains one of these, with neither a text that is not empty. `envelope`:
    unwrapping rules to apply before; the last must fit, so that only a producer's own object can say that it failed.
    A `key` of ``<absent>`` holds where no result was recorded at all. `status` is what the step becomes; ``failure``
    is a timeout or an error, as the name of the error says.
    """

    match: Match | None = None
    key: str = ""
    values: tuple[str | int | bool, ...] = ()
    status: Literal["blocked", "unknown", "failure"] = "failure"
    containing: tuple[str, ...] = ()
    envelope: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Aside:
    """Spans that look like calls and are none: left aside, with the reason.

    `tells`: the span is a part of the tool span around it, and says this of that call.
    """

    match: Match
    reason: str
    tells: tuple[Failing, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposals:
    """Where a model span records the tool calls that the model asked for.

    `shape` names a reader in `labadapt.adapters.proposals`; `key` is the attribute, or the family's prefix.
    """

    shape: str
    key: str = ""
    event: str = ""


@dataclass(frozen=True, slots=True)
class Convention:
    """How one instrumentation writes a tool call: a frozen table and nothing else.

    `order` ranks within the family (telemetry.md's row); families rank lab, plugin, vendor, general, fallback.
    `tool`, `agent`, `model` and `evaluator` are alternatives: one match is enough. Each part of a call is a list of
    places, the first that holds something is read. `error_type` and `error_message` add to the standard places.
    `usage` maps a field of the native usage to attribute keys.
    `capture` says, for people, which setting turns content on.
    """

    name: str
    title: str
    specification: str
    version: str
    family: Family
    order: int
    tool: tuple[Match, ...] = ()
    agent: tuple[Match, ...] = ()
    model: tuple[Match, ...] = ()
    evaluator: tuple[Match, ...] = ()
    aside: tuple[Aside, ...] = ()
    tool_name: tuple[Field, ...] = ()
    call_id: tuple[Field, ...] = ()
    arguments: tuple[Field, ...] = ()
    result: tuple[Field, ...] = ()
    error_type: tuple[Field, ...] = ()
    error_message: tuple[Field, ...] = ()
    failing: tuple[Failing, ...] = ()
    operation: tuple[Field, ...] = ()
    output: tuple[Field, ...] = ()
    input: tuple[Field, ...] = ()
    usage: Mapping[str, tuple[Field, ...]] = field(default_factory=dict)
    proposals: tuple[Proposals, ...] = ()
    capture: str = ""
