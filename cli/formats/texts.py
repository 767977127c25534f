"""The sentences that every format writes about an entry, with nothing in them that a reader would obey."""

import json
from collections.abc import Iterator
from typing import Any

from labadapt.cli.escaping import printable
from labadapt.cli.formats import Detail, Entry
from labadapt.cli.problems import shorten

VALUE_LENGTH = 200  # a value is shown, not kept: the result file keeps it


def value(content: Any) -> str:
    """A value of the contract or the record on one line."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return shorten(printable(text), VALUE_LENGTH)


def detail_lines(detail: Detail) -> Iterator[str]:
    """A check: its verdict, what was expected and observed, why, and where."""
    yield f"{printable(detail.rule)}: {'failed' if detail.failed else 'unevaluable'}"
    yield f"  expected  {value(detail.expected)}"
    yield f"  observed  {value(detail.observed)}"
    yield f"  because   {printable(detail.reason)}"
    if detail.evidence:
        yield f"  see       {printable(', '.join(detail.evidence))}"


def entry_lines(entry: Entry) -> list[str]:
    """The reason of an entry and its checks."""
    return [printable(entry.reason), *(line for detail in entry.details for line in detail_lines(detail))]
