"""The sources that can be named on the command line, and how one is chosen for a file."""

from collections.abc import Callable

from labadapt.adapters.choice import choose
from labadapt.adapters.registry import sources
from labadapt.adapters.span import Input, Limits, Source
from labadapt.cli.main import COMMANDS


def named_sources() -> dict[str, Source]:
    """The admitted sources by name, without one that takes the name of a command: it could never be called."""
    return {name: source for name, source in sources().items() if name not in COMMANDS}


def by_content(limits: Limits) -> Callable[[Input], Source]:
    """What asks every source about the first bytes of each input."""
    among = list(named_sources().values())
    return lambda item: choose(item, among, limits)
