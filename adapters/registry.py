"""The installed sources and conventions: built-ins found by walking the folders, strangers by entry points.

Both pass the same admission. What is broken, or takes a name that is taken, is kept with its origin and its
problem: it is listed, and refused when somebody chooses it. Source of the mechanism: Python packaging, entry points
(importlib.metadata).
"""

import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Generic, TypeVar, cast

from labadapt.adapters.span import Convention, Source
from labadapt.schema.problems import Problem, Refusal

Plugin = TypeVar("Plugin", Source, Convention)

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
# Commands that a stranger's source may not take the name of.
_OWN_WORDS = frozenset(
    {"convert", "validate", "check", "fixtures", "inspect", "cases", "mapping", "schema", "explain", "adapters"}
    | {"view", "compare", "reliability", "coverage", "gate", "workbench", "help", "langfuse"}
)
FAMILIES = ("lab", "plugin", "vendor", "general", "fallback")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a plug-in comes from. `module` is where its value stands."""

    distribution: str
    version: str
    module: str


@dataclass(frozen=True, slots=True)
class Entry(Generic[Plugin]):
    """One plug-in that was found: its value, or the problem that keeps it out."""

    name: str
    origin: Origin
    value: Plugin | None
    problem: Problem | None = None


class Registry(Mapping[str, Plugin]):
    """The plug-ins of one kind by name. Choosing a broken one raises `Refusal` with ``BAD_PLUGIN``."""

    def __init__(self, entries: list[Entry[Plugin]]) -> None:
        """Hold the entries; of two with one name the first is the plug-in, and the second is broken."""
        self.entries: list[Entry[Plugin]] = entries
        self._by_name: dict[str, Entry[Plugin]] = {}
        for entry in entries:
            self._by_name.setdefault(entry.name, entry)

    def __getitem__(self, name: str) -> Plugin:
        """The plug-in of this name. Raises `KeyError`, or `Refusal` for a broken one."""
        entry = self._by_name[name]
        if entry.value is None:
            raise Refusal(entry.problem if entry.problem is not None else _broken(entry.name, entry.origin, "empty"))
        return entry.value

    def __iter__(self) -> Iterator[str]:
        """The names of those that can be used."""
        return (entry.name for entry in self._by_name.values() if entry.value is not None)

    def __len__(self) -> int:
        """How many can be used."""
        return sum(entry.value is not None for entry in self._by_name.values())

    def __contains__(self, name: object) -> bool:
        """Whether something of this name was found, broken or not."""
        return name in self._by_name

    def admitted(self) -> list[Plugin]:
        """All that can be used."""
        return [entry.value for entry in self._by_name.values() if entry.value is not None]

    def problems(self) -> list[Problem]:
        """Why the others cannot."""
        return [entry.problem for entry in self.entries if entry.problem is not None]


@cache
def sources() -> Registry[Source]:
    """The installed sources, by name."""
    entries: list[Entry[Source]] = _found("labadapt.adapters.sources", "SOURCE", "labadapt.sources", _source_fault)
    return Registry(entries)


@cache
def conventions() -> Registry[Convention]:
    """The installed conventions, in their declared order: lab, plug-ins, vendors, general ones, last resort."""
    entries: list[Entry[Convention]] = _found(
        "labadapt.adapters.conventions", "CONVENTION", "labadapt.conventions", _convention_fault
    )
    return Registry(sorted(entries, key=_rank))


def _rank(entry: Entry[Convention]) -> tuple[int, int, str]:
    if entry.value is None:
        return (len(FAMILIES), 0, entry.name)
    return (FAMILIES.index(entry.value.family), entry.value.order, entry.name)


def _found(package: str, attribute: str, group: str, fault: Callable[..., str | None]) -> list[Entry[Plugin]]:
    entries: list[Entry[Plugin]] = []
    taken: set[str] = set()
    for name, origin, load in [*_own(package, attribute), *_strangers(group)]:
        stranger = origin.distribution != "labadapt"
        entries.append(_admit(name, origin, load, taken, partial(fault, stranger=stranger)))
        taken.add(entries[-1].name)
    return entries


def _own(package: str, attribute: str) -> Iterator[tuple[str, Origin, Callable[[], object]]]:
    from labadapt import __version__

    for module in pkgutil.iter_modules(import_module(package).__path__):
        path = f"{package}.{module.name}"
        loaded = import_module(path)
        if hasattr(loaded, attribute):
            yield module.name, Origin("labadapt", __version__, path), _value_of(loaded, attribute)


def _value_of(module: ModuleType, attribute: str) -> Callable[[], object]:
    return lambda: getattr(module, attribute)


def _strangers(group: str) -> Iterator[tuple[str, Origin, Callable[[], object]]]:
    def order(point: EntryPoint) -> tuple[str, str]:
        return (point.dist.name if point.dist else "", point.name)

    for point in sorted(entry_points(group=group), key=order):
        distribution, version = (point.dist.name, point.dist.version) if point.dist else ("unknown", "unknown")
        yield point.name, Origin(distribution, version, point.value), point.load


def _admit(
    name: str,
    origin: Origin,
    load: Callable[[], object],
    taken: set[str],
    fault: Callable[[object], str | None],
) -> Entry[Plugin]:
    try:
        value = load()
        found = fault(value)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's import may raise anything; it must not stop ours
        return Entry(name, origin, None, _broken(name, origin, f"it cannot be loaded: {type(error).__name__}: {error}"))
    if found is None and getattr(value, "name", name) in taken:
        found = f'the name "{getattr(value, "name", name)}" is taken'
        return Entry(f"{name} ({origin.distribution})", origin, None, _broken(name, origin, found))
    if found is not None:
        return Entry(name, origin, None, _broken(name, origin, found))
    admitted = cast(Plugin, value)
    return Entry(admitted.name, origin, admitted)


def _broken(name: str, origin: Origin, why: str) -> Problem:
    return Problem(
        code="BAD_PLUGIN",
        message=f'the plug-in "{name}" of {origin.distribution} {origin.version} ({origin.module}) is refused: {why}',
        hint=f"Upgrade or uninstall {origin.distribution}.",
    )


def plugin_fault(value: object, *, stranger: bool) -> str | None:
    """Why a value is not admitted as a plug-in; None for one that is. `stranger`: from another distribution."""
    fault = _source_fault if isinstance(value, Source) else _convention_fault
    return fault(value, stranger=stranger)


def _source_fault(value: object, *, stranger: bool) -> str | None:
    if not isinstance(value, Source):
        return f"it is a {type(value).__name__}, not a Source"
    if not callable(value.claims) or not callable(value.decode):
        return "its claims and decode are not both functions"
    if stranger and value.name in _OWN_WORDS:
        return f'the name "{value.name}" is a command of labadapt'
    return _name_fault(value.name, value.summary)


def _name_fault(name: object, summary: object) -> str | None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f"its name {name!r:.60} is no word of lower-case letters, digits and hyphens"
    return None if isinstance(summary, str) and summary else "it has no summary"


def _convention_fault(value: object, *, stranger: bool) -> str | None:
    if not isinstance(value, Convention):
        return f"it is a {type(value).__name__}, not a Convention"
    if stranger and value.family != "plugin":
        return f'its family is "{value.family}"; a stranger\'s is "plugin"'
    if value.family not in FAMILIES:
        return f"its family {value.family!r:.40} is none of {', '.join(FAMILIES)}"
    from labadapt.adapters.tables import table_fault

    return _name_fault(value.name, value.title) or table_fault(value)
