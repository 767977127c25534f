"""What docs/langfuse.md tells a reader to type works as it stands there."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

TEXT = (Path(__file__).parents[2] / "docs" / "langfuse.md").read_text()
[JOB] = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)]
STEPS = [step["run"] for step in JOB["jobs"]["experiment"]["steps"] if "run" in step]
TYPED = [
    line.partition("#")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("labadapt langfuse")
]


@pytest.fixture
def refunds(store: Any) -> Any:
    """The recorded dataset under the page's name, without the case that no sequential run can hold."""
    store.datasets[0]["name"] = "refunds"
    for row in store.dataset_items:
        row["datasetName"] = "refunds"
    store.dataset_items = [row for row in store.dataset_items if row["id"] != "case-3"]
    store.experiment_items = [row for row in store.experiment_items if row["experimentItemId"] != "case-3"]
    return store


@pytest.mark.usefixtures("refunds")
@pytest.mark.parametrize("line", TYPED)
def test_a_line_of_the_page_can_be_typed(line: str, langfuse_command: Any) -> None:
    done = langfuse_command(*shlex.split(line)[2:])
    assert done.returncode == 0, done.stderr


@pytest.fixture
def job(langfuse_command: Any, tmp_path: Path) -> Any:
    """Run the step of the job that reads and checks, with a contract that no run keeps."""
    contract = {"disposition": "answer", "maxCalls": 1}
    cases = {"schemaVersion": 1, "cases": {f"case-{number}": {"contract": contract} for number in (1, 2, 4)}}
    (tmp_path / "cases.yaml").write_text(yaml.safe_dump(cases))
    [step] = [step for step in STEPS if step.startswith("labadapt langfuse")]
    words = [word.replace("$RUN", "policy A").replace("300", "1") for word in shlex.split(step)]
    return lambda: langfuse_command(*words[2:])


@pytest.mark.usefixtures("refunds")
def test_the_job_fails_where_a_run_does_and_keeps_what_was_read(job: Any, tmp_path: Path) -> None:
    done = job()
    assert done.returncode == 1, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"cases.yaml", "pages", "bundle.json"}


@pytest.mark.usefixtures("refunds")
def test_the_job_fails_where_the_run_cannot_be_read_whole(job: Any, langfuse: Any, lab: Any) -> None:
    langfuse.faults = [lab.on("v2/observations", lab.without("648b3375e36791c7", "0b994493b9fbacf1"))]
    assert job().returncode == 2
