"""``labadapt explain``: the table of problem codes."""

import difflib
import textwrap

import click
from labadapt.cli.escaping import printable
from labadapt.cli.options import common
from labadapt.cli.session import show
from labadapt.schema.problems import CODES, Problem, Refusal

_WIDTH = 80


@click.command("explain", short_help="Say what a problem code means, and what to do.")
@click.argument("code", required=False)
@common
def command(code: str | None) -> None:
    """Say what the problem CODE means, and what to do. Without CODE: list every code.

    \b
    Example:
      labadapt explain CONCURRENT_STEPS
    """
    show("\n".join(CODES) if code is None else explanation(code))


def explanation(code: str) -> str:
    """What the code means and what to do, for people. Raises `Refusal` (``BAD_USAGE``) for a code that is none."""
    name = code.upper()
    if name not in CODES:
        raise Refusal(_no_such_code(code))
    entry = CODES[name]
    return f"{name}\n\n{_paragraph(entry.meaning)}\n\nWhat to do:\n{_paragraph(entry.remedy)}"


def _paragraph(text: str) -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _no_such_code(code: str) -> Problem:
    near = difflib.get_close_matches(code.upper(), CODES, n=1)
    return Problem(
        code="BAD_USAGE",
        message=f"there is no code {printable(code)!r}",
        hint=f"Did you mean {near[0]}?" if near else "`labadapt explain` lists every code.",
    )
