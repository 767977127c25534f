"""Calls that end after the root of their item, which Langfuse stores unchanged: they are refused here.

The root is what the experiment waited for. A call that outlives it was not waited for, and what it did stands outside
of what the item's output answers for.
"""

from collections.abc import Collection, Iterable

from labadapt.adapters.observation import Observation
from labadapt.adapters.structure import MOST_PROBLEMS, in_ms, interval, named, place
from labadapt.schema.problems import Problem


def refuse_outliving(observations: Iterable[Observation], roots: Collection[str]) -> None:
    """Give every call below one of the `roots` that ends after it the problem that refuses its run."""
    trace = list(observations)
    children: dict[str, list[Observation]] = {}
    for one in trace:
        children.setdefault(one.parent_id, []).append(one)
    for root in trace:
        if root.span_id in roots and root.end_ns:
            late = [one for one in _calls(root, children, roots) if one.end_ns > root.end_ns]
            for call in late[:MOST_PROBLEMS]:
                call.problem = call.problem or _late(call, root)


def _calls(root: Observation, children: dict[str, list[Observation]], roots: Collection[str]) -> Iterable[Observation]:
    """The calls of the run at a root; what stands below an evaluator, or another root, is not the run's."""
    passed = {root.span_id}
    waiting = [root]
    for one in waiting:  # grows while it is walked
        for child in children.get(one.span_id, ()):
            if child.span_id not in passed and child.span_id not in roots and child.role != "evaluator":
                passed.add(child.span_id)
                waiting.append(child)
    return (one for one in waiting if one.role == "tool")


def _late(call: Observation, root: Observation) -> Problem:
    return Problem(
        code="OUT_OF_RANGE_TIMING",
        message=f"Tool call {named(call)} ends {in_ms(call.end_ns - root.end_ns)} ms after its run.",
        where=place(call),
        found=interval(call, root.start_ns),
        expected=f"an end at or before that of the run's root span {root.span_id}",
    )
