"""Reading trials: bundles, result files and tables of outcomes, told apart by their content."""

import gc
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import msgspec
from labadapt import __version__
from labadapt.cli.escaping import printable
from labadapt.cli.files import STANDARD_STREAM, display_name, read_file
from labadapt.cli.gathering import gather
from labadapt.cli.session import session
from labadapt.engine.trials import Trial, trials_of
from labadapt.schema.problems import Problem, Refusal, Where
from labadapt.schema.result import Results

_BOM = b"\xef\xbb\xbf"
_MIXED = "note: bundles and result files are counted together; the results of one of the bundles would count twice"


class _Head(msgspec.Struct):
    """What tells a result file from a bundle."""

    results: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def read_trials(names: Sequence[str]) -> list[Trial]:
    """The trials of all files. Raises `Refusal` with every fault of every file; says which files are copies."""
    require_once(names)
    labels = _labels(names)
    copies: dict[bytes, list[str]] = {}
    readers: set[Reader] = set()
    with uncollected():
        read = gather(lambda name: _read(name, labels[name], copies, readers), names)
    say_copies(copies.values())
    if {_bundle, _results} <= readers:
        session().say(_MIXED)
    return [trial for trials in read for trial in trials]


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for cycles of references meanwhile: records have none, and it would walk all of them over and over."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _read(name: str, label: str, copies: dict[bytes, list[str]], readers: "set[Reader]") -> list[Trial]:
    data = read_file(name)
    copies.setdefault(hashlib.sha256(data).digest(), []).append(label)
    reader = reader_of(data)
    readers.add(reader)
    return reader(data, display_name(name), label)


def _labels(names: Iterable[str]) -> dict[str, str]:
    """What tells the files apart: their paths below the folder that all of them are in, wherever it is."""
    paths = {name: os.path.abspath(name) for name in names if name != STANDARD_STREAM}  # noqa: PTH100 - no link followed
    common = os.path.commonpath([os.path.dirname(path) for path in paths.values()]) if paths else ""  # noqa: PTH120 - as above
    below = {name: os.path.relpath(path, common).replace(os.sep, "/") for name, path in paths.items()}
    return {name: below.get(name, display_name(name)) for name in names}


def say_copies(groups: Iterable[list[str]]) -> None:
    """Tell which files are copies of each other, given the files by content."""
    copied = [sorted(group) for group in groups if len(group) > 1]
    for group in sorted(copied):
        same = f"{len(group)} files hold the same bytes, such as {group[0]} and {group[1]}"
        session().say(printable(f"note: {same}; a copy of a trial is no further evidence"))


def require_once(names: Sequence[str]) -> None:
    """No file is further evidence for itself. Raises `Refusal` (``REPEATED_TRIAL``)."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise Refusal(_twice(display_name(name)))
        seen.add(name)


def _twice(shown: str) -> Problem:
    return Problem(
        code="REPEATED_TRIAL",
        message="the file is named twice",
        where=Where(file=shown),
        hint="Name each file once; a directory names every file in it.",
    )


Reader = Callable[[bytes, str, str], list[Trial]]


def reader_of(data: bytes) -> Reader:
    """Who reads the content: JSON is a bundle or a result file, unless each line is an object of its own."""
    start = data.removeprefix(_BOM).lstrip()
    if not start.startswith((b"{", b"[")):
        return _outcomes
    if _is_row(start.split(b"\n", 1)[0]):
        return _outcomes
    return _results if has_results(data) else _bundle


def _is_row(line: bytes) -> bool:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value.keys() & {"case", "trial", "outcome"})


def has_results(data: bytes) -> bool:
    """Whether the content is that of a result file."""
    if b'"results"' not in data:  # a key can be written with escapes, but no program does
        return False
    try:
        return msgspec.json.decode(data, type=_Head).results is not msgspec.UNSET
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _outcomes(data: bytes, shown: str, label: str) -> list[Trial]:  # noqa: ARG001 - a table names its own trials
    from labadapt.engine.outcomes import read_outcomes

    return read_outcomes(data, shown)


def _results(data: bytes, shown: str, label: str) -> list[Trial]:
    from labadapt.schema.codec import decode_results

    return list(trials_of(decode_results(data, shown), label))


def _bundle(data: bytes, shown: str, label: str) -> list[Trial]:
    from labadapt.cli.exports import bundle_of
    from labadapt.engine.check import check_bundle

    results: Results = check_bundle(bundle_of(data, shown), version=__version__)
    return list(trials_of(results, label))
