"""``labadapt inspect``: what is in an export, before anything is declared."""

import click
from labadapt.cli.options import SizeType, common, files
from labadapt.cli.session import session, show, show_json


@click.command("inspect", short_help="Show what is in an export, and what is missing.")
@files()
@click.option("--json", "as_json", is_flag=True, help="For a program.")
@click.option("--max-size", type=SizeType(), metavar="SIZE", help="Largest decompressed input, such as 500M.")
@common
def command(files: tuple[str, ...], as_json: bool, max_size: int | None) -> None:
    """Show what is in each FILE: traces, tools, conventions, names for cases and policies, and what is missing.

    \b
    Example:
      labadapt inspect traces.pb
    """
    import msgspec
    from labadapt.cli.inspecting import inspect_files, render_inspection

    seen = inspect_files(files, session(), max_size)
    if as_json:
        show_json(msgspec.to_builtins(seen))
    else:
        show(render_inspection(seen))
