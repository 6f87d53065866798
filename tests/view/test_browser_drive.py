"""Driving a robot from the page: real keys in headless Chromium, a real walk, and what the recording says."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nutmeg.recording import Recording

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def walking(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """`nutmeg walk` with a page: its address, and its recording."""
    path = tmp_path / "walk.nutmeg"
    command = [sys.executable, "-m", "nutmeg", "walk", "nao-spark", "--params", "initial", "--command", "0,0,0"]
    process = subprocess.Popen(
        [*command, "--port", "0", "--record", str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    found, said = None, ""
    while found is None and (line := process.stdout.readline()):
        said += line
        found = re.search(r"http://[\d.:]+", line)
    assert found is not None, said
    try:
        yield found.group(), path
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def drives(path: Path) -> list[tuple[float, float, float]]:
    """The speeds that were wanted, one after the other."""
    events = Recording.open(path).events
    return [(e["ahead"], e["left"], e["turn"]) for e in events if e["kind"] == "drive"]


def until(true: Callable[[], Any], patience: float = 60.0) -> None:
    deadline = time.monotonic() + patience
    while not true():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.2)


def place(path: Path) -> tuple[float, float]:
    """Where the robot is now."""
    recording = Recording.open(path)
    x, y = recording.read("walker.pose", len(recording) - 1, len(recording))[0, :2]
    return float(x), float(y)


def open_pad(page: Any, url: str) -> None:
    page.goto(url)
    page.locator("[data-drive=ahead]").wait_for()
    page.wait_for_function("() => window.nutmegDriving")
    page.wait_for_function(
        "() => ![...document.querySelectorAll('input')].some(i => i.offsetParent && i.value.startsWith('nutmeg'))"
    )


def walks_on(path: Path, pad: Any, what: str) -> bool:
    """Presses a held key or button again if the robot stands: it stops when a busy browser falls silent, as it must."""
    if drives(path)[-1] == (0.0, 0.0, 0.0):
        pad.up(what) if what else pad.up()
        pad.down(what) if what else pad.down()
        return False
    return True


def test_held_keys_drive_the_robot_and_let_go_it_stands(browser_page: Any, walking: tuple[str, Path]) -> None:
    url, path = walking
    open_pad(browser_page, url)
    browser_page.keyboard.down("w")
    until(lambda: drives(path))
    (ahead, left, turn) = drives(path)[-1]
    assert ahead > 0.05
    assert (left, turn) == (0.0, 0.0)
    until(lambda: walks_on(path, browser_page.keyboard, "w") and place(path)[0] > 0.15)
    assert browser_page.locator("[data-drive=ahead][data-on]").count() == 1
    browser_page.keyboard.down("q")
    until(lambda: drives(path)[-1][2] > 0.1)
    assert drives(path)[-1][0] == ahead, "both keys count"
    browser_page.keyboard.up("q")
    browser_page.keyboard.up("w")
    until(lambda: drives(path)[-1] == (0.0, 0.0, 0.0))
    browser_page.keyboard.down("ArrowLeft")
    until(lambda: drives(path)[-1][1] > 0.05)
    browser_page.keyboard.press("Space")
    until(lambda: drives(path)[-1] == (0.0, 0.0, 0.0))
    browser_page.keyboard.up("ArrowLeft")
    browser_page.keyboard.press("r")
    until(lambda: Recording.open(path).events[-1]["kind"] == "restart")
    until(lambda: max(map(abs, place(path))) < 0.05)
    assert browser_page.complaints == []


def test_the_buttons_and_the_sliders_of_the_page_drive_without_a_keyboard(
    browser_page: Any, walking: tuple[str, Path]
) -> None:
    url, path = walking
    open_pad(browser_page, url)
    browser_page.set_viewport_size({"width": 480, "height": 900})
    box = browser_page.locator("[data-drive=back]").bounding_box()
    browser_page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    browser_page.mouse.down()
    until(lambda: drives(path))
    assert drives(path)[-1][0] < -0.05
    assert "measured" in browser_page.inner_text("body")
    until(lambda: walks_on(path, browser_page.mouse, "") and place(path)[0] < -0.1)
    browser_page.mouse.up()
    until(lambda: drives(path)[-1] == (0.0, 0.0, 0.0))
    ahead = browser_page.locator(".mantine-Flex-root", has_text="Ahead [m/s]").first.locator("input").last
    until(lambda: float(ahead.input_value() or "1") == 0.0)  # the page has caught up; typed before, a number is lost
    ahead.fill("0.05")
    until(lambda: drives(path)[-1] == (0.05, 0.0, 0.0))
    browser_page.keyboard.press("w")
    time.sleep(1)
    assert drives(path)[-1] == (0.05, 0.0, 0.0), "who types into a field does not drive"


def test_a_page_that_is_closed_with_a_key_held_leaves_a_robot_that_stops(
    browser_page: Any, walking: tuple[str, Path]
) -> None:
    url, path = walking
    open_pad(browser_page, url)
    browser_page.keyboard.down("d")
    until(lambda: drives(path))
    assert drives(path)[-1][1] < -0.05
    browser_page.goto("about:blank")
    until(lambda: drives(path)[-1] == (0.0, 0.0, 0.0))
