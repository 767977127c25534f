"""Opening what a command names: files, directories, globs, and standard input."""

import glob
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from labadapt.cli.gathering import gather
from labadapt.cli.session import session
from labadapt.schema.problems import Problem, Refusal, Where

STANDARD_STREAM = "-"
_BUFFER = 64 * 1024  # what a source may look at before it reads
_GLOB_CHARACTERS = frozenset("*?[")


def expand(names: Iterable[str], beside: Iterable[str | None] = ()) -> list[str]:
    """The files that the arguments name, in their order; a directory's and a glob's sorted by path.

    `beside`: other files that the command reads; standard input can be only one of all.

    Directories are read recursively, without hidden files, which are counted in a note. Raises `Refusal`
    (``UNREADABLE_FILE``) with every argument that names nothing.
    """
    given = list(names)
    if [*given, *beside].count(STANDARD_STREAM) > 1:
        raise Refusal(_unreadable(STANDARD_STREAM, "standard input is named twice", "Name - once."))
    return [file for files in gather(_expanded, given) for file in files]


def _expanded(name: str) -> list[str]:
    if name == STANDARD_STREAM:
        return [name]
    path = Path(name)
    if path.is_dir():
        return _files_below(path)
    if not path.exists() and _GLOB_CHARACTERS & set(name):
        return _matching(name)
    return [name]  # a missing file is told by opening it: its own error says more


def _matching(pattern: str) -> list[str]:
    found = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - Path.glob refuses absolute patterns
    if not found:
        raise Refusal(_unreadable(pattern, "no file matches", "Check the pattern; ** crosses folders."))
    return [file for match in found for file in _expanded(match)]


def _files_below(folder: Path) -> list[str]:
    everything = sorted(path for path in folder.rglob("*") if path.is_file())
    files = [path for path in everything if not _hidden(path.relative_to(folder))]
    if hidden := len(everything) - len(files):
        session().say(f"note: {hidden} hidden {'file' if hidden == 1 else 'files'} of a directory left out")
    if not files:
        raise Refusal(_unreadable(str(folder), "the directory holds no file", "Name the folder of the export."))
    from labadapt.cli.manifests import held

    return [str(path) for path in held(folder, files)]


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def open_input(name: str) -> AbstractContextManager[BinaryIO]:
    """The file, or standard input, at its first byte. Raises `Refusal` (``UNREADABLE_FILE``)."""
    if name == STANDARD_STREAM:
        return _standard_input()
    with read_errors(name):
        stream = Path(name).open("rb", buffering=_BUFFER)  # noqa: SIM115 - whoever asked for it closes it
        session().inputs.add(os.path.realpath(name))
        return _filled(stream)


def _standard_input() -> BinaryIO:
    """Standard input with a buffer as large as a file's; closing it leaves the descriptor open."""
    if sys.stdin is None:  # Python's way to say that the descriptor is closed, as by `<&-`
        raise Refusal(_unreadable(STANDARD_STREAM, "cannot be read: it is closed"))
    return _filled(open(sys.stdin.fileno(), "rb", buffering=_BUFFER, closefd=False))


def _filled(stream: BinaryIO) -> BinaryIO:
    """The stream; of one that is no regular file, such as a slow pipe, each buffer is read until it is full.

    A format is recognised by its first bytes, and a pipe may give only a few of them at a time.
    """
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        return stream
    return io.BufferedReader(_Filled(stream), _BUFFER)


class _Filled(io.RawIOBase):
    """A stream that gives fewer bytes than were asked for only at its end."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview | bytearray) -> int:  # type: ignore[override] # typeshed's own Buffer type
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


@contextmanager
def read_errors(name: str) -> Iterator[None]:
    """Turn what the system says about a file into a `Refusal` that names it."""
    try:
        yield
    except OSError as error:
        raise Refusal(_unreadable(name, f"cannot be read: {error.strerror or error}")) from error
    except ValueError as error:
        if "null" not in str(error):  # a NUL in the name: "embedded null byte", or "character" on Windows
            raise
        raise Refusal(_unreadable(name, f"cannot be read: {error}")) from error


def read_file(name: str) -> bytes:
    """The whole content of a file, or of standard input. Raises `Refusal` (``UNREADABLE_FILE``)."""
    with open_input(name) as stream, read_errors(name):
        return stream.read()


def display_name(name: str) -> str:
    """How messages call the file."""
    return "standard input" if name == STANDARD_STREAM else name


def _unreadable(name: str, message: str, hint: str | None = None) -> Problem:
    return Problem(code="UNREADABLE_FILE", message=message, where=Where(file=display_name(name)), hint=hint)
