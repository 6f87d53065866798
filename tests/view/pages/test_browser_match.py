"""The pages of a match in headless Chromium: score board, events, a player's head, and the replay without a server.

Clicks are dispatched to what is clicked: drawn in software, a frame of a match may take seconds, and Playwright's own
click waits for several.
"""

from __future__ import annotations

import functools
import shutil
from pathlib import Path
from typing import Any

import pytest

from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.view.files.replay import replay_html
from nutmeg.view.pages.orders import Controls, Inbox
from nutmeg.view.pages.process import start_viewer_process

from ...conftest import wait_until

until = functools.partial(wait_until, every=0.2)

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def board(page: Any) -> str:
    return " ".join(page.locator("#nutmeg-board").inner_text().split())


def choose(page: Any, label: str, option: str) -> None:
    """Takes something from a list of choices."""
    page.get_by_label(label, exact=True).first.dispatch_event("click")
    page.get_by_role("option", name=option, exact=True).dispatch_event("click")


def press(page: Any, button: str) -> None:
    page.get_by_role("button", name=button).first.dispatch_event("click")


def test_the_page_of_a_match_has_a_board_events_and_a_look_into_a_players_head(
    browser_page: Any, match_path: Path
) -> None:
    page = browser_page
    page.set_viewport_size({"width": 900, "height": 500})  # on a narrow one the list of events is folded
    (match_path.parent / "report.html").write_text("<p>")
    with start_viewer_process(match_path, port=0) as viewer:
        page.goto(viewer.url)
        page.locator("#nutmeg-board").wait_for()
        until(lambda: "reds" in board(page) and "<blues>" in board(page))
        press(page, "Goal for <blues>")
        until(lambda: "2nd half" in board(page))
        page.locator("[data-nutmeg-mind=left1]").wait_for(state="attached")
        until(lambda: page.locator("[data-nutmeg-intent]").inner_text() == "guards post 1")
        choose(page, "Player", "<blues> 2")
        page.locator("[data-nutmeg-mind=right2]").wait_for(state="attached")
        until(lambda: page.locator("[data-nutmeg-intent]").inner_text() == "guards post 2")
        choose(page, "View", "Follow ball")
        page.get_by_label("Speed").select_option("0.1x")  # or a slow browser misses the first half
        press(page, "Goal for reds")
        until(lambda: "1st half" in board(page))
        assert page.locator(".nb-marks i").count() >= 2, "goals are marked on the slider"
        assert "full time · report: " in page.locator(".nb-status").text_content()
        assert page.title() == "reds : <blues> · Nutmeg"
        press(page, "Show falls")
        until(lambda: not page.locator(".nb-event", has_text="falls").first.is_visible())
        assert page.locator(".nb-event", has_text="Goal for reds").first.is_visible()
        assert page.complaints == []


def test_pause_and_speed_of_the_live_page_are_those_of_the_match(
    browser_page: Any, match_path: Path, tmp_path: Path
) -> None:
    page, growing, inbox = browser_page, tmp_path / "live.nutmeg", Inbox()
    asked: list[float] = []
    inbox.on_pace = asked.append
    shutil.copytree(match_path, growing)
    manifest = growing / "manifest.toml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("finished = true", "finished = false"))
    with start_viewer_process(growing, port=0, live=True, controls=Controls(inbox=inbox, pace=1.0)) as viewer:
        page.goto(viewer.url)
        page.locator("#nutmeg-board").wait_for()
        press(page, "Pause")
        until(lambda: asked == [0.0])
        press(page, "Play")
        until(lambda: asked == [0.0, 1.0])
        page.get_by_label("Speed").select_option("fastest")
        until(lambda: asked[-1] == 1000.0)
    assert asked == [0.0, 1.0, 1000.0]  # no order came twice, and none that nobody gave
    assert page.complaints == []


def test_a_replay_of_a_match_shows_the_board_and_a_click_on_an_event_jumps_there(
    browser_page: Any, match_path: Path, tmp_path: Path
) -> None:
    page, out = browser_page, tmp_path / "replay.html"
    replay_html(match_path, out, fps=5)
    page.set_viewport_size({"width": 800, "height": 500})
    page.context.set_offline(True)
    page.goto(out.as_uri())
    page.locator("#nutmeg-board").wait_for()
    page.locator("#nutmeg-map").wait_for()
    assert page.locator("#nutmeg-board").bounding_box()["width"] <= 800
    cameras = page.get_by_label("Camera", exact=True)
    cameras.wait_for()
    assert cameras.locator("option").all_inner_texts() == [
        "Broadcast", "Whole pitch", "Follow ball", "Follow robot", "Robot's eyes", "Free",
    ]  # fmt: skip
    page.locator(".nb-event", has_text="Goal for <blues>").dispatch_event("click")

    def in_second_half() -> bool:
        """A replay that had come to its end before the click stands at the moment before the goal."""
        if page.get_by_role("button", name="Play", exact=True).count():
            page.keyboard.press("Space")
        return "2nd half" in board(page)

    until(in_second_half)
    page.locator(".nb-event", has_text="Goal for reds").dispatch_event("click")
    until(lambda: "1st half" in board(page))
    assert "reds" in board(page)
    page.locator(".nb-title").dispatch_event("click")
    page.locator(".nb-rows").wait_for(state="hidden")
    assert page.complaints == []


def test_the_page_tells_and_draws_what_the_sonars_of_a_player_hear(browser_page: Any, tmp_path: Path) -> None:
    page, path = browser_page, tmp_path / "match.nutmeg"
    rules = load_rules("sim3d").with_match(players=1)
    with Game(rules, seed=1, left="reds", right="blues", record=path, seats=2, setup=PhysicalSetup(sonar=True)) as game:
        slots = game.enter("reds", 1), game.enter("blues", 1)
        game.set_play_mode(PlayMode.PLAY_ON)
        for slot, (x, y, heading) in zip(slots, ((0.0, 0.0, 0.0), (0.5, 0.18, 20.0)), strict=True):
            game.place_player(slot, (x, y, 0.4), heading)
        for _ in range(30):
            game.cycle({})
    with start_viewer_process(path, port=0) as viewer:
        page.goto(viewer.url)
        page.locator("[data-nutmeg-mind=left1]").wait_for(state="attached")
        until(lambda: "opponents 1; 4 landmarks; sonar left 0." in page.locator("[data-nutmeg-mind]").inner_text())
        assert page.complaints == []
