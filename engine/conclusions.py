"""The checks of what the agent concluded: disposition, expected value, expected state (docs/checks.md).

All of them need the end of the run; `labadapt.engine.check` holds them to that.
"""

from labadapt.engine.finding import Finding, Subject
from labadapt.engine.values import is_number, key_pointer, plain, same, shown, within
from msgspec import UNSET, UnsetType


def disposition(subject: Subject) -> Finding:
    """The output's disposition is the contract's."""
    expected, output = subject.contract.disposition, subject.output
    if output is None:
        return Finding("fail", expected, None, f'expected "{expected}", the run ended without an output')
    where = ("/output/disposition",)
    if output.disposition == expected:
        return Finding("pass", expected, expected, f'the disposition is "{expected}"', where)
    why = f'expected "{expected}", observed "{output.disposition}"'
    return Finding("fail", expected, output.disposition, why, where)


def expected_value(subject: Subject) -> Finding:
    """The answer is finite and within the tolerance of the expected value."""
    expected, output = plain(subject.contract.expected_value), subject.output
    if isinstance(expected, UnsetType):
        return Finding("not_required", None, None, "the contract names no expected value")
    if output is None:
        return Finding("fail", expected, None, f"expected {shown(expected)}, the run ended without an output")
    value = plain(output.value)
    if isinstance(value, UnsetType) or not is_number(value):
        where = ("/output",) if value is UNSET else ("/output/value",)
        return Finding("fail", expected, None, f"expected {shown(expected)}, the output holds no value", where)
    tolerance = 0 if isinstance(subject.contract.tolerance, UnsetType) else subject.contract.tolerance
    holds = within(value, expected, tolerance)
    why = f"{shown(value)} is {'' if holds else 'not '}within {shown(tolerance)} of {shown(expected)}"
    return Finding("pass" if holds else "fail", expected, value, why, ("/output/value",))


def expected_state(subject: Subject) -> Finding | None:
    """Every key of the expected state is in the output's state with an equal value."""
    expected, output = subject.contract.expected_state, subject.output
    if isinstance(expected, UnsetType):
        return None
    if not expected:
        return Finding("pass", expected, {}, "the contract expects nothing of the final state")
    if output is None or isinstance(output.state, UnsetType):
        nowhere = () if output is None else ("/output",)
        return Finding("unevaluable", expected, None, "no final state was recorded", nowhere)
    state = output.state
    observed = {key: state[key] for key in expected if key in state}
    wrong = sorted(key for key in expected if key not in state or not same(state[key], expected[key]))
    places = {key: key_pointer("/output/state", key) if key in state else "/output/state" for key in sorted(expected)}
    if not wrong:
        return Finding("pass", expected, observed, "the final state is as expected", tuple(places.values()))
    first = wrong[0]
    found = f"is {shown(state[first])}" if first in state else "is not in the final state"
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    why = f"{shown(first)} {found}, expected {shown(expected[first])}{more}"
    return Finding("fail", expected, observed, why, tuple(dict.fromkeys(places[key] for key in wrong)))
