"""The final message of an agent or a model: the last assistant text in each shape in which conventions write messages.

Text is looked at only to find the application's own output object; it never reaches a bundle.
"""

from collections.abc import Mapping
from typing import Any

from labadapt.adapters.values import Envelope, message_body
from msgspec import UNSET

_ASSISTANT = frozenset({"assistant", "model", "ai", "AIMessage"})


def _text_of(content: Any) -> Any:
    """Text of a message's content: a text, or its text blocks joined; UNSET where it holds none."""
    if isinstance(content, str):
        return content or UNSET
    if isinstance(content, dict):
        content = content.get("parts", [content])
    if isinstance(content, list):
        texts = [text for text in map(_block_text, content) if text]
        return "".join(texts) if texts else UNSET
    return UNSET


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, dict) and block.get("type", "text") in {"text", "output_text"}:
        text = block.get("text", block.get("content"))
        return text if isinstance(text, str) else ""
    return ""


def _otel(value: Any) -> Any:
    """``[{role, parts: [{type: text, content}]}]``: the text of the last message, if it is the assistant's."""
    if not isinstance(value, list) or not value or not isinstance(value[-1], dict):
        return UNSET
    last = value[-1]
    if last.get("role") not in _ASSISTANT:
        return UNSET
    return _text_of(last.get("parts", last.get("content")))


def _langchain(value: Any) -> Any:
    """LangChain state ``{messages: […]}``: the last message, if it is the model's."""
    if isinstance(value, dict) and isinstance(value.get("outputs"), dict):
        value = value["outputs"]
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list) or not messages:
        return UNSET
    last = messages[-1]
    body = message_body(last)
    if body is UNSET:
        body = last if isinstance(last, dict) and "content" in last else None
    if body is None or _kind(last, body) not in _ASSISTANT:
        return UNSET
    return _text_of(body.get("content"))


def _kind(message: dict[str, Any], body: dict[str, Any]) -> Any:
    for holder in (body, message):
        for key in ("role", "type"):
            if holder.get(key) in _ASSISTANT:
                return holder[key]
    identifier = message.get("id")
    return identifier[-1] if isinstance(identifier, list) and identifier else None


def _generations(value: Any) -> Any:
    """LangChain ``{generations: [[{text, message}]]}`` of a model span."""
    generations = value.get("generations") if isinstance(value, dict) else None
    while isinstance(generations, list) and generations:
        generations = generations[-1]
    if not isinstance(generations, dict):
        return UNSET
    body = message_body(generations.get("message"))
    text = _text_of(body.get("content")) if body is not UNSET else UNSET
    return text if text is not UNSET else _text_of(generations.get("text"))


def _blocks(value: Any) -> Any:
    """A list of text blocks, such as Strands' ``[{"text": x}]``."""
    return _text_of(value) if isinstance(value, list) else UNSET


def _choice(value: Any) -> Any:
    """``{role, content}`` or ``{message: {content}}`` of an older choice event, or an OpenAI reply."""
    if not isinstance(value, dict):
        return UNSET
    choices = value.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[-1], dict):
        value = choices[-1]
    message = value.get("message", value)
    return _text_of(message.get("content")) if isinstance(message, dict) else _text_of(message)


def _adk(value: Any) -> Any:
    """ADK ``{content: {parts: [{text}], role: model}}``."""
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(content, dict) or not isinstance(content.get("parts"), list):
        return UNSET
    texts = [part["text"] for part in content["parts"] if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "".join(texts) if texts else UNSET


FINAL_MESSAGES: Mapping[str, Envelope] = {
    "otel-last-message": _otel,
    "langchain-last-message": _langchain,
    "langchain-generations": _generations,
    "text-blocks": _blocks,
    "choice": _choice,
    "adk-content": _adk,
}
