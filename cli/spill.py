"""Observations and runs on disk where they would fill the memory: two temporary databases of SQLite.

A database without a name is SQLite's own temporary file: private to this process, and removed by the operating system
when the process ends, in whatever way it ends. What is written is read back by this process and by nobody else, so it
is pickled, the one encoding that gives back exactly what was put in: integers of any size, text that is no valid
UTF-8, and what is not recorded.
"""

import pickle
import sqlite3
from array import array
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from operator import itemgetter
from sys import getsizeof
from typing import Any, overload

from labadapt.adapters.keeping import Made, RunKey, Traces
from labadapt.adapters.observation import Observation
from labadapt.schema.model import Run
from labadapt.schema.problems import Problem, Refusal
from msgspec import UNSET

DEFAULT_MEMORY = 128 * 1024**2
_OBSERVATION = 1_100  # bytes of one without its content: structures, ids, and place
_CALL = 600
_RUN = 3_000
_STEP = 900
_PAGES = -8_192  # KiB of pages that SQLite keeps in memory
_CODES = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}


class Spill:
    """Where a conversion keeps what waits: in memory up to a budget of bytes, beyond it on disk."""

    def __init__(self, budget: int) -> None:
        """Nothing is held, and no file is opened before the budget is passed."""
        self.observations = SpilledObservations(budget)
        self.runs = SpilledRuns(budget)

    @property
    def on_disk(self) -> int:
        """Bytes written to disk so far."""
        return self.observations.database.size() + self.runs.database.size()

    def close(self) -> None:
        """Remove what is on disk."""
        self.observations.database.close()
        self.runs.database.close()


class SpilledObservations:
    """Observations by trace id."""

    def __init__(self, budget: int) -> None:
        """`budget`: estimated bytes that may be held in memory."""
        self.added = 0
        self.database = Database()
        self._budget = budget
        self._held: Traces = {}
        self._size = 0

    def add(self, observation: Observation) -> None:
        """Keep one."""
        self.added += 1
        same = self._held.get(observation.trace_id)
        if same is None:
            self._held[observation.trace_id] = [observation]
        else:
            same.append(observation)
        self._size += weight(observation)
        if self._size > self._budget:
            self._spill()

    def _spill(self) -> None:
        held, self._held, self._size = self._held, {}, 0
        self.database.put((trace_id.encode(), held.pop(trace_id)) for trace_id in list(held))

    def traces(self) -> Iterator[tuple[str, list[Observation]]]:
        """Each trace in the order of the ids; one at a time is in memory where they are on disk."""
        if not self.database.used:
            for trace_id in sorted(self._held):
                yield trace_id, self._held.pop(trace_id)
            return
        self._spill()
        for key, rows in groupby(self.database.ordered(), key=itemgetter(1)):
            yield key.decode(), [observation for _, _, same in rows for observation in same]


class SpilledRuns:
    """Runs in their order."""

    def __init__(self, budget: int) -> None:
        """`budget`: estimated bytes that may be held in memory."""
        self.database = Database()
        self._budget = budget
        self._held: list[Made] = []
        self._size = 0

    def add(self, made: Made) -> None:
        """Keep one."""
        self._held.append(made)
        self._size += run_weight(made.run)
        if self._size > self._budget:
            self._spill()

    def _spill(self) -> None:
        held, self._held, self._size = self._held, [], 0
        self.database.put((sortable(made.key), made) for made in held)

    def ordered(self) -> Iterator[tuple[int, Made]]:
        """Every run in order, with its number."""
        if not self.database.used:
            self._held.sort(key=lambda made: made.key)
            yield from enumerate(self._held)
            return
        self._spill()
        for number, _, made in self.database.ordered():
            yield number, made

    def chosen(self, numbers: Sequence[int]) -> Sequence[Run]:
        """The runs of these numbers, each read when it is asked for."""
        if not self.database.used:
            return [self._held[number].run for number in numbers]
        return _Chosen(self.database, numbers)


class _Chosen(Sequence[Run]):
    """Runs on disk."""

    def __init__(self, database: "Database", numbers: Sequence[int]) -> None:
        self._database = database
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        if isinstance(index, slice):
            return _Chosen(self._database, self._numbers[index])
        made: Made = self._database.get(self._numbers[index])
        return made.run


class Database:
    """Pickled values under keys in a temporary file, opened when the first value is put in.

    Raises `Refusal` (``UNWRITABLE_FILE``) where the disk has no room.
    """

    def __init__(self) -> None:
        """No file yet."""
        self._connection: sqlite3.Connection | None = None

    @property
    def used(self) -> bool:
        """Whether anything was put in."""
        return self._connection is not None

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect("", isolation_level=None)
        # Nobody reads the file after a crash: no journal, no waiting for the disk, one transaction without an end.
        for statement in (
            "PRAGMA journal_mode = OFF",
            "PRAGMA synchronous = OFF",
            f"PRAGMA cache_size = {_PAGES}",
            "CREATE TABLE kept (number INTEGER PRIMARY KEY, key BLOB NOT NULL, value BLOB NOT NULL)",
            "BEGIN",
        ):
            connection.execute(statement)
        return connection

    def put(self, values: Iterator[tuple[bytes, Any]]) -> None:
        """Put values in, each under its key; keys may come again."""
        with _disk_errors():
            if self._connection is None:
                self._connection = self._open()
            rows = ((key, pickle.dumps(value, pickle.HIGHEST_PROTOCOL)) for key, value in values)
            self._connection.executemany("INSERT INTO kept (key, value) VALUES (?, ?)", rows)

    def ordered(self) -> Iterator[tuple[int, bytes, Any]]:
        """Number, key and value, by key and then in the order in which they were put in."""
        if self._connection is None:
            return
        with _disk_errors():
            self._connection.execute("CREATE INDEX IF NOT EXISTS by_key ON kept (key)")
            with closing(
                self._connection.execute("SELECT number FROM kept INDEXED BY by_key ORDER BY key, number")
            ) as cursor:
                numbers = array("q", (number for (number,) in cursor))
        for number in numbers:
            key, value = self._row(number)
            yield number, key, _loaded(value)

    def get(self, number: int) -> Any:
        """The value of this number."""
        return _loaded(self._row(number)[1])

    def _row(self, number: int) -> tuple[bytes, bytes]:
        if self._connection is None:
            raise KeyError(number)  # numbers come from `ordered`
        with _disk_errors():
            row: tuple[bytes, bytes] = self._connection.execute(
                "SELECT key, value FROM kept WHERE number = ?", (number,)
            ).fetchone()
        return row

    def size(self) -> int:
        """Bytes of the file."""
        if self._connection is None:
            return 0
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        (each,) = self._connection.execute("PRAGMA page_size").fetchone()
        return int(pages) * int(each)

    def close(self) -> None:
        """Remove the file."""
        if self._connection is not None:
            self._connection.close()


def _loaded(value: bytes) -> Any:
    return pickle.loads(value)  # noqa: S301 - written by this process, to a file that no other opens


@contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if (error.sqlite_errorcode & 0xFF) not in _CODES:
            raise
        raise Refusal(_no_room(error)) from error


def _no_room(error: sqlite3.Error) -> Problem:
    return Problem(
        code="UNWRITABLE_FILE",
        message=f"the temporary database on disk cannot be written: {error}",
        hint="Free some space, name a folder that has some in SQLITE_TMPDIR, or give more memory with --memory.",
    )


# -- what takes the memory ---------------------------------------------------------------------------------------------


def weight(observation: Observation) -> int:
    """About how many bytes of memory an observation takes."""
    total = _OBSERVATION
    call = observation.call
    if call is not None:
        total += _CALL + content_weight(call.arguments) + content_weight(call.result) + len(call.error_message)
    for content in (observation.output, observation.lab_output, observation.input):
        if content is not UNSET:
            total += content_weight(content)
    for proposal in observation.proposals:
        total += _CALL + content_weight(proposal.arguments)
    return total + content_weight(observation.attributes) if observation.attributes else total


def run_weight(run: Run) -> int:
    """About how many bytes of memory a run takes."""
    contents = (content_weight(step.arguments) + content_weight(step.result) for step in run.steps)
    return _RUN + _STEP * len(run.steps) + sum(contents)


def content_weight(content: Any) -> int:
    """About how many bytes of memory content takes: objects, lists, and what they hold."""
    total, waiting = 0, [content]
    while waiting:
        value = waiting.pop()
        total += getsizeof(value)
        if isinstance(value, dict):
            waiting += value
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
    return total


def sortable(key: RunKey) -> bytes:
    """Bytes that stand in the same order as the keys."""
    case_id, policy, start_ns, trace_id, span_id = key
    parts = (_text(case_id), _text(policy), (start_ns + 2**127).to_bytes(16, "big"), _text(trace_id), _text(span_id))
    return b"".join(parts)


def _text(text: str) -> bytes:
    """UTF-8 keeps the order of the code points; an end mark below everything that may follow keeps that of lengths."""
    return text.encode("utf-8", "surrogatepass").replace(b"\0", b"\0\xff") + b"\0\0"
