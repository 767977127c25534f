"""``labadapt convert``: the source is recognised from the content."""

from labadapt.cli.commands.source import conversion_command

_SUMMARY = "Convert an export whose format is recognised from its content."

command = conversion_command(
    "convert",
    None,
    f"{_SUMMARY}\n\n\b\nExample:\n  labadapt convert traces.pb > bundle.json",
    _SUMMARY,
)
