"""``labadapt schema``: the published JSON Schemas."""

from typing import Literal

import click
from labadapt.cli.options import common
from labadapt.cli.session import show_json

NAMES = ("bundle", "result", "cases", "mapping")  # said again here, so that naming the command loads no model


@click.command("schema", short_help="Print the JSON Schema of a file format.")
@click.argument("name", type=click.Choice(NAMES), default="bundle")
@common
def command(name: Literal["bundle", "result", "cases", "mapping"]) -> None:
    """Print the JSON Schema (2020-12) of bundles, results, cases files or mapping files; bundles by default.

    \b
    Example:
      labadapt schema cases
    """
    from labadapt.schema.schemas import json_schema

    show_json(json_schema(name))
