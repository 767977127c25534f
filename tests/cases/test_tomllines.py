"""On which line of a TOML file each of its keys stands."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st
from labadapt.adapters.tomllines import toml_lines

TRAPS = '''a = 1 # [x]
b.c = """
x = 1
[no]
"""   # c = 3
"q.r" = [
 1, { k = "=" },
]

[[cells]]
loop = "a"
[[cells]]
loop = 'b#'
[cells.sub."x/y"]
z = 1
[t]   # after
s = [ {a = 1, b = [
]} ]
u = \'\'\'
v = 1\'\'\'
w = 3'''


def test_lines_of_keys_and_tables() -> None:
    assert toml_lines(TRAPS) == {
        "/a": 1,
        "/b": 2,
        "/b/c": 2,
        "/q.r": 6,
        "/cells/0": 10,
        "/cells/0/loop": 11,
        "/cells/1": 12,
        "/cells/1/loop": 13,
        "/cells/1/sub/x~1y": 14,
        "/cells/1/sub/x~1y/z": 15,
        "/t": 16,
        "/t/s": 17,
        "/t/u": 19,
        "/t/w": 21,
    }


def test_no_key_has_no_line() -> None:
    assert toml_lines("") == {}
    assert toml_lines("# a = 1\n\n") == {}


VALUES = st.sampled_from(["1", '"x = 1"', "'#'", '"""\n[a]\n"""', "[\n1,\n]", "{ a = 1 }", "'''\nb = 2'''"])


@given(st.lists(st.tuples(VALUES, st.integers(0, 2)), max_size=12))
def test_each_key_has_the_line_that_it_was_written_on(entries) -> None:
    text, expected = "", {}
    for number, (value, blanks) in enumerate(entries):
        text += "\n" * blanks
        expected[f"/k{number}"] = text.count("\n") + 1
        text += f"k{number} = {value}  # k = [\n"
    tomllib.loads(text)
    assert toml_lines(text) == expected
