"""Files that people write: YAML 1.2, TOML and JSON come to the same values, and every fault has its line."""

import json

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from labadapt.adapters.documents import DEEPEST, quoted, read_document
from labadapt.schema.problems import CODES, Refusal


def value_of(text, file="file.yaml"):
    return read_document(text.encode(), file).value


def problem_of(data, file="file.yaml"):
    with pytest.raises(Refusal) as caught:
        read_document(data if isinstance(data, bytes) else data.encode(), file)
    (problem,) = caught.value.problems
    assert problem.code in CODES
    assert problem.where.file == file
    return problem


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("~", None),
        ("null", None),
        ("", None),
        ("12", 12),
        ("012", 12),
        ("-3", -3),
        ("1_000", "1_000"),
        ("0o14", 12),
        ("0x1F", 31),
        ("0b11", "0b11"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1:30", "1:30"),
        ("2026-11-30", "2026-11-30"),
        ("2026-11-30T00:00:00Z", "2026-11-30T00:00:00Z"),
        ("=", "="),
        ("'12'", "12"),
        ('"\\u00e9"', "é"),
        ("!!str 12", "12"),
        ("!!float 12", 12.0),
        ("! 12", "12"),
        ("|\n  two\n  lines", "two\nlines\n"),
    ],
)
def test_yaml_scalars_follow_the_core_schema_of_1_2(text, value):
    found = value_of(f"key: {text}\n")["key"]
    assert (found, type(found)) == (value, type(value))


def test_keys_are_text_as_written():
    assert value_of("01: a\nno: b\n1.0: c\n~: d\n") == {"01": "a", "no": "b", "1.0": "c", "~": "d"}


def test_aliases_are_followed():
    assert value_of("a: &x {n: 1}\nb: *x\n") == {"a": {"n": 1}, "b": {"n": 1}}


SAME = {"schemaVersion": 1, "cases": {"a": {"holdout": True, "list": [1, 2.5, "x"]}}}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("c.yaml", "schemaVersion: 1\ncases:\n  a:\n    holdout: true\n    list: [1, 2.5, x]\n"),
        ("c.json", json.dumps(SAME, indent=1)),
        ("c.toml", 'schemaVersion = 1\n[cases.a]\nholdout = true\nlist = [1, 2.5, "x"]\n'),
    ],
)
def test_three_languages_one_value(file, text):
    assert value_of(text, file) == SAME
    assert value_of(text, "no suffix") == SAME
    assert value_of("\ufeff" + text, file) == SAME


@pytest.mark.parametrize(
    ("file", "text", "pointer", "line"),
    [
        ("c.yaml", "a: 1\nb:\n  - x\n  - y: 2\n", "/b/1/y", 4),
        ("c.json", '{"a": 1,\n "b": [1,\n  {"c/d": 2}]}', "/b/1/c~1d", 3),
        ("c.json", '{"a": [1,\n  "]",\n  2]}', "/a/2", 3),
        ("c.yaml", "a: &x\n  n: 1\nb: *x\n", "/b/n", 3),
        ("c.yaml", "a: 1\n", "/missing/part", 1),
        ("c.toml", "a = 1\n", "/a", 1),
    ],
)
def test_every_part_knows_its_line(file, text, pointer, line):
    assert read_document(text.encode(), file).where(pointer).line == line


@pytest.mark.parametrize(
    ("file", "data", "code", "line"),
    [
        ("c.yaml", "a: 1\nb: 2\na: 3\n", "DUPLICATE_KEY", 3),
        ("c.json", '{"a": 1,\n"b": {},\n"a": 2}', "DUPLICATE_KEY", 3),
        ("c.toml", "a = 1\na = 2\n", "NOT_YAML", 2),
        ("c.yaml", "a: [1,\n  2\nb: 3\n", "NOT_YAML", 3),
        ("c.yaml", "a: b: c\n", "NOT_YAML", 1),
        ("c.yaml", "a:\n\t- 1\n", "NOT_YAML", 2),
        ("c.json", '{"a": 1,\n  oops}', "NOT_JSON", 2),
        ("c.toml", "a = 1\nb = \n", "NOT_YAML", 2),
        ("c.yaml", "a: .nan\n", "OUT_OF_RANGE", 1),
        ("c.yaml", "a:\n  b: 99999999999999999999\n", "OUT_OF_RANGE", 2),
        ("c.json", '{"a": Infinity}', "OUT_OF_RANGE", None),
        ("c.json", '{\n"a": 1e999}', "OUT_OF_RANGE", 2),
        ("c.toml", "a = inf\n", "OUT_OF_RANGE", 1),
        ("c.toml", "a = 2026-11-30\n", "WRONG_TYPE", 1),
        ("c.yaml", "? [a]\n: 1\n", "WRONG_TYPE", 1),
        ("c.yaml", "a: !!python/name:os.system x\n", "NOT_YAML", 1),
        ("c.yaml", "a: !!binary aGk=\n", "NOT_YAML", 1),
        ("c.yaml", "a: !mine {}\n", "NOT_YAML", 1),
        ("c.yaml", "a: !!int x\n", "NOT_YAML", 1),
        ("c.yaml", "b: &x {n: 1}\na:\n  <<: *x\n", "NOT_YAML", 3),
        ("c.yaml", "a: *nothing\n", "NOT_YAML", 1),
        ("c.yaml", "a: &x [*x]\n", "NOT_YAML", 1),
        ("c.yaml", "--- 1\n--- 2\n", "NOT_YAML", 2),
        ("c.yaml", "%YAML 1.1\n---\na: \x01\n", "NOT_YAML", None),
        ("c.yaml", b"a: 1\nb: \xff\n", "BAD_ENCODING", 2),
        ("c.yaml", "a: 1".encode("utf-16"), "BAD_ENCODING", 1),
        ("c.json", '{"a":\n"\\ud800"}', "BAD_ENCODING", 1),
        ("c.yaml", "[" * 100 + "]" * 100, "TOO_DEEP", 1),
        ("c.json", "[" * 100 + "]" * 100, "TOO_DEEP", 1),
        ("c.json", "[" * 100_000, "TOO_DEEP", None),
        ("c.toml", "a = " + "[" * 100 + "]" * 100, "TOO_DEEP", None),
        ("c.json", "1" * 5000, "OUT_OF_RANGE", None),
        ("c.toml", "a = " + "1" * 5000, "OUT_OF_RANGE", None),
    ],
)
def test_faults_name_their_line(file, data, code, line):
    problem = problem_of(data, file)
    assert (problem.code, problem.where.line) == (code, line)


def test_a_bomb_of_aliases_does_not_go_off():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert problem_of("\n".join(lines)).code == "TOO_LARGE"


def test_a_file_that_nobody_reviews_is_too_large():
    assert problem_of(b" " * (16 * 1024**2 + 1)).code == "TOO_LARGE"


def test_nesting_as_deep_as_permitted_is_read():
    assert value_of("[" * DEEPEST + "]" * DEEPEST, "c.json")


PIECES = st.sampled_from(
    [
        "a",
        ":",
        " ",
        "\n",
        "  ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ",",
        '"',
        "'",
        "&x",
        "*x",
        "!!int",
        "!",
        ">",
        "%",
        "#",
        "?",
        "\\",
        "\t",
        "1",
        "0x",
        ".inf",
        "---",
        "...",
        "=",
        "<<",
        "\u2028",
        "\x00",
        "\ud7ff",
        "@",
        "`",
        "~",
    ]
)


def codes_of(data, file):
    """The codes of the refusal; none where there is a value, which must be one that JSON can hold."""
    try:
        document = read_document(data, file)
    except Refusal as refusal:
        return [problem.code for problem in refusal.problems]
    msgspec.json.encode(document.value)
    return []


@settings(max_examples=400, deadline=None)
@given(text=st.lists(PIECES, max_size=25).map("".join), file=st.sampled_from(["f.yaml", "f.json", "f.toml", "f"]))
@example("!<", "f.yaml")
@example('"\\U00110000"', "f.yaml")
@example('"\\xZZ"', "f.yaml")
@example("%YAML 9999999999999999999999.1\n--- a", "f.yaml")
@example("%TAG ! \n--- a", "f.yaml")
@example("!%zz a", "f.yaml")
@example("&", "f.yaml")
def test_any_text_gives_a_value_or_a_refusal(text, file):
    assert set(codes_of(text.encode(), file)) <= set(CODES)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=60), file=st.sampled_from(["f.yaml", "f.json", "f.toml", "f"]))
def test_any_bytes_give_a_value_or_a_refusal(data, file):
    assert set(codes_of(data, file)) <= set(CODES)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(value=VALUES)
def test_json_reads_back(value):
    assert read_document(json.dumps(value, indent=1).encode("utf-8", "surrogatepass"), "f.json").value == value


@settings(max_examples=300, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
@example('\x85\u2028\ufeff\x7f\U0001f600\t"\\')
def test_a_quoted_text_reads_back_as_yaml(text):
    assert value_of(f"key: {quoted(text)}\n") == {"key": text}
    assert value_of(f"{quoted(text)}: 1\n") == {text: 1}
