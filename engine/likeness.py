"""Cases that ask nearly the same, found deterministically and without comparing each with each.

The text of a case is its request, the input that recognises it, and without these its description, in lower case, with
white space and punctuation as separators. Two texts are alike where they are equal, or where the words they share are
at least a given part of the words of both (Jaccard 1901).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import msgspec
from labadapt.schema.cases import Case
from labadapt.schema.model import Request
from msgspec import UnsetType

THRESHOLD = 0.8
Group: TypeAlias = tuple[str, ...]
_WORD = re.compile(r"\w+")


def text_of(case: Case) -> str:
    """What a case asks, normalised; empty where it says nothing."""
    parts: list[str] = []
    if isinstance(case.request, Request):
        parts += _values(msgspec.to_builtins(case.request))
    if not isinstance(case.match, UnsetType) and not isinstance(case.match.input_equals, UnsetType):
        parts.append(case.match.input_equals)
    if not parts and not isinstance(case.description, UnsetType):
        parts.append(case.description)
    return " ".join(_WORD.findall(" ".join(parts).casefold()))


def _values(value: Any) -> Iterator[str]:
    """The values of a request, in the order of its keys; the keys are the format's, or the tool's, and ask nothing."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from _values(value[key])
    elif isinstance(value, list):
        for one in value:
            yield from _values(one)
    else:
        yield str(value)


def equal_groups(texts: Mapping[str, str]) -> list[Group]:
    """The cases by text, each group by id; cases that say nothing are in none."""
    groups: dict[str, list[str]] = defaultdict(list)
    for case in sorted(texts):
        if texts[case]:
            groups[texts[case]].append(case)
    return [tuple(group) for group in groups.values()]


def similar(texts: Mapping[str, str], threshold: float = THRESHOLD) -> Iterator[tuple[str, str, float]]:
    """Each case whose words are alike to those of a case before it, by id: the most alike one, the case, and how much.

    Only the most alike one (of equals the first), so that a hundred variations of one text are told in 99 lines.

    Prefix filtering (Bayardo, Ma and Srikant 2007, WWW): with words from rare to common, two sets that are alike share
    one of the first n - ceil(threshold·n) + 1, so that only those are looked up.
    """
    words = {case: frozenset(text.split()) for case, text in texts.items() if text}
    seen = Counter(word for its in words.values() for word in its)
    index: dict[str, list[str]] = defaultdict(list)
    for case in sorted(words):
        prefix = _prefix(words[case], seen, threshold)
        near = {one: _jaccard(words[case], words[one]) for word in prefix for one in index[word]}
        if near:
            other = min(near, key=lambda one: (-near[one], one))
            if near[other] >= threshold:
                yield other, case, near[other]
        for word in prefix:
            index[word].append(case)


def _prefix(words: Iterable[str], seen: Mapping[str, int], threshold: float) -> Sequence[str]:
    ordered = sorted(words, key=lambda word: (seen[word], word))
    least = -(-Fraction(repr(threshold)) * len(ordered) // 1)  # how many words two alike sets share at least
    return ordered[: len(ordered) - int(least) + 1]


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)
