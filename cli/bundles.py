"""Which runs go into which bundle file, and the bytes of each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

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


def shard_files(runs: Iterable[Run]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Bundles that each fit the workbench's limits, where a single run does; names are counted."""
    shards = _shards(encode_run(run) for run in runs)
    return ((f"bundle-{number:04}.json", _framed(shard)) for number, shard in enumerate(shards, 1))


def _shards(encoded: Iterable[bytes]) -> Iterator[list[bytes]]:
    shard: list[bytes] = []
    size = _FRAME_BYTES
    for run in encoded:
        if shard and (len(shard) == SHARD_RUNS or size + len(run) + 2 > SHARD_BYTES):
            yield shard
            shard, size = [], _FRAME_BYTES
        shard.append(run)
        size += len(run) + 2
    if shard:
        yield shard


def _framed(encoded: Iterable[bytes]) -> Iterator[bytes]:
    return bundle_parts(encoded, Generator(name="labadapt", version=__version__))
