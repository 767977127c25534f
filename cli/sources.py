"""The sources that can be named on the command line, and how one is chosen for a file."""

import dataclasses
from collections.abc import Callable, Iterator

from labadapt.adapters.choice import choose
from labadapt.adapters.registry import Origin, sources
from labadapt.adapters.span import Input, Limits, Reading, Source, Span
from labadapt.cli.main import COMMANDS
from labadapt.schema.problems import Problem, Refusal, Where


def named_sources() -> dict[str, Source]:
    """The admitted sources by name, without one that takes the name of a command: it could never be called."""
    return {
        entry.name: _guarded(entry.value, entry.origin)
        for entry in sources().entries
        if entry.value is not None and entry.name not in COMMANDS
    }


def _guarded(source: Source, origin: Origin) -> Source:
    """A stranger's source whose own defects are told as its own, and not as one of labadapt."""
    if origin.distribution == "labadapt":
        return source

    def decode(item: Input, reading: Reading) -> Iterator[Span]:
        try:
            yield from source.decode(item, reading)
        except Refusal:
            raise
        except Exception as error:
            raise Refusal(_defect(source, origin, item, error)) from error

    return dataclasses.replace(source, decode=decode)


def _defect(source: Source, origin: Origin, item: Input, error: Exception) -> Problem:
    return Problem(
        code="BAD_PLUGIN",
        message=f"the source {source.name!r} of {origin.distribution} {origin.version} failed: "
        f"{type(error).__name__}: {error}",
        where=Where(file=item.name),
        hint=f"Report it to the authors of {origin.distribution}; --debug shows where it happened.",
    )


def by_content(limits: Limits) -> Callable[[Input], Source]:
    """What asks every source about the first bytes of each input."""
    among = list(named_sources().values())
    return lambda item: choose(item, among, limits)
