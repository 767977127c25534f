"""Converting: from the files that were named to bundles, with an account of every span and every refused run."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from labadapt import __version__
from labadapt.cli.accounts import input_refusal_lines, refusal_lines, render_refused, summary_lines
from labadapt.cli.files import STANDARD_STREAM, display_name, expand, read_file
from labadapt.cli.outputs import write, write_folder
from labadapt.cli.session import Session, complain
from labadapt.cli.statuses import Status
from labadapt.schema.problems import Refusal

if TYPE_CHECKING:
    from labadapt.adapters.conversion import Conversion, Nested, Options
    from labadapt.adapters.span import Source
    from labadapt.cli.spill import Spill
    from labadapt.schema.model import Run


@dataclass(frozen=True, slots=True)
class Wish:
    """What the command line asks of a conversion; the fields are the options of the command."""

    files: tuple[str, ...]
    cases: str | None = None
    mapping: str | None = None
    policy: str | None = None
    policy_attribute: str | None = None
    group_by: str | None = None
    case: str | None = None
    case_attribute: str | None = None
    out: str | None = None
    out_dir: str | None = None
    trials: str | None = None
    on_refusal: Literal["stop", "skip"] = "stop"
    refusals: str | None = None
    nested: "Nested" = "refuse"
    check: bool = False
    max_size: int | None = None
    memory: int | None = None
    jobs: int = 1
    source_options: Mapping[str, Any] = field(default_factory=dict)


def convert_files(source: "Source | None", wish: Wish, session: Session) -> Status:
    """Convert, write what was asked for, and say what happened; with `check`, the verdict is the result.

    `source` None: recognised from the content of each file.
    """
    from labadapt.cli.spill import DEFAULT_MEMORY, Spill

    with closing(Spill(DEFAULT_MEMORY if wish.memory is None else wish.memory)) as spill:
        return _delivered(_converted(source, wish, session, spill), wish, session)


def convert_langfuse(files: Iterable[tuple[str, bytes]], wish: Wish, session: Session) -> Status:
    """Convert pages of Langfuse, fetched or saved, in the same way."""
    from labadapt.adapters.langfuse.exports import read_pages
    from labadapt.adapters.langfuse.pages import convert_pages

    with _refusals_listed(wish):
        options = _options(wish)
        conversion = convert_pages(read_pages(files, options.limits), options)
    return _delivered(conversion, wish, session)


def _delivered(conversion: "Conversion", wish: Wish, session: Session) -> Status:
    _list_refused(conversion, wish, session)
    for line in summary_lines(conversion):
        session.say(line)
    if _withheld(conversion, wish, session):
        return Status.INVALID
    _write(conversion.runs, wish)
    return _checked(conversion.runs, wish) if wish.check else Status.PASSED


def _converted(source: "Source | None", wish: Wish, session: Session, spill: "Spill") -> "Conversion":
    from labadapt.adapters.convert import convert
    from labadapt.cli.progress import opened, watching
    from labadapt.cli.sources import by_content

    names = expand(wish.files, (wish.cases, wish.mapping))
    options = _options(wish)
    if jobs := _processes(names, wish, session):
        from labadapt.cli.jobs import convert_in_processes

        with _refusals_listed(wish):
            return convert_in_processes(names, None if source is None else source.name, options, jobs, spill.runs)
    with _refusals_listed(wish), watching(names, session, lambda: spill.observations.added) as watch:
        return convert(opened(names, watch), source or by_content(options.limits), options, keeping=spill)


def _processes(names: list[str], wish: Wish, session: Session) -> int:
    """How many processes share the work; 0 where it is that of this one."""
    jobs = wish.jobs or os.cpu_count() or 1
    if jobs == 1:
        return 0
    if len(names) == 1 or STANDARD_STREAM in names or wish.group_by is not None:
        session.say(
            "note: one process does the work: --jobs shares out several files, and no conversation (--group-by)"
        )
        return 0
    return jobs


@contextmanager
def _refusals_listed(wish: Wish) -> Iterator[None]:
    """What refuses the input itself stands in the file of refusals as well, where one was asked for."""
    try:
        yield
    except Refusal as refusal:
        if wish.refusals is not None:
            write(wish.refusals, input_refusal_lines(refusal.problems))
        raise


def _options(wish: Wish) -> "Options":
    from labadapt.adapters.cases import read_cases
    from labadapt.adapters.conversion import Options
    from labadapt.adapters.mapping import read_mapping
    from labadapt.adapters.span import Limits

    return Options(
        now_ns=time.time_ns(),
        cases=None if wish.cases is None else read_cases(read_file(wish.cases), display_name(wish.cases)),
        mapping=None if wish.mapping is None else read_mapping(read_file(wish.mapping), display_name(wish.mapping)),
        case=wish.case,
        case_attribute=wish.case_attribute,
        policy=wish.policy,
        policy_attribute=wish.policy_attribute,
        group_by=wish.group_by,
        nested=wish.nested,
        limits=Limits() if wish.max_size is None else Limits(max_size=wish.max_size),
        version=__version__,
        trials=wish.trials is not None,
        source_options=wish.source_options,
    )


def _list_refused(conversion: "Conversion", wish: Wish, session: Session) -> None:
    """Every refused run on standard error, whatever ``--quiet`` says, and in the file that was asked for."""
    if conversion.refused:
        complain(render_refused(conversion.refused))
        session.say("")
    if wish.refusals is not None:
        write(wish.refusals, refusal_lines(conversion.refused))


def _withheld(conversion: "Conversion", wish: Wish, session: Session) -> bool:
    if conversion.refused and wish.on_refusal == "stop":
        session.say("nothing written: a run was refused (--on-refusal skip writes the others)")
        return True
    if not conversion.runs:
        session.say("nothing written: every run was refused")
    return not conversion.runs


def _write(runs: "Sequence[Run]", wish: Wish) -> None:
    from labadapt.cli.bundles import bundle_bytes, shards, trial_files
    from labadapt.cli.manifests import with_manifest

    if wish.trials is not None:
        write_folder(wish.trials, trial_files(runs))
    elif wish.out_dir is not None:
        write_folder(wish.out_dir, with_manifest(shards(runs)))
    elif wish.out is not None or not wish.check:
        write(wish.out, bundle_bytes(runs))


def _checked(runs: "Sequence[Run]", wish: Wish) -> Status:
    from labadapt.cli.checking import report
    from labadapt.engine.check import check_bundle
    from labadapt.schema.model import Bundle

    results = check_bundle(Bundle(schema_version=1, runs=list(runs)), version=__version__)
    return report(results, "text", beside=wish.out == STANDARD_STREAM)
