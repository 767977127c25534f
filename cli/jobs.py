"""Converting several files in several processes, with the bytes that one process gives.

First each process reads whole files and puts what it recognises into temporary files, parted by trace id. Then each
takes one part of all files, which holds whole traces, and makes their runs. What concerns all runs (repetitions, order,
the account) is done by the process that was started.
"""

import gc
import multiprocessing
import os
import pickle
import threading
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from labadapt.adapters.conversion import Conversion, Options
from labadapt.adapters.convert import Into, Part, part_of, read_traces, require_runs, require_spans, together
from labadapt.adapters.observation import Observation
from labadapt.adapters.span import Input, Tally
from labadapt.cli.files import display_name, open_input
from labadapt.cli.session import session
from labadapt.schema.problems import Problem, Refusal

if TYPE_CHECKING:
    from labadapt.adapters.convert import SourceChoice
    from labadapt.adapters.keeping import Runs, Traces
    from labadapt.adapters.span import Source

_BYTES = 64 * 2**20  # of input in a part: one part at a time is in the memory of a process
_PARTS = 4  # at least, for each process, so that what is made is taken in while more is made
_HELD = 20_000  # observations that a process holds before it writes them down


@dataclass(frozen=True, slots=True)
class _File:
    """One file to read: its place among all, its name, the source that was named, how many parts, and where to."""

    number: int
    name: str
    source: str | None
    options: Options
    parts: int
    folder: str


@dataclass(frozen=True, slots=True)
class _Read:
    """What one file held, beside its observations; or why it was refused."""

    tally: Tally
    sources: set[str]
    problems: tuple[Problem, ...] = ()


def convert_in_processes(
    names: Sequence[str], source: str | None, options: Options, jobs: int, runs: "Runs"
) -> Conversion:
    """Convert files with `jobs` processes. Raises `Refusal` as a conversion in one process does.

    `source`: the name of the one that reads every file; None: recognised from the content of each.
    """
    session().inputs.update(os.path.realpath(name) for name in names)
    with TemporaryDirectory(prefix="labadapt-") as folder, _workers(jobs) as workers:
        parts = max(_PARTS * jobs, -(-sum(map(_size, names)) // _BYTES))
        files = [_File(number, name, source, options, parts, folder) for number, name in enumerate(names)]
        tally, sources = Tally(), set[str]()
        for read in workers.map(_read, files):
            if read.problems:
                raise Refusal(read.problems)
            tally.add(read.tally)
            sources |= read.sources
        shown = [display_name(name) for name in names]
        require_spans(tally, shown)
        way = "+".join(sorted(sources))
        gc.disable()  # what comes back is whole and stays: looking for cycles in it took as long as making it
        made = workers.map(_part, [(number, folder, options, way) for number in range(parts)])
        return require_runs(together(made, options, tally, way, runs), shown)


def _size(name: str) -> int:
    try:
        return Path(name).stat().st_size
    except OSError:  # told by the process that opens it
        return 0


# -- processes ---------------------------------------------------------------------------------------------------------


@contextmanager
def _workers(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that start anew, as they must on every platform, and that end with this one in whatever way it ends."""
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_follow)
    try:
        yield pool
    except BrokenProcessPool:
        raise Refusal(
            Problem(code="INTERNAL", message="a process of --jobs ended by itself; the memory may not have sufficed")
        ) from None
    except BaseException:
        for child in multiprocessing.active_children():
            child.terminate()
        raise
    finally:
        gc.enable()
        pool.shutdown(cancel_futures=True)


def _follow() -> None:
    """Leave interruptions to the process that was started, and end when it does."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


# -- one file ----------------------------------------------------------------------------------------------------------


def _read(file: _File) -> _Read:
    tally, parted = Tally(), _Parted(file)
    try:
        with open_input(file.name) as stream:
            inputs = [Input(display_name(file.name), stream)]
            choice = _choice(file.source, file.options)
            sources = read_traces(inputs, choice, file.options, None, Into(tally, parted))
    except Refusal as refusal:
        return _Read(tally, set(), refusal.problems)
    parted.write()
    return _Read(tally, sources)


def _choice(name: str | None, options: Options) -> "Source | SourceChoice":
    from labadapt.cli.sources import by_content, named_sources

    return by_content(options.limits) if name is None else named_sources()[name]


class _Parted:
    """Observations of one file by the part that their trace belongs to, on disk beyond a few."""

    def __init__(self, file: _File) -> None:
        self._file = file
        self._held: list[Traces] = [{} for _ in range(file.parts)]
        self._count = 0

    def add(self, observation: Observation) -> None:
        trace_id = observation.trace_id
        part = self._held[zlib.crc32(trace_id.encode("utf-8", "surrogatepass")) % self._file.parts]
        part.setdefault(trace_id, []).append(observation)
        self._count += 1
        if self._count >= _HELD:
            self.write()

    def traces(self) -> Iterator[tuple[str, list[Observation]]]:
        """None: the parts are read by other processes."""
        return iter(())

    def write(self) -> None:
        """Put what is held behind what was written."""
        for number, traces in enumerate(self._held):
            if traces:
                with _path(self._file.folder, number, self._file.number).open("ab") as stream:
                    pickle.dump(traces, stream, pickle.HIGHEST_PROTOCOL)
        self._held = [{} for _ in range(self._file.parts)]
        self._count = 0


def _path(folder: str, part: int, file: int) -> Path:
    return Path(folder) / f"{part}-{file}"


# -- one part ----------------------------------------------------------------------------------------------------------


def _part(task: tuple[int, str, Options, str]) -> Part:
    number, folder, options, source = task
    traces: Traces = {}
    for path in sorted(Path(folder).glob(f"{number}-*")):
        for found in _pickled(path):
            for trace_id, observations in found.items():
                traces.setdefault(trace_id, []).extend(observations)
    return part_of(traces, options, source)


def _pickled(path: Path) -> "Iterator[Traces]":
    with path.open("rb") as stream:
        while stream.peek(1):
            yield pickle.load(stream)  # noqa: S301 - written by a process of this conversion, to a private folder
