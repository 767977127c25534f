"""One row in several files: the same experiment saved in several ways, in one folder or with other names."""

import json
from pathlib import Path
from typing import Any

import pytest
from labadapt.adapters.conversion import Conversion, Options
from labadapt.adapters.langfuse.exports import read_pages
from labadapt.adapters.langfuse.pages import convert_pages
from labadapt.schema.problems import Refusal

OPTIONS = Options(now_ns=1_800_000_000_000_000_000)
SAMPLES = Path(__file__).parents[2] / "samples" / "langfuse"
ITEMS = "api-pages/dataset-items.json"
CONCURRENT = "api-pages/obs-v2.5ceeecca69f37371005aec46203fef5d.json"
A, B = "policy A", "policy B, with comma é"
Files = dict[str, Any]


def saved(*patterns: str) -> Files:
    return {str(path.relative_to(SAMPLES)): path.read_bytes() for one in patterns for path in SAMPLES.glob(one)}


def convert(files: Files) -> Conversion:
    named = [(name, data if isinstance(data, bytes) else json.dumps(data).encode()) for name, data in files.items()]
    return convert_pages(read_pages(named), OPTIONS)


def refusal(files: Files) -> Any:
    with pytest.raises(Refusal) as refused:
        convert(files)
    return refused.value.problems[0]


@pytest.fixture
def pages() -> Files:
    return {name: json.loads(data) for name, data in saved("api-pages/*.json").items()}


def test_pages_downloads_and_exports_of_one_experiment_are_one(pages: Files) -> None:
    alone = convert(pages)
    both = convert(pages | saved("exports/ui-*"))
    assert both.runs == alone.runs
    assert both.tally.read == 56


def test_a_folder_of_everything_gives_each_run_once() -> None:
    conversion = convert(saved("*/*"))
    pairs = [(run.case_id, run.policy) for run in conversion.runs]
    assert len(pairs) == len(set(pairs)) == 17
    assert {policy for case, policy in pairs if case == "case-1"} == {A, B}
    assert [(one.case_id, one.problems[0].code) for one in conversion.refused] == [
        ("", "INCOMPLETE_ANSWER"),
        ("case-3", "CONCURRENT_STEPS"),
        ("case-3", "CONCURRENT_STEPS"),
        ("sdk3-case-3", "CONCURRENT_STEPS"),
        ("sdk3d-case-3", "CONCURRENT_STEPS"),
        ("sdk4-case-3", "CONCURRENT_STEPS"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"endTime": "2026-12-01 04:50:37.597000"},
        {"endTime": None},
        {"level": "ERROR"},
        {"type": "SPAN"},
        {"output": "false"},
        {"input": '{"order": 43}'},
        {"parentObservationId": "8604bcef2e60fe9f"},
    ],
)
def test_an_export_that_says_another_thing_is_refused(change: dict[str, Any], pages: Files) -> None:
    lines = saved("exports/ui-export.events.jsonl")["exports/ui-export.events.jsonl"].splitlines()
    [row] = [row for row in map(json.loads, lines) if row["id"] == "54dd8697c5446ab9"]
    problem = refusal(pages | {"refund.json": [row | change]})
    assert (problem.code, problem.message) == (
        "CONFLICTING_DUPLICATE",
        "The row '54dd8697c5446ab9' of the observations stands twice, with two contents.",
    )


def test_what_one_reading_left_out_is_in_the_other(pages: Files) -> None:
    """A page without inputs and outputs that has more of the other fields is not the whole row."""
    whole = convert(pages).runs
    bare = [row for name, page in pages.items() if "obs-v2" in name for row in page["data"]]
    bare = [{key: value for key, value in row.items() if key not in {"input", "output"}} for row in bare]
    more = {f"field{number}": number for number in range(30)}
    assert convert(pages | {"bare.json": [row | more for row in bare]}).runs == whole


@pytest.mark.parametrize("name", ["aa.json", "zz.json"])
def test_a_dataset_item_with_two_contents_is_refused_whatever_the_files_are_called(name: str, pages: Files) -> None:
    changed = {"data": [row | {"expectedOutput": {"other": 1}} for row in pages[ITEMS]["data"]], "meta": {}}
    problem = refusal(pages | {name: changed})
    assert (problem.code, problem.message) == (
        "CONFLICTING_DUPLICATE",
        "The row 'case-1' of the dataset items stands twice, with two contents.",
    )


def test_a_trace_that_its_run_does_not_list_is_no_item(pages: Files) -> None:
    items = pages["api-pages/experiment-items.full.json"]
    items["data"] = [row for row in items["data"] if row["experimentItemId"] != "case-1"]
    for row in pages["api-pages/experiments.json"]["data"]:
        row["itemCount"] = 3
    conversion = convert(pages)
    assert {run.case_id for run in conversion.runs} == {"case-2", "case-4"}
    assert conversion.tally.aside["in a trace of no item that its run lists"] == 16


# -- pages that are not there --------------------------------------------------------------------------------------


def test_a_list_that_goes_on_beside_lists_that_end_is_refused(pages: Files) -> None:
    """Without its next page this trace would hold one call of two that overlap."""
    rows = pages[CONCURRENT]["data"]
    kept = [row for row in rows if row["name"] not in {"t_a", "experiment-item-run"}]
    problem = refusal(pages | {CONCURRENT: {"data": kept, "meta": {"cursor": "abc"}}})
    assert (problem.code, problem.message) == (
        "INCOMPLETE_ANSWER",
        f"A page is not among the files: the page after {CONCURRENT}.",
    )


def test_its_next_page_makes_it_whole_whatever_it_is_called(pages: Files) -> None:
    whole = convert(pages)
    rows = pages[CONCURRENT]["data"]
    split = {CONCURRENT: {"data": rows[:4], "meta": {"cursor": "abc"}}, "rest.json": {"data": rows[4:], "meta": {}}}
    assert convert(pages | split) == whole


def test_one_list_over_all_traces_may_end_a_page_where_a_trace_ends(pages: Files) -> None:
    whole = convert(pages)
    traces = sorted(name for name in pages if "obs-v2" in name and "default" not in name)
    pages.pop("api-pages/obs-v2.default-page1.json")
    for name in traces[:-1]:
        pages[name]["meta"] = {"cursor": name}
    assert convert(pages) == whole


def test_a_number_in_another_name_counts_no_pages(pages: Files) -> None:
    renamed = {f"export-{2020 + number}.json": page for number, page in enumerate(pages.values())}
    assert convert(renamed) == convert(pages)
