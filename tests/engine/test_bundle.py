"""The results of a bundle, and what the package offers."""

import subprocess
import sys

import labadapt.engine
import msgspec
import pytest
from labadapt.engine import check_bundle, check_run
from labadapt.schema.codec import decode_bundle, decode_results, encode_results
from labadapt.schema.model import Bundle, Generator, Run
from labadapt.schema.problems import Refusal


@pytest.fixture
def bundle(run):
    """Give three runs of three policies: one passes, one fails, one has no contract."""
    failing = {**run, "policy": "v2", "contract": {"disposition": "answer", "maxCalls": 0}}
    bare = {key: value for key, value in {**run, "policy": "v3"}.items() if key != "contract"}
    return msgspec.convert({"schemaVersion": 1, "runs": [failing, bare, run]}, Bundle)


def test_results_stand_in_the_bundles_order_with_their_sum(bundle) -> None:
    results = check_bundle(bundle)
    assert [(one.policy, one.outcome) for one in results.results] == [
        ("v2", "fail"),
        ("v3", "inconclusive"),
        ("v1", "pass"),
    ]
    assert msgspec.to_builtins(results.summary) == {"total": 3, "passed": 1, "failed": 1, "inconclusive": 1}


def test_only_the_policies_that_were_named(bundle) -> None:
    results = check_bundle(bundle, policies=["v1", "v2"])
    assert [one.policy for one in results.results] == ["v2", "v1"]
    assert msgspec.to_builtins(results.summary) == {"total": 2, "passed": 1, "failed": 1, "inconclusive": 0}


@pytest.mark.parametrize(
    ("policies", "counts"),
    [(["v1"], (1, 1, 0, 0)), (["v2"], (1, 0, 1, 0)), (["v3"], (1, 0, 0, 1)), (["v3", "v1"], (2, 1, 0, 1))],
)
def test_each_outcome_is_counted_as_itself(bundle, policies, counts) -> None:
    summary = check_bundle(bundle, policies=policies).summary
    assert (summary.total, summary.passed, summary.failed, summary.inconclusive) == counts


def test_a_policy_that_no_run_has_is_refused_with_those_present(bundle) -> None:
    with pytest.raises(Refusal) as refused:
        check_bundle(bundle, policies=["v1", "v9", "w"])
    assert [(problem.code, problem.found, problem.expected) for problem in refused.value.problems] == [
        ("BAD_VALUE", "v9", "v1, v2, v3"),
        ("BAD_VALUE", "w", "v1, v2, v3"),
    ]


def test_the_version_is_the_generators(bundle) -> None:
    assert check_bundle(bundle, version="1.2").generator == Generator(name="labadapt", version="1.2")
    assert check_bundle(bundle).generator is msgspec.UNSET


def test_results_are_written_and_read_back(bundle) -> None:
    results = check_bundle(bundle, version="1.2")
    assert decode_results(encode_results(results)) == results


def test_the_same_value_written_otherwise_gives_the_same_bytes() -> None:
    one = b"""{"schemaVersion":1,"runs":[{"caseId":"c","policy":"p","mode":"recorded","durationMs":5,"steps":[],
      "contract":{"disposition":"answer","maxCalls":1,"expectedValue":3,"expectedState":{"a":{"x":1,"y":2}}},
      "output":{"disposition":"answer","value":4,"state":{"b":1,"a":{"y":3,"x":1}}}}]}"""
    other = b"""{"runs":[{"output":{"state":{"a":{"x":1,"y":3},"b":1},"value":4.0,"disposition":"answer"},"steps":[],
      "contract":{"expectedState":{"a":{"y":2,"x":1}},"expectedValue":3.0,"maxCalls":1,"disposition":"answer"},
      "durationMs":5.0,"mode":"recorded","policy":"p","caseId":"c"}],"schemaVersion":1}"""
    assert encode_results(check_bundle(decode_bundle(one))) == encode_results(check_bundle(decode_bundle(other)))


def test_checking_changes_nothing_in_the_run(run) -> None:
    given = msgspec.convert(run, Run)
    before = msgspec.json.encode(given)
    check_run(given)
    assert msgspec.json.encode(given) == before


def test_metadata_and_provenance_are_never_read(run) -> None:
    bare = check_run(msgspec.convert(run, Run))
    run |= {"metadata": {"verdict": "fail", "outcome": "fail"}, "provenance": {"source": "x", "steps": []}}
    assert check_run(msgspec.convert(run, Run)) == bare


def test_importing_the_package_loads_no_check() -> None:
    code = "import sys, labadapt.engine; print(sorted(name for name in sys.modules if name.startswith('labadapt.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['labadapt.engine']\n"


def test_a_name_that_the_package_does_not_have() -> None:
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        labadapt.engine.chekc  # noqa: B018 - looking it up is the test
