"""Printing and saving a report: as text by its renderer, or as canonical JSON, which is the file as well."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import msgspec
from labadapt.cli.files import STANDARD_STREAM
from labadapt.cli.outputs import write
from labadapt.cli.session import complain, show, show_bytes

if TYPE_CHECKING:
    from labadapt.cli import formats

Report = TypeVar("Report", bound=msgspec.Struct)


def encoded(report: msgspec.Struct) -> bytes:
    """The report as JSON, with a line feed at the end; equal reports give equal bytes."""
    return msgspec.json.Encoder(order="deterministic").encode(report) + b"\n"


def deliver(
    report: Report,
    form: str,
    render: Callable[[Report], str],
    out: str | None = None,
    whole: "Callable[[Report], formats.Report] | None" = None,
) -> None:
    """Write the file that was asked for, and print the report; beside a file on standard output, on standard error.

    `whole` gives the entries for the forms that CI servers read.
    """
    if out is not None:
        write(out, [encoded(report)])
    beside = out == STANDARD_STREAM
    if form == "json":
        data = encoded(report)
        complain(data.decode().rstrip("\n")) if beside else show_bytes(data)
    else:
        shown = render(report) if form == "text" or whole is None else in_format(whole(report), form)
        (complain if beside else show)(shown)


def in_format(report: "formats.Report", form: str) -> str:
    """The report in a form that CI servers read."""
    from labadapt.cli.formats import render

    return render(report, form)
