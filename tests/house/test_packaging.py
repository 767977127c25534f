"""What is installed is what stands in the repository, however it is installed; and plug-ins of others are found."""

import json
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "tests" / "plugins"
FOLDERS = ("adapters", "cli", "engine", "schema")
OFFLINE = ("--no-deps", "--no-build-isolation", "--quiet", "--disable-pip-version-check")


def run(*command: str | Path, cwd: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(list(map(str, command)), cwd=cwd, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def package_files() -> set[str]:
    """Every file of the package that git tracks or would track, as it is named in a wheel."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).stdout.splitlines()
    inside = [
        name for name in listed if name.split("/")[0] in FOLDERS or name in {"__init__.py", "__main__.py", "py.typed"}
    ]
    return {f"labadapt/{name}" for name in inside if (ROOT / name).exists()}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and what its build reads, so that building leaves nothing in the repository."""
    folder = tmp_path_factory.mktemp("checkout") / "labadapt-main"
    for name in [
        *(file.removeprefix("labadapt/") for file in package_files()),
        "pyproject.toml",
        "README.md",
        "LICENSE",
    ]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def distributions(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel built from the tree, the sdist, and the wheel built from the sdist."""
    direct, chained = tmp_path_factory.mktemp("direct"), tmp_path_factory.mktemp("chained")
    source = tmp_path_factory.mktemp("source") / "tree"
    shutil.copytree(checkout, source)
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", direct, source, cwd=direct)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", chained, source, cwd=chained)
    return {
        "wheel": next(direct.glob("*.whl")),
        "sdist": next(chained.glob("*.tar.gz")),
        "wheel of the sdist": next(chained.glob("*.whl")),
    }


def light_environment(folder: Path) -> Path:
    """A new environment that borrows the dependencies of this one, but not its labadapt. Gives its interpreter."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).stdout.strip()
    Path(site, "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def install(python: Path, *what: str | Path, cwd: Path) -> None:
    run(sys.executable, "-m", "pip", "--python", python, "install", *OFFLINE, *what, cwd=cwd)


@pytest.fixture(scope="module")
def editable(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with an editable install of the copy."""
    python = light_environment(tmp_path_factory.mktemp("editable") / "venv")
    install(python, "--editable", checkout, cwd=checkout)
    return python


@pytest.mark.parametrize("kind", ["wheel", "wheel of the sdist"])
def test_a_wheel_holds_every_file_of_the_package_and_no_other(distributions: dict[str, Path], kind: str) -> None:
    held = {name for name in zipfile.ZipFile(distributions[kind]).namelist() if ".dist-info/" not in name}
    assert held == package_files()


def test_the_sdist_holds_every_file_of_the_package(distributions: dict[str, Path]) -> None:
    with tarfile.open(distributions["sdist"]) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {name.removeprefix("labadapt/") for name in package_files()} <= held
    assert {"pyproject.toml", "README.md", "LICENSE"} <= held


def test_pip_installs_the_tree_with_its_dependencies(checkout: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    tree = tmp_path / "tree"
    shutil.copytree(checkout, tree)
    run(binaries / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", tree, cwd=tmp_path)
    assert run(binaries / "labadapt", "--version", cwd=tmp_path).stdout == "labadapt 0.1.0\n"
    assert run(binaries / "python", "-m", "labadapt", "--version", cwd=tmp_path).stdout == "labadapt 0.1.0\n"
    assert "8 runs: 8 passed" in run(binaries / "labadapt", "fixtures", cwd=tmp_path).stdout
    export = ROOT / "samples" / "producers" / "pydantic-ai@2.68.0-v5" / "01_supported.pb"
    bundle = run(binaries / "labadapt", "convert", export, cwd=tmp_path).stdout
    assert json.loads(bundle)["runs"][0]["steps"][0]["tool"] == "query_metric"


@pytest.mark.parametrize("kind", ["wheel", "wheel of the sdist"])
def test_a_wheel_runs(distributions: dict[str, Path], kind: str, tmp_path: Path) -> None:
    python = light_environment(tmp_path / "venv")
    install(python, distributions[kind], cwd=tmp_path)
    where = run(python, "-c", "import labadapt; print(labadapt.__file__)", cwd=tmp_path).stdout
    assert where.startswith(str(tmp_path))
    assert run(python, "-m", "labadapt", "--version", cwd=tmp_path).stdout == "labadapt 0.1.0\n"
    assert "8 runs: 8 passed" in run(python, "-m", "labadapt", "fixtures", cwd=tmp_path).stdout


def test_an_editable_install_runs_the_tree(editable: Path, checkout: Path, tmp_path: Path) -> None:
    where = run(editable, "-c", "import labadapt.cli.main as m; print(m.__file__)", cwd=tmp_path).stdout.strip()
    assert Path(where) == checkout / "cli" / "main.py"
    assert run(editable, "-m", "labadapt", "--version", cwd=tmp_path).stdout == "labadapt 0.1.0\n"


def test_an_editable_install_sees_a_new_convention_without_installing_again(
    editable: Path, checkout: Path, tmp_path: Path
) -> None:
    new = checkout / "adapters" / "conventions" / "newcomer.py"
    table = (PLUGINS / "friendly" / "labadapt_friendly.py").read_text()
    head = "from labadapt.adapters.span import Convention, Field, Match\n\n"
    value = table[table.index("ACME = ") :].replace("ACME =", "CONVENTION =").replace('"acme"', '"newcomer"')
    new.write_text('"""New."""\n\n' + head + value)
    try:
        assert "newcomer" in run(editable, "-m", "labadapt", "adapters", cwd=tmp_path).stdout
    finally:
        new.unlink()


def test_a_plugin_of_another_distribution_is_listed_and_used(checkout: Path, tmp_path: Path) -> None:
    python = light_environment(tmp_path / "venv")
    shutil.copytree(PLUGINS / "friendly", tmp_path / "friendly")
    install(python, checkout, tmp_path / "friendly", cwd=tmp_path)
    listed = run(python, "-m", "labadapt", "adapters", cwd=tmp_path).stdout.splitlines()
    assert [line.split() for line in listed if "labadapt-friendly" in line] == [
        ["tabular", "labadapt-friendly", "2.5", "Convert", "ACME's", "tabular", "traces."],
        ["acme", "labadapt-friendly", "2.5", "ACME", "agents"],
    ]
    for command in ("tabular", "convert"):
        done = run(python, "-m", "labadapt", command, tmp_path / "friendly" / "export.acme", cwd=tmp_path)
        run_of_acme = json.loads(done.stdout)["runs"][0]
        assert (run_of_acme["caseId"], run_of_acme["policy"]) == ("latency", "acme-1")
        assert run_of_acme["steps"][0]["tool"] == "query"
        assert run_of_acme["steps"][0]["arguments"] == {"metric": "latency"}
    assert "--tenant TEXT" in run(python, "-m", "labadapt", "tabular", "--help", cwd=tmp_path).stdout
    other = ("tabular", tmp_path / "friendly" / "export.acme", "--tenant", "other")
    assert "error[NO_SPANS]" in run(python, "-m", "labadapt", *other, cwd=tmp_path, status=2).stderr


def test_a_hostile_plugin_is_named_and_refused_and_stops_nobody(checkout: Path, tmp_path: Path) -> None:
    python = light_environment(tmp_path / "venv")
    shutil.copytree(PLUGINS / "hostile", tmp_path / "hostile")
    install(python, checkout, tmp_path / "hostile", cwd=tmp_path)
    listed = run(python, "-m", "labadapt", "adapters", cwd=tmp_path).stdout
    for name in ("exploding", "leaving", "missing", "text", "exploding-convention", "number"):
        assert [line for line in listed.splitlines() if line.split()[:3] == [name, "labadapt-hostile", "6.6.6"]], name
    assert "\x1b" not in listed
    chosen = run(python, "-m", "labadapt", "exploding", "x", cwd=tmp_path, status=2).stderr
    assert chosen.startswith("error[BAD_PLUGIN]: ")
    assert "labadapt-hostile 6.6.6" in chosen
    assert "Traceback" not in chosen
    assert "\x1b" not in chosen
    failed = run(python, "-m", "labadapt", "raising", tmp_path / "hostile" / "pyproject.toml", cwd=tmp_path, status=2)
    assert failed.stderr.startswith(
        "error[BAD_PLUGIN]: the source 'raising' of labadapt-hostile 6.6.6 failed: KeyError: "
    )
    assert "\x1b" not in failed.stderr
    helped = run(python, "-m", "labadapt", "--help", cwd=tmp_path).stdout
    assert "Not the real one" not in helped
    assert "Takes a command's name" not in helped
    export = ROOT / "samples" / "producers" / "pydantic-ai@2.68.0-v5" / "01_supported.pb"
    for command in ("otlp", "convert"):
        done = run(python, "-m", "labadapt", command, export, cwd=tmp_path)
        assert json.loads(done.stdout)["runs"][0]["steps"][0]["tool"] == "query_metric"
