"""docs/checks.md says of each check what the table of checks says."""

import re
from pathlib import Path

from labadapt.engine.check import CHECKS
from labadapt.engine.outcome import NEEDS_END

PAGE = (Path(__file__).parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")


def test_every_check_stands_on_the_page_with_its_phase_and_its_need_of_the_end() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (run|verify) \| (yes|no) \|", PAGE, re.MULTILINE)
    assert rows == [(name, phase, "yes" if name in NEEDS_END else "no") for name, phase, _ in CHECKS]


def test_every_check_has_its_three_values_on_the_page() -> None:
    for name, _, _ in CHECKS:
        section = PAGE.partition(f"\n### {name}\n")[2].partition("\n##")[0]
        assert re.findall(r"^\| (pass|fail|unevaluable) \|", section, re.MULTILINE) == ["pass", "fail", "unevaluable"]
