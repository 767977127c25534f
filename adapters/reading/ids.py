"""Trace and span ids in every writing that exporters use, decided by length, always against 16 and 8 bytes.

Source of the rule: OTLP specification (ids are 16 and 8 bytes; hex in OTLP JSON), and exports in the field that hold
base64 of the bytes, base64 of the hex text, and hex text that somebody took for base64 and decoded.
"""

import base64
import binascii

TRACE_BYTES = 16
SPAN_BYTES = 8
_HEX = frozenset("0123456789abcdef")


def from_bytes(raw: bytes, size: int) -> str | None:
    """Lower-case hex of an id of `size` bytes; None when it is none.

    Bytes of one and a half times the size are hex text that was base64-decoded by mistake: encoding them again
    gives the hex back.
    """
    if len(raw) == size:
        return raw.hex()
    if len(raw) * 2 == size * 3:
        text = base64.b64encode(raw).decode("ascii").lower()
        return text if _HEX.issuperset(text) and any(raw) else None  # zeros would be "AAAA…", and are no id
    if len(raw) == size * 2:
        return _hex_text(raw)
    return None


def from_text(text: str, size: int) -> str | None:
    """Lower-case hex of an id of `size` bytes written as text (hex, ``0x`` hex, base64); None when it is none."""
    if len(text) == size * 2:
        try:
            raw = bytes.fromhex(text)  # steps over blanks, and then yields fewer bytes
        except ValueError:
            return None
        return raw.hex() if len(raw) == size else None
    if text[:2] in {"0x", "0X"}:
        return from_text(text[2:], size) if len(text) == size * 2 + 2 else None
    return _from_base64(text, size)


def _from_base64(text: str, size: int) -> str | None:
    if len(text) % 4 and _HEX.issuperset(text.lower()):
        return None  # hex of another length, sooner than base64 without its padding
    try:
        raw = base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    return from_bytes(raw, size)


def _hex_text(raw: bytes) -> str | None:
    try:
        text = raw.decode("ascii").lower()
    except UnicodeDecodeError:
        return None
    return text if _HEX.issuperset(text) else None


def is_zero(identifier: str) -> bool:
    """Whether an id is all zero, which means that there is none."""
    return not identifier.strip("0")
