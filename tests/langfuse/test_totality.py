"""Whatever stands in Langfuse's files: runs and a whole account of the observations, or a refusal. Nothing else."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from labadapt.adapters.conversion import Conversion, Options
from labadapt.adapters.langfuse.exports import read_pages
from labadapt.adapters.langfuse.pages import convert_pages
from labadapt.schema.problems import Refusal

OPTIONS = Options(now_ns=1_800_000_000_000_000_000)
SAMPLES = Path(__file__).parents[2] / "samples" / "langfuse"
# Of each kind of file one, small: pages of one item, a trace download with its dataset items, a legacy run.
_ONE = "83b7bf29c8970541e555a4b2211becad"
_DATASET_ITEMS = "exports/ui-export.dataset_items.json"


def _document(name: str) -> Any:
    return json.loads((SAMPLES / name).read_text())


def _pages() -> list[Any]:
    items = [row for row in _document("api-pages/experiment-items.full.json")["data"] if row["traceId"] == _ONE]
    experiments = _document("api-pages/experiments.json")["data"]
    [experiment] = [row for row in experiments if row["id"] == items[0]["experimentId"]]
    observations = _document(f"api-pages/obs-v2.{_ONE}.json")
    return [
        _document("api-pages/dataset-items.json"),
        {"data": [experiment | {"itemCount": 1}], "meta": {}},
        {"data": items, "meta": {}},
        observations,
    ]


WHOLE = {
    "pages": _pages(),
    "download": [_document("exports/ui-trace-download.case-1.json"), _document(_DATASET_ITEMS)],
    "legacy": [_document(str(path.relative_to(SAMPLES))) for path in sorted((SAMPLES / "legacy").glob("*.json"))],
}

_TIMES = st.sampled_from(["", "2026-12-01T04:50:37.600Z", "2026-12-01", "1800-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
_TEXTS = st.sampled_from(
    ["", "ERROR", "TOOL", "EVALUATOR", '{"a":', '{"disposition": "answer"}', "[1]", "é\x00", "\ud800"]
)
_LEAVES = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | _TIMES | _TEXTS
_VALUES = st.recursive(
    _LEAVES | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from _places(part, (*path, key))


PLACES = {kind: sorted(_places(files), key=repr) for kind, files in WHOLE.items()}


_DROPPED = "dropped"


@dataclass(frozen=True)
class Broken:
    """Files of a kind in which values at some places are dropped, or replaced by others."""

    kind: str
    breaks: list[tuple[tuple[Any, ...], Any]]

    def files(self) -> list[Any]:
        files = copy.deepcopy(WHOLE[self.kind])
        for path, value in self.breaks:
            _break(files, path, value)
        return files


def _break(files: Any, path: tuple[Any, ...], value: Any) -> None:
    inside = files
    try:
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]]
    except (LookupError, TypeError):  # an earlier break took it away
        return
    if not isinstance(inside, dict | list):
        return
    if value is _DROPPED:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value


def _broken(kind: str) -> st.SearchStrategy[Broken]:
    breaks = st.tuples(st.sampled_from(PLACES[kind]), st.just(_DROPPED) | _VALUES)
    return st.builds(Broken, st.just(kind), st.lists(breaks, min_size=1, max_size=4))


BROKEN = st.sampled_from(sorted(WHOLE)).flatmap(_broken)


def _told(files: list[Any], *, backwards: bool = False) -> Conversion | tuple[str, ...]:
    """The conversion, or the codes of the refusal."""
    named = [(f"{number}.json", json.dumps(file).encode()) for number, file in enumerate(files)]
    try:
        return convert_pages(read_pages(named[::-1] if backwards else named), OPTIONS)
    except Refusal as refusal:
        return tuple(problem.code for problem in refusal.problems)


@settings(max_examples=400)
@given(broken=BROKEN)
def test_broken_files_give_a_whole_account_or_a_refusal(broken: Broken) -> None:
    told = _told(broken.files())
    if isinstance(told, Conversion):
        assert told.tally.read == told.tally.used + sum(told.tally.aside.values())
        msgspec.json.encode(told.runs)


@settings(max_examples=100)
@given(broken=BROKEN)
def test_the_order_of_files_changes_nothing(broken: Broken) -> None:
    files = broken.files()
    assert _told(files) == _told(files, backwards=True)


@settings(max_examples=200)
@given(files=st.lists(_VALUES, max_size=3))
def test_any_json_is_refused_or_read(files: list[Any]) -> None:
    assert isinstance(_told(files), Conversion | tuple)
