"""Files of Langfuse, however they were saved: as rows in the words of the server's pages.

Pages of the interface, a trace download (with or without the trace itself), the exports of the user interface (JSON,
JSON Lines, CSV), blob storage exports (snake_case, times in UTC without saying so), and the run and trace documents of
the interface before experiments.
"""

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from labadapt.adapters.langfuse.forms import require_form
from labadapt.adapters.langfuse.lists import Head, require_whole_lists
from labadapt.adapters.reading.layers import payloads
from labadapt.adapters.span import Input, Limits
from labadapt.schema.problems import Problem, Refusal, Where

Row = dict[str, Any]
_UNDERSCORE = re.compile(r"_([a-z])")
_STRUCTURED = ("metadata", "usageDetails", "costDetails", "modelParameters")
# A key that only rows of this kind have, the more telling first.
_KINDS = (
    ("experimentItemId", "experiment_items"),
    ("itemCount", "experiments"),
    ("datasetName", "dataset_items"),
    ("traceId", "observations"),
    ("projectId", "dataset"),
)


@dataclass(slots=True)
class Pages:
    """The rows of all files by kind, each as Langfuse wrote it but for the spelling of its keys.

    `places` says where the rows stand, by the name of their list and their id; `scores` counts what is not read.
    """

    dataset: list[Row] = field(default_factory=list)
    dataset_items: list[Row] = field(default_factory=list)
    experiments: list[Row] = field(default_factory=list)
    experiment_items: list[Row] = field(default_factory=list)
    observations: list[Row] = field(default_factory=list)
    places: dict[tuple[str, str], list[Where]] = field(default_factory=dict)
    scores: int = 0


def read_pages(files: Iterable[tuple[str, bytes]], limits: Limits | None = None) -> Pages:
    """The rows of files, told apart by what they are, whatever the files are called; gzip and zstd are unwrapped.

    Refused: `UNKNOWN_FORMAT`, `BAD_ANSWER` for a row of another form, `INCOMPLETE_ANSWER` where a list goes on and the
    files do not, and what is wrong with a file that is compressed.
    """
    sorting = _Sorting()
    for name, data in sorted(files):  # so that the first fault is the same, however they were named
        for payload in payloads(Input(name, io.BytesIO(data)), limits or Limits(), text=True):
            documents = _documents(name, payload.stream.read())
            for number, document in enumerate(documents, 1):
                sorting.add(document, Where(file=name, line=number if len(documents) > 1 else None), "")
    require_whole_lists(sorting.heads)
    return sorting.pages


def _documents(name: str, data: bytes) -> list[Any]:
    """The JSON of a file, or one of each line, or the rows of a table."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return [msgspec.json.decode(data)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    lines = [line for line in data.splitlines() if line.strip()]
    try:
        return [msgspec.json.decode(line) for line in lines]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if lines and not lines[0].lstrip().startswith((b"{", b"[", b"<")):
            return [_table(name, data)]
        raise _unknown(name, str(error)) from None


def _table(name: str, data: bytes) -> list[Row]:
    """The rows of a CSV export, whose cells are text, or JSON where the value has parts."""
    usual = csv.field_size_limit(max(len(data), 1))  # a cell holds a whole output, and 128 KiB are less than some
    try:
        rows = list(csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise _unknown(name, str(error)) from None
    finally:
        csv.field_size_limit(usual)
    if any(None in row or None in row.values() for row in rows):
        raise _unknown(name, "a line of the table has more or fewer cells than its head")
    return [_spelt_cells({_camel(key): cell for key, cell in row.items()}) for row in rows]


def _spelt_cells(row: dict[str, str]) -> Row:
    """The values of cells. A run's inputs and outputs are text in every export; those of a dataset have parts."""
    structured = {*_STRUCTURED, "input", "expectedOutput"} if "datasetId" in row else _STRUCTURED
    return {key: _cell(cell, structured=key in structured) for key, cell in row.items()}


def _cell(cell: str, *, structured: bool) -> Any:
    if cell in {"", "null"}:
        return None
    value = parsed(cell) if structured else cell
    return value if isinstance(value, dict | list) or cell.startswith('"') else cell


class _Sorting:
    """Puts what documents hold among the rows of their kind."""

    def __init__(self) -> None:
        self.pages = Pages()
        self.heads: list[Head] = []

    def add(self, document: Any, where: Where, at: str) -> str:
        """Add what a document holds, which stands in its file at the pointer `at`. Gives the kind of its last row."""
        if isinstance(document, list):
            kinds = [self.add(part, where, f"{at}/{index}") for index, part in enumerate(document)]
            return kinds[-1] if kinds else ""
        if not isinstance(document, dict):
            raise _unknown(where.file, "a value that is no object")
        if isinstance(document.get("data"), list):
            return self._add_page(document, where, at)
        if isinstance(document.get("observations"), list):
            self.pages.scores += len(document["scores"]) if isinstance(document.get("scores"), list) else 0
            return self.add(document["observations"], where, f"{at}/observations")
        place = msgspec.structs.replace(where, pointer=at or None)
        if isinstance(document.get("datasetRunItems"), list):
            return self._add_legacy_run(document, place)
        row = _spelt(document)
        return self._add_row(row, _kind(row, where.file), place)

    def _add_page(self, page: Row, where: Where, at: str) -> str:
        kind = self.add(page["data"], where, f"{at}/data")
        meta = page.get("meta")
        rows = tuple((str(row.get("traceId")), str(row.get("id"))) for row in page["data"] if isinstance(row, dict))
        self.heads.append(Head(where.file or "", kind, meta if isinstance(meta, dict) else {}, rows))
        return kind

    def _add_legacy_run(self, run: Row, place: Where) -> str:
        experiment, items = legacy_run(run, place)
        self._add_row(experiment, "experiments", place)
        for index, item in enumerate(items):
            pointer = f"{place.pointer or ''}/datasetRunItems/{index}"
            self._add_row(item, "experiment_items", msgspec.structs.replace(place, pointer=pointer))
        return "experiment_items"

    def _add_row(self, row: Row, kind: str, place: Where) -> str:
        require_form(row, kind, place)
        getattr(self.pages, kind).append(row)
        self.pages.places.setdefault((kind, str(row.get("id"))), []).append(place)
        return kind


def _kind(row: Row, name: str | None) -> str:
    for key, kind in _KINDS:
        if key in row:
            if kind == "dataset" and "timestamp" in row:
                raise _unknown(name, "a trace without its observations")
            return kind
    raise _unknown(name, f"keys {', '.join(sorted(row)[:10])}")


def _unknown(name: str | None, found: str) -> Refusal:
    return Refusal(
        Problem(
            code="UNKNOWN_FORMAT",
            message="this is none of the files that Langfuse writes",
            where=Where(file=name),
            found=found,
            hint="Save the pages: `labadapt langfuse --dataset NAME --run NAME --save DIR`.",
        )
    )


def _spelt(row: Row) -> Row:
    """The row with the keys of the interface; blob storage exports write them with underscores."""
    if "trace_id" in row or "dataset_id" in row:
        row = {_camel(key): value for key, value in row.items()}
    if "providedModelName" in row:
        row = {"model": row["providedModelName"], **row}
    if isinstance(row.get("metadata"), str):
        row = row | {"metadata": parsed(row["metadata"])}
    return row


def _camel(key: str) -> str:
    return _UNDERSCORE.sub(lambda match: match[1].upper(), key)


def parsed(value: Any) -> Any:
    """What a text says as JSON, or the text; anything else as it is."""
    try:
        return msgspec.json.decode(value) if isinstance(value, str) and value else value
    except msgspec.DecodeError:
        return value


# -- before experiments ------------------------------------------------------------------------------------------------


def legacy_run(run: Row, place: Where) -> tuple[Row, list[Row]]:
    """A dataset run and its items, in the words of experiments. An item is the observation that it names.

    Refused: `BAD_ANSWER`.
    """
    items = run["datasetRunItems"]
    if not all(isinstance(item, dict) for item in items):
        raise Refusal(Problem(code="BAD_ANSWER", message="An item of the dataset run is no object.", where=place))
    experiment = {key: run.get(key) for key in ("id", "name", "datasetId", "metadata")} | {
        "startTime": run.get("createdAt"),
        "itemCount": len(items),
    }
    return experiment, [_legacy_item(item, run) for item in items]


def _legacy_item(item: Row, run: Row) -> Row:
    return {
        "id": item.get("observationId"),
        "traceId": item.get("traceId"),
        "experimentId": run.get("id"),
        "experimentName": run.get("name"),
        "experimentItemId": item.get("datasetItemId"),
        "experimentDatasetId": run.get("datasetId"),
        "startTime": item.get("createdAt"),
    }


def with_roots(items: Iterable[Row], observations: Iterable[Row]) -> list[Row]:
    """The items; one that names only its trace, as older runs do, is the root of that trace.

    Where the trace is not there, or several observations stand at its top, nothing says which one: such an item keeps
    the trace's id for its own, which no observation has.
    """
    tops: dict[str, set[str]] = {}
    for row in observations:
        if not row.get("parentObservationId"):
            tops.setdefault(row["traceId"], set()).add(row["id"])
    return [item if item.get("id") else item | {"id": _only(tops, item["traceId"])} for item in items]


def _only(tops: dict[str, set[str]], trace_id: str) -> str:
    found = tops.get(trace_id, set())
    return next(iter(found)) if len(found) == 1 else trace_id


# -- items from observations -------------------------------------------------------------------------------------------

# The root of an item by its name, and the key of its metadata that names the run: SDK 4 and 5, SDK 3, `item.run()`.
_ROOTS = (
    ("experiment-item-task", "experiment_run_name"),
    ("experiment-item-run", "experiment_run_name"),
    ("Dataset run: ", "run_name"),
)


def items_of(observations: Iterable[Row]) -> list[Row]:
    """The items that traces hold, from what the SDK wrote into the metadata of their roots. Copies count once."""
    traces: dict[str, list[Row]] = {}
    for row in observations:
        traces.setdefault(row["traceId"], []).append(row)
    return [item for _, rows in sorted(traces.items()) for item in _items_in(rows)]


def _items_in(rows: list[Row]) -> list[Row]:
    """The items of one trace: an experiment within a span of the application has all of them in one."""
    for name, key in _ROOTS:
        found = {item["id"]: item for row in rows if (item := _item(row, name, key))}
        if found:
            return [found[id_] for id_ in sorted(found)]
    return []


def _item(row: Row, name: str, key: str) -> Row | None:
    metadata = row.get("metadata")
    if not str(row.get("name")).startswith(name) or not isinstance(metadata, dict):
        return None
    run, item = parsed_text(metadata.get(key)), parsed_text(metadata.get("dataset_item_id"))
    if not run or not item:
        return None
    return {
        "id": row.get("id"),
        "traceId": row.get("traceId"),
        "startTime": row.get("startTime"),
        "experimentName": run,
        "experimentItemId": item,
        "experimentDatasetId": parsed_text(metadata.get("dataset_id")),
        "experimentItemMetadata": metadata,
        "experimentMetadata": metadata,  # the SDK writes both into one
    }


def parsed_text(value: Any) -> str | None:
    """A text of the metadata, which some exports write as JSON, its quotes included."""
    if isinstance(value, str) and value.startswith('"'):
        inner = parsed(value)
        return inner if isinstance(inner, str) else value
    return value if isinstance(value, str) else None
