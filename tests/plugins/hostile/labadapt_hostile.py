"""Values that are no plug-ins, and plug-ins that take names which are not theirs."""

from labadapt.adapters.span import Source

TEXT = "a source, it says"
NUMBER = 7
IMPOSTOR = Source(name="otlp", summary="\x1b[2JNot the real one.", claims=lambda _: 100, decode=lambda *_: iter(()))
SHADOW = Source(name="check", summary="Takes a command's name.", claims=lambda _: 100, decode=lambda *_: iter(()))
