"""Reading a Langfuse server from the command line: what is fetched, shown, kept, and told while it lasts."""

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click
from labadapt.cli.escaping import printable
from labadapt.cli.outputs import write_folder
from labadapt.cli.session import Session, show

if TYPE_CHECKING:
    from labadapt.adapters.langfuse.client import Server

Files = list[tuple[str, bytes]]
_AGO = re.compile(r"(\d{1,5})\s*(m|h|d|w)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LONGEST_WAIT = 3600.0


@dataclass(frozen=True, slots=True)
class Live:
    """What the command line asks of a server; the fields are the options of the command, `wait` and `timeout` in
    seconds."""

    dataset: str | None
    runs: tuple[str, ...] = ()
    since: datetime | None = None
    wait: float = 0.0
    timeout: float = 60.0
    insecure_http: bool = False
    save: str | None = None


def fetch_files(live: Live, session: Session, *, repeated: bool) -> Files:
    """The pages of the runs as files, saved where that was asked for. `repeated`: several runs may have one name."""
    from labadapt.adapters.langfuse.fetch import Surroundings, Wish, fetch

    wish = Wish(live.dataset or "", live.runs, live.since, live.wait, repeated)
    with _opened(live) as server, _told(session) as tell:
        fetched = fetch(server, wish, Surroundings(time.sleep, tell))
    for note in fetched.notes:
        session.say(f"note: {printable(note)}")
    if live.save is not None:
        write_folder(live.save, ((name, [data]) for name, data in fetched.files))
        session.say(f"saved {len(fetched.files)} pages in {printable(live.save)}")
    return fetched.files


def show_list(live: Live) -> None:
    """Print the project's datasets, or with a dataset its runs, one a line."""
    from labadapt.adapters.langfuse.fetch import by_number, find_dataset, list_runs, rows_of

    lines: list[Sequence[object]]
    with _opened(live) as server:
        if live.dataset is None:
            rows = rows_of(by_number(server.datasets))
            lines = [["DATASET", "UPDATED"], *([row.get("name"), row.get("updatedAt")] for row in rows)]
        else:
            runs = list_runs(server, find_dataset(server, live.dataset).rows[0], live.since)
            cells = ([row.get(key) for key in ("name", "itemCount", "startTime", "id")] for row in runs)
            lines = [["RUN", "ITEMS", "STARTED", "ID"], *cells]
    show("\n".join(_table(lines)))


def _table(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    printed = [[printable(str(cell)) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in printed) for column in range(len(printed[0]))]
    return ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in printed)


@contextmanager
def _opened(live: Live) -> "Iterator[Server]":
    from labadapt.adapters.langfuse.client import Server
    from labadapt.cli.credentials import langfuse_connection

    connection = langfuse_connection(insecure_http=live.insecure_http, timeout=live.timeout)
    with closing(Server(connection, time.sleep)) as server:
        yield server


@contextmanager
def _told(session: Session) -> Iterator[Callable[[str, int, int], None]]:
    """Who hears of the progress: a bar on a terminal, and nobody elsewhere."""
    if session.quiet or not session.progress or not sys.stderr.isatty():
        yield lambda _what, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("asking Langfuse", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


class SinceType(click.ParamType):  # type: ignore[type-arg] # generic only in newer clicks
    """A time: ISO 8601, in UTC where it names no zone, or how long ago: ``90m``, ``12h``, ``7d``, ``2w``."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """The time, in UTC."""
        if isinstance(value, datetime):
            return value
        text = str(value).strip()
        if match := _AGO.fullmatch(text):
            return datetime.now(UTC) - timedelta(**{_UNITS[match[2]]: int(match[1])})
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            self.fail(f"{value!r} is no time; write 2026-12-01, 2026-12-01T08:00:00Z, 12h or 7d.", param, ctx)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


# The options of reading live, in the order of the help.
OPTIONS: tuple[Callable[..., Any], ...] = (
    click.option("--dataset", metavar="NAME", help="Read this dataset's runs from the server."),
    click.option(
        "--run", "runs", metavar="NAME", multiple=True, help="Only this run, by name or id; may be repeated. Else all."
    ),
    click.option("--since", metavar="TIME", type=SinceType(), help="Only runs active since then: a date, or 12h, 7d."),
    click.option("--list", "listing", is_flag=True, help="List the datasets, or with --dataset its runs, and stop."),
    click.option(
        "--wait",
        metavar="SECONDS",
        type=click.FloatRange(0, _LONGEST_WAIT),
        default=0.0,
        help="Wait this long for what the server was sent and does not show yet.",
    ),
    click.option("--save", metavar="DIR", type=click.Path(file_okay=False), help="Keep the raw pages in a new folder."),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=click.FloatRange(0, _LONGEST_WAIT, min_open=True),
        default=60.0,
        show_default=True,
        help="How long to wait for one answer.",
    ),
    click.option("--insecure-http", is_flag=True, help="Accept http:// to another machine: anybody reads the keys."),
)
