"""What is asked in a case and what must hold, from the dataset item as it was when the run began.

Documented keys only (docs/langfuse.md): a contract is an object with `disposition` in the item's ``expectedOutput``,
or under ``contract`` in its metadata; a request is an object with `tool` and `operation` in ``input``, or under
``request`` in its metadata. What claims to be one by these keys must be one, in every field.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from labadapt.schema.cases import Case, CasesFile
from labadapt.schema.faults import faults
from labadapt.schema.model import Contract, Request
from labadapt.schema.problems import Problem, Refusal
from msgspec import UNSET

Row = Mapping[str, Any]


def case_of(item: Row) -> Case:
    """The case that a dataset item is. Refused with every fault of its request and contract."""
    metadata = item.get("metadata")
    inside = metadata if isinstance(metadata, dict) else {}
    request = _one(item, "Request", {"tool", "operation"}, (("input", item.get("input")), _under(inside, "request")))
    expected = ("expectedOutput", item.get("expectedOutput"))
    contract = _one(item, "Contract", {"disposition"}, (expected, _under(inside, "contract")))
    return Case(
        request=UNSET if request is None else msgspec.convert(request, Request),
        contract=UNSET if contract is None else msgspec.convert(contract, Contract),
    )


def _under(metadata: dict[str, Any], key: str) -> tuple[str, Any]:
    return f"metadata/{key}", metadata.get(key)


def _one(item: Row, name: str, keys: set[str], places: tuple[tuple[str, Any], ...]) -> Any:
    """The value at the one place that holds it, or None. Refused: `BAD_VALUE` where two places disagree."""
    found = [(place, value) for place, value in places if isinstance(value, dict) and keys <= value.keys()]
    if len(found) > 1 and found[0][1] != found[1][1]:
        raise Refusal(
            Problem(
                code="BAD_VALUE",
                message=f"the dataset item {item.get('id')!r} has two of a {name.lower()}, and they differ",
                found=" and ".join(place for place, _ in found),
                expected="one",
            )
        )
    for place, value in found[:1]:
        start = f"/{place}"
        if problems := faults(value, "bundle", f"dataset item {item.get('id')}", key=name, start=start):
            raise Refusal(problems)
        return value
    return None


def joined(cases: Mapping[str, Case], reviewed: CasesFile | None) -> CasesFile:
    """The dataset's cases, or those of a cases file that people review, completed by what it leaves open.

    Refused: `REQUEST_MISMATCH` where both say what was asked, and differ.
    """
    if reviewed is None:
        return CasesFile(schema_version=1, cases=dict(cases))
    return msgspec.structs.replace(
        reviewed, cases={id_: _completed(id_, case, cases.get(id_)) for id_, case in reviewed.cases.items()}
    )


def _completed(id_: str, reviewed: Case, own: Case | None) -> Case:
    if own is None:
        return reviewed
    request = reviewed.request if isinstance(reviewed.request, Request) else own.request
    if isinstance(own.request, Request) and request != own.request:
        raise Refusal(
            Problem(
                code="REQUEST_MISMATCH", message=f"The dataset and the cases file disagree on the request of {id_!r}."
            )
        )
    contract = reviewed.contract if isinstance(reviewed.contract, Contract) else own.contract
    return msgspec.structs.replace(reviewed, request=request, contract=contract)
