"""Problems as a person reads them, and as a program does."""

from collections.abc import Iterable, Sequence
from typing import Any

import click
from labadapt.cli.escaping import printable
from labadapt.schema.problems import CODES, Problem, Where
from msgspec import structs

_LONGEST = 300
_MOST_PLACES = 20


def render_problems(problems: Iterable[Problem]) -> str:
    """Every problem, one blank line between two."""
    return "\n\n".join(render_problem(problem) for problem in problems)


def render_alike(problems: Iterable[Problem]) -> str:
    """Every problem; those that differ in their place only are written once, with every place."""
    alike: dict[Problem, list[Where]] = {}
    for problem in problems:
        alike.setdefault(structs.replace(problem, where=Where()), []).append(problem.where)
    return "\n\n".join(render_problem(problem, places) for problem, places in alike.items())


def render_problem(problem: Problem, places: Sequence[Where] = ()) -> str:
    """One problem: ``error[CODE]: what``, then where, what was found and expected, and what to do."""
    lines = [f"{click.style(f'error[{problem.code}]', fg='red', bold=True)}: {printable(problem.message)}"]
    lines += [f"  --> {place}" for place in map(render_where, (places or [problem.where])[:_MOST_PLACES]) if place]
    lines += [f"  --> … and {len(places) - _MOST_PLACES} more"] if len(places) > _MOST_PLACES else []
    lines += [f"  = {compared}" for compared in [_compared(problem)] if compared]
    lines += [f"  = help: {printable(help_text)}" for help_text in [_help(problem)] if help_text]
    return "\n".join(lines)


def render_where(where: Where) -> str:
    """The place, outermost part first: ``export.json: line 3, trace 0af7…, spans 11… and 22…``."""
    inner = ", ".join(printable(part) for part in _inner_parts(where))
    if where.file is None:
        return inner
    return f"{printable(where.file)}: {inner}" if inner else printable(where.file)


def _inner_parts(where: Where) -> list[str]:
    parts = [f"line {where.line}"] if where.line is not None else []
    parts += [f"byte {where.offset}"] if where.offset is not None else []
    parts += [f"run {where.run}"] if where.run is not None else []
    parts += [f"at {shorten(where.pointer or 'the top')}"] if where.pointer is not None else []
    parts += [f"trace {where.trace_id}"] if where.trace_id else []
    return [*parts, *_spans(where.span_ids)]


def _spans(span_ids: Sequence[str]) -> list[str]:
    if not span_ids:
        return []
    return [f"{'span' if len(span_ids) == 1 else 'spans'} {' and '.join(span_ids)}"]


def _compared(problem: Problem) -> str:
    parts = [f"found {shorten(printable(problem.found))}"] if problem.found is not None else []
    parts += [f"expected {shorten(printable(problem.expected))}"] if problem.expected is not None else []
    return ", ".join(parts)


def _help(problem: Problem) -> str:
    """The problem's own hint, else what the table says about its code."""
    if problem.hint:
        return problem.hint
    return CODES[problem.code].remedy if problem.code in CODES else ""


def shorten(text: str, longest: int = _LONGEST) -> str:
    """The text, cut with an ellipsis where it is longer than `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def problem_as_json(problem: Problem) -> dict[str, Any]:
    """A problem for a program: its fields in camelCase, empty ones left out."""
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(problem)
    return plain
