"""``labadapt assign``: which tasks a canary takes."""

from collections.abc import Iterator

import click
from labadapt.cli.escaping import printable
from labadapt.cli.files import STANDARD_STREAM, display_name, expand, read_file
from labadapt.cli.options import Rate, common
from labadapt.cli.session import show


@click.command("assign", short_help="Assign tasks to baseline or candidate, always alike.")
@click.argument("tasks", metavar="TASK_ID...", nargs=-1, required=True)
@click.option(
    "--share",
    metavar="SHARE",
    type=Rate(0, 1),
    required=True,
    help="The candidate's share, from 0 (none) to 1 (all).",
)
@click.option("--salt", metavar="TEXT", default="", help="Another text gives an independent assignment.")
@common
def command(tasks: tuple[str, ...], share: float, salt: str) -> None:
    """Tell for each TASK_ID whether the candidate takes it: one line, the side, a tab, and the id.

    The side depends on the id, the share and the salt alone. A larger share only adds tasks to the candidate. With -
    the ids are read from standard input, one a line; blank lines are none.

    \b
    Example:
      labadapt assign order-1841 order-1842 --share 0.1
    """
    from labadapt.engine.assign import assign

    expand([task for task in tasks if task == STANDARD_STREAM])  # standard input can be named once
    named = [one for task in tasks for one in _named(task)]
    if named:
        show("\n".join(f"{assign(task, candidate_share=share, salt=salt)}\t{printable(task)}" for task in named))


def _named(task: str) -> Iterator[str]:
    if task != STANDARD_STREAM:
        yield task
        return
    data = read_file(task)
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise _not_text(data.count(b"\n", 0, error.start) + 1) from None
    yield from (line.removesuffix("\r") for line in lines if line.strip())


def _not_text(line: int) -> Exception:
    from labadapt.schema.problems import Problem, Refusal, Where

    where = Where(file=display_name(STANDARD_STREAM), line=line)
    return Refusal(Problem(code="BAD_ENCODING", message="the line is not UTF-8", where=where, expected="UTF-8"))
