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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of a run that passes, one that fails and one that is inconclusive; hostile text stands wherever it may."""
    made = tmp_path_factory.mktemp("page")
    (made / "bundle.json").write_text(json.dumps(hostile_bundle()), encoding="utf-8")
    labadapt = [sys.executable, "-m", "labadapt"]
    checked = subprocess.run([*labadapt, "check", "bundle.json", "--out", "result.json"], cwd=made, check=False)
    assert checked.returncode == 1
    result = json.loads((made / "result.json").read_text(encoding="utf-8"))
    (made / "result.json").write_text(json.dumps(hostile_result(result)), encoding="utf-8")
    for name in ("bundle", "result"):
        subprocess.run([*labadapt, "view", f"{name}.json", "--html", f"{name}.html"], cwd=made, check=True)
    return made


@pytest.fixture(scope="module")
def page_file(folder: Path) -> Path:
    """The page of the bundle."""
    return folder / "bundle.html"


def hostile_result(result: dict[str, Any]) -> dict[str, Any]:
    """A result file in which every text is hostile that the format leaves free."""
    for run in result["results"]:
        run["reason"] = HOSTILE
        for phase in run["phases"]:
            phase["reason"] = HOSTILE
        for check in run["checks"]:
            check |= {"expected": HOSTILE, "observed": {HOSTILE: WORD}, "reason": HOSTILE, "evidence": [HOSTILE, WORD]}
    return result


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
        "contract": {"disposition": "answer", "maxCalls": 1, "expectedValue": 4, "severity": text[:190]},
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
    asked, told = listen(opened)
    opened.goto(page_file.as_uri())
    yield opened
    assert asked == [page_file.as_uri()]
    assert told == []
    opened.close()


def listen(opened: Page) -> tuple[list[str], list[str]]:
    """What the page asks for, and what is said on its console, from now on."""
    asked: list[str] = []
    told: list[str] = []
    opened.on("request", lambda sent: asked.append(sent.url))
    opened.on("console", lambda message: told.append(message.text))
    opened.on("pageerror", lambda error: told.append(str(error)))
    return asked, told


def serious(opened: Page) -> list[str]:
    """What the accessibility checker finds serious. It is a script that runs beside the policy of the page."""
    found = Axe().run(opened).response["violations"]
    return [one["id"] for one in found if one["impact"] in {"serious", "critical"}]


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
    assert serious(page) == []


@pytest.mark.parametrize("width", [360, 1280])
def test_a_hostile_result_file_stays_text(browser: Browser, folder: Path, width: int) -> None:
    opened = browser.new_page(viewport={"width": width, "height": 900})
    asked, told = listen(opened)
    opened.goto((folder / "result.html").as_uri())
    assert opened.title() == "labadapt: 3 runs"
    assert opened.locator("script, img, iframe, object, a, svg, [onload], [onerror]").count() == 0
    assert "A result file holds no steps, so there is no timeline." in opened.locator("article").first.inner_text()
    assert opened.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert serious(opened) == []
    assert (asked, told) == ([(folder / "result.html").as_uri()], [])
    opened.close()


def test_it_is_read_and_filtered_where_scripts_are_off(browser: Browser, page_file: Path) -> None:
    opened = browser.new_page(java_script_enabled=False)
    opened.goto(page_file.as_uri())
    opened.keyboard.press("Tab")
    opened.keyboard.press("ArrowRight")
    assert [article.is_visible() for article in opened.locator("article").all()] == [False, True, False]
    opened.close()


# -- what watches the page does see ------------------------------------------------------------------------------------

UNSAFE = """<!doctype html><title>unsafe</title><style>p{color:#ccc;background:#fff;width:3000px}</style>
<p>pale</p><img src="missing.png"><script>document.title = "run"</script>"""


def test_a_page_without_escaping_or_policy_would_be_noticed(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "unsafe.html").write_text(UNSAFE, encoding="utf-8")
    opened = browser.new_page(viewport={"width": 360, "height": 900})
    asked, _ = listen(opened)
    opened.goto((tmp_path / "unsafe.html").as_uri())
    assert opened.title() == "run"
    assert [url.rpartition("/")[2] for url in asked] == ["unsafe.html", "missing.png"]
    assert opened.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    assert {"color-contrast", "image-alt", "html-has-lang"} <= set(serious(opened))
    opened.close()


def test_the_policy_holds_even_where_escaping_would_not(browser: Browser, page_file: Path, tmp_path: Path) -> None:
    broken = page_file.read_text(encoding="utf-8").replace("</main>", UNSAFE.rpartition("</p>")[2] + "</main>")
    (tmp_path / "broken.html").write_text(broken, encoding="utf-8")
    opened = browser.new_page()
    _, told = listen(opened)
    opened.goto((tmp_path / "broken.html").as_uri())
    assert opened.locator("script").count() == 1
    assert opened.title() == "labadapt: 3 runs"
    assert len([line for line in told if "Content Security Policy" in line]) == 2
    opened.close()
