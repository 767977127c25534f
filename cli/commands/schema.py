"""``labadapt schema``: the published JSON Schemas."""

from typing import TYPE_CHECKING

import click
from labadapt.cli.options import common
from labadapt.cli.session import show_json

if TYPE_CHECKING:
    from labadapt.schema.schemas import SchemaName

# Said again here, so that naming the command loads no model; a test holds the two equal.
NAMES = (
    "bundle",
    "result",
    "cases",
    "mapping",
    "reliability",
    "comparison",
    "coverage",
    "gate",
    "decision",
    "langfuse-item",
    "manifest",
)


@click.command("schema", short_help="Print the JSON Schema of a file format.")
@click.argument("name", type=click.Choice(NAMES), default="bundle")
@common
def command(name: "SchemaName") -> None:
    """Print the JSON Schema (2020-12) of a file format; of bundles by default.

    \b
    Example:
      labadapt schema cases
    """
    from labadapt.schema.schemas import json_schema

    show_json(json_schema(name))
