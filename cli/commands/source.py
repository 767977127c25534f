"""One subcommand for each source that the registry admits: its shape comes from here, its options from the source."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from labadapt.cli.files import STANDARD_STREAM
from labadapt.cli.options import DIRECTORY, FILE, SizeType, common, files
from labadapt.cli.session import session

if TYPE_CHECKING:
    from labadapt.adapters.span import Source

_EXCLUSIVE = (("policy", "policy_attribute"), ("case", "case_attribute"), ("out", "out_dir", "trials"))


def source_command(name: str) -> click.Command | None:
    """The subcommand of the source of this name, or None. Raises `Refusal` (``BAD_PLUGIN``) for a broken one."""
    from labadapt.adapters.registry import sources
    from labadapt.cli.sources import named_sources

    source = named_sources().get(name)
    if source is None:
        if name in sources():
            sources()[name]  # raises: it was found, and it is broken
        return None
    return conversion_command(source.name, source, f"{source.summary}\n\n{_example(source)}", source.summary)


def _example(source: "Source") -> str:
    return f"\b\nExample:\n  labadapt {source.name} {source.export} --out bundle.json"


def conversion_command(name: str, source: "Source | None", text: str, summary: str) -> click.Command:
    """A command that converts with `source`, or with the one that the content asks for."""

    def convert(**given: Any) -> int:
        from labadapt.cli.conversions import Wish, convert_files

        require_one_of_each(given)
        own = {option: given.pop(option) for option in _own_options(source)}
        return convert_files(source, Wish(**given, source_options=own), session())

    convert.__doc__ = text
    decorated: Callable[..., Any] = common(convert)
    for option in reversed([*OPTIONS, MEMORY, JOBS, *_own_decorators(source)]):
        decorated = option(decorated)
    return click.command(name, short_help=summary)(files()(decorated))


def _own_options(source: "Source | None") -> dict[str, str]:
    """Parameter name → flag, of the options that the source brings."""
    return (
        {} if source is None else {option.flag.lstrip("-").replace("-", "_"): option.flag for option in source.options}
    )


def _own_decorators(source: "Source | None") -> list[Callable[..., Any]]:
    options = () if source is None else source.options
    return [click.option(option.flag, default=option.default, help=option.help) for option in options]


def require_one_of_each(given: dict[str, Any]) -> None:
    """Refuse options that exclude each other, and two results for one standard output."""
    for names in _EXCLUSIVE:
        flags = [f"--{name.replace('_', '-')}" for name in names if given[name] is not None]
        if len(flags) > 1:
            raise click.UsageError(f"{' and '.join(flags)} exclude each other.", click.get_current_context())
    elsewhere = given["out_dir"] or given["trials"] or given["check"] or given["out"] not in {None, STANDARD_STREAM}
    if given["refusals"] == STANDARD_STREAM and not elsewhere:
        text = "--refusals - and the bundle would share standard output; give --out FILE."
        raise click.UsageError(text, click.get_current_context())


# The options of every conversion, in the order of the help.
OPTIONS: tuple[Callable[..., Any], ...] = (
    click.option("--cases", metavar="FILE", type=FILE, help="Cases file: each case's request and contract."),
    click.option(
        "--mapping", metavar="FILE", type=FILE, help="Mapping file: how to read this application's telemetry."
    ),
    click.option("--policy", metavar="NAME", help="The policy of every run."),
    click.option("--policy-attribute", metavar="KEY", help="The attribute that names a run's policy."),
    click.option("--case", metavar="NAME", help="The case of every run."),
    click.option("--case-attribute", metavar="KEY", help="The attribute that names a run's case."),
    click.option(
        "--group-by",
        metavar="KEY",
        help="Join the traces that carry one value of this attribute (session.id, gen_ai.conversation.id) to one run.",
    ),
    click.option("--out", metavar="FILE", type=FILE, help="Write the bundle here, at once or not at all."),
    click.option(
        "--out-dir", metavar="DIR", type=DIRECTORY, help="Write bundles that each fit the workbench into a new folder."
    ),
    click.option(
        "--trials", metavar="DIR", type=DIRECTORY, help="Write one bundle for each repetition into a new folder."
    ),
    click.option(
        "--on-refusal",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="Where a run is refused: write nothing, or the others.",
    ),
    click.option("--refusals", metavar="FILE", type=FILE, help="List every refused run here, as JSON Lines."),
    click.option(
        "--nested",
        type=click.Choice(["refuse", "outer", "leaf"]),
        default="refuse",
        show_default=True,
        help="A tool call inside another: refuse the run, keep the outer one, or the inner ones.",
    ),
    click.option(
        "--check", is_flag=True, help="Check the runs; the verdict is the result, and --out takes the bundle."
    ),
    click.option("--max-size", type=SizeType(), metavar="SIZE", help="Largest decompressed input, such as 500M."),
)

# Of the commands that read what may be larger than the memory.
MEMORY = click.option(
    "--memory",
    type=SizeType(),
    metavar="SIZE",
    default="128M",
    show_default=True,
    help="What may wait in memory for the rest of its trace; beyond it, on disk.",
)

JOBS = click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    metavar="N",
    help="Share several files out to so many processes, 0 for one a core. The output is the same, byte for byte.",
)
