"""``labadapt langfuse``: runs of a dataset, live from a server or from saved files."""

from collections.abc import Callable
from typing import Any

import click
from labadapt.cli.commands.source import OPTIONS, require_one_of_each
from labadapt.cli.files import display_name, expand, read_file
from labadapt.cli.live import OPTIONS as LIVE_OPTIONS
from labadapt.cli.live import Files, Live, fetch_files, show_list
from labadapt.cli.options import FILE, common
from labadapt.cli.session import session

SUMMARY = "Convert runs of a Langfuse dataset, live or from saved files."
_TOOLS = click.option(
    "--tool-observation",
    metavar="NAME",
    multiple=True,
    help="Observations of this name are tool calls, whatever their type; may be repeated.",
)
_LIVE = ("dataset", "runs", "since", "wait", "timeout", "insecure_http", "save")


def _convert(files: tuple[str, ...], listing: bool, **given: Any) -> int:
    """Convert runs of a Langfuse dataset: each dataset item is a case, each run a policy.

    Live with --dataset, through the official SDK; the address and the keys come from LANGFUSE_BASE_URL,
    LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY. Or from FILEs: a folder that --save wrote, a trace download, or an
    export, for which neither a server nor the SDK is needed.

    \b
    Example:
      labadapt langfuse pages --on-refusal skip --out bundle.json
    """
    from labadapt.cli.conversions import Wish, convert_langfuse

    live = Live(**{name: given.pop(name) for name in _LIVE})
    _require_one_origin(files, live, listing)
    if listing:
        show_list(live)
        return 0
    require_one_of_each(given)
    wish = Wish(files=files, source_options={"--tool-observation": given.pop("tool_observation")}, **given)
    named = _read(wish.files, (wish.cases, wish.mapping)) if files else _fetch(live, wish.trials is not None)
    return convert_langfuse(named, wish, session())


def _require_one_origin(files: tuple[str, ...], live: Live, listing: bool) -> None:
    if bool(files) == (live.dataset is not None or listing):
        raise _usage("Name either FILEs or, to read live, --dataset NAME or --list.")
    if live.dataset is None and (live.runs or live.save or live.since):
        raise _usage("--run, --since and --save are for reading live: give --dataset NAME.")


def _usage(text: str) -> click.UsageError:
    return click.UsageError(text, click.get_current_context())


def _fetch(live: Live, repeated: bool) -> Files:
    return fetch_files(live, session(), repeated=repeated)


def _read(files: tuple[str, ...], beside: tuple[str | None, ...]) -> Files:
    return [(display_name(name), read_file(name)) for name in expand(files, beside)]


def _decorated() -> click.Command:
    command: Callable[..., Any] = common(_convert)
    for option in reversed([*LIVE_OPTIONS, _TOOLS, *OPTIONS]):
        command = option(command)
    command = click.argument("files", nargs=-1, metavar="[FILE...]", type=FILE)(command)
    return click.command("langfuse", short_help=SUMMARY)(command)


command = _decorated()
