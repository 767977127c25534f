"""The canary's assignment: the same always, whatever the share was before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labadapt.engine.assign import assign

SHARES = st.floats(0, 1)


def test_an_assignment_is_the_same_everywhere_and_always() -> None:
    tasks = [f"task-{number}" for number in range(1, 11)]
    assert [assign(task, candidate_share=0.5) for task in tasks].count("candidate") == 9
    assert {task for task in tasks if assign(task, candidate_share=0.2) == "candidate"} == {
        "task-3",
        "task-4",
        "task-5",
        "task-7",
        "task-8",
    }


def test_nobody_and_everybody() -> None:
    assert assign("a", candidate_share=0) == "baseline"
    assert assign("a", candidate_share=1) == "candidate"


def test_a_salt_is_another_assignment_and_no_part_of_the_name() -> None:
    plain = [assign(str(number), candidate_share=0.5) for number in range(64)]
    assert plain != [assign(str(number), candidate_share=0.5, salt="next") for number in range(64)]
    assert [assign(f"b{n}", candidate_share=0.5, salt="a") for n in range(64)] != [
        assign(f"{n}", candidate_share=0.5, salt="ab") for n in range(64)
    ]


def test_the_share_is_about_the_share_asked_for() -> None:
    taken = sum(assign(f"task-{number}", candidate_share=0.1) == "candidate" for number in range(10_000))
    assert 900 <= taken <= 1100  # 3.3 standard deviations of 10,000 fair draws


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_that_is_none_is_refused(share) -> None:
    with pytest.raises(ValueError, match="the candidate's share lies between 0 and 1"):
        assign("a", candidate_share=share)


@given(st.text(), SHARES, SHARES, st.text(max_size=5))
def test_a_growing_share_moves_no_task_out_of_the_candidate(task, one, other, salt) -> None:
    small, large = sorted((one, other))
    if assign(task, candidate_share=small, salt=salt) == "candidate":
        assert assign(task, candidate_share=large, salt=salt) == "candidate"
