"""The pages in a real browser: headless Chromium with WebGL drawn in software."""

import base64
import io
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nutmeg.recording import Channel, RecordingWriter
from nutmeg.view.process import start_viewer_process
from nutmeg.view.replay import replay_html

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def shown_time(page: Any) -> float:
    """The time on the status line, seconds."""
    found = re.search(r"([\d.]+) s of [\d.]+ s", page.inner_text("body"))
    assert found is not None
    return float(found.group(1))


def later_than(page: Any, moment: float, patience: float = 40.0) -> bool:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if shown_time(page) > moment:
            return True
        time.sleep(0.2)
    return False


def picture(page: Any) -> np.ndarray:
    """What the 3-D canvas shows, (400, 320, 3): a slow page draws with fewer pixels, so all are scaled to one size.

    The page has an empty canvas for overlays as well.
    """
    data = page.evaluate(
        "() => { const c = [...document.querySelectorAll('canvas')].find(c => c.width * c.height > 0);"
        " return c ? c.toDataURL('image/png') : ''; }"
    )
    if not data:
        return np.zeros((400, 320, 3), dtype=int)
    image = Image.open(io.BytesIO(base64.b64decode(data.partition(",")[2]))).convert("RGB")
    return np.asarray(image.resize((320, 400), Image.Resampling.BOX)).astype(int)


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """The share of pixels that are clearly not the same."""
    return float((np.abs(one - other).max(axis=2) > 40).mean())


def green_share(image: np.ndarray) -> float:
    green = (image[..., 1] > image[..., 0] + 25) & (image[..., 1] > image[..., 2] + 25)
    return float(green.mean())


def settled_picture(page: Any, patience: float = 40.0) -> np.ndarray:
    """The picture once the pitch is drawn."""
    deadline = time.monotonic() + patience
    while green_share(image := picture(page)) < 0.05:
        assert time.monotonic() < deadline, "the pitch never appeared"
        time.sleep(0.3)
    return image


@pytest.fixture
def long_match(tmp_path: Path, toy: Any) -> Path:
    return toy.record(tmp_path / "long.nutmeg", seconds=60)


def open_page(page: Any, url: str) -> None:
    page.goto(url)
    page.get_by_text("rows").first.wait_for()
    page.get_by_role("button", name="Pause").wait_for()


def test_the_page_plays_and_the_pause_button_pauses(browser_page: Any, long_match: Path) -> None:
    with start_viewer_process(long_match, port=0) as viewer:
        open_page(browser_page, viewer.url)
        assert later_than(browser_page, shown_time(browser_page))
        browser_page.get_by_role("button", name="Pause").click()
        browser_page.get_by_role("button", name="Play").wait_for()
        stopped = shown_time(browser_page)
        time.sleep(1.5)
        assert shown_time(browser_page) == stopped
        browser_page.get_by_role("button", name="row ▶").click()
        assert later_than(browser_page, stopped)
        assert shown_time(browser_page) - stopped <= 0.021
        browser_page.get_by_role("button", name="Play").click()
        assert later_than(browser_page, stopped + 0.1)
        assert browser_page.complaints == []


def test_an_event_is_listed_and_a_click_jumps_to_it(browser_page: Any, long_match: Path) -> None:
    with start_viewer_process(long_match, port=0) as viewer:
        open_page(browser_page, viewer.url)
        browser_page.get_by_role("button", name="Pause").click()
        browser_page.get_by_role("button", name="Play").wait_for()
        browser_page.get_by_role("button", name="that was close").click()
        assert later_than(browser_page, 47.0)
        assert shown_time(browser_page) == pytest.approx(47.5, abs=0.05)


def test_the_bodies_are_in_the_picture_and_the_camera_can_be_chosen(browser_page: Any, long_match: Path) -> None:
    with start_viewer_process(long_match, port=0) as viewer:
        open_page(browser_page, viewer.url)
        browser_page.get_by_role("button", name="Pause").click()
        browser_page.get_by_role("button", name="Play").wait_for()
        before = settled_picture(browser_page)
        assert green_share(before) > 0.1
        blue = (before[..., 2] > before[..., 0] + 60) & (before[..., 2] > before[..., 1] + 60)
        red = (before[..., 0] > before[..., 1] + 60) & (before[..., 0] > before[..., 2] + 60)
        assert blue.sum() > 5, "the blue shirt of robot a is missing"
        assert red.sum() > 5, "the red shirt of robot b is missing"
        browser_page.get_by_label("View", exact=True).first.click()
        browser_page.get_by_role("option", name="Robot's eyes").click()
        time.sleep(3)
        assert difference(settled_picture(browser_page), before) > 1e-4
        assert browser_page.complaints == []


def test_a_click_on_a_robot_picks_it(browser_page: Any, long_match: Path) -> None:
    browser_page.set_viewport_size({"width": 900, "height": 420})
    with start_viewer_process(long_match, port=0) as viewer:
        open_page(browser_page, viewer.url)
        browser_page.get_by_role("button", name="Pause").click()
        browser_page.get_by_role("button", name="Play").wait_for()
        image = settled_picture(browser_page)
        red = (image[..., 0] > image[..., 1] + 60) & (image[..., 0] > image[..., 2] + 60)
        orange = image[..., 1] > image[..., 2] + 15
        rows, columns = np.nonzero(red & ~orange)
        middle = np.argsort(rows)[len(rows) // 2]
        across, down = browser_page.evaluate("() => [innerWidth, innerHeight]")
        chosen = browser_page.get_by_label("Robot", exact=True).first
        assert chosen.input_value() == "a"
        browser_page.mouse.move(columns[middle] * across / image.shape[1], rows[middle] * down / image.shape[0])
        time.sleep(1)
        browser_page.mouse.down()
        browser_page.mouse.up()
        browser_page.wait_for_function("() => [...document.querySelectorAll('input')].some(i => i.value === 'b')")
        assert chosen.input_value() == "b"


def test_a_recording_that_ends_while_it_is_watched_live_stays_on_the_page(
    browser_page: Any, tmp_path: Path, toy: Any
) -> None:
    labels, times = toy.labels(), np.arange(0.0, 2.0, 0.02)
    channels = [Channel(name=n, labels=k, unit="1") for n, k in labels.items()]
    values = toy.values(times)
    rows = np.concatenate([values[n] for n in labels], axis=1)
    path = tmp_path / "live.nutmeg"
    writer = RecordingWriter.create(path, channels, kind="scene", seed=0, scene_xml=toy.xml())
    writer.append_many(times[:50], rows[:50])
    with start_viewer_process(path, port=0, live=True) as viewer:
        browser_page.goto(viewer.url)
        browser_page.get_by_text("50 rows · live").wait_for()
        assert shown_time(browser_page) == pytest.approx(0.98)
        writer.append_many(times[50:], rows[50:])
        browser_page.get_by_text("100 rows · live").wait_for()
        assert shown_time(browser_page) == pytest.approx(1.98)
        writer.close()
        browser_page.get_by_text("100 rows · finished").wait_for()
        assert shown_time(browser_page) == pytest.approx(1.98)


def test_a_replay_plays_from_disk_without_a_server_and_its_labels_can_be_switched_off(
    browser_page: Any, tmp_path: Path, toy: Any
) -> None:
    out = tmp_path / "toy.html"
    replay_html(toy.record(tmp_path / "toy.nutmeg", seconds=20), out, fps=10)
    browser_page.context.set_offline(True)
    browser_page.goto(out.as_uri())
    clock = browser_page.locator("input").first
    clock.wait_for()
    first = settled_picture(browser_page)
    started = float(clock.input_value())
    time.sleep(3)
    assert float(clock.input_value()) != started
    assert difference(picture(browser_page), first) > 1e-4
    browser_page.keyboard.press("Space")
    time.sleep(1)
    labelled = settled_picture(browser_page)
    stopped = clock.input_value()
    switch = browser_page.locator("#nutmeg-labels")
    switch.click()
    browser_page.wait_for_selector("#nutmeg-labels[aria-pressed=false]")
    time.sleep(2)
    bare = settled_picture(browser_page)
    switch.click()
    browser_page.wait_for_selector("#nutmeg-labels[aria-pressed=true]")
    time.sleep(2)
    assert clock.input_value() == stopped
    back = difference(settled_picture(browser_page), labelled)
    assert difference(bare, labelled) > 2 * back + 1e-4, "without labels it looks different, with them again as before"
    assert browser_page.complaints == []
