"""The page in a real browser: width, keyboard, hostile text, and an accessibility checker.

Needs Chromium (Debian's package ``chromium``); `.ci/run` installs it. Without it the tests are skipped, and fail in CI.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = (
    "</td></style></title><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
    "\"'><svg onload=document.title='run'>&lt;b&gt; javascript:alert(1) \u202egnp.exe \x1b[31m \u2028 {{7*7}} ${7*7}"
)
WORD = "unbroken" * 60

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None and os.environ.get("CI") != "true", reason="Chromium is not installed"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None, "install Chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a run that passes, one that fails and one that is inconclusive; hostile text stands wherever it may."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "bundle.json").write_text(json.dumps(hostile_bundle()), encoding="utf-8")
    command = [sys.executable, "-m", "labadapt", "view", "bundle.json", "--html", "page.html"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "page.html"


def hostile_bundle() -> dict[str, Any]:
    text = "".join(character for character in HOSTILE if ord(character) > 31)  # names hold no control characters
    asked = {"metric": HOSTILE, "window": WORD}
    step = {
        "id": text[:180],
        "tool": text[:150],
        "operation": "read",
        "arguments": asked,
        "status": "ok",
        "startMs": 10,
        "endMs": 30,
        "result": {"metric": HOSTILE, "window": WORD, "rows": 1, "value": 4, "source": HOSTILE},
    }
    run = {
        "caseId": text[:190],
        "policy": text[:190],
        "mode": "recorded",
        "durationMs": 100,
        "request": {"tool": text[:150], "operation": "read", **asked},
        "contract": {"disposition": "answer", "maxCalls": 1, "expectedValue": 4},
        "steps": [step],
        "output": {"disposition": "answer", "value": 4, "evidence": [step["id"]], "state": {HOSTILE: WORD}},
    }
    failing = {**run, "caseId": "fails", "contract": {**run["contract"], "expectedState": {HOSTILE: HOSTILE, WORD: 1}}}
    bare = {key: value for key, value in run.items() if key != "contract"} | {"caseId": "open"}
    return {"schemaVersion": 1, "runs": [run, failing, bare]}


@pytest.fixture(params=[(360, "light"), (360, "dark"), (1280, "light"), (1280, "dark")], ids=str)
def page(request: pytest.FixtureRequest, browser: Browser, page_file: Path) -> Iterator[Page]:
    """The page, open; nothing but the page itself may be asked for, and nothing may be complained of."""
    width, scheme = request.param
    opened = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked: list[str] = []
    told: list[str] = []
    opened.on("request", lambda sent: asked.append(sent.url))
    opened.on("console", lambda message: told.append(message.text))
    opened.on("pageerror", lambda error: told.append(str(error)))
    opened.goto(page_file.as_uri())
    yield opened
    assert asked == [page_file.as_uri()]
    assert told == []
    opened.close()


def test_nothing_is_wider_than_the_window(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_text_of_the_input_stays_text(page: Page) -> None:
    assert page.title() == "labadapt: 3 runs"
    assert page.locator("script, img, iframe, object, a, [onload], [onerror]").count() == 0
    assert page.locator("article").count() == 3
    assert "<script>document.title='run'</script>" in page.locator("article").first.inner_text()
    assert "\u202e" not in page.content()
    assert "\\u202egnp.exe" in page.locator("body").inner_text()


def test_the_filter_works_by_keyboard_alone(page: Page) -> None:
    def visible() -> list[bool]:
        return [article.is_visible() for article in page.locator("article").all()]

    assert visible() == [True, True, True]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "show-all"
    page.keyboard.press("ArrowRight")
    assert visible() == [False, True, False]
    page.keyboard.press("ArrowRight")
    assert visible() == [False, False, True]
    page.keyboard.press("ArrowRight")
    assert visible() == [True, False, False]


def test_a_timeline_is_drawn_to_scale(page: Page) -> None:
    rect = page.locator("svg rect").first
    assert (rect.get_attribute("x"), rect.get_attribute("width")) == ("100.000", "200.000")


def test_an_accessibility_checker_finds_nothing_serious(page: Page) -> None:
    # The checker is a script: it runs beside the policy of the page, which forbids scripts.
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["impact"]) for one in found if one["impact"] in {"serious", "critical"}] == []
