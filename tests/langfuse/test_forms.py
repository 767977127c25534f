"""Pages that are no pages, lists that are not all there, and what files leave out: each is said, at its place."""

import json
from typing import Any

import pytest
from labadapt.adapters.conversion import Options
from labadapt.adapters.langfuse.exports import read_pages
from labadapt.adapters.langfuse.pages import convert_pages
from labadapt.schema.problems import Refusal, Where

OPTIONS = Options(now_ns=1_800_000_000_000_000_000)
ROOT = {
    "id": "00000000000000aa",
    "traceId": "a" * 32,
    "parentObservationId": None,
    "projectId": "p",
    "type": "SPAN",
    "name": "experiment-item-task",
    "level": "DEFAULT",
    "statusMessage": "",
    "startTime": "2026-12-01T10:00:00.000Z",
    "endTime": "2026-12-01T10:00:01.000Z",
    "input": '{"q": 1}',
    "output": '{"disposition": "answer", "value": 3}',
    "metadata": {},
}
TOOL = ROOT | {
    "id": "00000000000000bb",
    "parentObservationId": ROOT["id"],
    "type": "TOOL",
    "name": "search",
    "startTime": "2026-12-01T10:00:00.100Z",
    "endTime": "2026-12-01T10:00:00.200Z",
    "output": "[1]",
}
ITEM = {
    "id": ROOT["id"],
    "traceId": ROOT["traceId"],
    "experimentId": "e",
    "experimentName": "Größe/2, b",
    "experimentItemId": "case/1, é",
    "startTime": "2026-12-01T10:00:00.000Z",
    "input": '{"q": 1}',
    "expectedOutput": "",
}
EXPERIMENT = {"id": "e", "name": "Größe/2, b", "itemCount": 1, "startTime": "2026-12-01T10:00:00.000Z"}
DATASET_ITEM = {
    "id": "case/1, é",
    "datasetName": "d",
    "input": {"q": 1},
    "expectedOutput": None,
    "updatedAt": "2026-12-01T09:00:00.000Z",
}


def page(*rows: Any, **meta: Any) -> bytes:
    return json.dumps({"data": rows, "meta": meta}).encode()


def whole(**other: bytes) -> list[tuple[str, bytes]]:
    files = {
        "experiments-0001.json": page(EXPERIMENT),
        "experiment-items-0001.json": page(ITEM),
        "observations-0001.json": page(ROOT, TOOL),
        "dataset-items-0001.json": page(DATASET_ITEM, page=1, totalPages=1, totalItems=1),
    }
    return list((files | other).items())


def notes(*rows: Any, **other: bytes) -> list[str]:
    observations = {"observations-0001.json": page(*rows)} if rows else {}
    return convert_pages(read_pages(whole(**observations, **other)), OPTIONS).notes


def refusal(files: list[tuple[str, bytes]]) -> Any:
    with pytest.raises(Refusal) as refused:
        convert_pages(read_pages(files), OPTIONS)
    return refused.value.problems[0]


def test_names_with_slash_comma_and_other_scripts_are_kept() -> None:
    conversion = convert_pages(read_pages(whole()), OPTIONS)
    [run] = conversion.runs
    assert (run.case_id, run.policy, [step.tool for step in run.steps]) == ("case/1, é", "Größe/2, b", ["search"])
    assert conversion.notes == []


# -- forms -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "row", "found"),
    [
        ("observations-0001.json", TOOL | {"id": 7}, "Expected `str`, got `int` - at `$.id`"),
        ("observations-0001.json", TOOL | {"id": ""}, "Expected `str` of length >= 1 - at `$.id`"),
        ("observations-0001.json", TOOL | {"name": []}, "Expected `str | null`, got `array` - at `$.name`"),
        (
            "observations-0001.json",
            TOOL | {"usageDetails": "3"},
            "Expected `object | null`, got `str` - at `$.usageDetails`",
        ),
        (
            "observations-0001.json",
            {key: value for key, value in TOOL.items() if key != "level"},
            "Object missing required field `level`",
        ),
        (
            "experiment-items-0001.json",
            ITEM | {"experimentName": None},
            "Expected `str`, got `null` - at `$.experimentName`",
        ),
        ("experiments-0001.json", EXPERIMENT | {"itemCount": "1"}, "Expected `int`, got `str` - at `$.itemCount`"),
        (
            "dataset-items-0001.json",
            DATASET_ITEM | {"updatedAt": 1},
            "Expected `str | null`, got `int` - at `$.updatedAt`",
        ),
    ],
)
def test_a_row_of_another_form_is_refused_at_its_place(file: str, row: Any, found: str) -> None:
    problem = refusal(whole(**{file: page(row)}))
    assert (problem.code, problem.where, problem.found) == (
        "BAD_ANSWER",
        Where(file=file, pointer="/data/0"),
        found,
    )


def test_a_row_of_json_lines_is_refused_at_its_line() -> None:
    lines = "\n".join(json.dumps(row) for row in (ROOT, TOOL | {"type": None})).encode()
    assert refusal([("events.jsonl", lines)]).where == Where(file="events.jsonl", line=2)


# -- lists -------------------------------------------------------------------------------------------------------------


def test_a_list_that_goes_on_is_refused_with_the_page_that_is_not_there() -> None:
    problem = refusal(whole(**{"observations-0001.json": page(ROOT, TOOL, cursor="abc")}))
    assert (problem.code, problem.message, problem.where.file) == (
        "INCOMPLETE_ANSWER",
        "A page is not among the files: observations-0002.json.",
        "observations-0001.json",
    )


def test_a_gap_in_the_numbers_is_refused_with_its_name() -> None:
    pages = {"observations-0001.json": page(ROOT, cursor="abc"), "observations-0003.json": page(TOOL)}
    problem = refusal(whole(**pages))
    assert (problem.code, problem.message) == (
        "INCOMPLETE_ANSWER",
        "A page is not among the files: observations-0002.json.",
    )


def test_a_list_that_its_next_page_ends_is_whole() -> None:
    pages = {"observations-0001.json": page(ROOT, cursor="abc"), "observations-0002.json": page(TOOL)}
    assert len(convert_pages(read_pages(whole(**pages)), OPTIONS).runs) == 1


@pytest.mark.parametrize(("last", "there"), [(page(TOOL, cursor="def"), False), (page(TOOL), True)])
def test_pages_of_any_name_end_somewhere(last: bytes, there: bool) -> None:
    files = [file for file in whole() if not file[0].startswith("observations")]
    files += [("one.json", page(ROOT, cursor="abc")), ("two.json", last)]
    if there:
        assert len(convert_pages(read_pages(files), OPTIONS).runs) == 1
    else:
        problem = refusal(files)
        assert (problem.code, problem.where.file) == ("INCOMPLETE_ANSWER", "two.json")


def test_pages_that_a_list_counts_are_there() -> None:
    counted = page(DATASET_ITEM, page=2, totalPages=2, totalItems=2)
    assert refusal(whole(**{"dataset-items-0001.json": counted})).message == (
        "A page is not among the files: page 1 of 2 of the dataset items."
    )


# -- what files leave out ----------------------------------------------------------------------------------------------


def test_a_run_that_nobody_counted_is_said() -> None:
    files = [file for file in whole() if not file[0].startswith("experiments")]
    assert convert_pages(read_pages(files), OPTIONS).notes == [
        "no file says how many items a run has, so that whether all are here is unknown: 'Größe/2, b'"
    ]


def test_inputs_and_outputs_that_were_not_saved_are_said() -> None:
    bare = {key: value for key, value in TOOL.items() if key not in {"input", "output"}}
    assert notes(ROOT, bare) == [
        "observations that were saved without inputs and outputs (fields=core,basic,io,metadata): 1"
    ]


def test_a_call_that_may_never_have_ended_is_said() -> None:
    assert notes(ROOT, TOOL | {"endTime": TOOL["startTime"]}) == [
        "tool calls that end in the millisecond in which they start: 1; "
        "Langfuse stores one that never ended in the same way"
    ]


@pytest.mark.parametrize(
    ("key", "recorded", "value", "note"),
    [
        ("expectedOutput", "", None, None),
        ("expectedOutput", None, "", None),
        ("expectedOutput", "0", 0, None),
        ("expectedOutput", "[]", [], None),
        ("expectedOutput", "123", "123", None),
        ("expectedOutput", '{"b": 1, "a": 2}', {"a": 2, "b": 1}, None),
        ("expectedOutput", "", 0, "expected of"),
        ("expectedOutput", "1", None, "expected of"),
        ("expectedOutput", "1", 2, "expected of"),
        ("input", '{"q": 1}', {"q": 2}, "asked"),
    ],
)
def test_what_the_run_was_given_is_compared_with_its_dataset(key: str, recorded: Any, value: Any, note: Any) -> None:
    pages = {
        "experiment-items-0001.json": page(ITEM | {key: recorded}),
        "dataset-items-0001.json": page(DATASET_ITEM | {key: value}),
    }
    expected = f"what was {note} 'case/1, é' is another in the run than in its dataset"
    assert notes(**pages) == ([] if note is None else [expected])


def test_a_dataset_item_that_changed_after_the_run_began_is_said() -> None:
    changed = page(DATASET_ITEM | {"updatedAt": "2026-12-01T11:00:00.000Z"})
    assert notes(**{"dataset-items-0001.json": changed}) == [
        "the dataset item 'case/1, é' was changed after the run began"
    ]


# -- conflicts ---------------------------------------------------------------------------------------------------------


def test_two_contents_of_one_row_are_refused_with_both_places() -> None:
    pages = {"observations-0001.json": page(ROOT, TOOL), "observations-0002.json": page(TOOL | {"output": "[2]"})}
    problem = refusal(whole(**pages))
    assert (problem.code, problem.where, problem.found) == (
        "CONFLICTING_DUPLICATE",
        Where(file="observations-0001.json", pointer="/data/1"),
        "observations-0001.json /data/1; observations-0002.json /data/0",
    )
