"""Writing files so that nobody ever sees half of one."""

import os
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from labadapt.cli.files import STANDARD_STREAM
from labadapt.cli.session import session, show_bytes, unwritable
from labadapt.schema.problems import Problem, Refusal, Where


def write(name: str | None, parts: Iterable[bytes]) -> None:
    """Write to a file at once, or to standard output where `name` is None or ``-``. Raises ``UNWRITABLE_FILE``.

    What stood under the name is replaced when everything is written, and untouched until then.
    """
    if name is not None and name != STANDARD_STREAM:
        _write_file(Path(name), parts)
    elif sys.stdout.isatty():
        show_bytes(b"".join(parts))
    else:
        for part in parts:
            show_bytes(part)


def write_text(name: str | None, text: str) -> None:
    """Write text that is no JSON, such as a starting cases file, in the same way."""
    if name is None or name == STANDARD_STREAM:
        show_bytes(text.encode(), is_json=False)
    else:
        write(name, [text.encode()])


def write_folder(name: str, files: Iterable[tuple[str, Iterable[bytes]]]) -> int:
    """Write a folder of files at once; returns how many. Raises ``OUTPUT_EXISTS`` unless it is new or empty.

    A folder that holds files already may hold some of an earlier, longer conversion: mixed, they would read as one.
    """
    target = Path(name)
    with _write_errors(name):
        _require_empty(target)
        with _temporary_beside(target) as temporary:
            temporary.mkdir()
            count = 0
            for file, parts in files:
                _write_parts(temporary / file, parts)
                count += 1
            with suppress(FileNotFoundError):
                target.rmdir()
            temporary.replace(target)
    return count


def _require_empty(target: Path) -> None:
    if target.is_dir() and any(target.iterdir()):
        raise Refusal(
            Problem(
                code="OUTPUT_EXISTS",
                message="the folder is not empty",
                where=Where(file=str(target)),
                hint="Name a new folder, or remove this one.",
            )
        )


def _write_file(path: Path, parts: Iterable[bytes]) -> None:
    _require_no_input(path)
    with _write_errors(str(path)):
        if path.exists() and not path.is_file() and not path.is_dir():
            _write_parts(path, parts)  # a device or a pipe, such as /dev/null: there is nothing to replace
            return
        target = Path(os.path.realpath(path))
        with _temporary_beside(target) as temporary:
            _write_parts(temporary, parts)
            with suppress(FileNotFoundError):
                temporary.chmod(target.stat().st_mode & 0o777)
            temporary.replace(target)


def _require_no_input(path: Path) -> None:
    """Telemetry is recorded once: a command never replaces what it reads."""
    if os.path.realpath(path) in session().inputs:
        message = "is an input of this command, and is not replaced"
        raise Refusal(Problem(code="UNWRITABLE_FILE", message=message, where=Where(file=str(path))))


def _write_parts(path: Path, parts: Iterable[bytes]) -> None:
    with path.open("wb") as stream:
        _fill(stream, parts)


def _fill(stream: BinaryIO, parts: Iterable[bytes]) -> None:
    for part in parts:
        stream.write(part)
    stream.flush()


@contextmanager
def _temporary_beside(target: Path) -> Iterator[Path]:
    """A free name in the target's own folder, so that renaming stays within one file system; removed at the end."""
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.partial")
    try:
        yield temporary
    finally:
        _remove(temporary)


def _remove(path: Path) -> None:
    if path.is_dir():
        for inner in path.iterdir():
            inner.unlink()
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _write_errors(name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Refusal(unwritable(name, error)) from error
