"""What the documents say is what the program does: pages, help, examples, README."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from labadapt.cli.main import COMMANDS, group

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"
EXPORT = SAMPLES / "producers" / "pydantic-ai@2.68.0-v5" / "02_timeout_recovered.pb"


def commands(command: click.Command = group, parent: click.Context | None = None) -> Iterator[click.Context]:
    """Every command, as the context in which its help is shown."""
    context = click.Context(command, info_name=command.name if parent else "labadapt", parent=parent)
    yield context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, context)


EVERY = {context.command_path: context for context in commands()}


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line as a reader would, with this installation's ``labadapt``."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=False, timeout=60
    )


# A sample for each name that the examples of the sources give.
EXPORTS = {
    "app.log": "java-logging.log",
    "console.txt": "python-console.txt",
    "jaeger.json": "jaeger-1.json",
    "mlflow.json": "mlflow-3.json",
    "otel_traces.jsonl": "clickhouse.jsonl",
    "phoenix.json": "phoenix.json",
    "spans.json": "protojson.json",
    "stdout.txt": "go-stdout.txt",
    "tempo.json": "tempo-2.json",
    "zipkin.json": "zipkin-python.json",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the examples of the help texts name."""
    shutil.copy(EXPORT, tmp_path / "traces.pb")
    shutil.copy(SAMPLES / "metric-agent.mapping.yaml", tmp_path / "mapping.yaml")
    shutil.copy(SAMPLES / "metric-agent.cases.yaml", tmp_path / "cases.yaml")
    for name, sample in EXPORTS.items():
        shutil.copy(SAMPLES / "formats" / sample, tmp_path / name)
    shutil.copytree(SAMPLES / "langfuse" / "api-pages", tmp_path / "pages", ignore=shutil.ignore_patterns("*default*"))
    convert = "labadapt otlp traces.pb --case 02_timeout_recovered --mapping mapping.yaml --out bundle.json --quiet"
    assert shell(convert, tmp_path).returncode == 0
    for name in ("before.json", "after.json"):
        shutil.copy(tmp_path / "bundle.json", tmp_path / name)
    (tmp_path / "gate.toml").write_text("schemaVersion = 1\natLeast = 0\n")  # one run of many cases can show no more
    (tmp_path / "trials").mkdir()
    shutil.copy(tmp_path / "bundle.json", tmp_path / "trials" / "trial-0001.json")
    return tmp_path


# -- help --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EVERY)
def test_the_example_of_each_help_text_can_be_pasted(path: str, folder: Path) -> None:
    text = EVERY[path].get_help()
    example = re.search(r"Example:\n\s+(labadapt .*)", text)
    assert example is not None, "a help text without an example"
    done = shell(example[1], folder)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_the_short_help_of_the_table_is_the_commands_own(name: str) -> None:
    command = EVERY[f"labadapt {name}"].command
    assert (command.name, command.short_help) == (name, COMMANDS[name][2])


@pytest.mark.parametrize("path", EVERY)
def test_every_option_has_a_help_text(path: str) -> None:
    silent = [p.name for p in EVERY[path].command.params if isinstance(p, click.Option) and not p.help]
    assert silent == []


# -- pages -------------------------------------------------------------------------------------------------------------


def test_the_generated_pages_are_current() -> None:
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")], ids=lambda path: path.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|mailto:|#)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_declared_versions_of_python_are_those_that_are_run() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    run = re.search(r"for version in (.*); do", (ROOT / ".ci" / "run").read_text())
    assert run is not None
    assert declared == run[1].split()
    assert project["requires-python"] == f">={declared[0]}"


def test_the_page_of_formats_names_every_source() -> None:
    from labadapt.adapters.registry import sources

    named = set(re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "docs" / "sources.md").read_text(), re.MULTILINE))
    assert named == {source.name for source in sources().admitted()}


def test_the_changelog_has_a_place_for_what_is_not_released() -> None:
    assert "\n## Unreleased\n" in (ROOT / "CHANGELOG.md").read_text()


# -- README ------------------------------------------------------------------------------------------------------------


def test_the_walk_of_the_readme_ends_in_the_statuses_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "samples").symlink_to(SAMPLES)
    statuses = []
    text = (ROOT / "README.md").read_text()
    for kind, block in re.findall(r"```(console|yaml)\n(.*?)```", text, re.DOTALL):
        if kind == "yaml":  # its first line is the comment that names the file
            (tmp_path / block.partition("\n")[0].removeprefix("# ")).write_text(block)
        else:
            statuses += [shell(line[2:], tmp_path).returncode for line in block.splitlines() if line[:2] == "$ "]
    assert statuses == [0, 0, 0, 0, 0, 1, 0, 2]  # what the commands print is held by the test of the generated pages


def test_the_commands_of_the_readme_are_verbs_of_the_makefile() -> None:
    text = (ROOT / "README.md").read_text()
    verbs = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    used = {shlex.split(line)[1] for line in text.splitlines() if line.startswith("    make ")}
    assert {"demo", "test"} <= used <= verbs
