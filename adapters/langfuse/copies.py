"""One row that stands in several files: in pages of the interface, in a download, in an export of each kind.

Each writes it with fields of its own and in a spelling of its own. Copies are one row where all say the same of
everything that becomes part of a run; where two do not, they are refused.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec
from labadapt.adapters.langfuse.answers import text_of
from labadapt.adapters.langfuse.exports import Pages, parsed
from labadapt.adapters.langfuse.spans import instant, text
from labadapt.schema.problems import Problem, Refusal, Where

Row = dict[str, Any]
_NAMED = 10  # places of one row, one by one
_TIMES = frozenset({"startTime", "endTime"})
_CONTENTS = frozenset({"input", "output"})
# What an export may leave out, or leave empty, without saying that there is none.
_OPEN = frozenset({"model", "usageDetails", "costDetails", "statusMessage", "parentObservationId"})
_READ = _TIMES | _CONTENTS | _OPEN | {"traceId", "type", "name", "level"}
# Who sent an observation, which pages that `--save` wrote have without the key.
_SENDER = ("scope.", "resourceAttributes.")


def unique(pages: Pages, kind: str, rows: Iterable[Row]) -> list[Row]:
    """The rows of a `kind` by id, each once. Refused: `CONFLICTING_DUPLICATE` where one id has two contents.

    A row that was read with fewer fields, all of them equal, says nothing against the fuller one.
    """
    copies: dict[str, list[Row]] = {}
    for row in rows:
        copies.setdefault(text_of(row, "id"), []).append(row)
    return [_one(pages, kind, id_, same) for id_, same in sorted(copies.items())]


def unique_versions(pages: Pages) -> list[Row]:
    """The versions of the dataset's items, each once. Refused: `CONFLICTING_DUPLICATE` where one has two contents."""
    versions: dict[tuple[str, datetime], Row] = {}
    for row in sorted(pages.dataset_items, key=msgspec.json.encode):
        id_ = text_of(row, "id")
        known = versions.setdefault((id_, current_since(row)), row)
        if any(known.get(key) != row.get(key) for key in ("input", "expectedOutput", "metadata")):
            raise Refusal(_conflict("dataset_items", id_, pages.places.get(("dataset_items", id_), [])))
    return [versions[key] for key in sorted(versions)]


def current_since(row: Row) -> datetime:
    """When a version of a dataset item began to count. Refused: `BAD_ANSWER`."""
    return instant(text_of(row, next((key for key in ("version", "validFrom") if row.get(key)), "updatedAt")))


def _one(pages: Pages, kind: str, id_: str, same: list[Row]) -> Row:
    if all(row == same[0] for row in same):
        return same[0]
    fullest = max(same, key=lambda row: (len(row), msgspec.json.encode(row, order="sorted")))
    told = dict(_facts(fullest, kind))
    whole = dict(fullest)
    for row in sorted(same, key=lambda row: msgspec.json.encode(row, order="sorted")):
        for key, fact in _facts(row, kind):
            if told.setdefault(key, fact) != fact:
                raise Refusal(_conflict(kind, id_, pages.places.get((kind, id_), [])))
        whole |= {key: value for key, value in row.items() if whole.get(key) in (None, "", {})}
    return whole


def _facts(row: Row, kind: str) -> Iterator[tuple[str, Any]]:
    """What a row says, by the place of it, in one spelling for every kind of file."""
    for key, value in row.items():
        if kind != "observations":
            yield key, value
        elif key == "metadata":
            yield from _metadata(value)
        elif key in _READ and not (key in _OPEN and value in (None, "", {})):
            yield key, _plain(key, value)


def _metadata(value: Any) -> Iterator[tuple[str, Any]]:
    for key, part in value.items() if isinstance(value, dict) else ():
        if not key.startswith(_SENDER):
            yield f"metadata.{key}", _content(part)


def _plain(key: str, value: Any) -> Any:
    if key in _TIMES:
        return instant(value) if value else None
    return _content(value) if key in _CONTENTS else value


def _content(value: Any) -> Any:
    """An input, an output or a value of the metadata: its parts where it has some, the text of it otherwise."""
    if value in (None, ""):
        return None
    inside = parsed(value)
    return inside if isinstance(inside, dict | list) else text(inside)


def _conflict(kind: str, id_: str, places: list[Where]) -> Problem:
    shown = "; ".join(" ".join(filter(None, (place.file, place.pointer))) for place in places[:_NAMED])
    return Problem(
        code="CONFLICTING_DUPLICATE",
        message=f"The row {id_!r} of the {kind.replace('_', ' ')} stands twice, with two contents.",
        where=places[0] if places else Where(),
        found=shown or None,
        expected="copies of one row that are equal",
        hint="Keep the files of one reading: a row grows while its run lasts.",
    )
