"""Which tasks a canary takes: by the identity of the task, so that the same task always goes the same way."""

import hashlib
from fractions import Fraction
from typing import Literal, TypeAlias

Arm: TypeAlias = Literal["baseline", "candidate"]
_SPACE = 1 << 64


def assign(task_id: str, *, candidate_share: float, salt: str = "") -> Arm:
    """The side that a task goes to; the same for equal arguments, everywhere and always.

    The first eight bytes of SHA-256 over the salt's length, the salt and the task id (UTF-8), as a fraction of 2**64,
    are below `candidate_share` for the candidate. So a growing share only adds tasks to it. `candidate_share` lies
    between 0 (none) and 1 (all); another salt gives an independent assignment. Raises `ValueError` outside that range.
    """
    if not 0 <= candidate_share <= 1:
        raise ValueError(f"the candidate's share lies between 0 and 1, and {candidate_share} does not")
    return "candidate" if _place(task_id, salt) < Fraction(candidate_share) * _SPACE else "baseline"


def _place(task_id: str, salt: str) -> int:
    """The task's place below 2**64. The length keeps salt and task apart: "a" + "bc" is not "ab" + "c"."""
    salted, task = salt.encode("utf-8", "surrogatepass"), task_id.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(len(salted).to_bytes(8, "big") + salted + task).digest()
    return int.from_bytes(digest[:8], "big")
