"""Driving a robot from the page: real keys in headless Chromium, a real walk, and what the recording says."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nutmeg.recording import Recording

from ...conftest import wait_until
from ..conftest import watched_command

until = functools.partial(wait_until, every=0.2)

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STANDS = (0.0, 0.0, 0.0)


class Walking:
    """`nutmeg walk` with a page."""

    def __init__(self, url: str, path: Path) -> None:
        self.url, self.path = url, path
        self.seen = 0
        """Events that were there when a test began."""

    def events(self) -> list[Any]:
        return Recording.open(self.path).events[self.seen :]

    def drives(self) -> list[tuple[float, float, float]]:
        """The speeds that were wanted, one after the other."""
        return [(e["ahead"], e["left"], e["turn"]) for e in self.events() if e["kind"] == "drive"]

    def place(self) -> tuple[float, float]:
        """Where the robot is now."""
        recording = Recording.open(self.path)
        x, y = recording.read("walker.pose", len(recording) - 1, len(recording))[0, :2]
        return float(x), float(y)

    def walks_on(self, pad: Any, what: str) -> bool:
        """Presses a held key or button again if it stands: it stops when a busy browser falls silent, as it must."""
        if self.drives()[-1] == STANDS:
            pad.up(what) if what else pad.up()
            pad.down(what) if what else pad.down()
            return False
        return True


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walking]:
    """One that runs for all tests, with a page in plain light."""
    path = tmp_path_factory.mktemp("walk") / "walk.nutmeg"
    walk = ("walk", "nao-spark", "--params", "initial", "--command", "0,0,0")
    with watched_command(*walk, "--record", str(path)) as url:
        yield Walking(url, path)


@pytest.fixture
def walking(process: Walking) -> Walking:
    """The same, of whose events only those that follow count."""
    process.seen = 0
    process.seen = len(process.events())
    return process


def typed(field: Any, number: str) -> bool:
    """Types a number into a field unless it is there: the page may overwrite what comes before it has caught up."""
    if float(field.input_value() or "nan") == float(number):
        return True
    field.fill(number)
    return False


def open_pad(page: Any, url: str) -> None:
    page.goto(url)
    page.locator("[data-drive=ahead]").wait_for()
    page.wait_for_function("() => window.nutmegDriving")
    page.wait_for_function(
        "() => ![...document.querySelectorAll('input')].some(i => i.offsetParent && i.value.startsWith('nutmeg'))"
    )


def test_held_keys_drive_the_robot_and_let_go_it_stands(browser_page: Any, walking: Walking) -> None:
    drives, place = walking.drives, walking.place
    open_pad(browser_page, walking.url)
    browser_page.keyboard.down("w")
    until(drives)
    (ahead, left, turn) = drives()[0]
    assert ahead > 0.05
    assert (left, turn) == (0.0, 0.0)
    until(lambda: walking.walks_on(browser_page.keyboard, "w") and place()[0] > 0.15)
    until(lambda: browser_page.locator("[data-drive=ahead][data-on]").count() == 1)
    browser_page.keyboard.down("q")
    until(lambda: walking.walks_on(browser_page.keyboard, "q") and any(d[0] == ahead and d[2] > 0.1 for d in drives()))
    browser_page.keyboard.up("q")
    browser_page.keyboard.up("w")
    until(lambda: drives()[-1] == STANDS)
    browser_page.keyboard.down("ArrowLeft")
    until(lambda: any(d[1] > 0.05 for d in drives()))
    browser_page.keyboard.press("Space")
    until(lambda: drives()[-1] == STANDS)
    browser_page.keyboard.up("ArrowLeft")
    browser_page.keyboard.press("r")
    until(lambda: walking.events()[-1]["kind"] == "restart")
    until(lambda: max(map(abs, place())) < 0.05)
    assert browser_page.complaints == []


def test_the_buttons_and_the_sliders_of_the_page_drive_without_a_keyboard(browser_page: Any, walking: Walking) -> None:
    drives, place = walking.drives, walking.place
    browser_page.set_viewport_size({"width": 800, "height": 900})  # on a narrower page the panel is folded
    open_pad(browser_page, walking.url)
    box = browser_page.locator("[data-drive=back]").bounding_box()
    browser_page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    browser_page.mouse.down()
    until(drives)
    assert drives()[0][0] < -0.05
    assert "measured" in browser_page.inner_text("body")
    start = place()[0]
    until(lambda: walking.walks_on(browser_page.mouse, "") and place()[0] < start - 0.1)
    browser_page.mouse.up()
    until(lambda: drives()[-1] == STANDS)
    ahead = browser_page.locator(".mantine-Flex-root", has_text="Ahead [m/s]").first.locator("input").last
    until(lambda: typed(ahead, "0.05") and drives()[-1] == (0.05, 0.0, 0.0))
    browser_page.keyboard.press("w")
    until(lambda: typed(ahead, "0.06") and drives()[-1] == (0.06, 0.0, 0.0))
    assert {d for d in drives()[drives().index((0.05, 0.0, 0.0)) :] if d != STANDS} == {
        (0.05, 0.0, 0.0),
        (0.06, 0.0, 0.0),
    }, "who types into a field does not drive"
    until(lambda: typed(ahead, "0") and drives()[-1] == STANDS)


def test_a_page_that_is_closed_with_a_key_held_leaves_a_robot_that_stops(browser_page: Any, walking: Walking) -> None:
    open_pad(browser_page, walking.url)
    browser_page.keyboard.down("d")
    until(walking.drives)
    assert walking.drives()[0][1] < -0.05
    browser_page.goto("about:blank")
    until(lambda: walking.drives()[-1] == STANDS)
