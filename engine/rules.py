"""A plain rule over a plain record, for who has neither a bundle nor a contract: the same checks, the same meaning.

The rule becomes a contract and the record a run, so that nothing is compared in a second way (docs/results.md).
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from labadapt.engine.actions import deadline, forbidden_actions, required_actions
from labadapt.engine.conclusions import expected_state
from labadapt.engine.finding import Finding, Subject, subject_of
from labadapt.engine.values import is_number, listed
from labadapt.schema.model import Contract, Output, Run, Status, Step
from msgspec import UNSET, UnsetType

Plain: TypeAlias = Mapping[str, Any]
_NOT_RECORDED = "the record holds no {}, and nothing that it lacks is taken for done or left undone"
_NOTHING_DONE = "the record shows no action at all, and doing nothing never passes where something was required"
_NOTHING_ASKED = "the rule asks for nothing, so nothing was checked"


def verdict(rule: Plain, record: Plain) -> dict[str, Any]:
    """Whether what a record shows meets a rule: ``{"passed": True | False | None, "reason", "checks"}``.

    A rule holds any of `state` (each key must be in the record's `state` with an equal value), `required_actions`,
    `forbidden_actions` (names in the record's `actions`), `deadline_ms` or `deadline` (most milliseconds, against the
    record's `duration_ms`), `required_evidence` (names in the record's `evidence`). A record may hold more.

    `passed` is None where the record does not decide it: a part that a check needs is absent or None, the rule asks
    for nothing, or nothing was done where a state, an action or evidence was required. A failed check stands before
    that. Each check is `{id, verdict, expected, observed, reason}`, `verdict` pass, fail or unevaluable.
    Raises `ValueError` naming the key that a rule cannot have, or the one whose value is not what it must be.
    """
    if strange := sorted(str(key) for key in rule if key not in _RULE_KEYS):
        raise ValueError(f"a rule has no {strange[0]!r}; it may have {listed(sorted(_RULE_KEYS))}")
    if empty := [key for key in rule if rule[key] is None]:
        raise ValueError(f"{empty[0]!r} of a rule is None; leave it out where the rule does not ask for it")
    asked = _contract(rule)
    subject = subject_of(_run(record), asked)
    found = [(name, check(subject, record)) for name, check in _CHECKS]
    found.append(("required_evidence", _evidence(_names(rule, "required_evidence"), record)))
    checks = [(name, finding) for name, finding in found if finding is not None]
    passed, reason = _decided(checks, idle=_required(rule) and _names(record, "actions") == [])
    return {"passed": passed, "reason": reason, "checks": [_told(name, finding) for name, finding in checks]}


def _required(rule: Plain) -> bool:
    return any(rule.get(key) for key in ("state", "required_actions", "required_evidence"))


def _decided(checks: list[tuple[str, Finding]], *, idle: bool) -> tuple[bool | None, str]:
    for word, passed in (("fail", False), ("unevaluable", None)):
        if told := [f"{name}: {finding.reason}" for name, finding in checks if finding.verdict == word]:
            return passed, "; ".join(told)
    if not checks:
        return None, _NOTHING_ASKED
    return (None, _NOTHING_DONE) if idle else (True, "every check of the rule passed")


def _told(name: str, finding: Finding) -> dict[str, Any]:
    return {
        "id": name,
        "verdict": finding.verdict,
        "expected": finding.expected,
        "observed": finding.observed,
        "reason": finding.reason,
    }


# -- a rule as a contract, a record as a run ---------------------------------------------------------------------------


def _contract(rule: Plain) -> Contract:
    if "deadline" in rule and "deadline_ms" in rule:
        raise ValueError("a rule has one deadline, and this one has both 'deadline' and 'deadline_ms'")
    return Contract(
        disposition="any",  # no check that looks at it is made
        max_calls=0,
        required_actions=_names(rule, "required_actions"),
        forbidden_actions=_names(rule, "forbidden_actions"),
        expected_state=_state(rule),
        deadline_ms=_milliseconds(rule, "deadline" if "deadline" in rule else "deadline_ms"),
    )


def _run(record: Plain) -> Run:
    actions, state, took = _names(record, "actions"), _state(record), _milliseconds(record, "duration_ms")
    return Run(
        case_id="case",
        policy="policy",
        mode="recorded",
        duration_ms=0 if isinstance(took, UnsetType) else took,
        steps=[] if isinstance(actions, UnsetType) else [_step(*one) for one in enumerate(actions)],
        output=Output(disposition="any", state=state),
        status=Status(steps="unknown" if actions is UNSET else "complete"),
    )


def _step(number: int, tool: str) -> Step:
    return Step(id=f"a{number}", tool=tool, operation="unknown", status="ok", start_ms=0, end_ms=0)


def _names(source: Plain, key: str) -> list[str] | UnsetType:
    value = source.get(key)
    if value is None:
        return UNSET
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"{key!r} is a list of names, and {value!r} is none")
    return list(value)


def _state(source: Plain) -> dict[str, Any] | UnsetType:
    value = source.get("state")
    if value is None:
        return UNSET
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"'state' is an object with text keys, and {value!r} is none")
    return dict(value)


def _milliseconds(source: Plain, key: str) -> float | UnsetType:
    value = source.get(key)
    if value is None:
        return UNSET
    if not is_number(value) or value < 0:
        raise ValueError(f"{key!r} is a number of milliseconds of at least 0, and {value!r} is none")
    return float(value) if isinstance(value, float) else int(value)


# -- the checks --------------------------------------------------------------------------------------------------------


def _needing(key: str, check: Callable[[Subject], Finding | None]) -> Callable[[Subject, Plain], Finding | None]:
    """The engine's check, which says in the words of a plain record that it lacks what the check needs."""

    def asked(subject: Subject, record: Plain) -> Finding | None:
        finding = check(subject)
        if finding is None or finding.expected in ([], {}) or record.get(key) is not None:
            return finding
        return Finding("unevaluable", finding.expected, None, _NOT_RECORDED.format(key))

    return asked


def _evidence(names: list[str] | UnsetType, record: Plain) -> Finding | None:
    """Each of the required pieces of evidence is in the record."""
    if isinstance(names, UnsetType):
        return None
    there = _names(record, "evidence")
    if isinstance(there, UnsetType):
        return Finding("unevaluable", names, None, _NOT_RECORDED.format("evidence"))
    if missing := [name for name in names if name not in there]:
        return Finding("fail", names, there, f"required as evidence, and not in the record: {listed(missing)}")
    return Finding("pass", names, there, f"all required evidence is there: {listed(names)}")


_CHECKS: tuple[tuple[str, Callable[[Subject, Plain], Finding | None]], ...] = (
    ("state", _needing("state", expected_state)),
    ("required_actions", _needing("actions", required_actions)),
    ("forbidden_actions", _needing("actions", forbidden_actions)),
    ("deadline", _needing("duration_ms", deadline)),
)
_RULE_KEYS = frozenset(
    {"state", "required_actions", "forbidden_actions", "deadline", "deadline_ms", "required_evidence"}
)
