"""The scene of a recording, drawn in a process of its own."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from nutmeg.match.drawing import DrawingProcess, draw, league_scene
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.rules.book import load_rules
from nutmeg.recording import Recording

RULES = load_rules("sim3d").with_match(players=2)


def test_another_process_draws_the_same_scene() -> None:
    settings = league_scene(RULES, "sim3d")
    with DrawingProcess(settings) as process:
        assert process.draw(settings) == draw(settings)


def test_the_scene_of_a_game_in_which_nobody_plays_is_the_one_that_was_drawn_ahead(tmp_path: Path) -> None:
    settings = league_scene(RULES, "sim3d")
    asked = []
    with Game(
        RULES,
        seed=0,
        seats=4,
        record=tmp_path / "a.nutmeg",
        setup=PhysicalSetup(make_drawing=lambda s: asked.append(s) or draw(s)),
    ) as game:
        game.cycle({})
    assert asked == [settings]
    assert Recording.open(tmp_path / "a.nutmeg").finished


def test_another_scene_than_the_one_that_was_asked_for_is_drawn_here() -> None:
    settings = league_scene(RULES, "sim3d")
    with DrawingProcess(settings) as process:
        other = dataclasses.replace(settings, robots=settings.robots[:1])
        assert len(process.draw(other).joints) == 1


def test_a_process_that_fails_is_replaced_by_this_one() -> None:
    settings = league_scene(RULES, "sim3d")
    with DrawingProcess(settings) as process:
        process._process.kill()
        assert process.draw(settings) == draw(settings)


def test_closing_ends_a_process_that_still_draws() -> None:
    process = DrawingProcess(league_scene(RULES, "sim3d"))
    process.close()
    process.close()
    assert process._process.returncode is not None


@pytest.mark.parametrize("players", [1, 11])
def test_every_robot_that_may_come_is_drawn(players: int) -> None:
    scene = league_scene(RULES.with_match(players=players), "sim3d")
    assert [robot.name for robot in scene.robots][:: 2 * players - 1] == ["left1", f"right{players}"]
