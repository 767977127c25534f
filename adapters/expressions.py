"""JMESPath expressions of the cases and mapping files: parsed once, evaluated over documented views.

JMESPath (https://jmespath.org/specification.html) yields null both for a null that is there and for a key that is not.
Here the two stay apart: for a plain path, null is returned only where the record holds a null, otherwise `UNSET`.
"""

from dataclasses import dataclass
from typing import Any

from labadapt.schema.problems import Problem, Refusal, Where
from msgspec import UNSET

LONGEST = 4096  # characters; a longer expression is no hand-written one


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression, and the place it stands in, such as ``tools.query_metric.value``."""

    text: str
    place: str
    parsed: Any

    def evaluate(self, view: Any) -> Any:
        """What the expression yields over the view; `UNSET` for nothing. Refused: `BAD_EXPRESSION`."""
        from jmespath.exceptions import JMESPathError

        try:
            found = self.parsed.search(view)
        except (JMESPathError, RecursionError, ArithmeticError, TypeError, ValueError) as fault:
            raise Refusal(_failed(self, fault)) from fault
        if found is None and not _present(self.parsed.parsed, view):
            return UNSET
        return found


def parse(text: str, place: str, where: Where | None = None) -> Expression:
    """Parse an expression. Refused with the position where parsing stopped: `BAD_EXPRESSION`."""
    problem, parsed = _parsed(text, place, where or Where())
    if problem is not None:
        raise Refusal(problem)
    return Expression(text, place, parsed)


def fault_of(text: str, place: str, where: Where) -> Problem | None:
    """What is wrong with the text as an expression; None if nothing is."""
    return _parsed(text, place, where)[0]


def _parsed(text: str, place: str, where: Where) -> tuple[Problem | None, Any]:
    import jmespath
    from jmespath.exceptions import JMESPathError

    if len(text) > LONGEST:
        return _unparsed(place, where, f"{len(text)} characters", f"at most {LONGEST} characters"), None
    try:
        return None, jmespath.compile(text)
    except (JMESPathError, RecursionError) as fault:
        column = getattr(fault, "lex_position", None)
        found = text if column is None else f"{text} (stopped at character {column + 1})"
        return _unparsed(place, where, found, "a JMESPath expression"), None


def _unparsed(place: str, where: Where, found: str, expected: str) -> Problem:
    return Problem(
        code="BAD_EXPRESSION",
        message=f"The expression at {place} does not parse.",
        where=where,
        found=found,
        expected=expected,
        hint="A key with other characters than letters, digits and _ stands in double quotes: "
        'attributes."my.key". The grammar: https://jmespath.org',
    )


def _failed(expression: Expression, fault: Exception) -> Problem:
    reason = str(fault).strip() or type(fault).__name__
    return Problem(
        code="BAD_EXPRESSION",
        message=f"The expression at {expression.place} fails: {reason}",
        found=expression.text,
        expected="an expression that yields a value over every run",
    )


def _present(node: dict[str, Any], view: Any) -> bool:
    """Whether a plain path (keys and indexes) leads to something that is there, be it null."""
    here = view
    for kind, key in _path(node):
        if kind == "field":
            there = isinstance(here, dict) and key in here
        else:
            there = kind == "index" and isinstance(here, list) and -len(here) <= key < len(here)
        if not there:
            return False
        here = here[key]
    return True


def _path(node: dict[str, Any]) -> list[tuple[str, Any]]:
    """The steps of a plain path; for any other expression one step that nothing fits."""
    steps: list[tuple[str, Any]] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        kind = part["type"]
        if kind in ("field", "index"):
            steps.append((kind, part["value"]))
        elif kind in ("subexpression", "index_expression", "pipe"):
            waiting.extend(reversed(part["children"]))
        elif kind not in ("identity", "current"):
            return [("other", None)]
    return steps
