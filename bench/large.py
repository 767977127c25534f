"""Whether memory stays bounded: a synthetic export of any size, converted by the command itself.

    python bench/large.py [--size 2G] [--memory 128M] [--scattered]

The workload is that of bench/convert.py, as protobuf, or with ``--scattered`` as many traces open at once: every
trace's spans are spread over 5,000 traces' worth of the file. Peak memory is that of the command's process.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from convert import PER_GROUP, SPANS, as_protobuf, spans_of

UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}
OPEN = 5_000  # traces of a scattered export that are open at once


def in_bytes(text: str) -> int:
    return int(text[:-1]) * UNITS[text[-1].upper()] if text[-1].upper() in UNITS else int(text)


def write(path: Path, size: int, *, scattered: bool) -> int:
    """Write at least `size` bytes; returns how many spans."""
    draw = random.Random(20_000)  # noqa: S311 - the workload is the same on every run, and no secret
    traces, written = 0, 0
    each = OPEN if scattered else PER_GROUP
    with path.open("wb") as stream:
        while written < size:
            spans = []
            for trace in range(traces, traces + each):
                trace_id = draw.randbytes(16)
                spans += [(trace_id, span) for span in spans_of(trace, draw)]
            traces += each
            if scattered:
                draw.shuffle(spans)
            for first in range(0, len(spans), PER_GROUP * SPANS):
                written += stream.write(as_protobuf(spans[first : first + PER_GROUP * SPANS]))
    return traces * SPANS


def in_child(*command: str) -> tuple[int, float, int]:
    """Exit status, seconds, and peak memory in bytes of a command."""
    began = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ)
    _, status, used = os.wait4(process, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    return os.waitstatus_to_exitcode(status), time.perf_counter() - began, used.ru_maxrss * unit


def report(folder: Path, size: int, memory: str, *, scattered: bool) -> None:
    export, bundle = folder / "export.pb", folder / "bundle.json"
    made = [sys.executable, __file__, "--write", str(export), "--size", str(size)]
    in_child(*made, *(["--scattered"] if scattered else []))  # apart: a child's peak counts from what its parent held
    command = [sys.executable, "-m", "labadapt", "convert", str(export), "--memory", memory, "--out", str(bundle)]
    status, seconds, peak = in_child(*command, "--debug")
    read = export.stat().st_size
    spans = int((folder / "export.pb.spans").read_text())
    print(
        f"{'scattered, ' if scattered else ''}{read / 1e6:,.0f} MB, {spans:,} spans, --memory {memory}: exit {status}"
    )
    print(f"{seconds:.1f} s, {read / seconds / 1e6:.1f} MB/s, {spans / seconds:,.0f} spans/s")
    print(f"peak {peak / 1e6:.0f} MB; bundle {bundle.stat().st_size / 1e6:,.0f} MB")
    if status:
        raise SystemExit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=in_bytes, default=in_bytes("2G"))
    parser.add_argument("--memory", default="128M")
    parser.add_argument("--scattered", action="store_true")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        spans = write(given.write, given.size, scattered=given.scattered)
        given.write.with_name(given.write.name + ".spans").write_text(str(spans))
        return
    with tempfile.TemporaryDirectory() as folder:
        report(Path(folder), given.size, given.memory, scattered=given.scattered)


if __name__ == "__main__":
    main()
