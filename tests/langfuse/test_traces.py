"""Which observations of a trace are an item's run, and which are its judges, however traces and items are arranged."""

import csv
import io
import json
from typing import Any

import msgspec
import pytest
from labadapt.adapters.conversion import Conversion, Options
from labadapt.adapters.langfuse.exports import read_pages
from labadapt.adapters.langfuse.pages import convert_pages
from labadapt.schema.problems import Refusal

OPTIONS = Options(now_ns=1_800_000_000_000_000_000)
TRACE = "a" * 32


def observation(name: str, parent: str | None, kind: str = "SPAN", **other: Any) -> dict[str, Any]:
    """An observation that has its name for its id; 100 to 200 ms for tools, one second for everything else."""
    times = ("00.100", "00.200") if kind == "TOOL" else ("00.000", "01.000")
    return {
        "id": name,
        "traceId": TRACE,
        "parentObservationId": parent,
        "projectId": "p",
        "type": kind,
        "name": name,
        "level": "DEFAULT",
        "startTime": f"2026-12-01T10:00:{times[0]}Z",
        "endTime": f"2026-12-01T10:00:{times[1]}Z",
        "input": None,
        "output": None,
        "metadata": {},
        **other,
    }


def item(name: str, number: int) -> list[dict[str, Any]]:
    """What SDK 5 records of an item: what surrounds it, the task, a call in it, and an evaluator with its model."""
    metadata = {"experiment_run_name": "run", "dataset_item_id": name, "dataset_id": "d"}
    usage = {"input": number, "output": 1}
    return [
        observation(f"{name}-around", "application"),
        observation(f"{name}-task", f"{name}-around", metadata=metadata) | {"name": "experiment-item-task"},
        observation(f"{name}-search", f"{name}-task", "TOOL"),
        observation(f"{name}-evaluation", f"{name}-around"),
        observation(f"{name}-ev", f"{name}-evaluation", "EVALUATOR"),
        observation(f"{name}-judge", f"{name}-ev", "GENERATION", usageDetails=usage),
    ]


def convert(rows: list[dict[str, Any]], *others: Any) -> Conversion:
    files = [(f"{number}.json", json.dumps(file).encode()) for number, file in enumerate([rows, *others])]
    return convert_pages(read_pages(files), OPTIONS)


def facts(conversion: Conversion) -> list[Any]:
    runs = map(msgspec.to_builtins, conversion.runs)
    return [(run["caseId"], [step["tool"] for step in run["steps"]], run.get("usage")) for run in runs]


def judged(tokens: int) -> dict[str, Any]:
    return {"judge": {"inputTokens": tokens, "outputTokens": 1, "modelCalls": 1}}


def test_an_experiment_within_one_trace_has_a_run_for_each_item_with_its_own_judge() -> None:
    rows = [observation("application", None), *item("one", 5), *item("two", 7)]
    assert facts(convert(rows)) == [("one", ["one-search"], judged(5)), ("two", ["two-search"], judged(7))]


def test_the_order_of_rows_says_nothing() -> None:
    rows = [observation("application", None), *item("one", 5), *item("two", 7)]
    assert convert(rows[::-1]) == convert(rows)


def test_a_judge_of_nobody_in_particular_is_nobodys() -> None:
    rows = [observation("application", None), *item("one", 5), *item("two", 7)]
    for row in rows:
        if row["type"] == "EVALUATOR":
            row["parentObservationId"] = "application"
    found = facts(convert(rows))
    assert [(case, tools, (usage or {}).get("judge")) for case, tools, usage in found] == [
        ("one", ["one-search"], None),
        ("two", ["two-search"], None),
    ]


def test_a_circle_of_evaluators_ends() -> None:
    rows = [observation("application", None), *item("one", 5)]
    rows += [observation("x", "y", "EVALUATOR"), observation("y", "x", "EVALUATOR")]
    assert [problem.code for one in convert(rows).refused for problem in one.problems] == ["BAD_PARENT"]


def test_scores_are_counted_and_not_read() -> None:
    rows = [observation("application", None), *item("one", 5)]
    conversion = convert([], {"observations": rows, "scores": [{"name": "ok", "value": 1}] * 3})
    assert conversion.tally.records_aside == {"score, which says what somebody thought of a run": 3}


# -- before experiments ------------------------------------------------------------------------------------------------


def legacy(**item: Any) -> dict[str, Any]:
    own = {"datasetItemId": "one", "traceId": TRACE, "observationId": None, "createdAt": "2026-12-01T10:00:00Z"}
    return {"id": "r", "name": "run", "datasetRunItems": [own | item], "createdAt": "2026-12-01T10:00:00Z"}


def test_an_older_item_is_the_one_root_of_its_trace() -> None:
    rows = [observation("top", None), observation("search", "top", "TOOL")]
    assert facts(convert(rows, legacy())) == [("one", ["search"], None)]


@pytest.mark.parametrize(
    "rows",
    [
        [observation("top", None), observation("other", None)],
        [observation("top", None, traceId="b" * 32)],
    ],
)
def test_an_older_item_without_one_root_is_refused(rows: Any) -> None:
    with pytest.raises(Refusal) as refused:
        convert(rows, legacy())
    [problem] = refused.value.problems
    assert (problem.code, problem.found) == ("INCOMPLETE_ANSWER", "one of 'run'")


@pytest.mark.parametrize("item", [{"traceId": None}, {"datasetItemId": 3}])
def test_an_older_item_of_another_form_is_refused_at_its_place(item: Any) -> None:
    with pytest.raises(Refusal) as refused:
        convert([observation("top", None)], legacy(**item))
    [problem] = refused.value.problems
    assert (problem.code, problem.where.file, problem.where.pointer) == ("BAD_ANSWER", "1.json", "/datasetRunItems/0")


# -- what a file may hold ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("time", ["9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00", "today"])
def test_a_time_that_is_none_is_refused(time: str) -> None:
    rows = [observation("application", None), *item("one", 5)]
    rows[3]["startTime"] = time
    with pytest.raises(Refusal, match="BAD_ANSWER"):
        convert(rows)


def test_a_long_cell_of_a_table_is_read() -> None:
    rows = [observation("application", None), *item("one", 5)]
    rows[3]["input"] = json.dumps({"text": "x" * 200_000})
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, sorted({key for row in rows for key in row}))
    writer.writeheader()
    writer.writerows({k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()} for row in rows)
    [run] = convert_pages(read_pages([("observations.csv", text.getvalue().encode())]), OPTIONS).runs
    assert run.steps[0].arguments == {"text": "x" * 200_000}


def test_cells_of_a_dataset_have_their_parts() -> None:
    contract = {"disposition": "answer", "maxCalls": 3}
    head = "id,datasetId,datasetName,updatedAt,input,expectedOutput,metadata\n"
    texts = [
        '"one","d","n","2026-12-01T09:00:00Z"',
        *(json.dumps(json.dumps(v)) for v in ({"q": 1}, contract, {"a": 1})),
    ]
    table = head + ",".join(text.replace('\\"', '""') for text in texts) + "\n"
    rows = [observation("application", None), *item("one", 5)]
    files = [("items.csv", table.encode()), ("rows.json", json.dumps(rows).encode())]
    [run] = convert_pages(read_pages(files), OPTIONS).runs
    assert msgspec.to_builtins(run.contract) == contract


def test_a_byte_order_mark_is_no_content() -> None:
    rows = [observation("application", None), *item("one", 5)]
    lines = "\n".join(json.dumps(row) for row in rows)
    for text in (json.dumps(rows), lines):
        assert len(convert_pages(read_pages([("x", b"\xef\xbb\xbf" + text.encode())]), OPTIONS).runs) == 1


def test_a_trace_without_its_observations_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        convert([{"id": "t", "projectId": "p", "name": "n", "timestamp": "2026-12-01T10:00:00Z"}])
    [problem] = refused.value.problems
    assert (problem.code, problem.found) == ("UNKNOWN_FORMAT", "a trace without its observations")


def test_metadata_names_case_and_policy_nested_or_flat() -> None:
    for metadata in ({"tier": {"name": "gold"}, "arm": "b"}, {"tier.name": "gold", "arm": "b"}):
        rows = [observation("application", None), *item("one", 5)]
        rows[2]["metadata"] |= metadata
        named = Options(now_ns=OPTIONS.now_ns, case_attribute="tier.name", policy_attribute="arm")
        [run] = convert_pages(read_pages([("x", json.dumps(rows).encode())]), named).runs
        assert (run.case_id, run.policy) == ("gold", "b")


# -- whole milliseconds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "order"),
    [
        (("00.100", "00.200"), ("00.200", "00.300"), ["a", "b"]),  # touching
        (("00.200", "00.300"), ("00.100", "00.200"), ["b", "a"]),
        (("00.100", "00.100"), ("00.100", "00.200"), ["a", "b"]),  # a tie at the start: the one that ends first
        (("00.100", "00.100"), ("00.100", "00.100"), ["a", "b"]),  # a tie of everything: the order of ids, and a note
        (("00.000", "00.100"), ("00.100", "01.000"), ["a", "b"]),  # the whole of the run
    ],
)
def test_calls_that_touch_are_one_after_another(first: Any, second: Any, order: list[str]) -> None:
    rows = [observation("application", None), *item("one", 5)]
    tools = [
        observation(name, "one-task", "TOOL")
        | {"startTime": f"2026-12-01T10:00:{start}Z", "endTime": f"2026-12-01T10:00:{end}Z"}
        for name, (start, end) in (("a", first), ("b", second))
    ]
    rows = [row for row in rows if row["type"] != "TOOL"] + tools
    [run] = convert(rows).runs
    assert [step.tool for step in run.steps] == order


def test_a_call_that_outlives_the_item_is_refused() -> None:
    rows = [observation("application", None), *item("one", 5)]
    rows[3]["endTime"] = "2026-12-01T10:00:01.020Z"
    [refused] = convert(rows).refused
    [problem] = refused.problems
    assert (problem.code, problem.message, problem.found) == (
        "OUT_OF_RANGE_TIMING",
        'Tool call "one-search" (span one-search) ends 20 ms after its run.',
        "one-search: 100 to 1020 ms",
    )


def test_a_judges_call_may_outlive_the_item() -> None:
    rows = [observation("application", None), *item("one", 5)]
    rows.append(observation("late", "one-ev", "TOOL") | {"endTime": "2026-12-01T10:00:02.000Z"})
    assert facts(convert(rows)) == [("one", ["one-search"], judged(5))]
