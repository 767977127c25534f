"""What a row of each kind must hold where it is read: an answer or a file of another form is refused at its place.

Only the fields that become a part of a run are held to a type; every other field of a row may be anything.
"""

from typing import Annotated, Any, TypeAlias

import msgspec
from labadapt.schema.places import printable
from labadapt.schema.problems import Problem, Refusal, Where

Row: TypeAlias = dict[str, Any]
_Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
_Object: TypeAlias = dict[str, Any]


class _Observation(msgspec.Struct, rename="camel"):
    id: _Name
    trace_id: _Name
    type: _Name
    start_time: _Name
    level: str | None  # without it nothing tells a failure, and no row may lack it
    end_time: str | None = None
    parent_observation_id: str | None = None
    name: str | None = None
    status_message: str | None = None
    model: str | None = None
    usage_details: _Object | None = None
    cost_details: _Object | None = None


class _ExperimentItem(msgspec.Struct, rename="camel"):
    trace_id: _Name
    experiment_item_id: _Name
    experiment_name: _Name
    start_time: _Name
    id: str | None = None  # what came before experiments may name a trace only
    experiment_id: str | None = None
    experiment_dataset_id: str | None = None


class _Experiment(msgspec.Struct, rename="camel"):
    id: _Name
    name: _Name
    item_count: int
    start_time: _Name


class _DatasetItem(msgspec.Struct, rename="camel"):
    id: _Name
    updated_at: str | None = None
    version: str | None = None
    valid_from: str | None = None


_FORMS: dict[str, type[msgspec.Struct]] = {
    "observations": _Observation,
    "experiment_items": _ExperimentItem,
    "experiments": _Experiment,
    "dataset_items": _DatasetItem,
}


def require_form(row: Row, kind: str, where: Where) -> None:
    """Hold a row to the form of its `kind`, the name of a list of `Pages`. Refused: `BAD_ANSWER`."""
    form = _FORMS.get(kind)
    if form is None:
        return
    try:
        msgspec.convert(row, form)
    except msgspec.ValidationError as error:
        raise Refusal(
            Problem(
                code="BAD_ANSWER",
                message=f"This is no row of {kind.replace('_', ' ')} that can be read.",
                where=where,
                found=printable(str(error)),
                expected="what Langfuse's interface promises, or an export of it",
            )
        ) from None
