"""What every test may use."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# A slow machine is no failure: speed is measured in bench/, not in timed tests.
settings.register_profile("labadapt", deadline=None)
settings.load_profile("labadapt")

Golden = Callable[[Path, str | bytes], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """``make golden`` writes the golden files anew."""
    parser.addoption("--write-golden", action="store_true", help="write golden files instead of comparing with them")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare with a golden file byte for byte, or write it where ``--write-golden`` was given."""

    def compare(path: Path, actual: str | bytes) -> None:
        data = actual.encode() if isinstance(actual, str) else actual
        if request.config.getoption("--write-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        assert path.exists(), f"{path.name} is not there; `make golden` writes it"
        assert data == path.read_bytes()

    return compare
