"""Which runs go into which bundle file, and the bytes of each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from labadapt import __version__
from labadapt.schema.codec import bundle_parts, encode_run
from labadapt.schema.model import Generator, Run

SHARD_RUNS = 200  # the workbench's limits (docs/format.md, Limits)
SHARD_BYTES = 2_000_000
_FRAME_BYTES = 200  # more than what stands around the runs of a bundle


def bundle_bytes(runs: Iterable[Run]) -> Iterator[bytes]:
    """One bundle, in parts."""
    return _framed(encode_run(run) for run in runs)


def trial_files(runs: Iterable[Run]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """One bundle for each repetition of a case and policy; runs come in the order of their recorded start.

    The first bundle holds the first repetition of every pair, the second the second, and so on. Names are counted, so
    that nothing of the input stands in a path.
    """
    trials: list[list[Run]] = []
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for run in runs:
        pair = (run.case_id, run.policy)
        if seen[pair] == len(trials):
            trials.append([])
        trials[seen[pair]].append(run)
        seen[pair] += 1
    return ((f"trial-{number:04}.json", bundle_bytes(trial)) for number, trial in enumerate(trials, 1))


@dataclass(frozen=True, slots=True)
class Packed:
    """One bundle of several: its file, its parts, how many runs it holds, and the case and policy of both ends."""

    file: str
    parts: Iterator[bytes]
    runs: int
    first: tuple[str, str]
    last: tuple[str, str]


def shards(runs: Iterable[Run]) -> Iterator[Packed]:
    """Bundles that each fit the workbench's limits, where a single run does; names are counted."""
    encoded = (((run.case_id, run.policy), encode_run(run)) for run in runs)
    for number, shard in enumerate(_shards(encoded), 1):
        parts = _framed(run for _, run in shard)
        yield Packed(f"bundle-{number:04}.json", parts, len(shard), shard[0][0], shard[-1][0])


_Encoded: TypeAlias = tuple[tuple[str, str], bytes]


def _shards(encoded: Iterable[_Encoded]) -> Iterator[list[_Encoded]]:
    shard: list[_Encoded] = []
    size = _FRAME_BYTES
    for pair, run in encoded:
        if shard and (len(shard) == SHARD_RUNS or size + len(run) + 2 > SHARD_BYTES):
            yield shard
            shard, size = [], _FRAME_BYTES
        shard.append((pair, run))
        size += len(run) + 2
    if shard:
        yield shard


def _framed(encoded: Iterable[bytes]) -> Iterator[bytes]:
    return bundle_parts(encoded, Generator(name="labadapt", version=__version__))
