"""A folder of bundles and its manifest: written together, read together."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

SAMPLES = Path(__file__).parents[2] / "samples" / "producers" / "pydantic-ai@2.68.0-v5"


@pytest.fixture
def folder(labadapt, tmp_path: Path) -> Path:
    """The folder that a conversion of every sample of one producer writes."""
    done = labadapt("otlp", SAMPLES, "--out-dir", "out", "--on-refusal", "skip")
    assert done.returncode == 0
    return tmp_path / "out"


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def test_the_manifest_lists_every_bundle_with_its_digest(folder: Path) -> None:
    listed = manifest(folder)
    [bundle] = listed["bundles"]
    data = (folder / "bundle-0001.json").read_bytes()
    runs = json.loads(data)["runs"]
    assert (bundle["file"], bundle["bytes"]) == ("bundle-0001.json", len(data))
    assert bundle["sha256"] == hashlib.sha256(data).hexdigest()
    assert listed["runs"] == bundle["runs"] == len(runs) == 11
    assert bundle["first"] == {"caseId": runs[0]["caseId"], "policy": "metrics_agent"}
    assert bundle["last"] == {"caseId": runs[-1]["caseId"], "policy": "metrics_agent"}


def test_a_whole_folder_is_read_without_its_manifest(labadapt, folder: Path) -> None:
    assert labadapt("validate", "out").stdout == "out/bundle-0001.json: valid\n"
    assert labadapt("check", "out").stdout.endswith("11 runs: 0 passed, 0 failed, 11 inconclusive\n")


def test_a_bundle_that_was_changed_is_refused_and_can_be_named_by_itself(labadapt, folder: Path) -> None:
    bundle = folder / "bundle-0001.json"
    bundle.write_bytes(bundle.read_bytes() + b"\n")
    done = labadapt("validate", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "error[BAD_MANIFEST]: the bundle is not the one that the manifest lists\n  --> out/bundle-0001.json"
        in done.stderr
    )
    assert labadapt("validate", "out/bundle-0001.json").returncode == 0


def test_a_bundle_more_and_a_bundle_less_are_refused(labadapt, folder: Path) -> None:
    (folder / "bundle-0001.json").rename(folder / "bundle-0002.json")
    told = labadapt("check", "out").stderr
    assert "the manifest does not list this file\n  --> out/bundle-0002.json" in told
    assert "the manifest lists a bundle that is not there\n  --> out/bundle-0001.json" in told


@pytest.mark.parametrize("name", ["../bundle-0001.json", "/etc/passwd", "a/b.json", "manifest"])
def test_a_manifest_leads_to_no_other_folder(labadapt, folder: Path, name: str) -> None:
    listed = manifest(folder)
    listed["bundles"][0]["file"] = name
    (folder / "manifest.json").write_text(json.dumps(listed), encoding="utf-8")
    done = labadapt("check", "out")
    assert done.returncode == 2
    assert "manifest.json" in done.stderr
    assert "/bundles/0/file" in done.stderr


def test_a_manifest_of_another_program_is_a_file_like_others(labadapt, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "manifest.json").write_text('{"name": "app"}', encoding="utf-8")
    assert "error[UNKNOWN_FORMAT]" in labadapt("convert", "traces").stderr


def test_hostile_case_ids_are_in_no_file_name(labadapt, tmp_path: Path) -> None:
    for number, case in enumerate(["../../etc/passwd", "CON", "a/b", "trailing. ", "x" * 200, "e\u0301", "\u00e9"]):
        done = labadapt("otlp", SAMPLES / "02_timeout_recovered.pb", "--case", case, "--out-dir", f"out{number}")
        assert done.returncode == 0
        assert sorted(path.name for path in (tmp_path / f"out{number}").iterdir()) == [
            "bundle-0001.json",
            "manifest.json",
        ]
