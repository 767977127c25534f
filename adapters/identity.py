"""What a run is called: its case and its policy, from the first place that says so."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from labadapt.adapters.conversion import Options
from labadapt.adapters.expressions import Expression, parse
from labadapt.adapters.join import RunSpans
from labadapt.adapters.mapping import Rules
from labadapt.adapters.sequence import Identity
from labadapt.adapters.structure import place
from labadapt.adapters.toolresult import shown
from labadapt.adapters.view import view_of
from labadapt.schema.cases import CaseMatch, CasesFile
from labadapt.schema.problems import Problem, Refusal, Where
from msgspec import UNSET

CASE_IS_TRACE = "nothing names the case, so the case id is the trace id"
POLICY_IS_DEFAULT = 'nothing names the policy, so it is "default"'
DEFAULT_POLICY = "default"

_LONGEST = 200
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Matcher:
    """How one case recognises its runs."""

    case_id: str
    match: CaseMatch
    expression: Expression | None


def matchers(cases: CasesFile | None) -> tuple[Matcher, ...]:
    """The cases that say how to recognise a run. Refused: `BAD_EXPRESSION`."""
    if cases is None:
        return ()
    found = []
    for case_id, case in cases.cases.items():
        match = case.match
        if match is UNSET or (match.input_equals is match.input_contains is match.expression is UNSET):
            continue
        text = match.expression
        found.append(
            Matcher(case_id, match, None if text is UNSET else parse(text, f"cases.{case_id}.match.expression"))
        )
    return tuple(found)


def identify(run: RunSpans, options: Options, rules: Rules, matching: Sequence[Matcher]) -> Identity:
    """Case and policy of a run, and what the mapping's `output` found in it.

    Case: `--case`, `--case-attribute`, the mapping, the telemetry's own attributes, a `match` of the cases file, else
    the trace id. Policy: the same way, else ``default``. Refused: `AMBIGUOUS_CASE`, `BAD_CONTENT`, `BAD_EXPRESSION`.
    """
    view = view_of(run) if rules.case or rules.policy or rules.output or matching else {}
    notes: list[str] = []
    offered_case, offered_policy = _offered(run)
    case_id = (
        options.case
        or _named(offered_case, rules.case, options.case_attribute, run, view)
        or _matched(run, matching, view)
    )
    if not case_id:
        case_id = run.trace_id
        notes.append(CASE_IS_TRACE)
    policy = options.policy or _named(offered_policy, rules.policy, options.policy_attribute, run, view)
    if not policy:
        policy = DEFAULT_POLICY
        notes.append(POLICY_IS_DEFAULT)
    for what, name in (("case id", case_id), ("policy", policy)):
        if not is_name(name):
            raise Refusal(_bad_name(what, name, run))
    output = rules.output.evaluate(view) if rules.output else UNSET
    return Identity(case_id, policy, tuple(notes), output)


def is_name(text: str) -> bool:
    """Whether a text can be a case id or a policy: 1 to 200 characters, no control characters."""
    return 0 < len(text) <= _LONGEST and _CONTROL.search(text) is None


def _bad_name(what: str, name: str, run: RunSpans) -> Problem:
    return Problem(
        code="BAD_CONTENT",
        message=f"The {what} of the run cannot be one.",
        where=place(run.spans[0]),
        found=f"{len(name)} characters: {shown(name)}",
        expected=f"1 to {_LONGEST} characters, no control characters",
    )


def _offered(run: RunSpans) -> tuple[str, str]:
    """The case id and policy that the attributes name: of the best rank, outermost first, then in order of start."""
    case: tuple[int, str] | None = None
    policy: tuple[int, str] | None = None
    for span in run.spans:
        offer = span.case_id
        if offer is not None and (case is None or offer[0] < case[0]):
            case = offer
        offer = span.policy
        if offer is not None and (policy is None or offer[0] < policy[0]):
            policy = offer
    return "" if case is None else case[1], "" if policy is None else policy[1]


def _named(
    offer: str, expression: Expression | None, attribute: str | None, run: RunSpans, view: dict[str, Any]
) -> str:
    """The name from the attribute that the caller chose, the mapping, or the conventions' attributes, in this order."""
    if expression is None or (offer and attribute is not None):  # then no other attribute is read
        return offer
    found = expression.evaluate(view)
    return offer if found is UNSET or found is None or found == "" else _text(found, expression, run)


def _text(found: Any, expression: Expression, run: RunSpans) -> str:
    if type(found) is str:
        return found
    if type(found) is int:
        return str(found)
    raise Refusal(
        Problem(
            code="BAD_CONTENT",
            message=f"The mapping's expression at {expression.place} yields no name.",
            where=place(run.spans[0]),
            found=shown(found),
            expected="text",
        )
    )


def _matched(run: RunSpans, matching: Sequence[Matcher], view: dict[str, Any]) -> str:
    """The case whose `match` holds; two are `AMBIGUOUS_CASE`."""
    hits = [matcher.case_id for matcher in matching if _holds(matcher, view)]
    if len(hits) > 1:
        raise Refusal(
            Problem(
                code="AMBIGUOUS_CASE",
                message=f"{len(hits)} cases match this run.",
                where=msgspec.structs.replace(place(run.spans[0]), span_ids=()),
                found=", ".join(shown(hit) for hit in hits[:10]),
                expected="one case that matches",
            )
        )
    return hits[0] if hits else ""


def _holds(matcher: Matcher, view: dict[str, Any]) -> bool:
    match, asked = matcher.match, view.get("input")
    if match.input_equals is not UNSET and asked != match.input_equals:
        return False
    if match.input_contains is not UNSET and not (type(asked) is str and match.input_contains in asked):
        return False
    return matcher.expression is None or matcher.expression.evaluate(view) is True


def label(identity: Identity, problem: Problem) -> Problem:
    """The problem with the run's name beside its place."""
    where: Where = problem.where
    return msgspec.structs.replace(
        problem, where=msgspec.structs.replace(where, run=f"{identity.case_id} / {identity.policy}")
    )
