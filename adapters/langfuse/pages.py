"""Pages of a Langfuse server, live or saved, as runs: each experiment item is a case, each experiment a policy."""

from collections.abc import Collection, Iterator, Set
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from labadapt.adapters.conversion import Conversion, Options, RefusedRun
from labadapt.adapters.convert import assemble, needs_view
from labadapt.adapters.langfuse.answers import text_of
from labadapt.adapters.langfuse.contracts import case_of, joined
from labadapt.adapters.langfuse.copies import current_since, unique, unique_versions
from labadapt.adapters.langfuse.exports import Pages, items_of, parsed, with_roots
from labadapt.adapters.langfuse.remarks import remarks
from labadapt.adapters.langfuse.spans import instant, span_of, text
from labadapt.adapters.langfuse.window import refuse_outliving
from labadapt.adapters.observation import Observation
from labadapt.adapters.recognise import Recogniser
from labadapt.adapters.registry import conventions
from labadapt.adapters.span import Tally
from labadapt.schema.cases import Case
from labadapt.schema.model import Run
from labadapt.schema.problems import Problem, Refusal, Where

Row = dict[str, Any]
TOOLS = "--tool-observation"
_NAMED = 10  # of what is missing, one by one


def convert_pages(pages: Pages, options: Options) -> Conversion:
    """Runs of every experiment's items. Refused: `INCOMPLETE_ANSWER`, `NO_RUNS`, and a wrong contract in the dataset.

    Policies are the experiments' names. The same rows give the same conversion, whatever their order.
    """
    observations = unique(pages, "observations", pages.observations)
    listed = unique(pages, "experiment_items", with_roots(pages.experiment_items, observations))
    derived = _unlisted(listed, observations)
    items = [*listed, *derived]
    experiments = {text_of(row, "id"): row for row in unique(pages, "experiments", pages.experiments)}
    _require_whole(items, experiments, observations)
    if not items:
        raise Refusal(_no_runs(observations))
    tally = Tally()
    if pages.scores:
        tally.leave_records("score, which says what somebody thought of a run", pages.scores)
    conversion = Conversion([], [], tally)
    naming = _Naming(options, experiments)
    reader = _Reader(options, naming, observations)
    dataset_items = unique_versions(pages)
    for own in naming.groups(items):
        cases = joined(_cases(own, dataset_items, naming, conversion.notes), options.cases)
        _add(conversion, assemble(reader.traces(own, tally), replace(options, cases=cases), tally, "langfuse"))
    reader.leave_others(items, conversion, derived=bool(derived))
    conversion.notes += remarks(items, experiments.keys(), observations, reader.tools)
    _finish(conversion, {text_of(item, "id"): item for item in items})
    return conversion


def _unlisted(listed: list[Row], observations: list[Row]) -> list[Row]:
    """The items that only their traces name: those of runs of which no list is there. A list that is there is whole."""
    traces = {item["traceId"] for item in listed}
    runs = {(item.get("experimentName"), item.get("experimentDatasetId")) for item in listed}
    named = items_of(row for row in observations if row["traceId"] not in traces)
    return [item for item in named if not runs & {(item["experimentName"], id_) for id_ in _datasets(item)}]


def _datasets(item: Row) -> tuple[str | None, ...]:
    """How a list may name the dataset of an item: some say none."""
    return item["experimentDatasetId"], None


def _no_runs(observations: list[Row]) -> Problem:
    return Problem(
        code="NO_RUNS",
        message="The files hold no item of a dataset run.",
        found=f"{len(observations)} observations",
        expected="experiment items, a dataset run, or roots whose metadata names run and dataset item",
        hint="Save the pages: `labadapt langfuse --dataset NAME --run NAME --save DIR`.",
    )


def _unnamed(trace_id: str) -> Problem:
    return Problem(
        code="INCOMPLETE_ANSWER",
        message="Nothing in the trace says which run and which dataset item it is.",
        where=Where(trace_id=trace_id),
        expected="experiment_run_name and dataset_item_id in the metadata of the item's root",
        hint="SDK 3 leaves them out where the item failed. Save the run's pages, or its dataset run document, as well.",
    )


def _require_whole(items: list[Row], experiments: dict[str, Row], observations: list[Row]) -> None:
    """Every experiment has as many items as it counts, and every item its root among the observations."""
    problems = []
    for id_, experiment in experiments.items():
        count = sum(item.get("experimentId") == id_ for item in items)
        if count != experiment.get("itemCount"):
            what = f"the items of the run {experiment.get('name')!r} are not all there"
            problems.append(_incomplete(what, f"{count} items", f"{experiment.get('itemCount')}"))
    there = {row["id"] for row in observations}
    absent = [item for item in items if item["id"] not in there]
    if absent:
        names = ", ".join(
            f"{item.get('experimentItemId')} of {item.get('experimentName')!r}" for item in absent[:_NAMED]
        )
        problems.append(_incomplete("items are there without their traces", names, None))
    if problems:
        raise Refusal(problems)


def _incomplete(message: str, found: str, expected: str | None) -> Problem:
    return Problem(
        code="INCOMPLETE_ANSWER",
        message=message,
        found=found,
        expected=expected,
        hint="Save the pages again: `labadapt langfuse --dataset NAME --run NAME --save DIR`.",
    )


@dataclass(frozen=True, slots=True)
class _Naming:
    """What the runs of items are called: by the item and its experiment, or by the metadata that options choose."""

    options: Options
    experiments: dict[str, Row]

    def case(self, item: Row) -> str:
        key = self.options.case_attribute
        if self.options.case is not None or key is None:
            return self.options.case or text_of(item, "experimentItemId")
        return _from_metadata(item.get("experimentItemMetadata"), key, f"the item {item.get('experimentItemId')!r}")

    def policy(self, item: Row) -> str:
        key = self.options.policy_attribute
        if self.options.policy is not None or key is None:
            return self.options.policy or text_of(item, "experimentName")
        metadata = self.experiment(item).get("metadata", item.get("experimentMetadata"))
        return _from_metadata(metadata, key, f"the run {item.get('experimentName')!r}")

    def experiment(self, item: Row) -> Row:
        return self.experiments.get(item.get("experimentId", ""), {})

    def groups(self, items: list[Row]) -> list[list[Row]]:
        """Items by policy, among which a case may stand once; by experiment where repetitions are wanted."""
        groups: dict[str, list[Row]] = {}
        for item in items:
            key = str(item.get("experimentId") or item["experimentName"]) if self.options.trials else self.policy(item)
            groups.setdefault(key, []).append(item)
        return [groups[key] for key in sorted(groups)]


def _from_metadata(metadata: Any, key: str, what: str) -> str:
    value = metadata.get(key) if isinstance(metadata, dict) else None
    if value is None:
        value = _inside(metadata, key.split("."))  # exports have the nested value itself
    if value is None or value == "":
        raise Refusal(
            Problem(
                code="BAD_CONTENT",
                message=f"{what} has no metadata {key!r} to be called by",
                found=", ".join(sorted(metadata)) if isinstance(metadata, dict) else "no metadata",
                hint="Metadata of an item is flattened: the key of a nested value has a dot for each step.",
            )
        )
    return text(value)


def _inside(value: Any, steps: list[str]) -> Any:
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value


class _Reader:
    """Reads the observations of items' traces. The run of an item is what stands under its root."""

    def __init__(self, options: Options, naming: _Naming, observations: list[Row]) -> None:
        self._options = options
        self._naming = naming
        self.tools: Collection[str] = tuple(options.source_options.get(TOOLS) or ())
        self._recogniser = Recogniser(conventions().admitted(), keep_input=needs_view(options))
        self._by_trace: dict[str, list[Row]] = {}
        for row in observations:
            self._by_trace.setdefault(text_of(row, "traceId"), []).append(row)

    def traces(self, items: list[Row], tally: Tally) -> dict[str, list[Observation]]:
        """The observations of every trace of these items, which name case and policy at the items' roots."""
        roots = {item["id"]: item for item in items}
        traces: dict[str, list[Observation]] = {}
        for trace_id in sorted({text_of(item, "traceId") for item in items}):
            rows = self._by_trace.get(trace_id, [])
            tally.read += len(rows)
            traces[trace_id] = [self._observation(row, roots.get(row["id"])) for row in _judges_moved(rows, roots)]
            refuse_outliving(traces[trace_id], roots)
        return traces

    def leave_others(self, items: list[Row], conversion: Conversion, *, derived: bool) -> None:
        """Account for the traces that are no item's. Where items are `derived` from their traces, one is refused that
        an experiment made and that says no item."""
        known = {item["traceId"] for item in items}
        for trace_id in sorted(self._by_trace.keys() - known):
            rows = self._by_trace[trace_id]
            conversion.tally.read += len(rows)
            if items_of(rows):
                conversion.tally.leave("in a trace of no item that its run lists", len(rows))
            elif derived and any(str(row.get("name")).startswith("experiment-item-") for row in rows):
                conversion.refused.append(RefusedRun(trace_id, "", "", (_unnamed(trace_id),), len(rows)))
                conversion.tally.leave("refused: INCOMPLETE_ANSWER", len(rows))
            else:
                conversion.tally.leave("in a trace of no dataset run", len(rows))

    def _observation(self, row: Row, item: Row | None) -> Observation:
        span = span_of(row, item, self.tools, self._options.now_ns)
        seen = self._recogniser.recognise(span)
        if item is not None:
            seen.case_id, seen.policy = (0, self._naming.case(item)), (0, self._naming.policy(item))
        return seen


def _judges_moved(rows: list[Row], roots: dict[str, Row]) -> list[Row]:
    """Evaluators stand beside the item's root in its trace; as its children they are the run's judges.

    Where a trace has several items, an evaluator's is the one with which it shares its nearest span; where that is none
    or several, nobody says whose judge it is, and it stays outside of every run.
    """
    parents = {row["id"]: row.get("parentObservationId") or "" for row in rows}
    own = [id_ for id_ in parents if id_ in roots]
    beside: dict[str, list[str]] = {}
    for id_ in own:
        beside.setdefault(parents[id_], []).append(id_)
    judges = {row["id"] for row in rows if row.get("type") == "EVALUATOR"}
    inside = judges | roots.keys()  # what is below one of these moves with it, or stays
    return [_moved(row, own, inside, beside, parents) if row["id"] in judges else row for row in rows]


def _moved(row: Row, own: list[str], inside: Set[str], beside: dict[str, list[str]], parents: dict[str, str]) -> Row:
    above, passed = parents[row["id"]], {row["id"]}
    while above and above not in passed:  # a circle of parents is refused where spans are joined
        if above in inside:
            return row
        if above in beside:
            return row | {"parentObservationId": beside[above][0]} if len(beside[above]) == 1 else row
        passed.add(above)
        above = parents.get(above, "")
    return row | {"parentObservationId": own[0]} if len(own) == 1 else row


# -- cases -------------------------------------------------------------------------------------------------------------


def _cases(items: list[Row], dataset_items: list[Row], naming: _Naming, notes: list[str]) -> dict[str, Case]:
    """The cases that the dataset's items were when the runs began, by the name of the case."""
    versions: dict[str, list[Row]] = {}
    for row in dataset_items:
        versions.setdefault(text_of(row, "id"), []).append(row)
    cases: dict[str, Case] = {}
    absent: list[str] = []
    for item in items:
        id_ = text_of(item, "experimentItemId")
        found = _version(versions.get(id_, []), naming.experiment(item) or item, notes)
        if found is None:
            absent.append(id_)
        else:
            notes += _changes(item, found, versions[id_])
        cases[naming.case(item)] = Case() if found is None else case_of(found)
    if absent:
        named = ", ".join(sorted(absent)[:_NAMED]) + (" …" if len(absent) > _NAMED else "")
        notes.append(f"dataset items that no file holds, so that nothing is known of their contracts: {named}")
    return cases


def _version(versions: list[Row], run: Row, notes: list[str]) -> Row | None:
    """The version that was current when the run began; the oldest one, with a note, where all are younger."""
    start = instant(text_of(run, "startTime"))
    ordered = sorted(versions, key=current_since)
    before = [row for row in ordered if current_since(row) <= start]
    if ordered and not before:
        notes.append(f"the dataset item {ordered[0]['id']!r} was changed after the run began")
    return before[-1] if before else next(iter(ordered), None)


def _changes(item: Row, found: Row, versions: list[Row]) -> Iterator[str]:
    """What a person should know who reads the verdict on a run beside its dataset."""
    id_ = item["experimentItemId"]
    for key, what in (("input", "asked"), ("expectedOutput", "expected of")):
        if _differs(item, found, key):
            yield f"what was {what} {id_!r} is another in the run than in its dataset"
    latest = max(versions, key=current_since)
    if _asked_and_expected(latest) != _asked_and_expected(found):
        yield f"the dataset item {id_!r} has changed since the run, which is held to what it was when the run began"


def _asked_and_expected(row: Row) -> tuple[Any, ...]:
    return row.get("input"), row.get("expectedOutput"), row.get("metadata")


def _differs(item: Row, dataset_item: Row, key: str) -> bool:
    """Whether the run was given another value than its dataset item has; it is kept there as text."""
    recorded, value = item.get(key), dataset_item.get(key)
    if value is None or value == "":
        return bool(recorded)
    return key in item and value not in (recorded, parsed(recorded))


# -- the whole ---------------------------------------------------------------------------------------------------------


def _add(conversion: Conversion, part: Conversion) -> None:
    conversion.runs = [*conversion.runs, *part.runs]
    conversion.without_contract += part.without_contract
    conversion.refused += part.refused
    conversion.undeclared = sorted({*conversion.undeclared, *part.undeclared})
    conversion.notes += part.notes


def _finish(conversion: Conversion, items: dict[str, Row]) -> None:
    conversion.runs = sorted((_placed(run, items) for run in conversion.runs), key=_order)
    conversion.refused.sort(key=lambda refused: (refused.case_id, refused.policy, refused.trace_id))
    conversion.notes[:] = list(dict.fromkeys(conversion.notes))


def _order(run: Run) -> tuple[str, ...]:
    """Repetitions in the order of their recorded start, as their bundles are counted."""
    provenance = run.provenance or {}
    return (run.case_id, run.policy, str(provenance.get("recordedStart")), str(provenance.get("rootSpanId")))


def _placed(run: Run, items: dict[str, Row]) -> Run:
    """The run with the ids by which Langfuse knows it: a name is not unique."""
    provenance = dict(run.provenance or {})
    item = items.get(str(provenance.get("rootSpanId")), {})
    kept = {"experimentId": item.get("experimentId"), "datasetId": item.get("experimentDatasetId")}
    return msgspec.structs.replace(run, provenance=provenance | {k: v for k, v in kept.items() if v})
