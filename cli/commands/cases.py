"""``labadapt cases``: a starting cases file from a bundle, and the check of one."""

import click
from labadapt.cli.files import display_name, expand, read_file
from labadapt.cli.options import FILE, common, files, out
from labadapt.cli.statuses import Status


@click.group("cases", short_help="Start or check a cases file.")
def command() -> None:
    """Start or check a cases file: for each case what is asked, and what must hold.

    \b
    Example:
      labadapt cases lint cases.yaml
    """


@command.command("init")
@click.argument("bundle", type=FILE)
@out("Write the cases file here.")
@common
def init(bundle: str, out: str | None) -> None:
    """Write a starting cases file with every case of BUNDLE; the contracts are left for a person to write.

    \b
    Example:
      labadapt cases init bundle.json > cases.yaml
    """
    from labadapt.adapters.cases import starting_cases
    from labadapt.cli.exports import read_bundle
    from labadapt.cli.outputs import write_text

    write_text(out, starting_cases(read_bundle(bundle)))


@command.command("lint")
@files()
@click.option("--mapping", type=FILE, help="Mapping file whose tools are all that an action may name.")
@common
def lint(files: tuple[str, ...], mapping: str | None) -> int:
    """Name every fault of each cases FILE, with its line.

    \b
    Example:
      labadapt cases lint cases.yaml
    """
    from labadapt.adapters.cases import lint_cases
    from labadapt.cli.commands.validate import report_faults

    tools = _tools(mapping)
    found = {display_name(name): lint_cases(read_file(name), display_name(name), tools) for name in expand(files)}
    report_faults(found)
    return Status.INVALID if any(found.values()) else Status.PASSED


def _tools(mapping: str | None) -> frozenset[str]:
    """The tools that a mapping file declares. Raises `Refusal` for a faulty one."""
    if mapping is None:
        return frozenset()
    from labadapt.adapters.mapping import read_mapping

    return frozenset(read_mapping(read_file(mapping), display_name(mapping)).tools or {})
