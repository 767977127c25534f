"""The import arrows and the purity of the core, read from the source of every module."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ARROWS = {
    "schema": {"schema"},
    "adapters": {"adapters", "schema"},
    "engine": {"engine", "schema"},
    "cli": {"cli", "adapters", "engine", "schema"},
}
# What reaches out of the process: files, network, environment, clock, chance, terminal, other processes.
# fmt: off
IMPURE_MODULES = {
    "asyncio", "fileinput", "glob", "http", "httpx", "langfuse", "locale", "logging", "multiprocessing", "os",
    "pathlib", "random", "requests", "secrets", "shutil", "socket", "ssl", "subprocess", "sys", "tempfile", "threading",
    "time", "urllib", "uuid", "warnings",
}
# fmt: on
IMPURE_CALLS = {"open", "print", "input", "breakpoint", "exit", "quit", "exec", "eval", "__import__"}
IMPURE_METHODS = {"now", "utcnow", "today", "read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "glob"}
# (module, what it does) → why it may.
ALLOWED: dict[tuple[str, str], str] = {
    ("adapters/langfuse/client.py", "httpx"): "a source's own client, and the only module that opens a connection",
    ("adapters/langfuse/client.py", "langfuse"): "the official SDK, behind the extra of the same name",
    ("adapters/langfuse/client.py", "urllib"): "urllib.parse writes a name into a path; nothing is opened with it",
}


def modules() -> list[Path]:
    return [path for folder in ARROWS for path in sorted((ROOT / folder).rglob("*.py"))]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the arrow"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def impurities(tree: ast.AST) -> Iterator[str]:
    for name in imported(tree):
        if name.partition(".")[0] in IMPURE_MODULES:
            yield name.partition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
            yield node.func.id
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in IMPURE_METHODS:
            yield node.func.attr


@pytest.mark.parametrize("path", modules(), ids=relative)
def test_a_module_imports_only_along_the_arrows(path: Path) -> None:
    allowed = ARROWS[path.relative_to(ROOT).parts[0]]
    for name in imported(ast.parse(path.read_text())):
        parts = name.split(".")
        if parts[0] == "labadapt" and len(parts) > 1 and parts[1] != "__version__":
            assert parts[1] in allowed, f"{relative(path)} imports {name}"


@pytest.mark.parametrize("path", [p for p in modules() if p.parts[len(ROOT.parts)] != "cli"], ids=relative)
def test_the_core_is_pure(path: Path) -> None:
    found = {what for what in impurities(ast.parse(path.read_text())) if (relative(path), what) not in ALLOWED}
    assert not found, f"{relative(path)} reaches out of the process by {sorted(found)}"


def test_every_allowance_is_still_used() -> None:
    for name, what in ALLOWED:
        assert what in set(impurities(ast.parse((ROOT / name).read_text())))


@pytest.mark.parametrize("source", ["import os", "from time import time_ns", "open('x')", "datetime.now()", "print(1)"])
def test_an_impurity_is_seen(source: str) -> None:
    assert list(impurities(ast.parse(source)))


def test_an_import_within_a_function_is_seen() -> None:
    assert "labadapt.engine.check" in set(imported(ast.parse("def f():\n    from labadapt.engine import check")))


def test_the_admission_of_arrows_covers_every_folder_of_the_package() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders == set(ARROWS)


@pytest.mark.parametrize("word", ["utils", "helpers", "base", "manager", "managers", "common", "misc"])
def test_no_module_has_a_name_that_says_nothing(word: str) -> None:
    assert [relative(path) for path in modules() if path.stem == word] == []
