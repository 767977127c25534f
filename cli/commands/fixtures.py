"""``labadapt fixtures``: the authored cases under the two policies."""

from typing import Literal

import click
from labadapt.cli.files import STANDARD_STREAM
from labadapt.cli.options import common, out, output_format

POLICIES: dict[str, tuple[Literal["direct", "guarded"], ...]] = {
    "direct": ("direct",),
    "guarded": ("guarded",),
    "both": ("direct", "guarded"),
}


@click.command("fixtures", short_help="Run the eight authored cases; no model, no telemetry.")
@click.option(
    "--policy", type=click.Choice(list(POLICIES)), default="guarded", show_default=True, help="Which policy runs them."
)
@out("Write the bundle here.")
@output_format("text", "json")
@common
def command(policy: str, out: str | None, form: str) -> int:
    """Run the eight authored cases, whose tool replies and clock are declared, and check them.

    guarded passes all eight. direct is deliberately weak: it fails some, and the exit status is 1.

    \b
    Example:
      labadapt fixtures --policy guarded
    """
    from labadapt import __version__
    from labadapt.cli.checking import report
    from labadapt.cli.outputs import write
    from labadapt.engine.check import check_bundle
    from labadapt.engine.fixtures import fixture_bundle
    from labadapt.schema.codec import encode_bundle

    bundle = fixture_bundle(POLICIES[policy], __version__)
    if out is not None:
        write(out, [encode_bundle(bundle)])
    return report(check_bundle(bundle, version=__version__), form, beside=out == STANDARD_STREAM)
