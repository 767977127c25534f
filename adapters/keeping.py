"""Where observations wait until their traces are whole, and runs until all are there: a protocol, and it in memory.

Whoever converts may give another place, such as one that moves to disk what would fill the memory. The same is handed
back in the same order from any of them.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

import msgspec
from labadapt.adapters.observation import Observation
from labadapt.adapters.sequence import Sequenced
from labadapt.schema.model import Run

Traces: TypeAlias = dict[str, list[Observation]]
RunKey: TypeAlias = tuple[str, str, int, str, str]


class Made(msgspec.Struct, frozen=True):
    """A run, and of its spans only what is told of them; the spans themselves are let go."""

    run: Run
    sequenced: Sequenced
    trace_id: str
    span_id: str
    spans: int

    @property
    def key(self) -> RunKey:
        """What runs are ordered by: case id, policy, start (nanoseconds since 1970), trace id, id of the first span."""
        return (self.run.case_id, self.run.policy, self.sequenced.start_ns, self.trace_id, self.span_id)


class Observations(Protocol):
    """Observations, by the trace that they belong to."""

    def add(self, observation: Observation) -> None:
        """Keep one."""

    def traces(self) -> Iterator[tuple[str, list[Observation]]]:
        """Each trace with all its observations, in the order of the trace ids; what was handed out is let go."""
        ...


class Runs(Protocol):
    """Runs, in the order of `Made.key`."""

    def add(self, made: Made) -> None:
        """Keep one."""

    def ordered(self) -> Iterator[tuple[int, Made]]:
        """Every run in order, with a number by which it can be asked for."""
        ...

    def chosen(self, numbers: Sequence[int]) -> Sequence[Run]:
        """The runs of these numbers, in this order."""
        ...


class Keeping(Protocol):
    """Where both are kept."""

    @property
    def observations(self) -> Observations:
        """The place of the observations."""
        ...

    @property
    def runs(self) -> Runs:
        """The place of the runs."""
        ...


class HeldObservations:
    """Observations in memory."""

    def __init__(self, by_trace: Traces | None = None) -> None:
        """Nothing is held yet, or what was read before."""
        self.by_trace: Traces = {} if by_trace is None else by_trace

    def add(self, observation: Observation) -> None:
        """Keep one."""
        same = self.by_trace.get(observation.trace_id)
        if same is None:
            self.by_trace[observation.trace_id] = [observation]
        else:
            same.append(observation)

    def traces(self) -> Iterator[tuple[str, list[Observation]]]:
        """Each trace in the order of the ids."""
        for trace_id in sorted(self.by_trace):
            yield trace_id, self.by_trace.pop(trace_id)


class HeldRuns:
    """Runs in memory."""

    def __init__(self) -> None:
        """Nothing is held yet."""
        self._made: list[Made] = []

    def add(self, made: Made) -> None:
        """Keep one."""
        self._made.append(made)

    def ordered(self) -> Iterator[tuple[int, Made]]:
        """Every run in order, with its number."""
        self._made.sort(key=_key)
        return enumerate(self._made)

    def chosen(self, numbers: Sequence[int]) -> list[Run]:
        """The runs of these numbers."""
        return [self._made[number].run for number in numbers]


class Held:
    """Both in memory."""

    def __init__(self, traces: Traces | None = None) -> None:
        """Nothing is held yet, or observations that were read before."""
        self.observations = HeldObservations(traces)
        self.runs = HeldRuns()


def _key(made: Made) -> RunKey:
    return made.key
