"""What is fetched is the run, whole, whatever the server and the network do; or it is refused."""

import json
from typing import Any

import pytest
from labadapt.schema.problems import Refusal

A_ITEMS = {"0b994493b9fbacf1", "648b3375e36791c7", "157b7a93eee9592e", "72f5fa27b4e66643"}
KEYS_NOTE = "32 mentions of a key were removed from what the server answered"


def rows(fetched: Any, kind: str) -> list[dict[str, Any]]:
    return [row for name, data in fetched.files if name.startswith(f"{kind}-0") for row in json.loads(data)["data"]]


def ids(fetched: Any, kind: str) -> list[str]:
    return [row["id"] for row in rows(fetched, kind)]


def refusal(call: Any) -> tuple[str, str]:
    with pytest.raises(Refusal) as refused:
        call()
    [problem] = refused.value.problems
    return problem.code, problem.message


@pytest.fixture
def whole(fetched: Any) -> list[tuple[str, bytes]]:
    """The files of an undisturbed fetch."""
    return fetched("policy A").files


def test_a_run_is_fetched_with_its_items_traces_and_dataset(fetched: Any, langfuse: Any) -> None:
    run = fetched("policy A")
    assert [name for name, _ in run.files] == [
        "dataset.json",
        "experiments-0001.json",
        "experiment-items-0001.json",
        "observations-0001.json",
        "dataset-items-0001.json",
    ]
    assert set(ids(run, "experiment-items")) == A_ITEMS
    assert len(rows(run, "observations")) == 28
    assert set(ids(run, "observations")) > A_ITEMS
    assert sorted(ids(run, "dataset-items")) == ["case-1", "case-2", "case-3", "case-4"]
    assert run.notes == [KEYS_NOTE]
    assert langfuse.paths() == [
        "v2/datasets/labadapt%20demo",
        "experiments",
        "experiments",
        "experiment-items",
        "v2/observations",
        "dataset-items",
        "dataset-items",
    ]


def test_a_run_may_be_named_by_its_id(fetched: Any, whole: Any) -> None:
    assert fetched("1c17506e8c0680c5").files == whole


def test_a_name_with_a_comma_and_an_accent_is_found(fetched: Any) -> None:
    assert [row["name"] for row in rows(fetched("policy B, with comma é"), "experiments")] == ["policy B, with comma é"]


def test_without_a_name_every_run_of_the_dataset_is_fetched(fetched: Any) -> None:
    run = fetched()
    assert sorted(ids(run, "experiments")) == ["04be845c6a15d2f7", "1c17506e8c0680c5"]
    assert len(set(ids(run, "experiment-items"))) == len(ids(run, "experiment-items")) == 8
    assert ids(run, "dataset-items") == ["case-4", "case-3", "case-2", "case-1"]  # both runs saw the same: once


@pytest.mark.parametrize("name", ["a/b", "ä, ö%2F?#&+", "..", ".", " ", "../../v2/datasets", "a\\b"])
def test_a_dataset_of_any_name_is_found(name: str, fetched: Any, store: Any) -> None:
    store.datasets[0]["name"] = name
    for item in store.dataset_items:
        item["datasetName"] = name
    assert json.loads(fetched("policy A", dataset=name).files[0][1])["name"] == name


def test_small_pages_hold_the_same_rows(fetched: Any, whole: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from labadapt.adapters.langfuse import client, fetch

    monkeypatch.setattr(client, "ROWS", 3)
    monkeypatch.setattr(client, "OBSERVATION_ROWS", 5)
    monkeypatch.setattr(fetch, "TRACES", 3)
    run = fetched("policy A")
    assert [name for name, _ in run.files if name.startswith("observations")] == [
        f"observations-000{number}.json" for number in range(1, 7)
    ]
    for kind in ("experiments", "experiment-items", "observations", "dataset-items"):
        found = rows(run, kind)
        large = [row for name, data in whole if name.startswith(f"{kind}-0") for row in json.loads(data)["data"]]
        key = lambda row: row["id"]  # noqa: E731
        assert sorted(found, key=key) == sorted(large, key=key)


# -- as of the run's start -----------------------------------------------------------------------------------------


def test_dataset_items_are_those_of_the_run_s_start(fetched: Any, store: Any) -> None:
    changed = {**store.dataset_items[0], "input": {"q": "changed"}, "updatedAt": "2026-12-01T04:50:37.000Z"}
    store.dataset_items.append(changed)
    a = [row["input"] for row in rows(fetched("policy A"), "dataset-items") if row["id"] == "case-4"]
    b = [row["input"] for row in rows(fetched("policy B, with comma é"), "dataset-items") if row["id"] == "case-4"]
    assert (a, b) == ([{"q": "fails"}, {"q": "changed"}], [{"q": "changed"}])  # at its start, and as it is now


def test_a_run_over_a_part_of_the_dataset_is_said(fetched: Any, store: Any) -> None:
    store.experiment_items = [row for row in store.experiment_items if row["id"] != "0b994493b9fbacf1"]
    assert "the run 'policy A' has 3 of the 4 items of its dataset" in fetched("policy A").notes


# -- what is not there ---------------------------------------------------------------------------------------------


def test_a_missing_dataset_is_refused_with_those_there(fetched: Any) -> None:
    with pytest.raises(Refusal) as refused:
        fetched(dataset="demo")
    assert refused.value.problems[0].code == "NOT_ON_SERVER"
    assert refused.value.problems[0].found == "labadapt demo"


def test_a_missing_run_is_refused_with_the_world_that_was_searched(fetched: Any) -> None:
    with pytest.raises(Refusal) as refused:
        fetched("policy C")
    [problem] = refused.value.problems
    assert (problem.code, problem.found) == ("NOT_ON_SERVER", "policy B, with comma é, policy A")
    assert problem.hint is not None
    assert "legacy" in problem.hint


def test_two_runs_of_one_name_are_refused_unless_repetitions_are_wanted(fetched: Any, store: Any) -> None:
    for row in store.experiments:
        row["name"] = "policy A"
    assert refusal(lambda: fetched("policy A")) == ("AMBIGUOUS_RUN", "2 runs have the name 'policy A'")
    assert len(rows(fetched("policy A", repeated=True), "experiments")) == 2


def test_since_leaves_out_what_ended_before_and_halves_no_run(fetched: Any) -> None:
    from datetime import UTC, datetime

    middle_of_b = datetime(2026, 12, 1, 4, 50, 37, 420000, UTC)
    run = fetched(since=middle_of_b)
    assert [(row["name"], row["itemCount"]) for row in rows(run, "experiments")] == [("policy B, with comma é", 4)]
    assert len(rows(run, "experiment-items")) == 4


# -- faults --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "the server answered 401 Unauthorized: error 401"),
        (403, "the server answered 403 Forbidden: error 403"),
        (422, "the server answered 422 Unprocessable Content: error 422"),
    ],
)
def test_an_error_that_a_retry_does_not_mend_is_refused_at_once(
    status: int, message: str, fetched: Any, langfuse: Any, lab: Any
) -> None:
    langfuse.faults = [lab.on("experiment-items", lab.error(status))]
    assert refusal(lambda: fetched("policy A")) == ("ANSWERED_WITH_ERROR", message)
    assert langfuse.paths().count("experiment-items") == 1


@pytest.mark.parametrize("status", [413, 414, 422, 431])
def test_traces_that_are_too_many_at_once_are_asked_for_in_halves(
    status: int, fetched: Any, langfuse: Any, lab: Any
) -> None:
    whole = fetched("policy A")

    def narrow(request: Any, page: Any) -> None:
        if request.path == "v2/observations" and len(json.loads(request.query["filter"])[0]["value"]) > 1:
            raise lab.Answer(status, {"message": "too much"})

    langfuse.faults = [narrow]
    run = fetched("policy A")
    assert sorted(ids(run, "observations")) == sorted(ids(whole, "observations"))


def test_one_trace_that_is_too_much_is_refused(fetched: Any, langfuse: Any, lab: Any) -> None:
    langfuse.faults = [lab.on("v2/observations", lab.error(422))]
    assert refusal(lambda: fetched("policy A"))[0] == "ANSWERED_WITH_ERROR"


def test_a_server_without_experiments_is_refused(fetched: Any, langfuse: Any, lab: Any) -> None:
    langfuse.faults = [lab.on("experiments", lab.error(404, "<html>no</html>", kind="text/html"))]
    with pytest.raises(Refusal) as refused:
        fetched("policy A")
    [problem] = refused.value.problems
    assert (problem.code, problem.message) == ("ANSWERED_WITH_ERROR", "the server answered 404 Not Found")
    assert problem.hint is not None
    assert "version 4" in problem.hint


@pytest.mark.parametrize("status", [429, 500, 502])
def test_a_server_that_recovers_gives_the_whole_run(
    status: int, fetched: Any, whole: Any, langfuse: Any, lab: Any
) -> None:
    langfuse.faults = [lab.on("v2/observations", lab.once(lab.error(status, headers={"Retry-After": "1"})))]
    assert fetched("policy A").files == whole


def test_retry_after_is_waited_for(fetched: Any, langfuse: Any, lab: Any) -> None:
    import time

    langfuse.faults = [lab.on("experiment-items", lab.once(lab.error(429, headers={"Retry-After": "2"})))]
    start = time.monotonic()
    fetched("policy A")
    assert 2 <= time.monotonic() - start < 4


@pytest.mark.usefixtures("small_pages")
def test_a_rate_limit_slows_the_fetch_down_and_nothing_else(fetched: Any, langfuse: Any, lab: Any) -> None:
    """Five requests a second, where a plan may have thirty a minute."""
    import time

    before = fetched("policy A").files
    answered: list[float] = []

    def limited(_request: Any, _page: Any) -> None:
        now = time.monotonic()
        if sum(now - at < 1 for at in answered) >= 5:
            raise lab.Answer(429, {"message": "Rate limit exceeded"}, {"Retry-After": "1"})
        answered.append(now)

    langfuse.faults = [limited]
    assert fetched("policy A").files == before


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ((429, {"message": "Rate limit exceeded"}), "the server answered 429 Too Many Requests: Rate limit exceeded"),
        ((500, {"error": "boom\x1b[31m"}), "the server answered 500 Internal Server Error: boom\x1b[31m"),
        ((502, "<html><h1>Bad gateway</h1></html>"), "the server answered 502 Bad Gateway"),
    ],
)
def test_a_server_that_does_not_recover_is_refused(
    fault: tuple[int, Any], message: str, fetched: Any, langfuse: Any, lab: Any
) -> None:
    langfuse.faults = [lab.on("experiments", lab.error(*fault, headers={"Retry-After": "1"}))]
    assert refusal(lambda: fetched("policy A")) == ("ANSWERED_WITH_ERROR", message)
    assert langfuse.paths().count("experiments") == 3


def test_an_answer_that_comes_too_late_is_asked_for_again(
    fetched: Any, whole: Any, langfuse: Any, lab: Any, opened: Any
) -> None:
    langfuse.faults = [lab.on("experiment-items", lab.once(lab.slow(1.0)))]
    assert fetched("policy A", server=opened(timeout=0.3)).files == whole


def test_a_server_that_is_always_too_late_is_refused(fetched: Any, langfuse: Any, lab: Any, opened: Any) -> None:
    langfuse.faults = [lab.on("experiment-items", lab.slow(0.6))]
    assert refusal(lambda: fetched("policy A", server=opened(timeout=0.2))) == (
        "NO_ANSWER",
        f"{langfuse.address} did not answer in 3 tries: no answer within the time-out",
    )
    assert langfuse.paths().count("experiment-items") == 3


def test_a_connection_that_is_cut_once_gives_the_whole_run(fetched: Any, whole: Any, langfuse: Any, lab: Any) -> None:
    langfuse.faults = [lab.on("v2/observations", lab.once(lab.cut))]
    assert fetched("policy A").files == whole


def test_a_connection_that_is_always_cut_is_refused(fetched: Any, langfuse: Any, lab: Any) -> None:
    langfuse.faults = [lab.on("v2/observations", lab.cut)]
    code, message = refusal(lambda: fetched("policy A"))
    assert code == "NO_ANSWER"
    assert message.endswith("the connection was cut in the middle of the answer")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("<html>log in</html>", "text/html"),
        ('{"data": {}, "meta": {}}', "application/json"),
        ('{"data": [{"name": "no id"}], "meta": {}}', "application/json"),
        ('{"data": [], "meta": {"cursor": 7}}', "application/json"),
        ('{"data": [', "application/json"),
        ("[" * 100_000, "application/json"),
    ],
)
def test_an_answer_that_is_no_page_is_refused(answer: str, kind: str, fetched: Any, langfuse: Any, lab: Any) -> None:
    langfuse.faults = [lab.on("experiments", lab.error(200, answer, kind=kind))]
    assert refusal(lambda: fetched("policy A"))[0] == "BAD_ANSWER"


def test_a_fractional_usage_loses_no_page(fetched: Any, store: Any, langfuse: Any) -> None:
    langfuse.check = None  # the published interface has whole numbers only, and so have the SDK's models
    [row] = [row for row in store.observations if row["usageDetails"] and row["traceId"][:4] == "83b7"]
    row["usageDetails"] = {"input": 10.5}
    found = rows(fetched("policy B, with comma é"), "observations")
    assert [row["usageDetails"] for row in found if row["usageDetails"]].count({"input": 10.5}) == 1


def test_metadata_is_not_cut(fetched: Any, store: Any) -> None:
    for row in store.observations:
        row["metadata"]["long"] = "x" * 1000
    assert {len(row["metadata"]["long"]) for row in rows(fetched("policy A"), "observations")} == {1000}


# -- lists that do not hold together -------------------------------------------------------------------------------


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    from labadapt.adapters.langfuse import client

    monkeypatch.setattr(client, "ROWS", 2)
    monkeypatch.setattr(client, "OBSERVATION_ROWS", 20)


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("path", ["experiment-items", "v2/observations"])
def test_a_page_that_repeats_once_is_read_again(path: str, fetched: Any, langfuse: Any, lab: Any) -> None:
    before = fetched("policy A").files
    langfuse.faults = [lab.on(path, lab.times(2, lab.repeat_page()))]
    assert fetched("policy A").files == before


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("path", ["experiment-items", "v2/observations"])
def test_a_page_that_always_repeats_is_refused(path: str, fetched: Any, langfuse: Any, lab: Any) -> None:
    langfuse.faults = [lab.on(path, lab.repeat_page())]
    assert refusal(lambda: fetched("policy A")) == (
        "BAD_ANSWER",
        "a list does not hold together in 3 tries: a page stands twice, and with it one may be missing",
    )


@pytest.mark.usefixtures("small_pages")
def test_a_row_that_comes_twice_counts_once_and_is_said(fetched: Any, langfuse: Any, lab: Any) -> None:
    last: list[Any] = []

    def overlap(_request: Any, page: Any) -> None:
        page["data"] = last[-1:] + page["data"]
        last[:] = page["data"]

    langfuse.faults = [lab.on("experiment-items", overlap)]
    run = fetched("policy A")
    assert set(ids(run, "experiment-items")) == A_ITEMS
    assert "1 row that the server gave twice counts once" in run.notes


@pytest.mark.usefixtures("small_pages")
def test_a_row_that_comes_twice_with_two_contents_is_refused(fetched: Any, langfuse: Any, lab: Any) -> None:
    last: list[Any] = []

    def overlap(_request: Any, page: Any) -> None:
        page["data"] = [{**row, "name": "other"} for row in last[-1:]] + page["data"]
        last[:] = page["data"]

    langfuse.faults = [lab.on("experiment-items", overlap)]
    assert refusal(lambda: fetched("policy A"))[0] == "BAD_ANSWER"


@pytest.mark.usefixtures("small_pages")
def test_a_cursor_that_runs_in_a_circle_is_refused(fetched: Any, langfuse: Any, lab: Any) -> None:
    def circle(request: Any, page: Any) -> None:
        page["meta"] = {"cursor": request.query.get("cursor", page["meta"].get("cursor"))}

    langfuse.faults = [lab.on("experiment-items", circle)]
    assert refusal(lambda: fetched("policy A")) == (
        "BAD_ANSWER",
        "a list does not hold together in 3 tries: it came back to a place that it had left",
    )


def test_a_page_that_shrinks_is_refused(fetched: Any, langfuse: Any, lab: Any) -> None:
    langfuse.faults = [lab.on("experiment-items", lab.without("648b3375e36791c7"))]
    with pytest.raises(Refusal) as refused:
        fetched("policy A")
    [problem] = refused.value.problems
    assert (problem.code, problem.message) == (
        "INCOMPLETE_ANSWER",
        "the items of the run 'policy A' are not all there",
    )
    assert (problem.found, problem.expected) == ("3 items", "4")


@pytest.mark.usefixtures("small_pages")
def test_a_dataset_that_shrinks_between_its_pages_is_read_again(fetched: Any, langfuse: Any, lab: Any) -> None:
    before = fetched("policy A").files

    def shrink(request: Any, page: Any) -> None:
        if request.query["page"] == "2":
            page["data"], page["meta"] = page["data"][1:], page["meta"] | {"totalItems": 3}

    langfuse.faults = [lab.on("dataset-items", lab.times(2, shrink))]
    assert fetched("policy A").files == before


@pytest.mark.usefixtures("small_pages")
def test_a_dataset_that_never_adds_up_is_refused(fetched: Any, langfuse: Any, lab: Any) -> None:
    langfuse.faults = [lab.on("dataset-items", lab.without("case-1"))]
    assert refusal(lambda: fetched("policy A")) == (
        "BAD_ANSWER",
        "a list does not hold together in 3 tries: it says that it has 4 rows, and has 3",
    )


# -- asynchronous ingestion ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "late",
    [
        ("experiments", "1c17506e8c0680c5"),
        ("experiment-items", "648b3375e36791c7"),
        ("v2/observations", "648b3375e36791c7"),
    ],
)
def test_what_appears_late_is_waited_for(
    late: tuple[str, str], fetched: Any, whole: Any, langfuse: Any, lab: Any
) -> None:
    path, row = late
    langfuse.faults = [lab.on(path, lab.times(2, lab.without(row)))]
    assert fetched("policy A", wait=30.0).files == whole


def test_with_time_to_wait_two_looks_must_agree(fetched: Any, whole: Any, langfuse: Any, lab: Any) -> None:
    tool = "39a92fec4015b74a"
    langfuse.faults = [lab.on("v2/observations", lab.times(2, lab.without(tool)))]
    assert fetched("policy A").files != whole  # nothing in the answer tells that a call is to come
    langfuse.faults = [lab.on("v2/observations", lab.once(lab.without(tool)))]
    assert fetched("policy A", wait=30.0).files == whole


def test_looks_that_keep_differing_are_refused(fetched: Any, langfuse: Any) -> None:
    def more(_request: Any, page: Any) -> None:
        page["data"] = page["data"][: len(langfuse.requests)]

    langfuse.faults = [lambda request, page: more(request, page) if request.path == "v2/observations" else None]
    assert refusal(lambda: fetched("policy A", wait=3.0))[0] == "INCOMPLETE_ANSWER"


@pytest.mark.parametrize(("wait", "pauses"), [(0.0, []), (0.5, [0.5, 0.5]), (300.0, [1.0, 1.0])])
def test_no_longer_is_waited_than_it_takes_to_look_twice(wait: float, pauses: Any, opened: Any) -> None:
    from labadapt.adapters.langfuse.fetch import Surroundings, Wish, fetch

    slept: list[float] = []
    fetch(opened(), Wish("labadapt demo", ("policy A",), wait=wait), Surroundings(slept.append))
    assert slept == pauses


def test_what_never_comes_is_waited_for_as_long_as_was_said(opened: Any, langfuse: Any, lab: Any) -> None:
    from labadapt.adapters.langfuse.fetch import Surroundings, Wish, fetch

    slept: list[float] = []
    with pytest.raises(Refusal):
        fetch(opened(), Wish("labadapt demo", ("policy C",), wait=40.0), Surroundings(slept.append))
    assert slept == [1.0, 2.0, 4.0, 8.0, 15.0, 10.0]


def test_an_item_whose_trace_never_comes_is_refused_by_name(fetched: Any, langfuse: Any, lab: Any) -> None:
    langfuse.faults = [lab.on("v2/observations", lab.without("648b3375e36791c7"))]
    with pytest.raises(Refusal) as refused:
        fetched("policy A", wait=5.0)
    [problem] = refused.value.problems
    assert problem.code == "INCOMPLETE_ANSWER"
    assert problem.found == "case-3 of 'policy A'"
    assert langfuse.paths().count("v2/observations") > 1
