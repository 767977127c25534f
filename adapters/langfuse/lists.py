"""Whether the pages of a list are all there: what the list itself says of pages that follow it, or come before it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from labadapt.schema.problems import Problem, Refusal, Where

# As `--save` names the pages of all lists of a kind; a number in any other name is no number of a page.
_NUMBERED = re.compile(r"((?:.*[/\\])?(?:experiments|experiment-items|observations|dataset-items)-)(\d{4,6})(\.json.*)")
_MOST_PAGES = 1_000_000
_NAMED = 10  # of what is missing, one by one


@dataclass(frozen=True, slots=True)
class Head:
    """What one page says of its list: the `file` it stands in, the `kind` of its rows, and its `meta`.

    `rows` are its rows by trace and id, in their order.
    """

    file: str
    kind: str
    meta: dict[str, Any]
    rows: tuple[tuple[str, str], ...] = ()

    @property
    def goes_on(self) -> bool:
        """Whether there is a page after this one, by a cursor."""
        return bool(self.meta.get("cursor"))


def require_whole_lists(heads: Sequence[Head]) -> None:
    """Hold every list to be whole as far as its pages say. Refused: `INCOMPLETE_ANSWER`, naming what is missing."""
    numbered: dict[tuple[str, str], dict[int, Head]] = {}
    others: dict[str, list[Head]] = {}
    for head in heads:
        if match := _NUMBERED.fullmatch(head.file):
            numbered.setdefault((match[1], match[3]), {})[int(match[2])] = head
        else:
            others.setdefault(head.kind, []).append(head)
    missing = [name for (stem, end), pages in sorted(numbered.items()) for name in _gaps(stem, end, pages)]
    missing += [name for _, pages in sorted(others.items()) for name in _ends(pages)]
    missing += [name for kind in sorted({head.kind for head in heads}) for name in _uncounted(kind, heads)]
    if missing:
        raise Refusal([_missing(*one) for one in missing[:_NAMED]])


def _gaps(stem: str, end: str, pages: dict[int, Head]) -> Iterator[tuple[str, str | None]]:
    """The numbers before the highest that no file has, and the one after it where its list goes on."""
    last = max(pages)
    for number in range(1, last):
        if number not in pages:
            yield f"{stem}{number:04}{end}", None
    if pages[last].goes_on:
        yield f"{stem}{last + 1:04}{end}", pages[last].file


def _ends(pages: list[Head]) -> Iterator[tuple[str, str | None]]:
    """The page after one of these, where every one of them says that another follows.

    Of observations, which nothing counts, also the page after each that none of the others can follow.
    """
    if all(page.goes_on for page in pages):
        after = max(page.file for page in pages)
        yield f"the page after {after}", after
    elif pages[0].kind == "observations" and sum(not page.goes_on for page in pages) > 1:
        yield from ((f"the page after {page.file}", page.file) for page in pages if not _continued(page, pages))


def _continued(page: Head, pages: list[Head]) -> bool:
    """Whether, where several lists end, one of these pages may follow this one, or nothing needs to.

    Rows stand in the order of their start, so that a list over one trace goes on in that trace; one over several traces
    may go on in any. Rows that all stand in lists that end were read once more than needed.
    """
    if not page.goes_on or not page.rows:
        return True
    own = set(page.rows)
    if own <= {row for other in pages if not other.goes_on for row in other.rows}:
        return True
    last, _ = page.rows[-1]
    several = len({trace for trace, _ in own}) > 1
    fresh = {trace for other in pages if other is not page for trace, id_ in other.rows if (trace, id_) not in own}
    return last in fresh or (several and bool(fresh))


def _uncounted(kind: str, heads: Sequence[Head]) -> Iterator[tuple[str, str | None]]:
    """The pages of a list with page numbers that it counts and that no file holds."""
    pages = [head for head in heads if head.kind == kind]
    counts = [(_number(page.meta.get("totalPages")), page.file) for page in pages]
    there = {_number(page.meta.get("page")) for page in pages}
    most, file = max(counts, default=(0, ""))
    for number in range(1, most + 1):
        if number not in there:
            yield f"page {number} of {most} of the {kind.replace('_', ' ')}", file


def _number(value: Any) -> int:
    return value if type(value) is int and 0 < value <= _MOST_PAGES else 0


def _missing(name: str, beside: str | None) -> Problem:
    return Problem(
        code="INCOMPLETE_ANSWER",
        message=f"A page is not among the files: {name}.",
        where=Where(file=beside),
        found="a list that goes on" if beside else "a gap in the numbers of the pages",
        expected="every page of the list",
        hint="Name the whole folder, or save it again: `labadapt langfuse --dataset NAME --run NAME --save DIR`.",
    )
