"""From a dataset and the names of runs to the pages that hold them whole, or to a refusal that says what is missing.

The pages come back as files: what the server answered, byte for byte, under the names that the reader of saved pages
knows. A run that is converted live and one that is converted from its saved pages are therefore the same.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec
from labadapt.adapters.langfuse.answers import ErrorAnswer, Page, text_of
from labadapt.adapters.langfuse.client import Server
from labadapt.adapters.langfuse.spans import instant
from labadapt.schema.problems import Problem, Refusal

TRACES = 100  # in one request: their ids fit any server's limit of an address, and their observations about one page
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)  # as for every other time of an input (BAD_TIME)
_TOO_MUCH = frozenset({413, 414, 422, 431})  # an address too long, or an answer not made in the server's own time
_ATTEMPTS = 3  # at a list that changed while it was read
_NAMED = 10  # of what is missing, one by one; the rest is counted
_SHORTEST_PAUSE, _LONGEST_PAUSE = 1.0, 15.0  # seconds between two looks

_Read = TypeVar("_Read")
_Key = TypeVar("_Key")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wish:
    """Which runs: of a dataset, by name or id, or all of them; only those that were active since then.

    `wait` in seconds: how long is waited, altogether, for what is not readable yet. `repeated`: several runs of one
    name are wanted.
    """

    dataset: str
    runs: tuple[str, ...] = ()
    since: datetime | None = None
    wait: float = 0.0
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a core without clock and terminal is given: a pause of so many seconds, and whom to tell.

    `tell` takes what is being read, how much of it is there, and of how much.
    """

    sleep: Callable[[float], None]
    tell: Callable[[str, int, int], None] = lambda _what, _done, _total: None


@dataclass(slots=True)
class Fetched:
    """The answers as files, by name, and what a person should know of how they were read."""

    files: list[tuple[str, bytes]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    repeated: int = 0

    def add(self, kind: str, pages: Iterable[Page]) -> None:
        """Put the pages of one list behind those of the same kind. Rows that it gave twice are counted."""
        pages = list(pages)
        self.repeated += sum(len(page.rows) for page in pages) - len(rows_of(pages))
        number = sum(name.startswith(f"{kind}-") for name, _ in self.files)
        self.files += [(f"{kind}-{number + at:04}.json", page.raw) for at, page in enumerate(pages, 1)]


class Patience:
    """How long is still waited: the pauses count, not the reading."""

    def __init__(self, around: Surroundings, seconds: float) -> None:
        """Wait for so many seconds altogether; 0: what is not there at the first look is missing."""
        self.around = around
        self._left = seconds
        self._shortest = min(seconds, _SHORTEST_PAUSE)

    def looks(self) -> Iterator[None]:
        """One look at once, and further ones with a growing pause before each, until the time is over.

        Where there was time at all, a second look is made even when it is over: one alone would not tell.
        """
        yield
        pause = self._shortest
        while self._left > 0 or pause == self._shortest > 0:
            step = min(pause, self._left) if self._left > 0 else pause
            self._left -= step
            self.around.sleep(step)
            yield
            pause = min(pause * 2, _LONGEST_PAUSE)

    def until(self, read: Callable[[], _Read], missing: Callable[[_Read], Sequence[Problem]]) -> _Read:
        """What `read` gives as soon as nothing is missing of it. Raises what is missing when the time is over."""
        problems: Sequence[Problem] = ()
        for _ in self.looks():
            found = read()
            if not (problems := missing(found)):
                return found
        raise Refusal(problems)

    def settled(
        self, keys: Sequence[_Key], read: Callable[[_Key], _Read], missing: Callable[[_Key, _Read], Sequence[Problem]]
    ) -> dict[_Key, _Read]:
        """What `read` gives for every key, when nothing is missing of it.

        Nothing in the interface tells whether more is to come. Where there is time, each is therefore read until two
        looks in a row see the same. Raises what is missing, or that two looks differ, when the time is over.
        """
        seen: dict[_Key, list[_Read]] = {key: [] for key in keys}
        pending = list(keys)
        for _ in self.looks():
            for key in pending:
                seen[key] = [*seen[key][-1:], read(key)]
            pending = [key for key in pending if missing(key, seen[key][-1]) or seen[key][:1] != seen[key][1:]]
            if not pending:
                break
        problems = [problem for key in pending for problem in missing(key, seen[key][-1])]
        if not problems and any(len(seen[key]) > 1 for key in pending):
            problems = [_incomplete("two looks at the run differ: more may be arriving", None, None)]
        if problems:
            raise Refusal(problems)
        return {key: looks[-1] for key, looks in seen.items()}


def fetch(server: Server, wish: Wish, around: Surroundings) -> Fetched:
    """Every page of the runs. Raises ``NOT_ON_SERVER``, ``AMBIGUOUS_RUN``, ``INCOMPLETE_ANSWER`` and the server's."""
    patience = Patience(around, wish.wait)
    dataset = find_dataset(server, wish.dataset)
    fetched = Fetched(files=[("dataset.json", dataset.raw)])
    chosen = _choose(server, wish, dataset.rows[0], patience)
    runs = _whole_runs(server, [text_of(row, "id") for row in chosen], patience)
    fetched.add("experiments", runs.experiments)
    for pages in runs.items.values():
        fetched.add("experiment-items", pages)
    _add_observations(server, [row for pages in runs.items.values() for row in rows_of(pages)], patience, fetched)
    _add_dataset_items(server, wish.dataset, runs, around, fetched)
    _say_what_was_dropped(server, fetched)
    return fetched


def rows_of(pages: Iterable[Page]) -> list[Row]:
    """The rows of a list by id, each once."""
    return list({text_of(row, "id"): row for page in pages for row in page.rows}.values())


# -- lists -------------------------------------------------------------------------------------------------------------


def by_cursor(read: Callable[[str | None], Page]) -> list[Page]:
    """A list to its end. Raises ``BAD_ANSWER`` for a list that runs in a circle or repeats a page."""
    return _tried(lambda: _by_cursor(read))


def _by_cursor(read: Callable[[str | None], Page]) -> list[Page]:
    pages = [read(None)]
    cursors: set[str] = set()
    while cursor := pages[-1].cursor:
        if cursor in cursors:
            raise _Changed("it came back to a place that it had left")
        cursors.add(cursor)
        pages.append(read(cursor))
        if not pages[-1].rows and pages[-1].cursor:
            raise _Changed("a page is empty, and yet the list goes on")
    _require_steady(pages)
    return pages


def _require_steady(pages: Iterable[Page]) -> None:
    """A row may come again, as it does where a list grows meanwhile; not a whole page, and not with another content."""
    known: dict[str, Row] = {}
    for page in pages:
        fresh = {text_of(row, "id"): row for row in page.rows}
        if page.rows and known.keys() >= fresh.keys():
            raise _Changed("a page stands twice, and with it one may be missing")
        if any(known.get(id_, row) != row for id_, row in fresh.items()):
            raise _Changed("a row stands twice, with two contents")
        known.update(fresh)


def by_number(read: Callable[[int], Page]) -> list[Page]:
    """A list with numbered pages to its end. Raises ``BAD_ANSWER`` where it does not hold what it says it holds."""
    return _tried(lambda: _by_number(read))


def _by_number(read: Callable[[int], Page]) -> list[Page]:
    pages = [read(1)]
    while len(pages) < (pages[-1].pages or 1):
        pages.append(read(len(pages) + 1))
    count = len(rows_of(pages))
    if any(page.total != count for page in pages):
        raise _Changed(f"it says that it has {pages[-1].total} rows, and has {count}")
    return pages


class _Changed(Exception):
    """A list changed while it was read."""


def _tried(read: Callable[[], list[Page]]) -> list[Page]:
    for left in reversed(range(_ATTEMPTS)):
        try:
            return read()
        except _Changed as change:
            if not left:
                raise Refusal(
                    Problem(code="BAD_ANSWER", message=f"a list does not hold together in {_ATTEMPTS} tries: {change}")
                ) from None
    raise AssertionError("the last try returns or raises")


# -- the dataset and its runs ------------------------------------------------------------------------------------------


def find_dataset(server: Server, name: str) -> Page:
    """The dataset of exactly this name, as a page of one row. Raises ``NOT_ON_SERVER``."""
    if name.strip(".") and (found := _asked_for(server, name)) is not None:
        return found  # a name of dots only would be a step in the path
    everything = rows_of(by_number(server.datasets))
    for row in everything:
        if row.get("name") == name:
            return Page(raw=msgspec.json.encode(row), rows=[row])
    raise Refusal(
        Problem(
            code="NOT_ON_SERVER",
            message=f"the project has no dataset {name!r}",
            found=named(str(row.get("name")) for row in everything) or "no dataset at all",
            hint="`labadapt langfuse --list` shows what is there. The keys decide which project is read.",
        )
    )


def _asked_for(server: Server, name: str) -> Page | None:
    """The dataset where the server gives that one; None where it gives none, or another one."""
    try:
        page = server.dataset(name)
    except ErrorAnswer as answer:
        if answer.status == 404:
            return None
        raise
    return page if [row.get("name") for row in page.rows] == [name] else None


def list_runs(server: Server, dataset: Row, since: datetime | None) -> list[Row]:
    """The runs of a dataset with events since then, the latest first, as the server gives them."""
    start = since or EARLIEST
    return rows_of(by_cursor(lambda cursor: server.experiments(start, cursor, dataset_id=text_of(dataset, "id"))))


def _choose(server: Server, wish: Wish, dataset: Row, patience: Patience) -> list[Row]:
    """The runs that are wanted, the earliest first."""
    listed = patience.until(lambda: list_runs(server, dataset, wish.since), lambda rows: _unlisted(rows, wish))
    chosen = [row for row in listed if not wish.runs or _is_named(row, wish.runs)]
    if not wish.repeated:
        _require_one_of_each_name(chosen)
    return sorted(chosen, key=lambda row: (text_of(row, "startTime"), text_of(row, "id")))


def _is_named(row: Row, names: Iterable[str]) -> bool:
    return any(name in {row.get("name"), row.get("id")} for name in names)


def _unlisted(rows: list[Row], wish: Wish) -> list[Problem]:
    absent = [name for name in wish.runs if not any(_is_named(row, [name]) for row in rows)]
    if not absent and (rows or wish.runs):
        return []
    return [_no_run(name, rows, wish) for name in absent] or [_no_run(None, rows, wish)]


def _no_run(name: str | None, rows: list[Row], wish: Wish) -> Problem:
    since = f" since {wish.since.isoformat()}" if wish.since else ""
    return Problem(
        code="NOT_ON_SERVER",
        message=f"the experiments of the dataset {wish.dataset!r} hold no run{f' {name!r}' if name else ''}{since}",
        found=named(str(row.get("name")) for row in rows) or None,
        hint="Experiments (server 4) were searched. A run made with item.run() of SDK 3, or on a server 3, is in the "
        "legacy dataset runs only: read its saved files. One that has just ended may need --wait SECONDS.",
    )


def _require_one_of_each_name(rows: Iterable[Row]) -> None:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row.get("name")), []).append(row)
    problems = [_ambiguous(name, group) for name, group in groups.items() if len(group) > 1]
    if problems:
        raise Refusal(problems)


def _ambiguous(name: str, rows: list[Row]) -> Problem:
    return Problem(
        code="AMBIGUOUS_RUN",
        message=f"{len(rows)} runs have the name {name!r}",
        found=named(f"{row.get('id')} of {row.get('startTime')}" for row in rows),
        hint="Give --run ID, or --trials DIR to have every one of them as a repetition.",
    )


# -- items and observations --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Runs:
    """The runs with their items, as they were read in one go."""

    experiments: list[Page]
    items: dict[str, list[Page]]


def _whole_runs(server: Server, ids: Sequence[str], patience: Patience) -> _Runs:
    """The experiments and their items; each experiment has as many items as it says."""

    def read() -> _Runs:
        experiments = [page for batch in _batches(ids) for page in _experiments(server, batch)]
        return _Runs(experiments, {id_: _items(server, id_, ids, patience.around) for id_ in ids})

    return patience.settled([0], lambda _: read(), lambda _, runs: _without_items(runs))[0]


def _experiments(server: Server, ids: Sequence[str]) -> list[Page]:
    return by_cursor(lambda cursor: server.experiments(EARLIEST, cursor, ids=ids))


def _items(server: Server, id_: str, ids: Sequence[str], around: Surroundings) -> list[Page]:
    pages = by_cursor(lambda cursor: server.experiment_items(id_, EARLIEST, cursor))
    around.tell("runs", ids.index(id_) + 1, len(ids))
    return pages


def _without_items(runs: _Runs) -> list[Problem]:
    listed = {text_of(row, "id"): row for row in rows_of(runs.experiments)}
    return [
        problem for id_, pages in runs.items.items() for problem in _miscounted(id_, listed.get(id_), rows_of(pages))
    ]


def _miscounted(id_: str, experiment: Row | None, items: list[Row]) -> list[Problem]:
    if experiment is None:
        return [_incomplete(f"the run {id_} was listed, and is gone", None, None)]
    count = experiment.get("itemCount")
    if count == len(items):
        return []
    name = experiment.get("name")
    return [_incomplete(f"the items of the run {name!r} are not all there", f"{len(items)} items", f"{count}")]


def _incomplete(message: str, found: str | None, expected: str | None) -> Problem:
    return Problem(
        code="INCOMPLETE_ANSWER",
        message=message,
        found=found,
        expected=expected,
        hint="Langfuse takes a while to store what it was sent: --wait SECONDS waits for it.",
    )


def _add_observations(server: Server, items: Sequence[Row], patience: Patience, fetched: Fetched) -> None:
    """All observations of the items' traces, with the root of every item among them."""
    batches = list(_batches(list(dict.fromkeys(text_of(item, "traceId") for item in items))))

    def read(number: int) -> list[Page]:
        pages = _observations(server, batches[number])
        patience.around.tell("traces", number + 1, len(batches))
        return pages

    def missing(number: int, pages: list[Page]) -> list[Problem]:
        there, traces = {row["id"] for row in rows_of(pages)}, set(batches[number])
        absent = [item for item in items if item["traceId"] in traces and text_of(item, "id") not in there]
        return [_unreadable(absent)] if absent else []

    for pages in patience.settled(range(len(batches)), read, missing).values():
        fetched.add("observations", pages)


def _observations(server: Server, traces: Sequence[str]) -> list[Page]:
    """All observations of these traces; asked for in halves where that is too much for the server at once."""
    try:
        return by_cursor(lambda cursor: server.observations(traces, cursor))
    except ErrorAnswer as answer:
        if answer.status not in _TOO_MUCH or len(traces) == 1:
            raise
    half = len(traces) // 2
    return [*_observations(server, traces[:half]), *_observations(server, traces[half:])]


def _unreadable(items: Sequence[Row]) -> Problem:
    names = named(f"{item.get('experimentItemId')} of {item.get('experimentName')!r}" for item in items)
    return _incomplete("items are there whose traces are not readable yet", names, None)


def _batches(ids: Sequence[str], size: int = TRACES) -> Iterator[Sequence[str]]:
    return (ids[at : at + size] for at in range(0, len(ids), size))


def named(names: Iterable[str]) -> str:
    """The first few of them, and how many more there are."""
    everything = list(names)
    more = f" and {len(everything) - _NAMED} more" if len(everything) > _NAMED else ""
    return ", ".join(everything[:_NAMED]) + more


# -- the dataset's items as the runs saw them --------------------------------------------------------------------------


def _add_dataset_items(server: Server, dataset: str, runs: "_Runs", around: Surroundings, fetched: Fetched) -> None:
    """The items at the start of each run, and as they are: what changed since is told. Equal pages are kept once."""
    kept: set[bytes] = set()
    experiments = rows_of(runs.experiments)
    for number, experiment in enumerate(experiments, 1):
        pages = _items_at(server, dataset, instant(text_of(experiment, "startTime")))
        _say_what_is_not_covered(experiment, runs.items[text_of(experiment, "id")], rows_of(pages), fetched)
        fetched.add("dataset-items", [page for page in pages if page.raw not in kept])
        kept |= {page.raw for page in pages}
        around.tell("dataset items", number, len(experiments) + 1)
    fetched.add("dataset-items", [page for page in _items_at(server, dataset, None) if page.raw not in kept])


def _items_at(server: Server, dataset: str, version: datetime | None) -> list[Page]:
    return by_number(lambda page: server.dataset_items(dataset, version, page))


def _say_what_is_not_covered(experiment: Row, pages: Sequence[Page], items: Sequence[Row], fetched: Fetched) -> None:
    """A run over a part of the dataset is no fault; one that is still running looks the same."""
    active = sum(row.get("status") != "ARCHIVED" for row in items)
    count = len({row.get("experimentItemId") for row in rows_of(pages)})
    if count < active:
        fetched.notes.append(f"the run {experiment.get('name')!r} has {count} of the {active} items of its dataset")


def _say_what_was_dropped(server: Server, fetched: Fetched) -> None:
    if fetched.repeated:
        rows = (
            "row that the server gave twice counts"
            if fetched.repeated == 1
            else "rows that the server gave twice count"
        )
        fetched.notes.append(f"{fetched.repeated} {rows} once")
    if server.keys_removed:
        fetched.notes.append(f"{server.keys_removed} mentions of a key were removed from what the server answered")
