"""What a recorded value means: encodings, and the envelopes that producers put around arguments and results.

The encoding of a field is declared by its convention, never sniffed. An envelope is taken off only by a rule that the
convention names, so a value that merely looks like one stays as it is.
"""

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

import msgspec
from msgspec import UNSET

_decode_any = msgspec.json.Decoder().decode
_REDACTED = frozenset({"__REDACTED__", "[REDACTED]", "REDACTED", "<redacted>", "[redacted]", "<REDACTED>"})
_SCRUBBED = "[Scrubbed due to"
_MARKS = frozenset("_[R<")  # how each of them begins
_OPENINGS = ("{", "[")
_CUT = "truncated"
_LOOKS_CUT = re.compile(r'^\s*(?:\{\s*"|\[\s*["\[{\d-])')

Envelope = Callable[[Any], Any]


MAX_DEPTH = 500  # levels of JSON in one value; where the decoder stops by itself differs between versions of Python
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(r"[\[\]{}]")


def _is_deep(text: str) -> bool:
    """Whether JSON text is nested deeper than `MAX_DEPTH`."""
    if len(text) <= MAX_DEPTH or text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = deepest = 0
    for bracket in _BRACKETS.findall(_TEXTS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest > MAX_DEPTH


def _decode(text: str) -> Any:
    if _is_deep(text):
        raise RecursionError
    return _decode_any(text)


class BadEncoding(ValueError):
    """Text that is not what its declared encoding says. `cut`: it stops in the middle. Never leaves the adapters."""

    def __init__(self, message: str, *, cut: bool) -> None:
        """Hold the reason, and whether the text seems to be cut."""
        super().__init__(message)
        self.cut = cut


def is_redacted(value: Any) -> bool:
    """Whether a value is a mark of redaction, which means *not recorded*."""
    return type(value) is str and value[:1] in _MARKS and (value in _REDACTED or value.startswith(_SCRUBBED))


def decode_json(value: Any) -> Any:
    """A JSON text decoded; anything that is no text has its type already. Raises `BadEncoding`."""
    if not isinstance(value, str):
        return typed(value)
    try:
        return _decode(value)
    except RecursionError:
        raise BadEncoding("it is nested too deep", cut=False) from None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise BadEncoding(f"it is no JSON: {error}", cut=_CUT in str(error)) from None


def typed(value: Any) -> Any:
    """A value of an attribute that is no text, if JSON can say it; `BadEncoding` for bytes and non-finite numbers.

    The codec would write a non-finite number as null, which is an observation of nothing.
    """
    waiting = [value]
    for one in waiting:  # grows while it is walked
        if isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, bytes):
            raise BadEncoding("it holds bytes", cut=False)
        elif isinstance(one, float) and not isfinite(one):
            raise BadEncoding(f"it holds the number {one}, which JSON has not", cut=False)
    return value


def decode_structured(value: Any) -> Any:
    """A text that holds an object or a list decoded, every other text as it stands. Raises `BadEncoding` for a cut one.

    Producers of this encoding write structures as JSON and strings as they are: ``3`` is the text *3*.
    """
    if not isinstance(value, str):
        return typed(value)
    if not value.lstrip().startswith(_OPENINGS):
        return value
    return _decode_or_text(value)


def decode_json_else_text(value: Any) -> Any:
    """JSON of any type decoded, text that is none as it stands. Raises `BadEncoding` for a cut object or list."""
    return _decode_or_text(value) if isinstance(value, str) else typed(value)


def _decode_or_text(value: str) -> Any:
    try:
        return _decode(value)
    except (RecursionError, UnicodeError):
        return value
    except msgspec.DecodeError as error:
        if _CUT in str(error) and _LOOKS_CUT.match(value):
            raise BadEncoding(f"it is JSON that stops in the middle: {error}", cut=True) from None
        return value


def decode_json_text(value: Any) -> Any:
    """A JSON string without its quotes; anything else as it stands."""
    if isinstance(value, str) and value[:1] == '"' and value[-1:] == '"':
        try:
            decoded = _decode(value)
        except (msgspec.DecodeError, UnicodeError):
            return value
        return decoded if isinstance(decoded, str) else value
    return value


def plain(value: Any) -> Any:
    """Text, and typed values, as they stand."""
    return value


ENCODINGS: Mapping[str, Callable[[Any], Any]] = {
    "text": plain,
    "typed": plain,
    "json": decode_json,
    "json-else-text": decode_json_else_text,
    "json-text": decode_json_text,
    "structured": decode_structured,
}


# -- envelopes: each takes a decoded value, and gives what is inside, or UNSET where it does not fit -------------------


_CALL_KEYS = {"args", "kwargs", "sanitize_inputs_outputs"}  # the last is smolagents' own


def _keyword_call(value: Any) -> Any:
    """``{"args": [], "kwargs": {…}}`` of a decorated function: the keywords, where there are only keywords."""
    if not isinstance(value, dict) or not value.keys() <= _CALL_KEYS:
        return UNSET
    keywords = value.get("kwargs")
    return keywords if isinstance(keywords, dict) and value.get("args") == [] else UNSET


def _keywords(value: Any) -> Any:
    """``{"kwargs": {…}}`` of a function that takes only keywords, where the producer binds every call so."""
    keywords = value.get("kwargs") if isinstance(value, dict) and value.keys() == {"kwargs"} else UNSET
    return keywords if isinstance(keywords, dict) else UNSET


def _traceloop_input(value: Any) -> Any:
    """Traceloop's ``{input_str, inputs, kwargs, …}``: the inputs, which are typed; never the printed string."""
    if isinstance(value, dict) and "input_str" in value:
        inputs = value.get("inputs")
        if isinstance(inputs, dict):
            return inputs
        nested = value.get("kwargs")
        return nested["inputs"] if isinstance(nested, dict) and isinstance(nested.get("inputs"), dict) else UNSET
    return UNSET


def _output(value: Any) -> Any:
    """``{"output": x, …}`` of callback handlers."""
    if isinstance(value, dict) and "output" in value and value.keys() <= {"output", "kwargs", "tags", "metadata"}:
        return value["output"]
    return UNSET


def message_body(value: Any) -> Any:
    """The fields of a LangChain message: constructor dump, ``{type, data}`` dump, or plain; UNSET for anything else."""
    if not isinstance(value, dict):
        return UNSET
    if value.get("type") == "constructor" and isinstance(value.get("kwargs"), dict):
        return value["kwargs"]
    if isinstance(value.get("data"), dict) and isinstance(value.get("type"), str) and "content" in value["data"]:
        return value["data"]
    return value if "content" in value and isinstance(value.get("type"), str) else UNSET


def _tool_message(value: Any) -> Any:
    """The fields of a LangChain ToolMessage, which says of itself that it is one."""
    body = message_body(value)
    if body is UNSET or "tool_call_id" not in body:
        return UNSET
    path = value.get("id")
    named = isinstance(path, list) and path[-1:] == ["ToolMessage"]
    return body if named or body.get("type") == "tool" or value.get("type") == "tool" else UNSET


def _tool_message_content(value: Any) -> Any:
    """The content of a LangChain ToolMessage, which is JSON text where the tool returned a structure."""
    body = _tool_message(value)
    return UNSET if body is UNSET else text_content(body["content"])


def text_content(content: Any) -> Any:
    """The content of a message: text, or a list of text blocks; a structure written as JSON text is decoded."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict) and "text" in content[0]:
        content = content[0]["text"]
    try:
        return decode_structured(content)
    except BadEncoding:
        return content


def _strands_blocks(value: Any) -> Any:
    """Strands content blocks: ``[{"json": x}]`` or ``[{"text": x}]``, one block."""
    if not isinstance(value, list) or len(value) != 1 or not isinstance(value[0], dict) or len(value[0]) != 1:
        return UNSET
    block = value[0]
    if "json" in block:
        return block["json"]
    return text_content(block["text"]) if "text" in block else UNSET


_ADK_KEYS = {"id", "name", "response", "will_continue", "scheduling", "parts"}


def _adk_object(value: Any) -> Any:
    """ADK's function response ``{id, name, response}``."""
    return value if isinstance(value, dict) and "response" in value and value.keys() <= _ADK_KEYS else UNSET


def _adk_response(value: Any) -> Any:
    """What is inside of ADK's function response."""
    body = _adk_object(value)
    return UNSET if body is UNSET else body["response"]


def _single_result(value: Any) -> Any:
    """ADK's ``{"result": x}`` around everything that is no object."""
    return value["result"] if isinstance(value, dict) and value.keys() == {"result"} else UNSET


def _llama_index(value: Any) -> Any:
    """LlamaIndex' ToolOutput ``{blocks, tool_name, raw_input, raw_output, is_error}``."""
    if not isinstance(value, dict) or not {"raw_output", "is_error"} <= value.keys():
        return UNSET
    return value if "blocks" in value or "tool_name" in value else UNSET


def _llama_index_output(value: Any) -> Any:
    """The raw output of LlamaIndex' ToolOutput."""
    body = _llama_index(value)
    return UNSET if body is UNSET else body["raw_output"]


def _mcp_result(value: Any) -> Any:
    """An MCP call result ``{content, structuredContent?, isError?}``."""
    if not isinstance(value, dict) or not isinstance(value.get("content"), list):
        return UNSET
    return value if value.keys() <= {"content", "structuredContent", "isError", "_meta", "meta"} else UNSET


def _mcp_content(value: Any) -> Any:
    """The structured content of an MCP call result, else its one text block."""
    body = _mcp_result(value)
    if body is UNSET:
        return UNSET
    structured = body.get("structuredContent")
    if structured is not None:
        return structured
    content = body["content"]
    if len(content) == 1 and isinstance(content[0], dict) and isinstance(content[0].get("text"), str):
        return text_content(content[0]["text"])
    return UNSET


def _json_again(value: Any) -> Any:
    """JSON text inside of JSON: an object or a list that was encoded twice."""
    if isinstance(value, str) and value.lstrip().startswith(_OPENINGS):
        decoded = text_content(value)
        return UNSET if decoded is value else decoded
    return UNSET


ENVELOPES: Mapping[str, Envelope] = {
    "keyword-call": _keyword_call,
    "keywords": _keywords,
    "traceloop-input": _traceloop_input,
    "output": _output,
    "langchain-message": _tool_message,
    "langchain-content": _tool_message_content,
    "strands-blocks": _strands_blocks,
    "adk-object": _adk_object,
    "adk-response": _adk_response,
    "single-result": _single_result,
    "llama-index": _llama_index,
    "llama-index-output": _llama_index_output,
    "mcp-result": _mcp_result,
    "mcp-content": _mcp_content,
    "json-again": _json_again,
}


def unwrap(value: Any, envelopes: tuple[Envelope, ...]) -> Any:
    """Take off the envelopes that fit, in the order in which the convention names them."""
    for envelope in envelopes:
        inner = envelope(value)
        if inner is not UNSET:
            value = inner
    return value


def inside(value: Any, envelopes: tuple[Envelope, ...], path: tuple[str, ...]) -> Any:
    """What stands at a path within a value; UNSET where nothing does, or where the last envelope does not fit."""
    for envelope in envelopes[:-1]:
        inner = envelope(value)
        value = value if inner is UNSET else inner
    if envelopes:
        value = envelopes[-1](value)
    for key in path:
        value = value.get(key, UNSET) if isinstance(value, dict) else UNSET
    return value


# -- errors ------------------------------------------------------------------------------------------------------------

_NAMED = re.compile(
    r"^(?:Error(?: executing tool \S+)?: )?"
    r"([A-Za-z_][\w.]*(?:Error|Exception|Timeout|TimedOut|Exceeded|Refused|Interrupt))"
    r"(?:\((['\"])(.*?)\2\)|\s*(?::|-)\s+(.*))?",
    re.DOTALL,
)
_DIRECT = "The above exception was the direct cause of the following exception:"
_TYPE_NAME = re.compile(r"[A-Za-z_][\w.]*(?=: |$)")
_TIMEOUTS = ("Timeout", "TimeoutError", "DeadlineExceeded", "TimedOut", "TimeoutException", "DEADLINE_EXCEEDED")
_TIMEOUT_WORDS = frozenset({"timeout", "408", "504"})


def is_timeout(name: str) -> bool:
    """Whether the name of an error says that it was a timeout (telemetry.md, Failure has no single field)."""
    return name.rpartition(".")[2].endswith(_TIMEOUTS) or name.lower() in _TIMEOUT_WORDS


def named_error(text: str) -> tuple[str, str]:
    """Type and message of an error's own text such as ``TimeoutError: too slow``; an empty type where it has none.

    Only for text that is known to be an error's: a result that mentions one is a result.
    """
    match = _NAMED.match(text)
    if match is None:
        return "", text
    return match.group(1), match.group(3) or match.group(4) or ""


def direct_causes(stacktrace: str) -> list[str]:
    """The types of the exceptions that a Python traceback names as direct causes (``raise … from …``)."""
    lines = (before.rstrip().rpartition("\n")[2] for before in stacktrace.split(_DIRECT)[:-1])
    return [found.group() for found in map(_TYPE_NAME.match, lines) if found]
