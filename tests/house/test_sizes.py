"""Functions stay small: what the style says, measured."""

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("schema", "adapters", "engine", "cli")


def body_lines(function: ast.FunctionDef) -> int:
    """Lines of the body without the docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return function.end_lineno - body[0].lineno + 1 if body and function.end_lineno else 0


def sizes() -> Iterator[tuple[int, str]]:
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                yield body_lines(node), f"{path.relative_to(ROOT)}: {node.name}"


def test_no_function_is_long_and_the_middle_one_is_short() -> None:
    measured = sorted(sizes())
    assert [one for one in measured if one[0] > 50] == []
    assert statistics.median(size for size, _ in measured) <= 8
