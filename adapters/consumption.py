"""Tokens and cost of a run: what its model spans record, counted once.

A span above others often repeats their sum (an agent's total, a framework's span around the provider's). Only the
lowest spans that record usage are counted. What a span does not record is not known, and makes the sum unknown.
"""

from typing import Any

from labadapt.adapters.join import RunSpans
from labadapt.adapters.observation import Observation
from labadapt.schema.model import RunUsage, Usage
from msgspec import UNSET, UnsetType
from msgspec.structs import astuple

INCOMPLETE = "some model spans record no usage, so that its sum is not known and left out"

# A sum is known only where every model call records its part.
_WHOLE = ("input_tokens", "output_tokens", "cost_usd")
# Producers write these details only where they are not zero, so what is recorded is summed.
_DETAILS = ("cached_input_tokens", "reasoning_tokens")
_FIELDS = Usage.__struct_fields__
_SUMMED = tuple((_FIELDS.index(name), name) for name in _WHOLE + _DETAILS)
_WORDS = tuple((_FIELDS.index(name), name) for name in ("cost_source", "model"))


def run_usage(
    run: RunSpans, models: list[Observation], agents: list[Observation], judges: list[Observation]
) -> tuple[RunUsage | UnsetType, bool]:
    """The usage of a run, that of its judges apart, and whether a sum had to be left out as incomplete."""
    target, incomplete = _total(run, models, agents)
    if judges:
        judged = [span for span in judges if span.role == "model"]
        judge, _ = _total(run, judged, [span for span in judges if span.role != "model"])
        if judge:
            target["judge"] = Usage(**judge)
    return (RunUsage(**target) if target else UNSET), incomplete


def _total(run: RunSpans, models: list[Observation], agents: list[Observation]) -> tuple[dict[str, Any], bool]:
    children = run.children
    flat = not [span for span in models if span.span_id in children]
    calls = models if flat else _lowest(run, models)
    total: dict[str, Any] = {"model_calls": len(calls)} if calls else {}
    counted = [span for span in models if span.usage is not UNSET]
    if not counted:
        return _agents_total(run, total, agents)
    if not flat:
        counted = _lowest(run, counted)
    silent = [span for span in calls if span.usage is UNSET and not span.failed]
    if silent and not flat:
        covered = _above(run, silent)
        silent = [] if all(span.span_id in covered for span in counted) else silent
    return total, _add(total, counted, bool(silent))


def _agents_total(run: RunSpans, total: dict[str, Any], agents: list[Observation]) -> tuple[dict[str, Any], bool]:
    """Where no model span records usage, that of the agents; not where one holds another, and may repeat it."""
    counted = [span for span in agents if span.usage is not UNSET]
    if not counted:
        return total, False
    if len(_lowest(run, counted)) < len(counted):
        return total, True
    return total, _add(total, counted, False)


def _add(total: dict[str, Any], spans: list[Observation], silent: bool) -> bool:
    """Add the sums to `total`; whether one had to be left out."""
    rows = [astuple(span.usage) for span in spans if span.usage is not UNSET]
    incomplete = False
    for place, name in _SUMMED:
        amount, known = 0, 0
        for row in rows:
            part = row[place]
            if part is not UNSET and part is not None:
                amount += part
                known += 1
        if known and name in _WHOLE and (silent or known < len(rows)):
            incomplete = True
        elif known:
            total[name] = amount
    for place, name in _WORDS:
        words = {row[place] for row in rows}
        words.discard(UNSET)
        words.discard(None)
        if len(words) == 1 and (name == "model" or "cost_usd" in total):
            total[name] = words.pop()
    return incomplete


def _lowest(run: RunSpans, spans: list[Observation]) -> list[Observation]:
    """The spans that have none of the others below them."""
    above = _above(run, spans)
    return [span for span in spans if span.span_id not in above]


def _above(run: RunSpans, spans: list[Observation]) -> set[str]:
    """The ids of all spans of the run that stand above one of these."""
    parents = {span.span_id: span.parent_id for span in run.spans}
    above: set[str] = set()
    for span in spans:
        parent = span.parent_id
        while parent in parents and parent not in above:
            above.add(parent)
            parent = parents[parent]
    return above
