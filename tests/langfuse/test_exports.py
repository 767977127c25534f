"""The same experiment gives the same runs from pages, downloads and exports, as far as each carries the facts."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from labadapt.adapters.conversion import Conversion, Options
from labadapt.adapters.langfuse.exports import read_pages
from labadapt.adapters.langfuse.pages import convert_pages
from labadapt.schema.problems import Refusal

NOW = 1_800_000_000_000_000_000
SAMPLES = Path(__file__).parents[2] / "samples" / "langfuse"
EVENTS = SAMPLES / "exports" / "ui-export.events.jsonl"
ITEMS = SAMPLES / "exports" / "ui-export.dataset_items.json"


def files(*patterns: str) -> list[tuple[str, bytes]]:
    paths = [path for pattern in patterns for path in sorted(SAMPLES.glob(pattern))]
    return [(path.name, path.read_bytes()) for path in paths if "default" not in path.name]


def convert(given: list[tuple[str, bytes]], **options: Any) -> Conversion:
    return convert_pages(read_pages(given), Options(now_ns=NOW, **options))


def facts(conversion: Conversion) -> dict[tuple[str, str], Any]:
    """The runs without the experiment's id, which exports do not carry."""
    runs = {(run.case_id, run.policy): msgspec.to_builtins(run) for run in conversion.runs}
    for run in runs.values():
        run["provenance"].pop("experimentId", None)
    return runs


@pytest.fixture
def live() -> dict[tuple[str, str], Any]:
    return facts(convert(files("api-pages/*.json")))


def table(rows: list[dict[str, Any]]) -> bytes:
    """The rows as the CSV export: text as it stands, everything with parts as JSON."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow({k: v if isinstance(v, str | None) else json.dumps(v) for k, v in row.items()})
    return text.getvalue().encode()


def test_the_export_of_the_user_interface_gives_the_same_runs(live: Any) -> None:
    lines = convert(files("exports/ui-export.*"))
    assert facts(lines) == live
    assert {(one.case_id, one.policy) for one in lines.refused} == {
        ("case-3", "policy A"),
        ("case-3", "policy B, with comma é"),
    }


def test_it_does_so_as_json_and_as_csv(live: Any) -> None:
    rows = [json.loads(line) for line in EVENTS.read_text().splitlines()]
    for name, data in (("events.json", json.dumps(rows).encode()), ("events.csv", table(rows))):
        assert facts(convert([(name, data), (ITEMS.name, ITEMS.read_bytes())])) == live


def test_compressed_files_are_unwrapped(live: Any) -> None:
    given = [(ITEMS.name, zstandard.compress(ITEMS.read_bytes())), (EVENTS.name, gzip.compress(EVENTS.read_bytes()))]
    assert facts(convert(given)) == live


def test_a_trace_download_gives_the_run_of_its_item(live: Any) -> None:
    key = ("case-1", "policy B, with comma é")
    assert facts(convert(files("exports/ui-trace-download*", "exports/ui-export.dataset_items.json"))) == {
        key: live[key]
    }


def test_without_the_dataset_items_that_is_said() -> None:
    notes = convert([(EVENTS.name, EVENTS.read_bytes())]).notes
    assert (
        "dataset items that no file holds, so that nothing is known of their contracts: case-1, case-2, case-3, case-4"
        in notes
    )


def test_a_blob_export_holds_the_runs_of_every_sdk() -> None:
    conversion = convert(files("exports/blob*"))
    assert sorted((run.case_id, run.policy, run.duration_ms) for run in conversion.runs) == [
        ("sdk3-case-1", "sdk3 item.run", 32),
        ("sdk3-case-1", "sdk3 run", 87),
        ("sdk3-case-2", "sdk3 item.run", 26),
        ("sdk3-case-2", "sdk3 run", 85),
        ("sdk3-case-3", "sdk3 item.run", 27),
        ("sdk3-case-4", "sdk3 item.run", 36),
        ("sdk3d-case-1", "sdk3 run", 144),
        ("sdk3d-case-2", "sdk3 run", 172),
        ("sdk4-case-2", "sdk4 run", 82),
        ("sdk4-case-4", "sdk4 run", 83),
    ]


def test_a_legacy_run_with_its_traces_gives_the_same_as_the_blob_export() -> None:
    """Parsed values against raw text, camelCase against snake_case, named times against naive ones."""
    legacy = facts(convert(files("legacy/*.json")))
    assert sorted(legacy) == [(f"sdk3d-case-{n}", "sdk3 run") for n in (1, 2, 4)]
    blob = facts(convert(files("exports/blob*")))
    for key in set(legacy) & set(blob):
        assert legacy[key] == blob[key]
    assert set(legacy) - set(blob) == {("sdk3d-case-4", "sdk3 run")}  # failed: its trace says no item


def test_a_failed_item_whose_trace_says_nothing_is_refused_by_itself() -> None:
    refused = [one for one in convert(files("exports/blob*")).refused if not one.case_id]
    assert {one.problems[0].code for one in refused} == {"INCOMPLETE_ANSWER"}
    assert refused[0].problems[0].message == "Nothing in the trace says which run and which dataset item it is."


def test_a_legacy_item_that_names_its_trace_only_is_the_root_of_it() -> None:
    given = files("legacy/*.json")
    whole = facts(convert(given))
    run = json.loads(given[0][1])
    for item in run["datasetRunItems"]:
        item["observationId"] = None
    assert facts(convert([("run.json", json.dumps(run).encode()), *given[1:]])) == whole


def test_traces_of_no_dataset_run_are_refused_with_what_to_save() -> None:
    rows = [json.loads(line) for line in EVENTS.read_text().splitlines()]
    tools = [row | {"traceId": "f" * 32} for row in rows if row["type"] == "TOOL"]
    with pytest.raises(Refusal) as refused:
        convert([("events.json", json.dumps(tools).encode())])
    [problem] = refused.value.problems
    assert problem.code == "NO_RUNS"
    assert problem.hint == "Save the pages: `labadapt langfuse --dataset NAME --run NAME --save DIR`."


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1",
        b'["text"]',
        b'{"some": "object"}',
        b"<html></html>",
        b'{"data": [',
        b"\xff\xfe",
        b"name,value\n1",
        b"id,traceId\n1\n",
        b"id,traceId\n1,2,3\n",
        b"[" * 100_000,
        b"\x1f\x8b\x08",
        b"\x0a\x03abc",
    ],
)
def test_a_file_that_is_none_of_langfuses_is_refused(data: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        convert([("file", data)])
    [problem] = refused.value.problems
    assert problem.code in {"UNKNOWN_FORMAT", "UNSUPPORTED_FORMAT", "NO_RUNS", "NO_SPANS", "BAD_ENCODING"}
