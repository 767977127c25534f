"""Tables of outcomes: CSV and JSON Lines to the same trials, and each fault with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labadapt.engine.outcomes import read_outcomes
from labadapt.engine.trials import Trial
from labadapt.schema.model import Status
from labadapt.schema.problems import Refusal

CSV = b"""\
case,trial,outcome,policy,infrastructure,target
quote,1,pass,v1,healthy,completed
quote,2,fail,v1,,
"refund, late",1,inconclusive,,failed,
"""
LINES = b"""\
{"case": "quote", "trial": 1, "outcome": "pass", "policy": "v1", "infrastructure": "healthy", "target": "completed"}
{"case": "quote", "trial": "2", "outcome": false, "policy": "v1"}

{"case": "refund, late", "trial": 1, "outcome": "inconclusive", "policy": null, "infrastructure": "failed"}
"""
TRIALS = [
    Trial("quote", "v1", "1", "pass", Status()),
    Trial("quote", "v1", "2", "fail", None),
    Trial("refund, late", None, "1", "inconclusive", Status(infrastructure="failed", target="unknown")),
]


@pytest.mark.parametrize("table", [CSV, CSV.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + CSV, LINES])
def test_both_forms_give_the_same_trials(table: bytes) -> None:
    assert read_outcomes(table) == TRIALS


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        (b"pass", "pass"),
        (b"true", "pass"),
        (b"1", "pass"),
        (b"1.0", "pass"),
        (b"fail", "fail"),
        (b"false", "fail"),
        (b"0", "fail"),
        (b"0.0", "fail"),
        (b"inconclusive", "inconclusive"),
    ],
)
def test_the_words_of_outcomes(word: bytes, outcome: str) -> None:
    [trial] = read_outcomes(b"case,trial,outcome\na,1," + word)
    assert trial.outcome == outcome
    if word not in (b"pass", b"fail", b"inconclusive"):
        [trial] = read_outcomes(b'{"case":"a","trial":1,"outcome":' + word + b"}")
        assert trial.outcome == outcome


HEAD = b"case,trial,outcome\n"


@pytest.mark.parametrize(
    ("table", "code", "line", "message"),
    [
        (b"", "NOT_OUTCOMES", None, "the table has no trial"),
        (HEAD, "NOT_OUTCOMES", None, "the table has no trial"),
        (b"case,trial\na,1\n", "NOT_OUTCOMES", 1, "the header names no column 'outcome'"),
        (b"case;trial;outcome\na;1;pass\n", "NOT_OUTCOMES", 1, "the header names no column 'case'"),
        (b"case,trial,outcome,case\n", "NOT_OUTCOMES", 1, "the header names 'case' twice"),
        (HEAD + b"\na,1\n", "NOT_OUTCOMES", 3, "the line has 2 cells, and the header 3"),
        (HEAD + b"a,1,pass,x\n", "NOT_OUTCOMES", 2, "the line has 4 cells, and the header 3"),
        (HEAD + b'a,1,"pass\n', "NOT_OUTCOMES", 2, "the line is no CSV: unexpected end of data"),
        (HEAD + b"a,1,pass\nb\xff,1,pass\n", "NOT_OUTCOMES", 3, "the line is not UTF-8"),
        (b"case,trial,outcome,reward\na,1,pass,1\n", "UNKNOWN_FIELD", 2, "a table of outcomes has no 'reward'"),
        (HEAD + b"a,1,pass\n,2,pass\n", "MISSING_FIELD", 3, "the line has no case"),
        (HEAD + b'"a\nb",1,pass\n', "OUT_OF_RANGE", 2, "case has more than 200 characters, or a control character"),
        (HEAD + b"a,1,passed\n", "BAD_VALUE", 2, "outcome is none of the permitted words"),
        (HEAD + b"a,1,0.5\n", "BAD_VALUE", 2, "outcome is none of the permitted words"),
        (HEAD + b"a,1,PASS\n", "BAD_VALUE", 2, "outcome is none of the permitted words"),
        (
            HEAD + b"a,1,pass\nb,1,pass\na,1,fail\n",
            "REPEATED_TRIAL",
            4,
            "trial '1' of case 'a' stands on line 2 already",
        ),
        (b"case,trial,outcome,target\na,1,pass,done\n", "BAD_VALUE", 2, "target is none of the permitted words"),
        (b'{"case":"a","trial":1,"outcome":"pass"}\n[1]\n', "NOT_OUTCOMES", 2, "the line is no JSON object"),
        (b'{"case":"a","trial":1}\n', "MISSING_FIELD", 1, "the line has no outcome"),
        (b'\n{"case":5,"trial":1,"outcome":"pass"}\n', "WRONG_TYPE", 2, "case is no text"),
        (b'{"case":"a","trial":true,"outcome":"pass"}\n', "WRONG_TYPE", 1, "trial is no text"),
        (b'{"case":"a","trial":1.5,"outcome":"pass"}\n', "WRONG_TYPE", 1, "trial is no text"),
        (b'{"case":"a","trial":1,"outcome":[]}\n', "BAD_VALUE", 1, "outcome is none of the permitted words"),
        (b'{"case":"a","trial":1,"outcome":0.5}\n', "BAD_VALUE", 1, "outcome is none of the permitted words"),
    ],
)
def test_each_fault_is_named_with_its_line(table: bytes, code: str, line: int | None, message: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_outcomes(table, "table")
    problem = caught.value.problems[0]
    assert (problem.code, problem.where.line, problem.where.file, problem.message) == (code, line, "table", message)


@pytest.mark.parametrize(
    ("table", "code", "line"),
    [
        (b'{"case":"a","trial":1,"outcome":"pass"}\n{"case"\n', "NOT_JSON", 2),
        (b'{"case":"a","case":"b","trial":1,"outcome":"pass"}\n', "DUPLICATE_KEY", 1),
        (b'{"case":"a","trial":1,"outcome":NaN}\n', "OUT_OF_RANGE", 1),
        (b'\xef\xbb\xbf{"case":"a","trial":1,"outcome":"pass"}\n', "BAD_ENCODING", 1),
    ],
)
def test_a_line_is_read_as_strictly_as_any_json(table: bytes, code: str, line: int) -> None:
    with pytest.raises(Refusal) as caught:
        read_outcomes(table, "table")
    assert [(one.code, one.where.line) for one in caught.value.problems] == [(code, line)]


def test_every_line_that_is_wrong_is_told() -> None:
    with pytest.raises(Refusal) as caught:
        read_outcomes(HEAD + b"a,1,good\n,,\nb,1,pass\n")
    assert [(one.code, one.where.line) for one in caught.value.problems] == [
        ("BAD_VALUE", 2),
        ("MISSING_FIELD", 3),
        ("MISSING_FIELD", 3),
        ("MISSING_FIELD", 3),
    ]


@given(data=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for table in (data, HEAD + data, b'{"case":"a","trial":1,"outcome":' + data):
        try:
            assert read_outcomes(table)
        except Refusal as refusal:
            assert refusal.problems  # noqa: PT017 - either way is right
