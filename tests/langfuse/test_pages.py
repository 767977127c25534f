"""What Langfuse's pages say, as runs; and what they do not say is not made up."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from labadapt.adapters.conversion import Conversion, Options
from labadapt.adapters.langfuse.exports import Pages, read_pages
from labadapt.adapters.langfuse.pages import convert_pages
from labadapt.schema.problems import Refusal

NOW = 1_800_000_000_000_000_000
RECORDED = Path(__file__).parents[2] / "samples" / "langfuse" / "api-pages"
A, B = "policy A", "policy B, with comma é"
CONTRACT = {"disposition": "answer", "maxCalls": 2, "requiredActions": ["lookup_order"]}
REQUEST = {"tool": "lookup_order", "operation": "read", "arguments": {"order": 42}}


@pytest.fixture
def pages() -> Pages:
    files = [(path.name, path.read_bytes()) for path in sorted(RECORDED.glob("*.json")) if "default" not in path.name]
    return read_pages(files)


def convert(pages: Pages, **options: Any) -> Conversion:
    return convert_pages(copy.deepcopy(pages), Options(now_ns=NOW, **options))


def runs(conversion: Conversion) -> dict[tuple[str, str], dict[str, Any]]:
    return {(run.case_id, run.policy): msgspec.to_builtins(run) for run in conversion.runs}


def observation(pages: Pages, name: str, trace: str = "83b7") -> dict[str, Any]:
    [row] = [row for row in pages.observations if row["name"] == name and row["traceId"].startswith(trace)]
    return row


def refused(conversion: Conversion) -> dict[tuple[str, str], str]:
    return {(one.case_id, one.policy): one.problems[0].code for one in conversion.refused}


def test_rows_are_told_apart_by_what_they_are(pages: Pages) -> None:
    counts = [len(getattr(pages, kind)) for kind in ("dataset", "dataset_items", "experiments", "experiment_items")]
    assert counts == [2, 4, 2, 8]
    assert len(pages.observations) == 56


def test_each_item_is_a_case_and_each_experiment_a_policy(pages: Pages) -> None:
    conversion = convert(pages)
    assert sorted(runs(conversion)) == [(case, policy) for case in ("case-1", "case-2", "case-4") for policy in (A, B)]
    assert refused(conversion) == {("case-3", A): "CONCURRENT_STEPS", ("case-3", B): "CONCURRENT_STEPS"}


def test_the_run_is_what_stands_under_the_items_root(pages: Pages) -> None:
    run = runs(convert(pages))["case-1", B]
    assert run["durationMs"] == 97
    assert [(step["tool"], step["status"], step["startMs"], step["endMs"]) for step in run["steps"]] == [
        ("lookup_order", "ok", 0, 34),
        ("refund", "ok", 55, 96),  # its level is WARNING: slow, and no failure
    ]
    assert run["usage"] == {"inputTokens": 10, "outputTokens": 3, "costUsd": 0.003, "modelCalls": 1, "model": "gpt-x"}
    assert run["provenance"] == {
        "source": "langfuse",
        "adapter": "labadapt",
        "conventions": ["langfuse"],
        "traceId": "83b7bf29c8970541e555a4b2211becad",
        "spanIds": ["8eede08250272afa", "54dd8697c5446ab9"],
        "recordedStart": "2026-12-01T04:50:37.528000000Z",
        "rootSpanId": "8604bcef2e60fe9f",
        "experimentId": "04be845c6a15d2f7",
        "datasetId": "cmx47w5f300037l7d6r0qaaub",
    }


def test_a_failed_item_has_no_output_and_says_why(pages: Pages) -> None:
    run = runs(convert(pages))["case-4", A]
    assert "output" not in run
    assert run["status"] == {
        "infrastructure": "healthy",
        "target": "failed",
        "steps": "complete",
        "reason": "refund backend down",
    }
    assert run["steps"][1]["error"] == {"type": "RuntimeError", "message": "refund backend down"}


def test_every_observation_is_accounted_for(pages: Pages) -> None:
    tally = convert(pages).tally
    assert tally.read == 56
    assert tally.read == tally.used + sum(tally.aside.values())


def test_the_order_of_rows_and_their_copies_change_nothing(pages: Pages) -> None:
    whole = convert(pages)
    for kind in ("dataset_items", "experiments", "experiment_items", "observations"):
        rows = getattr(pages, kind)
        rows[:] = [*reversed(rows), *rows[:3]]
    assert convert(pages) == whole


def test_one_id_with_two_contents_is_refused(pages: Pages) -> None:
    pages.observations.append(pages.observations[0] | {"name": "other"})
    with pytest.raises(Refusal, match="CONFLICTING_DUPLICATE"):
        convert(pages)


def test_a_run_with_fewer_items_than_it_counts_is_refused(pages: Pages) -> None:
    pages.experiment_items.pop()
    with pytest.raises(Refusal, match="INCOMPLETE_ANSWER"):
        convert(pages)


def test_an_item_without_its_root_is_refused(pages: Pages) -> None:
    pages.observations.remove(observation(pages, "experiment-item-task"))
    with pytest.raises(Refusal, match="INCOMPLETE_ANSWER"):
        convert(pages)


# -- contracts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "part", "expected"),
    [
        ({"expectedOutput": CONTRACT}, "contract", CONTRACT),
        ({"metadata": {"contract": CONTRACT}}, "contract", CONTRACT),
        ({"expectedOutput": CONTRACT, "metadata": {"contract": CONTRACT}}, "contract", CONTRACT),
        ({"input": REQUEST}, "request", REQUEST),
        ({"metadata": {"request": REQUEST}}, "request", REQUEST),
        ({"expectedOutput": {"answer": 42}}, "contract", None),
        ({"metadata": {"contract": {"tools": []}}}, "contract", None),
    ],
)
def test_request_and_contract_are_the_dataset_items(item: Any, part: str, expected: Any, pages: Pages) -> None:
    [row] = [row for row in pages.dataset_items if row["id"] == "case-1"]
    row |= {"expectedOutput": None, "metadata": None} | item
    run = runs(convert(pages))["case-1", A]
    assert run.get(part) == expected


@pytest.mark.parametrize(
    "contract", [{"disposition": "answer"}, CONTRACT | {"maxCall": 1}, CONTRACT | {"maxCalls": "2"}]
)
def test_what_claims_to_be_a_contract_must_be_one(contract: Any, pages: Pages) -> None:
    pages.dataset_items[0]["expectedOutput"] = contract
    with pytest.raises(Refusal) as refusal:
        convert(pages)
    where = refusal.value.problems[0].where
    assert (where.file, (where.pointer or "")[:15]) == ("dataset item case-4", "/expectedOutput")


def test_two_contracts_that_differ_are_refused(pages: Pages) -> None:
    pages.dataset_items[0] |= {"expectedOutput": CONTRACT, "metadata": {"contract": CONTRACT | {"maxCalls": 9}}}
    with pytest.raises(Refusal, match="two of a contract, and they differ"):
        convert(pages)


def test_each_run_has_the_contract_of_its_own_start(pages: Pages) -> None:
    [row] = [row for row in pages.dataset_items if row["id"] == "case-1"]
    later = row | {"updatedAt": "2026-12-01T04:50:37.000Z", "expectedOutput": CONTRACT}
    pages.dataset_items.append(later)
    found = runs(convert(pages))
    assert ("contract" in found["case-1", A], "contract" in found["case-1", B]) == (False, True)
    notes = convert(pages).notes
    assert "what was expected of 'case-1' is another in the run than in its dataset" in notes
    since = "the dataset item 'case-1' has changed since the run, which is held to what it was when the run began"
    assert since in notes


def test_the_cases_file_counts_where_both_have_a_contract(pages: Pages) -> None:
    from labadapt.adapters.cases import read_cases

    [row] = [row for row in pages.dataset_items if row["id"] == "case-1"]
    row["expectedOutput"] = CONTRACT
    file = {"schemaVersion": 1, "cases": {f"case-{n}": {} for n in range(1, 5)}}
    file["cases"]["case-1"] = {"contract": CONTRACT | {"maxCalls": 7}}
    cases = read_cases(json.dumps(file).encode(), "cases.json")
    found = runs(convert(pages, cases=cases))
    assert found["case-1", A]["contract"]["maxCalls"] == 7


# -- names ---------------------------------------------------------------------------------------------------------


def test_options_name_case_and_policy(pages: Pages) -> None:
    pages.experiment_items = [row for row in pages.experiment_items if row["experimentItemId"] == "case-1"]
    for row in pages.experiments:
        row["itemCount"] = 1
    assert sorted(runs(convert(pages, case_attribute="tier", policy_attribute="policy"))) == [("gold", A), ("gold", B)]
    with pytest.raises(Refusal, match="BAD_CONTENT"):
        convert(pages, case_attribute="colour")


def test_a_second_attempt_is_a_duplicate_unless_trials_are_wanted(pages: Pages) -> None:
    for row in pages.experiment_items + pages.experiments:
        row["experimentName" if "experimentName" in row else "name"] = A
    assert refused(convert(pages))["case-1", A] == "DUPLICATE_PAIR"
    conversion = convert(pages, trials=True)
    assert [(run.case_id, run.policy) for run in conversion.runs].count(("case-1", A)) == 2
    starts = [run.provenance["recordedStart"] for run in conversion.runs if run.case_id == "case-1"]
    assert starts == sorted(starts)


# -- traps ---------------------------------------------------------------------------------------------------------


def test_a_span_by_a_given_name_is_a_tool(pages: Pages) -> None:
    observation(pages, "refund")["type"] = "SPAN"
    assert len(runs(convert(pages))["case-1", B]["steps"]) == 1
    named = convert(pages, source_options={"--tool-observation": ("refund",)})
    assert len(runs(named)["case-1", B]["steps"]) == 2


def test_evaluators_are_judges_and_no_steps(pages: Pages) -> None:
    judge = observation(pages, "ev")
    extra = {"name": "judge", "type": "GENERATION", "usageDetails": {"input": 7, "output": 1}, "costDetails": {}}
    pages.observations.append(judge | extra | {"id": "00000000000000aa", "parentObservationId": judge["id"]})
    tool = {"name": "search", "type": "TOOL", "id": "00000000000000bb", "parentObservationId": judge["id"]}
    pages.observations.append(judge | tool)
    run = runs(convert(pages))["case-1", B]
    assert len(run["steps"]) == 2
    assert run["usage"]["judge"]["inputTokens"] == 7
    assert run["usage"]["inputTokens"] == 10


def test_a_fractional_usage_is_no_count(pages: Pages) -> None:
    observation(pages, "llm")["usageDetails"] = {"input": 10.5, "output": 3}
    run = runs(convert(pages))["case-1", B]
    assert "inputTokens" not in run["usage"] or run["usage"]["inputTokens"] is None


@pytest.mark.parametrize(
    ("times", "code"),
    [
        ({"startTime": "2026-12-01T04:50:37.600Z", "endTime": "2026-12-01T04:50:37.590Z"}, "REVERSED_TIMING"),
        ({"startTime": "2026-12-01T04:50:37.400Z", "endTime": "2026-12-01T04:50:37.410Z"}, "OUT_OF_RANGE_TIMING"),
        ({"startTime": "2026-12-01T04:50:37.550Z"}, "CONCURRENT_STEPS"),
        ({"endTime": None}, "UNFINISHED_SPAN"),
    ],
)
def test_a_tool_that_cannot_stand_in_sequence_refuses_its_run(times: Any, code: str, pages: Pages) -> None:
    observation(pages, "refund").update(times)
    assert refused(convert(pages))["case-1", B] == code


def test_nested_tools_are_refused_until_somebody_chooses(pages: Pages) -> None:
    outer = observation(pages, "refund")
    inner = {"id": "00000000000000cc", "name": "charge", "parentObservationId": outer["id"]}
    times = {"startTime": "2026-12-01T04:50:37.590Z", "endTime": "2026-12-01T04:50:37.600Z"}
    pages.observations.append(outer | inner | times)
    assert refused(convert(pages))["case-1", B] == "NESTED_STEPS"
    chosen = runs(convert(pages, nested="leaf"))["case-1", B]
    assert [step["tool"] for step in chosen["steps"]] == ["lookup_order", "charge"]


@pytest.mark.parametrize("time", ["1999-12-31T00:00:00Z", "2100-01-01T00:00:00Z"])
def test_an_impossible_time_is_refused(time: str, pages: Pages) -> None:
    observation(pages, "refund")["startTime"] = time
    with pytest.raises(Refusal, match="BAD_TIME"):
        convert(pages)


@pytest.mark.parametrize(
    ("output", "result"),
    [('"123"', '"123"'), ("123", "123"), ('{"a":1}', {"a": 1}), ("plain", "plain")],
)
def test_text_is_decoded_only_where_it_holds_an_object_or_a_list(output: str, result: Any, pages: Pages) -> None:
    observation(pages, "refund")["output"] = output
    assert runs(convert(pages))["case-1", B]["steps"][1]["result"] == {"data": result}


def test_an_object_that_was_cut_refuses_its_run(pages: Pages) -> None:
    observation(pages, "refund")["output"] = '{"a":'
    assert ("case-1", B) in refused(convert(pages))


def test_an_output_that_was_not_recorded_is_not_null(pages: Pages) -> None:
    observation(pages, "refund")["output"] = None
    assert "result" not in runs(convert(pages))["case-1", B]["steps"][1]


@pytest.fixture
def answered() -> Callable[[Pages, str], Any]:
    def run(pages: Pages, output: str) -> Any:
        observation(pages, "experiment-item-task")["output"] = output
        return runs(convert(pages))["case-1", B].get("output")

    return run


def test_the_items_output_is_the_runs(pages: Pages, answered: Any) -> None:
    assert answered(pages, '{"disposition": "answer", "value": 3}') == {"disposition": "answer", "value": 3}


def test_an_output_in_other_words_is_none_that_can_be_checked(pages: Pages, answered: Any) -> None:
    assert answered(pages, "it worked") is None
