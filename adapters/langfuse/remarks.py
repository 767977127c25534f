"""What a person should know of what Langfuse keeps and files leave out; none of it can be seen in the runs."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from labadapt.adapters.langfuse.spans import is_tool

Row = dict[str, Any]
_NAMED = 10  # runs, one by one


def remarks(
    items: Iterable[Row], experiments: Collection[str], observations: Iterable[Row], tools: Collection[str]
) -> Iterator[str]:
    """Notes on the whole of the rows. `experiments`: the ids of those whose rows are there, with their counts.

    `tools` are names of observations that are tool calls, whatever their type says.
    """
    rows = list(observations)
    uncounted = {str(item.get("experimentName")) for item in items if item.get("experimentId") not in experiments}
    if uncounted:
        names = ", ".join(repr(name) for name in sorted(uncounted)[:_NAMED])
        yield (
            f"no file says how many items a run has, so that whether all are here is unknown: {names}"
            f"{' …' if len(uncounted) > _NAMED else ''}"
        )
    if bare := sum("output" not in row for row in rows):
        yield f"observations that were saved without inputs and outputs (fields=core,basic,io,metadata): {bare}"
    if instant := sum(is_tool(row, tools) and row.get("endTime") == row["startTime"] for row in rows):
        yield (
            f"tool calls that end in the millisecond in which they start: {instant}; "
            "Langfuse stores one that never ended in the same way"
        )
