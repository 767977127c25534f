"""The target and the mutations, which the fuzzer loads by their path as well."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


def loaded(name: str) -> ModuleType:
    """A module that stands beside this one."""
    spec = importlib.util.spec_from_file_location(f"fuzz_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def target() -> ModuleType:
    """Give what examines bytes."""
    return loaded("target")


@pytest.fixture(scope="session")
def mutations() -> ModuleType:
    """Give the ways in which bytes break."""
    return loaded("mutations")
