"""Values that are no plug-ins, and plug-ins that take names which are not theirs."""

from collections.abc import Iterator

from labadapt.adapters.span import Input, Reading, Source, Span


def raising(_given: Input, _reading: Reading) -> Iterator[Span]:
    """Fails on its first span, as a parser without a check does."""
    raise KeyError("\x1b[31mspans")
    yield


TEXT = "a source, it says"
NUMBER = 7
IMPOSTOR = Source(name="otlp", summary="\x1b[2JNot the real one.", claims=lambda _: 100, decode=lambda *_: iter(()))
SHADOW = Source(name="check", summary="Takes a command's name.", claims=lambda _: 100, decode=lambda *_: iter(()))
RAISING = Source(name="raising", summary="Fails when it reads.", claims=lambda _: 0, decode=raising)
