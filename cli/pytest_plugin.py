"""The pytest plug-in: one test for each run of the bundles that are named, and the fixture ``labadapt_bundle``.

    pytest --labadapt-bundle bundle.json --labadapt-cases cases.yaml

Or in the configuration: ``labadapt_bundles`` (paths, one a line) and ``labadapt_cases``. A run is a test of its own,
named after case and policy. It passes when every required check passes; an inconclusive run is a failure, because
nothing that a contract asks for was shown. Without a bundle the plug-in does nothing, and imports nothing.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from labadapt.schema.model import Bundle
    from labadapt.schema.result import RunResult

_BUNDLES, _CASES = "labadapt_bundles", "labadapt_cases"


class RunFailure(Exception):
    """A run that does not satisfy its contract, or whose record does not show whether it does."""

    def __init__(self, result: "RunResult") -> None:
        """Keep the result for its report."""
        super().__init__(f"{result.outcome}: {result.reason}")
        self.result = result


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and their counterparts in the configuration."""
    group = parser.getgroup("labadapt", "runs of agents against their contracts")
    group.addoption(
        "--labadapt-bundle", action="append", metavar="FILE", help="A run bundle: one test for each run; repeatable."
    )
    group.addoption("--labadapt-cases", metavar="FILE", help="Requests and contracts from this cases file.")
    parser.addini(_BUNDLES, "Run bundles: one test for each run.", type="paths", default=[])
    parser.addini(_CASES, "Requests and contracts from this cases file.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Collect the bundles beside the tests, wherever they lie."""
    config.args.extend(str(path) for path in bundle_paths(config) if str(path) not in config.args)


def bundle_paths(config: pytest.Config) -> list[Path]:
    """The bundles that are named: on the command line from where pytest was started, else by the configuration."""
    given: list[str] | None = config.getoption("--labadapt-bundle")
    if given:
        return [_absolute(config, name) for name in given]
    return list(config.getini(_BUNDLES))


def _cases_path(config: pytest.Config) -> Path | None:
    given: str | None = config.getoption("--labadapt-cases")
    if given:
        return _absolute(config, given)
    named: str = config.getini(_CASES)
    return config.rootpath / named if named else None


def _absolute(config: pytest.Config, name: str) -> Path:
    return (config.invocation_params.dir / name).resolve()


# -- one test for each run ---------------------------------------------------------------------------------------------


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "BundleFile | None":
    """Take the files that are named as bundles, and no others."""
    return BundleFile.from_parent(parent, path=file_path) if file_path in bundle_paths(parent.config) else None


class BundleFile(pytest.File):
    """A run bundle. A broken one is an error of collection, with every fault."""

    def collect(self) -> Iterator["RunItem"]:
        """One item for each run, in the order of the bundle; pytest prints its name, so nothing in it is obeyed."""
        from labadapt.cli.escaping import printable
        from labadapt.engine.check import check_run

        for run in _bundle(self.path, _cases_path(self.config)).runs:
            name = printable(f"{run.case_id}[{run.policy}]")
            yield RunItem.from_parent(self, name=name, result=check_run(run))


class RunItem(pytest.Item):
    """One run against its contract."""

    def __init__(self, *, result: "RunResult", **parts: object) -> None:
        """Take the result beside what `from_parent` gives."""
        super().__init__(**parts)  # type: ignore[arg-type] # what pytest's `from_parent` hands on
        self.result = result
        self.user_properties += [("case", result.case_id), ("policy", result.policy), ("outcome", result.outcome)]

    def runtest(self) -> None:
        """Raise `RunFailure` for every outcome but pass."""
        if self.result.outcome != "pass":
            raise RunFailure(self.result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override] # no style
        """What the run had to show, and what it shows; a traceback says nothing about an agent."""
        if not isinstance(excinfo.value, RunFailure):
            return str(super().repr_failure(excinfo))
        from click import unstyle
        from labadapt.cli.verdicts import render_run

        return unstyle(render_run(self.result))

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where the run stands, for the headline of its failure."""
        return self.path, None, f"run {self.name}"


# -- the fixture -------------------------------------------------------------------------------------------------------


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for ``labadapt_bundle`` runs once for each bundle that is named."""
    if "labadapt_bundle" in metafunc.fixturenames:
        paths = bundle_paths(metafunc.config)
        metafunc.parametrize("labadapt_bundle", paths, indirect=True, ids=[path.name for path in paths])


@pytest.fixture
def labadapt_bundle(request: pytest.FixtureRequest) -> "Bundle":
    """A bundle that is named, as `labadapt.schema.model.Bundle`, with the contracts of the cases file."""
    return _bundle(request.param, _cases_path(request.config))


def _bundle(path: Path, cases: Path | None) -> "Bundle":
    from labadapt.cli.problems import render_problems
    from labadapt.schema.problems import Refusal

    try:
        return _read(path, cases)
    except Refusal as refusal:
        from click import unstyle

        raise pytest.Collector.CollectError(unstyle(render_problems(refusal.problems))) from None


@cache
def _read(path: Path, cases: Path | None) -> "Bundle":
    from labadapt.cli.checked import attached, read_cases_file
    from labadapt.cli.exports import read_bundle

    bundle = read_bundle(str(path))
    return bundle if cases is None else attached(bundle, read_cases_file(str(cases)))
