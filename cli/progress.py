"""A progress bar over the bytes of the inputs, on a terminal and nowhere else."""

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from labadapt.adapters.span import Input
from labadapt.cli.files import STANDARD_STREAM, display_name, open_input
from labadapt.cli.session import Session

_BUFFER = 64 * 1024

Watch: TypeAlias = Callable[[BinaryIO], BinaryIO]


def opened(names: Iterable[str], watch: Watch) -> Iterator[Input]:
    """Each input, open while it is the current one."""
    for name in names:
        with open_input(name) as stream:
            yield Input(display_name(name), watch(stream))


@contextmanager
def watching(names: list[str], session: Session, counted: Callable[[], int] | None = None) -> Iterator[Watch]:
    """A function that makes a stream report what is read of it; off a terminal it gives the stream as it is.

    Shown are the bytes read, their rate, spans a second where `counted` counts them, and the time that remains.
    """
    if session.quiet or not session.progress or not sys.stderr.isatty():
        yield _unwatched
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    spans = TextColumn("{task.fields[spans]}", style="cyan")
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), spans, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=_total(names), spans="")

        def told(size: int) -> None:
            bar.update(task, advance=size, spans=_rate(counted, bar.tasks[0].elapsed))

        yield lambda stream: cast(BinaryIO, io.BufferedReader(_Watched(stream, told), _BUFFER))


def _rate(counted: Callable[[], int] | None, elapsed: float | None) -> str:
    return f"{counted() / elapsed:,.0f} spans/s" if counted is not None and elapsed else ""


def _unwatched(stream: BinaryIO) -> BinaryIO:
    return stream


def _total(names: list[str]) -> int | None:
    """Bytes of all inputs together; None where one of them has no size."""
    paths = [Path(name) for name in names if name != STANDARD_STREAM]
    if len(paths) < len(names) or not all(path.is_file() for path in paths):
        return None
    return sum(path.stat().st_size for path in paths)


class _Watched(io.RawIOBase):
    """A stream that tells how many bytes are read of it."""

    def __init__(self, stream: BinaryIO, told: Callable[[int], None]) -> None:
        super().__init__()
        self._stream = stream
        self._told = told

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview | bytearray) -> int:  # type: ignore[override] # typeshed's own Buffer type
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._told(len(data))
        return len(data)
