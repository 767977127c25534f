"""How a problem reads."""

import pytest
from labadapt.cli.problems import problem_as_json, render_alike, render_problem, render_problems
from labadapt.schema.problems import Problem, Where


@pytest.fixture
def overlap() -> Problem:
    return Problem(
        code="CONCURRENT_STEPS",
        message="two tool calls overlap",
        where=Where(file="a.pb", line=3, offset=17, pointer="/runs/0", trace_id="0af7", span_ids=("11", "22")),
        found="[1, 3] and [2, 4]",
        expected="one after the other",
        hint="Switch parallel calls off.",
    )


def test_a_problem_names_what_where_found_expected_and_help(overlap: Problem) -> None:
    assert render_problem(overlap) == (
        "\x1b[31m\x1b[1merror[CONCURRENT_STEPS]\x1b[0m: two tool calls overlap\n"
        "  --> a.pb: line 3, byte 17, at /runs/0, trace 0af7, spans 11 and 22\n"
        "  = found [1, 3] and [2, 4], expected one after the other\n"
        "  = help: Switch parallel calls off."
    )


def test_without_a_hint_the_table_of_codes_helps() -> None:
    text = render_problem(Problem(code="NO_SPANS", message="no span", where=Where(file="a.pb")))
    assert text.splitlines()[1:] == [
        "  --> a.pb",
        "  = help: Check that the right file was exported, and that the exporter wrote traces.",
    ]


def test_one_blank_line_stands_between_two(overlap: Problem) -> None:
    assert render_problems([overlap, overlap]).count("\n\n") == 1


def test_text_of_the_input_cannot_reach_the_terminal() -> None:
    where = Where(file="\x1b[2J", pointer="/\u202e", run="\x07")
    text = render_problem(
        Problem(code="BAD_FIELD", message="\x1b]0;x", where=where, found="a\nb", expected="\x9b", hint="\r")
    )
    assert text.replace("\x1b[31m\x1b[1m", "").replace("\x1b[0m", "") == (
        "error[BAD_FIELD]: \\x1b]0;x\n"
        "  --> \\x1b[2J: run \\x07, at /\\u202e\n"
        "  = found a\\nb, expected \\x9b\n"
        "  = help: \\r"
    )


def test_a_long_value_is_cut() -> None:
    text = render_problem(Problem(code="BAD_FIELD", message="m", found="x" * 5000))
    assert "x" * 299 + "…" in text
    assert "x" * 300 not in text


def test_json_leaves_out_what_is_not_known(overlap: Problem) -> None:
    assert problem_as_json(Problem(code="NO_SPANS", message="no span", where=Where(file="a.pb"))) == {
        "code": "NO_SPANS",
        "message": "no span",
        "where": {"file": "a.pb"},
    }
    assert problem_as_json(overlap)["where"]["traceId"] == "0af7"


def test_of_many_places_the_first_are_shown_and_the_others_counted() -> None:
    problems = [Problem(code="BAD_FIELD", message="m", where=Where(file="a", line=n)) for n in range(1, 1_001)]
    lines = render_alike(problems).splitlines()
    assert lines[20:22] == ["  --> a: line 20", "  --> … and 980 more"]
    assert len(lines) == 23
