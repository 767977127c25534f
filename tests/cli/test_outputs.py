"""Nobody ever sees half of a file."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from labadapt.cli.outputs import write, write_folder
from labadapt.schema.problems import Refusal


def failing() -> Iterator[bytes]:
    yield b"first"
    raise KeyboardInterrupt


def refusal(caught: pytest.ExceptionInfo[Refusal]) -> tuple[str, str]:
    return caught.value.problems[0].code, caught.value.problems[0].message


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    target = tmp_path / "x.json"
    write(str(target), [b"one", b"two"])
    assert target.read_bytes() == b"onetwo"
    write(str(target), [b"three"])
    assert target.read_bytes() == b"three"
    assert list(tmp_path.iterdir()) == [target]


def test_an_interruption_leaves_what_was_there_and_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "x.json"
    target.write_text("before")
    with pytest.raises(KeyboardInterrupt):
        write(str(target), failing())
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_the_mode_of_a_replaced_file_stays_and_a_new_one_follows_the_mask(tmp_path: Path) -> None:
    target = tmp_path / "x.json"
    target.write_text("before")
    target.chmod(0o640)
    write(str(target), [b"after"])
    assert target.stat().st_mode & 0o777 == 0o640
    mask = os.umask(0o027)
    try:
        write(str(tmp_path / "new.json"), [b"new"])
    finally:
        os.umask(mask)
    assert (tmp_path / "new.json").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("before")
    (tmp_path / "link.json").symlink_to("real.json")
    write(str(tmp_path / "link.json"), [b"after"])
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "after"


def test_a_device_is_written_to_and_not_replaced() -> None:
    write("/dev/null", [b"gone"])
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing/x.json", "cannot be written: No such file or directory"),
        ("folder", "cannot be written: Is a directory"),
        ("/dev/full", "cannot be written: No space left on device"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(Refusal) as caught:
        write(str(tmp_path / name), [b"x"])
    assert refusal(caught) == ("UNWRITABLE_FILE", message)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_folder_is_written_at_once(tmp_path: Path) -> None:
    target = tmp_path / "out"
    assert write_folder(str(target), [("a.json", [b"1"]), ("b.json", [b"2", b"3"])]) == 2
    assert {path.name: path.read_text() for path in target.iterdir()} == {"a.json": "1", "b.json": "23"}


def test_an_empty_folder_is_filled_and_another_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    write_folder(str(target), [("a.json", [b"1"])])
    with pytest.raises(Refusal) as caught:
        write_folder(str(target), [("b.json", [b"2"])])
    assert refusal(caught) == ("OUTPUT_EXISTS", "the folder is not empty")
    assert [path.name for path in target.iterdir()] == ["a.json"]


def test_an_interrupted_folder_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_folder(str(tmp_path / "out"), [("a.json", [b"1"]), ("b.json", failing())])
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """An export of the user's own, in the folder of the command."""
    samples = Path(__file__).parents[2] / "samples" / "producers" / "pydantic-ai@2.68.0-v5"
    return Path(shutil.copy(samples / "02_timeout_recovered.pb", tmp_path / "traces.pb"))


@pytest.mark.parametrize("command", ["convert", "otlp"])
def test_an_export_is_not_replaced_by_its_bundle(labadapt, export: Path, command: str) -> None:
    before = export.read_bytes()
    done = labadapt(command, export.name, "--out", f"./{export.name}", "--quiet")
    assert done.returncode == 2
    assert (
        f"error[UNWRITABLE_FILE]: is an input of this command, and is not replaced\n  --> {export.name}" in done.stderr
    )
    assert export.read_bytes() == before


def test_a_bundle_is_not_replaced_by_its_result(labadapt, tmp_path: Path, run) -> None:
    bundle = tmp_path / "bundle.json"
    bundle.write_text(json.dumps({"schemaVersion": 1, "runs": [run]}), encoding="utf-8")
    (tmp_path / "link.json").symlink_to(bundle)
    done = labadapt("check", "bundle.json", "--out", "link.json")
    assert (done.returncode, "UNWRITABLE_FILE" in done.stderr) == (2, True)
    assert json.loads(bundle.read_text(encoding="utf-8"))["runs"] == [run]
