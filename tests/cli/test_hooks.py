"""The hooks for pre-commit: each is the command that it names, and takes the files that it is for."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
HOOKS: dict[str, dict[str, Any]] = {hook["id"]: hook for hook in YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")}


@pytest.mark.parametrize(
    ("hook", "sample", "name"),
    [
        ("labadapt-cases", "metric-agent.cases.yaml", "cases.yaml"),
        ("labadapt-mapping", "metric-agent.mapping.yaml", "support.mapping.yaml"),
    ],
)
def test_a_hook_takes_several_files_and_fails_for_one(
    labadapt, tmp_path: Path, hook: str, sample: str, name: str
) -> None:
    command = shlex.split(HOOKS[hook]["entry"])
    assert command[0] == "labadapt"
    assert re.search(HOOKS[hook]["files"], name)
    assert not re.search(HOOKS[hook]["files"], "showcases.yaml")
    shutil.copy(ROOT / "samples" / sample, tmp_path / name)
    shutil.copy(ROOT / "samples" / sample, tmp_path / "again.yaml")
    assert labadapt(*command[1:], name, "again.yaml").returncode == 0
    (tmp_path / "again.yaml").write_text("schemaVersion: 2\n", encoding="utf-8")
    done = labadapt(*command[1:], name, "again.yaml")
    assert (done.returncode, f"{name}: valid" in done.stdout, "error[UNSUPPORTED_VERSION]" in done.stdout) == (
        2,
        True,
        True,
    )


def test_the_hook_of_bundles_takes_what_the_fixtures_write(labadapt) -> None:
    hook = HOOKS["labadapt-validate"]
    labadapt("fixtures", "--policy", "guarded", "--out", "bundle.json")
    assert re.search(hook["files"], "records/bundle.json")
    assert labadapt(*shlex.split(hook["entry"])[1:], "bundle.json").returncode == 0
