"""The tables themselves: nothing but tables, short, complete; and what a table must be to be admitted."""

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from labadapt.adapters import registry
from labadapt.adapters.registry import Entry, Origin, Registry
from labadapt.adapters.span import Convention, Failing, Field, Match, Proposals, Source
from labadapt.schema.problems import Refusal

FOLDER = Path(registry.__file__).parent / "conventions"
FILES = sorted(path for path in FOLDER.glob("*.py") if path.name != "__init__.py")
GOOD = Convention("acme", "ACME", "", "1", "plugin", 1, tool=(Match("acme.tool"),), tool_name=(Field("acme.tool"),))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_convention_is_a_short_table_and_nothing_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    allowed = (ast.Assign, ast.Expr, ast.ImportFrom)
    tree = ast.parse(text)
    assert [type(node).__name__ for node in tree.body if not isinstance(node, allowed)] == []
    imports = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Import)]
    assert imports == ["labadapt.adapters.span"]
    code = (ast.Lambda, ast.FunctionDef, ast.ListComp, ast.GeneratorExp, ast.IfExp)
    assert [node for node in ast.walk(tree) if isinstance(node, code)] == []


@pytest.mark.parametrize("name", list(registry.conventions()))
def test_a_table_says_where_it_comes_from_and_how_content_is_switched_on(name: str) -> None:
    table = registry.conventions()[name]
    assert table.title
    assert table.version
    assert table.specification.startswith(("https://", "docs/")) or table.family == "plugin"
    assert table.capture or table.family == "plugin"


def test_every_built_in_is_found_by_walking_and_says_so() -> None:
    own = [entry for entry in registry.conventions().entries if entry.origin.distribution == "labadapt"]
    assert len(own) == len(FILES) == 16
    assert {entry.origin.module.rpartition(".")[2] for entry in own} == {path.stem for path in FILES}
    assert [entry.problem for entry in own] == [None] * 16


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (replace(GOOD, tool=()), "recognises no span"),
        (replace(GOOD, tool=(Match(),)), "claim every span"),
        (replace(GOOD, tool=(Match(absent=("x",)),)), "claim every span"),
        (replace(GOOD, tool=(Match(dropped=True),)), "claim every span"),
        (replace(GOOD, tool=("x",)), "malformed"),
        (replace(GOOD, tool=Match("x")), "malformed"),
        (replace(GOOD, tool=(Match(7),)), "malformed"),
        (replace(GOOD, tool_name=("x",)), "malformed"),
        (replace(GOOD, tool_name=(Field("x", "yaml"),)), "malformed"),
        (replace(GOOD, tool_name=(Field("x", place="span"),)), "malformed"),
        (replace(GOOD, usage={"input_tokens": 7}), "malformed"),
        (replace(GOOD, failing=(Failing(status="maybe"),)), "malformed"),
        (replace(GOOD, usage={"inputTokens": (Field("x"),)}), "unknown field of the usage"),
        (replace(GOOD, result=(Field("x", envelope=("magic",)),)), "unknown envelope 'magic'"),
        (replace(GOOD, failing=(Failing(key="x", envelope=("magic",)),)), "unknown envelope 'magic'"),
        (replace(GOOD, proposals=(Proposals("magic", "x"),)), "unknown shape of proposals 'magic'"),
        (replace(GOOD, family="vendor"), '"vendor"; a stranger\'s is "plugin"'),
        (replace(GOOD, name="Bad Name"), "no word of lower-case letters"),
        (replace(GOOD, name=7), "no word of lower-case letters"),
        (replace(GOOD, title=""), "no summary"),
        ("a table", "it is a str, not a Convention"),
        (None, "it is a NoneType, not a Convention"),
    ],
)
def test_a_table_that_is_none_is_not_admitted_and_named(table: Any, why: str) -> None:
    found = _admitted(table)
    assert found.value is None
    assert found.problem.code == "BAD_PLUGIN"
    assert why in found.problem.message
    assert "acme-tables 1.2" in found.problem.message


def _admitted(value: Any) -> Entry[Convention]:
    fault = registry._convention_fault
    origin = Origin("acme-tables", "1.2", "acme:TABLE")
    return registry._admit("acme", origin, lambda: value, {"otel-genai"}, lambda one: fault(one, stranger=True))


def test_a_good_table_is_admitted() -> None:
    assert _admitted(GOOD).value is GOOD


def test_a_name_that_is_taken_is_refused_when_chosen_and_hides_nobody() -> None:
    mine = _admitted(GOOD)
    other = _admitted(replace(GOOD, name="otel-genai"))
    assert 'the name "otel-genai" is taken' in other.problem.message
    both = Registry([mine, other])
    assert list(both) == ["acme"]
    assert len(both) == 1
    assert both.admitted() == [GOOD]
    assert both.problems() == [other.problem]
    with pytest.raises(Refusal) as refused:
        both["acme (acme-tables)"]
    assert refused.value.problems == (other.problem,)
    with pytest.raises(KeyError):
        both["nobody"]


def test_a_source_must_be_one_and_may_not_take_a_commands_name() -> None:
    good = Source("tabular", "Reads tables.", lambda _: 0, lambda *_: iter(()))
    assert registry._source_fault(good, stranger=True) is None
    assert "is a command" in str(registry._source_fault(replace(good, name="convert"), stranger=True))
    assert "not both functions" in str(registry._source_fault(replace(good, decode=None), stranger=True))
    assert "not a Source" in str(registry._source_fault(GOOD, stranger=True))


def test_listing_what_is_installed_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from labadapt.adapters import registry\n"
        "assert registry.sources() and registry.conventions()\n"
        "heavy = ('google.protobuf', 'jsonschema', 'rich', 'ruamel', 'jmespath')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
