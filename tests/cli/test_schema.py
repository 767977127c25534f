"""``labadapt schema``: every published format."""

import json

import pytest
from labadapt.cli.commands.schema import NAMES
from labadapt.schema.schemas import SCHEMA_NAMES


def test_the_command_knows_every_format() -> None:
    assert NAMES == SCHEMA_NAMES


@pytest.mark.parametrize("name", ["comparison", "coverage", "gate", "decision"])
def test_a_format_is_printed(labadapt, name) -> None:
    done = labadapt("schema", name)
    assert (done.stderr, done.returncode) == ("", 0)
    assert json.loads(done.stdout)["$id"] == f"urn:labadapt:schema:{name}:1"
