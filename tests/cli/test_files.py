"""Files, directories, globs and standard input."""

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from labadapt.cli.files import expand, read_file
from labadapt.cli.session import Session
from labadapt.schema.problems import Refusal


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    with click.Context(click.Command("test"), obj=Session()):
        yield


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("b.pb", "a.pb", "deep/er/c.json", ".hidden", "deep/.git/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(*names: str) -> list[tuple[str, str | None]]:
    with pytest.raises(Refusal) as caught:
        expand(names)
    return [(problem.message, problem.where.file) for problem in caught.value.problems]


@pytest.mark.usefixtures("tree")
def test_a_directory_is_read_to_its_depth_and_sorted(capsys: pytest.CaptureFixture[str]) -> None:
    assert expand(["."]) == ["a.pb", "b.pb", "deep/er/c.json"]
    assert capsys.readouterr().err == "note: 2 hidden files of a directory left out\n"


@pytest.mark.usefixtures("tree")
def test_arguments_keep_their_order_and_a_glob_is_sorted() -> None:
    assert expand(["b.pb", "*.pb", "-", "**/*.json"]) == ["b.pb", "a.pb", "b.pb", "-", "deep/er/c.json"]


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tree: Path) -> None:
    (tree / "x[1].pb").touch()
    assert expand(["x[1].pb"]) == ["x[1].pb"]


def test_every_argument_that_names_nothing_is_told(tree: Path) -> None:
    (tree / "empty").mkdir()
    assert refused("empty", "*.zip", "a.pb") == [
        ("the directory holds no file", "empty"),
        ("no file matches", "*.zip"),
    ]


def test_standard_input_is_read_once() -> None:
    assert refused("-", "-") == [("standard input is named twice", "standard input")]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.pb", "cannot be read: No such file or directory"),
        ("nul\0.pb", "cannot be read: embedded null byte"),
        ("n" * 300, "cannot be read: File name too long"),
        ("a.pb/inside", "cannot be read: Not a directory"),
        ("deep", "cannot be read: Is a directory"),
    ],
)
@pytest.mark.usefixtures("tree")
def test_a_file_that_cannot_be_read_is_named(name: str, message: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_file(name)
    problem = caught.value.problems[0]
    assert (problem.code, problem.message, problem.where.file) == ("UNREADABLE_FILE", message, name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_named(tree: Path) -> None:
    (tree / "a.pb").chmod(0)
    with pytest.raises(Refusal, match="Permission denied"):
        read_file("a.pb")
