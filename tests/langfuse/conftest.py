"""The recorded project on a server of the project's own, and labadapt asking it."""

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from labadapt.adapters.langfuse.client import Connection, Server
from labadapt.adapters.langfuse.fetch import Fetched, Surroundings, Wish, fetch

Done = subprocess.CompletedProcess[str]
HERE = Path(__file__).parent
RECORDED = HERE.parents[1] / "samples" / "langfuse" / "api-pages"


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"labadapt_tests_langfuse_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def lab() -> ModuleType:
    """The module of the test server, with its faults."""
    return _module("server")


@pytest.fixture(scope="session")
def interface() -> Any:
    return _module("checking").Interface()


def _rows(pattern: str) -> list[dict[str, Any]]:
    return [
        row
        for path in sorted(RECORDED.glob(pattern))
        if "default" not in path.name
        for row in json.loads(path.read_text())["data"]
    ]


@pytest.fixture(scope="session")
def recorded_rows() -> Callable[[str], list[dict[str, Any]]]:
    """The rows of all recorded pages of a kind."""
    return _rows


@pytest.fixture
def store(lab: ModuleType) -> Any:
    """What the real server held when its pages were recorded."""
    return lab.Store(
        datasets=_rows("v2-datasets.json"),
        dataset_items=_rows("dataset-items.json"),
        experiments=_rows("experiments.json"),
        experiment_items=_rows("experiment-items.full.json"),
        observations=_rows("obs-v2.*.json"),
    )


@pytest.fixture
def langfuse(lab: ModuleType, store: Any, interface: Any) -> Iterator[Any]:
    """The server, running; every page that it answers is held to the published interface."""
    interface.violations.clear()
    with lab.Langfuse(store, interface) as server:
        yield server
    assert interface.violations == []


@pytest.fixture
def opened(lab: ModuleType, langfuse: Any) -> Iterator[Callable[..., Server]]:
    """A function that opens the server with the real SDK; tries follow each other at once."""
    servers: list[Server] = []

    def make(**settings: Any) -> Server:
        settings = {"public_key": lab.PUBLIC_KEY, "secret_key": lab.SECRET_KEY, "timeout": 5.0} | settings
        servers.append(Server(Connection(address=langfuse.address, **settings), lambda _seconds: None))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture
def fetched(opened: Callable[..., Server]) -> Callable[..., Fetched]:
    """A function that fetches runs of the recorded dataset, waiting in short steps."""

    def make(*runs: str, server: Server | None = None, **wish: Any) -> Fetched:
        around = Surroundings(lambda seconds: time.sleep(seconds / 50))
        return fetch(server or opened(), Wish(**({"dataset": "labadapt demo", "runs": runs} | wish)), around)

    return make


@pytest.fixture
def environment(lab: Any, langfuse: Any) -> dict[str, str]:
    """Only what the command needs: no key of the machine that runs the test."""
    return {
        "PATH": os.environ["PATH"],
        "LANGFUSE_BASE_URL": langfuse.address,
        "LANGFUSE_PUBLIC_KEY": lab.PUBLIC_KEY,
        "LANGFUSE_SECRET_KEY": lab.SECRET_KEY,
    }


@pytest.fixture
def langfuse_command(environment: dict[str, str], tmp_path: Path, lab: Any) -> Callable[..., Done]:
    """Run ``labadapt langfuse``; whatever it does, the secret key stands nowhere."""

    def run(*arguments: str, **variables: str) -> Done:
        command = [sys.executable, "-m", "labadapt", "langfuse", *arguments]
        given = {name: value for name, value in (environment | variables).items() if value}
        done = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, check=False, timeout=60)
        written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        for key in (lab.SECRET_KEY, lab.PUBLIC_KEY):
            assert key not in done.stdout + done.stderr
            assert not any(key.encode() in data for data in written)
        return done

    return run
