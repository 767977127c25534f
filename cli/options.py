"""Options and arguments that several commands share."""

import re
from collections.abc import Callable
from math import isfinite
from typing import Any, TypeVar

import click
from labadapt.cli.session import Session

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])
# No check: it only makes shell completion offer files. Opening says more about one that is missing.
FILE = click.Path(allow_dash=True)
DIRECTORY = click.Path(file_okay=False)
_SIZE = re.compile(r"(\d+)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)


class SizeType(click.ParamType):  # type: ignore[type-arg] # generic only in newer clicks
    """A number of bytes: ``500M`` is 500 · 1024²."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes."""
        if isinstance(value, int):
            return value
        match = _SIZE.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"{value!r} is no size; write 500M or 2G.", param, ctx)
        unit: int = 1024 ** " kmgt".index(match[2].lower() or " ")
        return int(match[1]) * unit


class Rate(click.FloatRange):
    """A finite number within bounds; click's own range takes ``nan`` for one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r} is no finite number.", param, ctx)
        return number


def _set(attribute: str, value: Any) -> Callable[[click.Context, click.Parameter, bool], None]:
    def callback(ctx: click.Context, _param: click.Parameter, given: bool) -> None:
        if given:
            setattr(ctx.ensure_object(Session), attribute, value)

    return callback


def common(command: _Decorated) -> _Decorated:
    """``--quiet``, ``--no-progress`` and ``--debug``, which every command has."""
    for flags, attribute, value, text in (
        ("--debug", "debug", True, "Show the traceback of an error."),
        ("--no-progress", "progress", False, "No progress bar."),
        ("--quiet", "quiet", True, "No notes and no summary on standard error; errors stay."),
    ):
        command = click.option(flags, is_flag=True, expose_value=False, callback=_set(attribute, value), help=text)(
            command
        )
    return command


def files(metavar: str = "FILE...") -> Callable[[_Decorated], _Decorated]:
    """One or more inputs: a file, a directory, a glob, or ``-``."""
    return click.argument("files", nargs=-1, required=True, metavar=metavar, type=FILE)


def output_format(*names: str) -> Callable[[_Decorated], _Decorated]:
    """``--format``, the first name being the default."""
    return click.option(
        "--format", "form", type=click.Choice(names), default=names[0], show_default=True, help="How to print it."
    )


def out(text: str) -> Callable[[_Decorated], _Decorated]:
    """``--out FILE``."""
    return click.option("--out", metavar="FILE", type=FILE, help=f"{text} Written at once, or not at all.")
