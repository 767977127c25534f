"""The one place where text that came from the input is made safe to print.

A span's name may hold an escape sequence that moves the cursor, or a bidirectional control that shows a word backwards
(CVE-2021-42574). What a terminal would obey is shown as its escape instead.
"""

import re

# C0, DEL and C1; line and paragraph separators; bidirectional controls; the byte order mark; lone surrogates.
_OBEYED = "\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_OBEYED_PATTERN = re.compile(f"[{_OBEYED}]")
_OBEYED_BUT_NEWLINE = re.compile(f"(?!\n)[{_OBEYED}]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """One line of text with every control character written as its escape, such as ``\\x1b`` or ``\\u202e``."""
    return _OBEYED_PATTERN.sub(_escaped, text)


def printable_json(text: str) -> str:
    """JSON text whose strings hold no character that a terminal obeys. The value stays the same; newlines stay."""
    return _OBEYED_BUT_NEWLINE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def printable_lines(text: str) -> str:
    """Text of several lines with every control character but the newlines escaped."""
    return _OBEYED_BUT_NEWLINE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
