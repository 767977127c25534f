"""What a terminal would obey is shown, never sent."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labadapt.cli.escaping import printable, printable_json, printable_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b31m", "\\x9b31m"),
        ("a\x00b\x7f", "a\\x00b\\x7f"),
        ("two\nlines\r\tand a tab", "two\\nlines\\r\\tand a tab"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("lone \udc80", "lone \\udc80"),
        ("line\u2028separator", "line\\u2028separator"),
        ("é 日本 🙂", "é 日本 🙂"),
    ],
)
def test_control_characters_are_written_as_their_escapes(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_nothing_printable_is_obeyed(text: str) -> None:
    assert not {unicodedata.category(character) for character in printable(text)} & {"Cc", "Cs", "Zl", "Zp"}


def test_lines_stay_lines() -> None:
    assert printable_lines("a\n\x1bb\n") == "a\n\\x1bb\n"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_json_keeps_its_value(text: str) -> None:
    document = json.dumps({"x": text}, ensure_ascii=False)
    assert json.loads(printable_json(document)) == {"x": text}
    assert "\x9b" not in printable_json(document)
