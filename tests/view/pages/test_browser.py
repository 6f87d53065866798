"""The pages in a real browser: headless Chromium with WebGL drawn in software."""

import base64
import contextlib
import functools
import io
import operator
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from nutmeg.recording import Channel, Manifest, RecordingWriter
from nutmeg.view.files.replay import replay_html
from nutmeg.view.pages.overlay import seconds_of
from nutmeg.view.pages.process import start_viewer_process

from ...conftest import wait_until

until = functools.partial(wait_until, every=0.1)

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def shown_time(page: Any) -> float:
    """The time on the clock of the time bar, seconds."""
    return seconds_of(page.get_by_label("Clock").input_value())


def at_rest(look: Callable[[], Any], same: Callable[[Any, Any], bool] = operator.eq, seconds: float = 1.0) -> Any:
    """What is seen once it has been the same for a while."""
    deadline, seen = time.monotonic() + 180.0, look()
    while True:
        time.sleep(seconds)
        before, seen = seen, look()
        if same(before, seen):
            return seen
        assert time.monotonic() < deadline, "it never came to rest"


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


def settled_picture(page: Any) -> np.ndarray:
    """The picture once the pitch is drawn and nothing moves any more."""
    until(lambda: green_share(picture(page)) >= 0.05)
    found = at_rest(lambda: picture(page), lambda one, other: difference(one, other) < 1e-5, 0.5)
    assert isinstance(found, np.ndarray)
    return found


@pytest.fixture
def long_match(tmp_path: Path, toy: Any) -> Path:
    return toy.record(tmp_path / "long.nutmeg", seconds=60)


def open_page(page: Any, url: str) -> None:
    page.goto(url)
    page.get_by_role("button", name="Pause").wait_for()


def pause(page: Any) -> float:
    """Pauses; the time that is shown then."""
    page.get_by_role("button", name="Pause").dispatch_event("click")
    page.get_by_role("button", name="Play").wait_for()
    return float(at_rest(lambda: shown_time(page)))


def middle_of_red(image: np.ndarray) -> tuple[float, float]:
    """Where robot b is in a picture, as shares of its width and height: the middle of the largest patch of red.

    The ball is a smaller patch, and red at its shaded side.
    """
    red = (image[..., 0] > image[..., 1] + 60) & (image[..., 0] > image[..., 2] + 60)
    orange = image[..., 1] > image[..., 2] + 15
    patches, _ = ndimage.label(red & ~orange)
    largest = 1 + np.argmax(np.bincount(patches.ravel())[1:])
    places = np.argwhere(patches == largest)
    row, column = places[np.argmin(np.abs(places - places.mean(axis=0)).sum(axis=1))]
    return (column + 0.5) / image.shape[1], (row + 0.5) / image.shape[0]


def click_at(page: Any, across: float, down: float) -> None:
    """A click of the mouse, which must have been there when a picture was drawn."""
    left, top, width, height = page.evaluate(
        "() => { const box = [...document.querySelectorAll('canvas')].find(c => c.width * c.height > 0)"
        ".getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; }"
    )
    for way in (3, 0):
        page.mouse.move(left + across * width + way, top + down * height)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.mouse.down()
    page.mouse.up()


def test_the_page_plays_pauses_and_steps_and_what_is_clicked_is_picked_or_jumped_to(
    browser_page: Any, long_match: Path
) -> None:
    page = browser_page
    page.set_viewport_size({"width": 900, "height": 420})
    with start_viewer_process(long_match, port=0) as viewer:
        open_page(page, viewer.url)
        first = shown_time(page)
        until(lambda: shown_time(page) > first)
        stopped = pause(page)
        page.keyboard.press("Period")
        until(lambda: shown_time(page) > stopped)
        assert at_rest(lambda: shown_time(page)) - stopped <= 0.021
        page.get_by_label("Clock").fill("0:02")  # a moment at which nothing hides robot b
        page.keyboard.press("Enter")
        until(lambda: shown_time(page) == pytest.approx(2.0))
        chosen = page.get_by_label("Robot", exact=True).first
        assert chosen.input_value() == "a"
        place = middle_of_red(settled_picture(page))
        for _ in range(20):  # a click that a busy page did not see is repeated
            click_at(page, *place)
            with contextlib.suppress(AssertionError):
                until(lambda: chosen.input_value() == "b", 10.0)
                break
        assert chosen.input_value() == "b"
        page.get_by_role("button", name="that was close").dispatch_event("click")
        until(lambda: shown_time(page) == pytest.approx(46.0, abs=0.05))
        page.keyboard.press("Space")
        until(lambda: shown_time(page) > 46.1)
        assert page.complaints == []


def test_plots_follow_the_moment_and_a_click_into_one_goes_there(browser_page: Any, long_match: Path) -> None:
    page = browser_page
    page.set_viewport_size({"width": 1000, "height": 500})
    with start_viewer_process(long_match, port=0, plot=("ball.speed", "a.angles.LKneePitch")) as viewer:
        open_page(page, viewer.url + "/?t=20.5")
        until(lambda: page.locator(".nb-cursor").count() == 2)
        until(lambda: 20.5 <= shown_time(page) < 60.0)
        pause(page)
        box = page.locator(".u-over").first.bounding_box()
        page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
        right = page.evaluate("() => Object.values(__viserTestpoints.uplots)[0].chart.scales.x.max")
        until(lambda: shown_time(page) == pytest.approx(right, abs=0.2))
        line = page.locator(".nb-cursor").first.bounding_box()
        assert line["x"] == pytest.approx(box["x"] + box["width"], abs=12), "the cursor stands where was clicked"
        page.get_by_text("Plots", exact=True).last.dispatch_event("click")
        page.get_by_role("button", name="Add plot").dispatch_event("click")
        until(lambda: page.locator(".uplot").count() == 3)
        page.get_by_role("button", name="Remove the last plot").dispatch_event("click")
        until(lambda: page.locator(".uplot").count() == 2)
        page.locator("svg.tabler-icon-chevrons-right").first.locator("xpath=..").dispatch_event("click")
        page.get_by_role("button", name="Add plot").wait_for(state="detached")
        page.keyboard.press("ArrowLeft")
        until(lambda: shown_time(page) < right - 3.0)  # the bar goes on while the panel is folded
        assert page.complaints == []


def test_the_log_of_a_real_robot_shows_its_plots_without_any_scene(browser_page: Any, tmp_path: Path) -> None:
    page, path = browser_page, tmp_path / "log.nutmeg"
    channels = [Channel(name=f"servo.{kind}", labels=("pendulum",), unit="rad") for kind in ("goal", "position")]
    with RecordingWriter.create(path, Manifest(kind="log", seed=0, channels=tuple(channels))) as writer:
        for row in range(300):
            writer.append(0.02 * row + (5.0 if row > 200 else 0.0), np.sin([0.1 * row, 0.1 * row - 0.3]))  # with a gap
    page.set_viewport_size({"width": 900, "height": 500})
    with start_viewer_process(path, port=0) as viewer:
        open_page(page, viewer.url)
        until(lambda: page.locator(".uplot").count() == 2)
        assert "servo.position [rad]" in page.locator("body").inner_text()
        assert page.complaints == []


def test_layers_are_drawn_over_the_robots_with_a_legend_and_a_second_recording_as_a_ghost(
    browser_page: Any, long_match: Path, tmp_path: Path, toy: Any
) -> None:
    page = browser_page
    page.set_viewport_size({"width": 900, "height": 600})
    with start_viewer_process(long_match, port=0, beside=toy.record(tmp_path / "other.nutmeg")) as viewer:
        open_page(page, viewer.url + "/?t=30")
        until(lambda: shown_time(page) >= 30.0)
        pause(page)
        before = settled_picture(page)
        page.get_by_text("Layers", exact=True).dispatch_event("click")
        rows = page.locator("[data-nutmeg-legend] div")
        layers = ("Trails", "Contact forces", "Centre of mass", "Joint axes", "Collision shapes", "Inertias")
        for number, layer in enumerate(layers, 1):
            page.get_by_label(layer, exact=True).dispatch_event("click")
            until(lambda number=number: rows.count() == number)
        until(lambda: difference(picture(page), before) > 0.0005)
        page.get_by_label("Trails", exact=True).dispatch_event("click")
        until(lambda: rows.count() == 5)
        assert page.complaints == []


def test_two_who_watch_one_recording_have_their_own_time_and_speed(browser_page: Any, long_match: Path) -> None:
    one = browser_page
    with start_viewer_process(long_match, port=0) as viewer:
        open_page(one, viewer.url)
        other = one.context.new_page()
        open_page(other, viewer.url + "/?t=0:30")
        until(lambda: shown_time(other) >= 30.0)
        pause(other)
        other.get_by_label("Clock").fill("0:10")
        other.get_by_label("Clock").press("Enter")
        until(lambda: shown_time(other) == pytest.approx(10.0))
        one.get_by_label("Speed").select_option("5x")
        first = shown_time(one)
        until(lambda: shown_time(one) > first)
        # What the one does leaves the other alone; a time from before the jump may still arrive.
        until(lambda: shown_time(other) == pytest.approx(10.0))
        other.get_by_label("Clock").fill("half past")
        other.get_by_label("Clock").press("Enter")
        other.get_by_text("is not a time").wait_for(state="attached")
        other.keyboard.press("ArrowRight")
        until(lambda: shown_time(other) == pytest.approx(15.0))
        assert one.complaints == []


def test_by_daylight_the_bodies_are_in_the_picture_and_the_camera_can_be_chosen(
    daylight_page: Any, long_match: Path
) -> None:
    page = daylight_page
    page.set_viewport_size({"width": 760, "height": 480})  # on a phone the panel with the cameras is folded
    with start_viewer_process(long_match, port=0) as viewer:
        open_page(page, viewer.url)
        pause(page)
        before = settled_picture(page)
        assert green_share(before) > 0.1
        blue = (before[..., 2] > before[..., 0] + 60) & (before[..., 2] > before[..., 1] + 60)
        red = (before[..., 0] > before[..., 1] + 60) & (before[..., 0] > before[..., 2] + 60)
        assert blue.sum() > 5, "the blue shirt of robot a is missing"
        assert red.sum() > 5, "the red shirt of robot b is missing"
        page.get_by_label("View", exact=True).first.dispatch_event("click")
        page.get_by_role("option", name="Robot's eyes").dispatch_event("click")
        until(lambda: difference(picture(page), before) > 0.05)
        assert page.complaints == []


def test_a_recording_that_ends_while_it_is_watched_live_stays_on_the_page(
    browser_page: Any, tmp_path: Path, toy: Any
) -> None:
    labels, times = toy.labels(), np.arange(0.0, 2.0, 0.02)
    channels = [Channel(name=n, labels=k, unit="1") for n, k in labels.items()]
    values = toy.values(times)
    rows = np.concatenate([values[n] for n in labels], axis=1)
    path = tmp_path / "live.nutmeg"
    writer = RecordingWriter.create(path, Manifest(kind="scene", seed=0, channels=tuple(channels)), scene_xml=toy.xml())
    writer.append_many(times[:50], rows[:50])
    with start_viewer_process(path, port=0, live=True) as viewer:
        browser_page.goto(viewer.url)
        browser_page.locator(".nb-status", has_text="live").wait_for(state="attached")
        until(lambda: shown_time(browser_page) == pytest.approx(0.98))
        writer.append_many(times[50:], rows[50:])
        until(lambda: shown_time(browser_page) == pytest.approx(1.98))
        writer.close()
        browser_page.locator(".nb-status", has_text="recorded").wait_for(state="attached")
        assert at_rest(lambda: shown_time(browser_page)) == pytest.approx(1.98)


def test_a_replay_plays_from_disk_with_the_bar_and_the_keys_of_a_page_with_a_server_and_a_switch_for_labels(
    browser_page: Any, tmp_path: Path, toy: Any
) -> None:
    page, out = browser_page, tmp_path / "toy.html"
    replay_html(toy.record(tmp_path / "toy.nutmeg", seconds=20), out, fps=10)
    page.context.set_offline(True)
    open_page(page, out.as_uri() + "?t=0:03")
    until(lambda: green_share(picture(page)) >= 0.05)
    first = picture(page)
    until(lambda: difference(picture(page), first) > 1e-4)
    assert shown_time(page) > 3.0
    pause(page)
    page.get_by_label("Clock").fill("0:03.24")
    page.keyboard.press("Enter")
    until(lambda: shown_time(page) == pytest.approx(3.24))
    page.keyboard.press("Period")
    until(lambda: shown_time(page) == pytest.approx(3.3))  # from the nearest row to the next
    page.keyboard.press("Comma")
    page.keyboard.press("ArrowRight")
    until(lambda: shown_time(page) == pytest.approx(8.2))
    page.get_by_label("Clock").fill("0:19")
    page.keyboard.press("Enter")
    until(lambda: shown_time(page) == pytest.approx(19.0))
    page.get_by_label("Speed").select_option("10x")
    page.get_by_label("Repeat from the start at the end").dispatch_event("click")
    page.keyboard.press("Space")
    until(lambda: shown_time(page) < 15.0)  # it has started again
    page.get_by_label("Repeat from the start at the end").dispatch_event("click")
    page.get_by_role("button", name="Play").wait_for()  # and stops at the end
    assert shown_time(page) == pytest.approx(20.1)
    page.locator(".nb-event", has_text="that was close").dispatch_event("click")
    until(lambda: shown_time(page) == pytest.approx(14.0))  # two seconds before it
    with page.expect_download() as saved:
        for pressed in ("true", "false"):
            page.get_by_label("Save a clip of the picture").dispatch_event("click")
            page.wait_for_selector(f"[aria-label='Save a clip of the picture'][aria-pressed={pressed}]")
    assert saved.value.suggested_filename == "nutmeg-clip.webm"
    switch = page.locator("#nutmeg-labels")

    def come_and_go() -> bool:
        """Labels go and come again as before; a page that changes its number of pixels meanwhile looks different."""
        labelled = settled_picture(page)
        switch.click()
        page.wait_for_selector("#nutmeg-labels[aria-pressed=false]")
        until(lambda: difference(picture(page), labelled) > 1e-4)  # without labels it looks different
        away = difference(settled_picture(page), labelled)
        switch.click()
        page.wait_for_selector("#nutmeg-labels[aria-pressed=true]")
        return away > 2 * difference(settled_picture(page), labelled) + 1e-4

    until(come_and_go)
    assert shown_time(page) == pytest.approx(14.0)
    assert page.complaints == []


def test_a_replay_without_a_server_plots_channels_and_a_click_into_a_plot_goes_there(
    browser_page: Any, tmp_path: Path, toy: Any
) -> None:
    page, out = browser_page, tmp_path / "toy.html"
    page.set_viewport_size({"width": 800, "height": 600})
    replay_html(toy.record(tmp_path / "toy.nutmeg", seconds=20), out, fps=10, plots=("ball.speed",))
    page.context.set_offline(True)
    open_page(page, out.as_uri() + "?plot=a.angles.LKneePitch&plot=nothing.of.this.name")
    until(lambda: page.locator(".np-plot canvas").count() == 2)
    pause(page)
    until(lambda: page.locator(".np-entry").first.inner_text() == "speed 0.2")
    page.get_by_label("Channel", exact=True).select_option("b.pose")
    page.get_by_label("Label", exact=True).select_option("x")
    page.get_by_role("button", name="Plot this").dispatch_event("click")
    until(lambda: page.locator(".np-plot canvas").count() == 3)
    box = page.locator(".np-plot canvas").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] - 10, box["y"] + 60)
    until(lambda: shown_time(page) > 19.0)
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60, steps=4)
    page.mouse.up()  # a drag shows this part of the time only
    drawn = page.locator(".np-plot canvas").first
    until(lambda: drawn.get_attribute("title") != "0:00.00 to 0:20.00")
    drawn.dispatch_event("dblclick")
    until(lambda: drawn.get_attribute("title") == "0:00.00 to 0:20.00")
    page.get_by_role("button", name="Remove the last plot").dispatch_event("click")
    until(lambda: page.locator(".np-plot canvas").count() == 2)
    page.get_by_role("button", name="Show or hide plots").dispatch_event("click")
    until(lambda: not page.locator("#nutmeg-plots").is_visible())
    assert page.complaints == []


def test_on_a_phone_the_panel_is_folded_and_the_time_bar_never_lies_on_it_in_the_dark_if_that_is_wanted(
    browser_page: Any, long_match: Path, chromium: Any
) -> None:
    context = chromium.new_context(
        viewport={"width": 390, "height": 700}, has_touch=True, is_mobile=True, color_scheme="dark"
    )
    page = context.new_page()
    page.set_default_timeout(180_000)
    with start_viewer_process(long_match, port=0) as viewer:
        open_page(page, viewer.url)

        def edges(what: str) -> list[float]:
            box = page.locator(what).bounding_box()
            return [box["y"], box["y"] + box["height"]]

        until(lambda: page.locator(".nb-sheet").count() == 1)
        page.wait_for_selector("html[data-mantine-color-scheme=dark]")
        ink = page.locator("#nutmeg-bar").evaluate("bar => getComputedStyle(bar).color")
        assert ink == "rgb(230, 234, 237)", "light letters on a dark bar"
        until(lambda: edges(".nb-sheet")[0] > 600)
        until(lambda: edges("#nutmeg-bar")[1] <= edges(".nb-sheet")[0])
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
        page.locator(".nb-sheet div[style*='cursor: pointer']").first.dispatch_event("click")
        until(lambda: edges(".nb-sheet")[0] < 560)
        until(lambda: edges("#nutmeg-bar")[1] <= edges(".nb-sheet")[0])
        pause(page)
        page.get_by_label("Clock").fill("0:10")
        page.get_by_label("Clock").press("Enter")
        until(lambda: shown_time(page) == pytest.approx(10.0))  # the bar works as on a large screen
    context.close()
