"""Review and cost beside success. What is unknown stays unknown, and never meets a limit."""

from fractions import Fraction

from labadapt.engine.standing import Standing
from labadapt.engine.usage import usage_of
from labadapt.engine.values import plain
from labadapt.schema.gate import Effort, GateFile, Part, PartState
from labadapt.schema.model import NonNegative
from labadapt.schema.reliability import Cost
from msgspec import UnsetType


def effort_of(stood: Standing, minutes: NonNegative | UnsetType) -> Effort:
    """What the runs that count took, and for each that passes; a judge's cost is no part of it."""
    results = [result for its in stood.counted.values() for result in its]
    successes = sum(result.outcome == "pass" for result in results)
    used = usage_of(results)
    cost = None if used is None or not results else used.target.cost_usd
    known = None if isinstance(minutes, UnsetType) else minutes
    return Effort(
        successes=successes,
        review_minutes=known,
        review_minutes_per_success=_each(known, successes),
        cost_usd=cost,
        cost_usd_per_success=_each(None if cost is None else _of_one_source(cost), successes),
    )


def _each(total: NonNegative | None, successes: int) -> NonNegative | None:
    if total is None or not successes:
        return None
    each: NonNegative = plain(float(Fraction(repr(total)) / successes))
    return each


def _of_one_source(cost: Cost) -> NonNegative | None:
    """The sum of all runs, where each has a cost and all are of one source."""
    sums = [total for total in (cost.billed, cost.estimated, cost.unstated) if total is not None]
    return sums[0] if len(sums) == 1 and not cost.unavailable else None


def review_part(effort: Effort, asked: GateFile) -> Part:
    """Whether review takes at most what is allowed for each success."""
    limit, each = asked.max_review_minutes_per_success, effort.review_minutes_per_success
    state, reason = _within(each, limit, "minutes of review for each success")
    return Part(name="review", state=state, reason=reason, cases=[])


def cost_part(effort: Effort, asked: GateFile) -> Part:
    """Whether runs cost at most what is allowed for each success."""
    limit, each = asked.max_cost_usd_per_success, effort.cost_usd_per_success
    state, reason = _within(each, limit, "US dollars for each success")
    return Part(name="cost", state=state, reason=reason, cases=[])


def _within(each: NonNegative | None, limit: NonNegative | UnsetType, what: str) -> tuple[PartState, str]:
    if isinstance(limit, UnsetType):
        return "not asked for", f"no limit of {what}"
    if each is None:
        return "not enough evidence", f"{what}: unavailable, and at most {limit:g} are asked for"
    return ("met" if each <= limit else "not met"), f"{each:g} {what}, and at most {limit:g} are asked for"
