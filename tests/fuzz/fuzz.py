"""Fuzzing guided by coverage: ``make fuzz SECONDS=600``, or ``python tests/fuzz/fuzz.py SECONDS [SOURCE…]``.

Each source gets its share of the time, in a process of its own that begins with the samples and the kept finds. What
atheris makes of bytes is mixed with the ways in which exports break (`mutations.py`). A find is written beside the
script as ``find-SOURCE-…``: mend it, and move it to ``corpus/SOURCE/CODE-what-it-was``, where a test replays it.
"""

import hashlib
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent
MOST_MEMORY = 2 * 2**30
SLOWEST = 20  # seconds for one input; instrumented code is several times slower
LONGEST = 200_000


def main(arguments: list[str]) -> int:
    """Fuzz for as long as is asked; 1 where something was found."""
    if arguments[:1] == ["--one"]:
        _one(arguments[1], int(arguments[2]), Path(arguments[3]))
    seconds, chosen = int(arguments[0]), arguments[1:]
    sys.path.insert(0, str(HERE))
    import target

    sources = chosen or list(target.OWN)
    share = max(1, seconds // len(sources))
    found = [name for name in sources if not _fuzzed(name, share)]
    print(f"fuzzed {len(sources)} sources, {share} s each; something was found in: {', '.join(found) or 'none'}")
    return 1 if found else 0


def _fuzzed(source: str, seconds: int) -> bool:
    """Whether a source held for some seconds."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(HERE / "fuzz.py"), "--one", source, str(seconds), folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    lines = done.stdout.splitlines()
    last = next((line for line in reversed(lines) if "cov:" in line), "nothing was measured")
    print(f"{source}: {' '.join(last.split()[:10])}", flush=True)
    if done.returncode != 0:
        print("\n".join([line for line in lines if line[:1] != "#"][-40:]))
    return done.returncode == 0


def _one(source: str, seconds: int, folder: Path) -> None:
    """Fuzz one source; never returns."""
    import atheris

    with atheris.instrument_imports(include=["labadapt"], enable_loader_override=False):
        sys.path.insert(0, str(HERE))
        import mutations
        import target

        for name in target.OWN:  # loaded now, so that their branches count
            target.sources()[name].claims(b"{")

    kept = [path for path in (HERE / "corpus" / source).glob("*") if path.is_file()]
    for path in [*target.seeds()[source], *kept]:
        data = path.read_bytes()
        (folder / hashlib.sha256(data).hexdigest()).write_bytes(data)

    names = sorted(mutations.MUTATIONS)

    def mutate(data: bytes, largest: int, seed: int) -> bytes:
        random = Random(seed)  # noqa: S311 - reproducible, not secret
        if random.random() < 0.4:
            return atheris.Mutate(data, largest)
        chosen = random.choices(names, k=random.choice((1, 1, 2, 3)))
        return mutations.mutated(data, chosen, seed)[:largest]

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY * 2, MOST_MEMORY * 2))
    options = [
        f"-max_total_time={seconds}",
        f"-timeout={SLOWEST}",
        f"-rss_limit_mb={MOST_MEMORY // 2**20}",
        f"-max_len={LONGEST}",
        f"-artifact_prefix={HERE}/find-{source}-",
        "-print_final_stats=1",
    ]
    atheris.Setup(
        [sys.argv[0], str(folder), *options], lambda data: target.examine(source, data), custom_mutator=mutate
    )
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
