"""The tool calls that models asked for, read from model spans: only ids, names and arguments, never text.

One reader for each shape. A shape is named by the conventions' tables; what does not have the shape proposes
nothing, because a proposal is only ever used to join a call id, or to say that a call is missing.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from labadapt.adapters.observation import Proposal
from labadapt.adapters.span import Proposals, Span
from msgspec import UNSET

_MAX_DEPTH = 24


class _Part(msgspec.Struct, gc=False):
    type: str = ""
    id: str | None = None
    name: str | None = None
    arguments: Any = UNSET


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    parts: list[_Part] = []
    content: Any = UNSET


_messages = msgspec.json.Decoder(list[_Message]).decode
_anything = msgspec.json.Decoder().decode
_BAD = (msgspec.DecodeError, RecursionError, UnicodeError)


def _arguments(value: Any) -> Any:
    """Arguments as an object: models write them as JSON text. Text that is no JSON stays as it is."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return _anything(value)
        except _BAD:
            return value
    return value


def _otel_messages(span: Span, rule: Proposals) -> Iterator[tuple[str, str, Any]]:
    """``gen_ai.output.messages``: parts of type ``tool_call``. Source: OTel GenAI semantic conventions 1.37."""
    value = span.attributes.get(rule.key)
    if isinstance(value, str):
        if '"tool_call"' not in value:
            return
        try:
            messages = _messages(value)
        except _BAD:
            return
    else:
        try:
            messages = msgspec.convert(value, list[_Message], strict=False) if value is not None else []
        except msgspec.ValidationError:
            return
    for message in messages:
        for part in message.parts:
            if part.type == "tool_call" and part.name:
                yield part.name, part.id or "", _arguments(part.arguments)


_INDEXED = re.compile(r"(\d+)(?:\.message)?\.tool_calls\.(\d+)\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)")


def _indexed(span: Span, rule: Proposals) -> Iterator[tuple[str, str, Any]]:
    """Flattened keys such as ``llm.output_messages.N.message.tool_calls.M.tool_call.function.name``."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    prefix = rule.key
    size = len(prefix)
    for key, value in span.attributes.items():
        if key.startswith(prefix):
            match = _INDEXED.fullmatch(key, size)
            if match is not None:
                found.setdefault((int(match[1]), int(match[2])), {})[match[3]] = value
    for place in sorted(found):
        call = found[place]
        if isinstance(call.get("name"), str):
            yield call["name"], str(call.get("id") or ""), _arguments(call.get("arguments", UNSET))


def _anywhere(span: Span, rule: Proposals) -> Iterator[tuple[str, str, Any]]:
    """Tool calls wherever they stand in a JSON value: the shapes of LangChain, OpenAI, Gemini, Strands, AI SDK."""
    value = _source(span, rule)
    if isinstance(value, str):
        if value.lstrip()[:1] not in {"{", "["}:
            return
        try:
            value = _anything(value)
        except _BAD:
            return
    yield from _calls_in(value, 0)


def _source(span: Span, rule: Proposals) -> Any:
    if not rule.event:
        return span.attributes.get(rule.key)
    for event in span.events:
        if event.name == rule.event:
            return event.attributes.get(rule.key)
    return None


def _last_choice(span: Span, rule: Proposals) -> Iterator[tuple[str, str, Any]]:
    """A JSON list of events of which only the ``gen_ai.choice`` ones are the model's (Pydantic AI 1, version 1)."""
    value = span.attributes.get(rule.key)
    if not isinstance(value, str) or '"tool_calls"' not in value:
        return
    try:
        events = _anything(value)
    except _BAD:
        return
    for event in events if isinstance(events, list) else ():
        if isinstance(event, dict) and event.get("event.name") == "gen_ai.choice":
            yield from _calls_in(event, 0)


_LISTS = ("tool_calls", "toolCalls", "invalid_tool_calls")
_AI_SDK = {"toolCallId", "toolName"}
_TYPES = ("tool_use", "tool-call", "tool_call", "function_call")
_SINGLE = ("function_call", "functionCall", "toolUse", "toolRequest")


def _calls_in(value: Any, depth: int) -> Iterator[tuple[str, str, Any]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _calls_in(item, depth + 1)
    elif isinstance(value, dict):
        found = False
        for call in _here(value):
            found = True
            yield call
        if not found:
            for item in value.values():
                if isinstance(item, dict | list):
                    yield from _calls_in(item, depth + 1)


def _here(value: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The calls that an object itself names: a list of them, one of them, or being one."""
    for key in _LISTS:
        calls = value.get(key)
        if isinstance(calls, list):
            for call in calls:
                yield from _one(call)
    for key in _SINGLE:
        call = value.get(key)
        if isinstance(call, dict):
            yield from _one(call)
    if value.get("type") in _TYPES or value.keys() >= _AI_SDK or isinstance(value.get("function"), dict):
        yield from _one(value)


def _one(call: Any) -> Iterator[tuple[str, str, Any]]:
    if not isinstance(call, dict):
        return
    inner = call["function"] if isinstance(call.get("function"), dict) else call
    name = _first(inner, ("name", "toolName", "tool_name"))
    if isinstance(name, str) and name:
        identifier = _first(call, ("call_id", "id", "toolCallId", "toolUseId", "tool_call_id", "ref"))
        arguments = _first(inner, ("arguments", "args", "input"))
        yield name, identifier if isinstance(identifier, str) else "", _arguments(arguments)


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        if key in value:
            return value[key]
    return UNSET


SHAPES: Mapping[str, Callable[[Span, Proposals], Iterator[tuple[str, str, Any]]]] = {
    "otel-messages": _otel_messages,
    "indexed": _indexed,
    "anywhere": _anywhere,
    "choice-list": _last_choice,
}


def read(span: Span, rules: tuple[Proposals, ...]) -> tuple[Proposal, ...]:
    """The calls that a model span proposes, by the first rule that finds any."""
    for rule in rules:
        found = tuple(
            Proposal(name, identifier, arguments, index)
            for index, (name, identifier, arguments) in enumerate(SHAPES[rule.shape](span, rule))
        )
        if found:
            return found
    return ()


def wanted(rule: Proposals) -> tuple[str, str, str]:
    """The attribute key, the prefix and the event that a rule reads; empty where it reads none."""
    if rule.shape == "indexed":
        return "", rule.key, ""
    return rule.key, "", rule.event
