"""Latency, tokens and cost over runs: what is missing is counted as missing, and what differs is never added up."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Literal, Protocol

from labadapt.engine.values import plain
from labadapt.schema.model import Milliseconds, Mode, RunUsage, Usage
from labadapt.schema.reliability import Amount, Consumption, Cost, Duration, UsageReport
from msgspec import UNSET, UnsetType


class Used(Protocol):
    """A run result or a trial: what tells its mode, its duration and its usage."""

    @property
    def mode(self) -> Mode | None:
        """The mode; None where it has none, as in a table of outcomes."""
        ...

    @property
    def duration_ms(self) -> Milliseconds | UnsetType:
        """The duration."""
        ...

    @property
    def usage(self) -> RunUsage | UnsetType:
        """Tokens and cost."""
        ...


def usage_of(runs: Iterable[Used]) -> UsageReport | None:
    """Latency by mode, and what target and judge used, each apart. None where no run has a mode."""
    known = [run for run in runs if run.mode is not None]
    if not known:
        return None
    targets = [UNSET if isinstance(run.usage, UnsetType) else run.usage for run in known]
    judges = [UNSET if isinstance(usage, UnsetType) else usage.judge for usage in targets]
    return UsageReport(
        runs=len(known),
        durations=_durations(known),
        target=consumption(targets),
        judge=None if all(judge is UNSET for judge in judges) else consumption(judges),
    )


def _durations(runs: Iterable[Used]) -> list[Duration]:
    by_mode: dict[Mode, list[Milliseconds | UnsetType]] = defaultdict(list)
    for run in runs:
        if run.mode is not None:
            by_mode[run.mode].append(run.duration_ms)
    return [_duration(mode, by_mode[mode]) for mode in sorted(by_mode)]


def _duration(mode: Mode, durations: Sequence[Milliseconds | UnsetType]) -> Duration:
    known = sorted(one for one in durations if not isinstance(one, UnsetType))
    return Duration(
        mode=mode,
        runs=len(known),
        unavailable=len(durations) - len(known),
        least=plain(known[0]) if known else None,
        median=nearest_rank(known, 50),
        p95=nearest_rank(known, 95),
        most=plain(known[-1]) if known else None,
    )


def nearest_rank(ordered: Sequence[Milliseconds], percent: int) -> Milliseconds | None:
    """The smallest observed value that at least `percent` of the values do not exceed; None of no values.

    Type 1 of Hyndman and Fan 1996, The American Statistician 50:361-365: never a value that no run had.
    """
    rank = -(-len(ordered) * percent // 100)
    return plain(ordered[rank - 1]) if ordered else None


def consumption(usages: Sequence[Usage | UnsetType]) -> Consumption:
    """What was used, over the runs that recorded it; a run without usage counts as unavailable."""
    names = Counter(
        usage.model for usage in usages if not isinstance(usage, UnsetType) and isinstance(usage.model, str)
    )
    return Consumption(
        input_tokens=_amount(usages, "input_tokens"),
        cached_input_tokens=_amount(usages, "cached_input_tokens"),
        output_tokens=_amount(usages, "output_tokens"),
        reasoning_tokens=_amount(usages, "reasoning_tokens"),
        model_calls=_amount(usages, "model_calls"),
        cost_usd=_cost(usages),
        models=dict(sorted(names.items())),
    )


def _amount(usages: Sequence[Usage | UnsetType], name: str) -> Amount:
    known = [value for usage in usages if (value := _recorded(usage, name)) is not None]
    return Amount(runs=len(known), unavailable=len(usages) - len(known), total=sum(known) if known else None)


def _recorded(usage: Usage | UnsetType, name: str) -> Any:
    """The recorded figure; None where it is absent or null."""
    value = UNSET if isinstance(usage, UnsetType) else getattr(usage, name)
    return None if value is UNSET else value


def _cost(usages: Sequence[Usage | UnsetType]) -> Cost:
    by_source: dict[Literal["billed", "estimated"] | None, list[float]] = defaultdict(list)
    for usage in usages:
        if not isinstance(usage, UnsetType) and not isinstance(usage.cost_usd, UnsetType | None):
            source = None if isinstance(usage.cost_source, UnsetType) else usage.cost_source
            by_source[source].append(usage.cost_usd)
    billed, estimated, unstated = by_source["billed"], by_source["estimated"], by_source[None]
    return Cost(
        billed=decimal_sum(billed),
        billed_runs=len(billed),
        estimated=decimal_sum(estimated),
        estimated_runs=len(estimated),
        unstated=decimal_sum(unstated),
        unstated_runs=len(unstated),
        unavailable=len(usages) - len(billed) - len(estimated) - len(unstated),
    )


def decimal_sum(amounts: Sequence[float]) -> float | None:
    """The sum of amounts as they are written in decimal, so that 0.1 and 0.2 are 0.3; the same in every order."""
    if not amounts:
        return None
    total: float = plain(float(sum(Fraction(repr(amount)) for amount in amounts)))
    return total
