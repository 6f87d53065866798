"""The page of a match of the behavioural world in headless Chromium: cameras, beliefs, and single cycles.

Clicks are dispatched to what is clicked, as in the tests of the match's page.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from nutmeg.match.behavioural_game import BehaviourGame
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.rules.book import load_rules
from nutmeg.view.pages.orders import Controls, Inbox
from nutmeg.view.pages.process import start_viewer_process

from ...conftest import wait_until

until = functools.partial(wait_until, every=0.2)

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BRIGHTNESS = """images => images.filter(image => image.naturalWidth === 320).map(image => {
    const canvas = document.createElement("canvas");
    canvas.width = 32; canvas.height = 24;
    const drawing = canvas.getContext("2d");
    drawing.drawImage(image, 0, 0, 32, 24);
    return drawing.getImageData(0, 0, 32, 24).data.reduce((sum, part) => sum + part, 0) / (4 * 32 * 24);
})"""
"""Means of the colours of all camera pictures; one that is black has 64, for its opacity."""


def test_a_page_shows_cameras_and_beliefs_and_goes_on_cycle_by_cycle(browser_page: Any, tmp_path: Path) -> None:
    page, path, inbox = browser_page, tmp_path / "live.nutmeg", Inbox()
    rules = load_rules("spl2011").with_match(players=2, automatic_kick_off=True, wait_before_kick_off=0.5)
    game = BehaviourGame(rules, seed=1, left="reds", right="blues", record=path)
    decide = strategy_decide("roles")
    driver = GameLoop(game, game.team("reds", decide) | game.team("blues", decide))
    game.record_with(minds=lambda: driver.players)
    driver.run(30)
    held: list[float] = []
    inbox.on_pace, inbox.on_step = held.append, driver.cycle
    with game, start_viewer_process(path, port=0, live=True, controls=Controls(inbox=inbox, pace=1.0)) as viewer:
        page.goto(viewer.url)
        page.locator("#nutmeg-board").wait_for()
        page.locator("[data-nutmeg-mind=left1]").wait_for(state="attached")
        until(lambda: "cm off" in page.locator("[data-nutmeg-mind]").inner_text())
        assert "sees" in page.locator("[data-nutmeg-mind]").inner_text()
        until(lambda: [light > 70 for light in page.eval_on_selector_all("img", BRIGHTNESS)] == [True, True])
        page.get_by_role("button", name="Pause").first.dispatch_event("click")
        until(lambda: held == [0.0])
        assert game.cycles == 30
        page.get_by_role("button", name="One row ahead").dispatch_event("click")
        until(lambda: game.cycles == 31)
        page.get_by_role("button", name="One row back").dispatch_event("click")
        until(lambda: "the match goes on" in page.locator(".nb-status").text_content())
    assert game.cycles == 31, "a look back plays nothing"
    assert page.complaints == []
