"""The calls that models proposed, joined to the tool spans that show them.

The join gives a tool span its missing call id, and tells which proposals no span shows (telemetry.md, "No tool span
does not prove that there was no call"). Nothing is invented: where two readings are possible, there is no id.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
from labadapt.adapters.observation import Observation, Proposal
from msgspec import UNSET

Turn: TypeAlias = tuple[int, int]  # start of the model span in nanoseconds, place within the turn

# A producer's rule: openinference-langchain writes a single string argument as the bare string.
BARE_STRING_SCOPE = "openinference.instrumentation.langchain"
# Not calls: how a framework lets the model hand over its final, structured answer.
FINAL_TOOLS = frozenset({"final_result", "final_answer", "set_model_response"})
FINAL_PREFIXES = ("final_result_",)


@dataclass(frozen=True, slots=True)
class Offer:
    """One proposal, and the model span that made it."""

    model: Observation
    proposal: Proposal

    @property
    def turn(self) -> Turn:
        """When it was made, for order."""
        return (self.model.start_ns, self.proposal.index)


class Joined(msgspec.Struct):
    """By span id: call ids found, arguments completed, turns. `unseen`: the proposals that no span shows."""

    call_ids: dict[str, str] = msgspec.field(default_factory=dict)
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    turns: dict[str, Turn] = msgspec.field(default_factory=dict)
    unseen: list[Offer] = msgspec.field(default_factory=list)


def join_proposals(tools: list[Observation], models: list[Observation], *, tied: bool = True) -> Joined:
    """Join the tool spans of a run (those left aside as copies too) to the proposals of its model spans.

    `turns` are found only where they may be needed: where spans have equal times (`tied`), or something is missing.
    """
    joined = Joined()
    if not tied and _all_shown(tools, models):
        return joined
    offers = _offers(models)
    if not offers:
        return joined
    rest: list[Observation] = []
    used: set[int] = set()
    by_id = {offer.proposal.call_id: number for number, offer in enumerate(offers) if offer.proposal.call_id}
    for tool in tools:
        number = by_id.get(tool.call.call_id) if tool.call is not None else None
        if tool.call is None or number is None:
            rest.append(tool)
        else:
            used.add(number)
            joined.turns[tool.span_id] = offers[number].turn
            if _is_bare(tool) and _only_text(offers[number].proposal.arguments) == tool.call.arguments:
                joined.arguments[tool.span_id] = offers[number].proposal.arguments
    open_offers = [offer for number, offer in enumerate(offers) if number not in used]
    if rest and open_offers:
        open_offers = _join_by_content(rest, open_offers, joined)
    joined.unseen = [offer for offer in open_offers if not is_final(offer.proposal.tool)]
    return joined


def _all_shown(tools: list[Observation], models: list[Observation]) -> bool:
    """Whether every call id is recorded where it should be, so that there is nothing to join."""
    shown: set[str] = set()
    for tool in tools:
        call = tool.call
        if call is not None:
            shown.add(call.call_id)
            if type(call.arguments) is str and _is_bare(tool):
                return False
    if "" in shown:
        return not any(model.proposals for model in models)
    for model in models:
        for proposal in model.proposals:
            if proposal.call_id not in shown:
                return False
    return True


def is_final(tool: str) -> bool:
    """Whether a proposal of this tool is the agent's final answer, and no call."""
    return tool in FINAL_TOOLS or tool.startswith(FINAL_PREFIXES)


def _offers(models: list[Observation]) -> list[Offer]:
    """All proposals in order of their turns; the same id recorded by two spans is one proposal."""
    offers: list[Offer] = []
    known: set[str] = set()
    for model in models:
        for proposal in model.proposals:
            if proposal.call_id:
                if proposal.call_id in known:
                    continue
                known.add(proposal.call_id)
            offers.append(Offer(model, proposal))
    if len(offers) > 1:
        offers.sort(key=lambda offer: (offer.model.start_ns, offer.model.span_id, offer.proposal.index))
    return offers


def _join_by_content(rest: list[Observation], offers: list[Offer], joined: Joined) -> list[Offer]:
    """Join by name and arguments; what stays open is told by name alone. Returns the proposals that nothing shows."""
    pools = _pools(offers)
    shown: set[int] = set()
    by_name: list[Observation] = []
    for key, same in _by_key(rest).items():
        pool = pools.get(key, [])
        for batch, fitting in _batches(same, pool):
            if not fitting:
                by_name.extend(batch)
            elif len(fitting) == len(batch):
                for tool, offer in zip(batch, fitting, strict=True):
                    _join(tool, offer, joined)
                shown.update(id(offer) for offer in fitting)
            else:  # nobody knows which is which, only how many
                shown.update(id(offer) for offer in fitting[: len(batch)])
    remaining = [offer for offer in offers if id(offer) not in shown]
    return _without_named(by_name, remaining)


def _join(tool: Observation, offer: Offer, joined: Joined) -> None:
    joined.turns[tool.span_id] = offer.turn
    call = tool.call
    if call is None:
        return
    if offer.proposal.call_id and not call.call_id:
        joined.call_ids[tool.span_id] = offer.proposal.call_id
    if _is_bare(tool):
        joined.arguments[tool.span_id] = offer.proposal.arguments


def _key(tool: str, arguments: Any) -> tuple[str, bytes]:
    return (tool, msgspec.json.encode(arguments, order="deterministic"))


def _is_bare(tool: Observation) -> bool:
    return tool.call is not None and type(tool.call.arguments) is str and tool.scope == BARE_STRING_SCOPE


def _pools(offers: list[Offer]) -> dict[tuple[str, bytes], list[Offer]]:
    """The proposals by name and arguments; one with a single text argument also by the bare text."""
    pools: dict[tuple[str, bytes], list[Offer]] = {}
    for offer in offers:
        arguments = offer.proposal.arguments
        if arguments is UNSET:
            continue
        pools.setdefault(_key(offer.proposal.tool, arguments), []).append(offer)
        only = _only_text(arguments)
        if only is not None:
            pools.setdefault(_key(offer.proposal.tool, ["bare", only]), []).append(offer)
    return pools


def _only_text(arguments: Any) -> str | None:
    """The one argument of an object that has one, if it is text."""
    if type(arguments) is dict and len(arguments) == 1:
        (only,) = arguments.values()
        if type(only) is str:
            return only
    return None


def _by_key(tools: list[Observation]) -> dict[tuple[str, bytes], list[Observation]]:
    """The tool spans by name and arguments, in order of start; those without recorded arguments stand apart."""
    by_key: dict[tuple[str, bytes], list[Observation]] = {}
    for tool in sorted(tools, key=lambda tool: (tool.start_ns, tool.end_ns, tool.span_id)):
        call = tool.call
        if call is None:
            continue
        if call.arguments is UNSET:
            key = (call.tool, b"")
        else:
            key = _key(call.tool, ["bare", call.arguments] if _is_bare(tool) else call.arguments)
        by_key.setdefault(key, []).append(tool)
    return by_key


def _batches(tools: list[Observation], pool: list[Offer]) -> list[tuple[list[Observation], list[Offer]]]:
    """The tool spans between two turns that propose the same call, each batch with the proposals open by then."""
    batches: list[tuple[list[Observation], list[Offer]]] = []
    tool = offer = 0
    while tool < len(tools):
        first_tool, first_offer = tool, offer
        while offer < len(pool) and pool[offer].model.start_ns <= tools[tool].start_ns:
            offer += 1
        limit = pool[offer].model.start_ns if offer < len(pool) else None
        while tool < len(tools) and (limit is None or tools[tool].start_ns < limit):
            tool += 1
        batches.append((tools[first_tool:tool], pool[first_offer:offer]))
    return batches


def _without_named(tools: list[Observation], offers: list[Offer]) -> list[Offer]:
    """Without the proposals that a span of the same tool may well show, though the arguments do not say so."""
    by_name: dict[str, deque[Offer]] = {}
    for offer in offers:
        by_name.setdefault(offer.proposal.tool, deque()).append(offer)
    shown: set[int] = set()
    for tool in sorted(tools, key=lambda tool: (tool.start_ns, tool.end_ns, tool.span_id)):
        waiting = by_name.get(tool.call.tool) if tool.call is not None else None
        if waiting and waiting[0].model.start_ns <= tool.start_ns:
            shown.add(id(waiting.popleft()))
    return [offer for offer in offers if id(offer) not in shown]
