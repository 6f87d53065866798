"""The command that calibrates the behavioural world, from a match that it recorded itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nutmeg.base.errors import FileError, UsageError
from nutmeg.cli import main
from nutmeg.commands.calibrate import found_recordings
from nutmeg.match.behavioural_game import BehaviourGame, BehaviourSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.rules.book import load_rules
from nutmeg.match.worlds.behavioural.settings import load_behaviour


def recorded(path: Path) -> Path:
    """A short behavioural match."""
    rules = load_rules("sim3d").with_match(
        automatic_kick_off=True, wait_before_kick_off=0.5, half_length=15.0, halves=1, players=1
    )
    setup = BehaviourSetup(field="sim3d")
    with BehaviourGame(rules, seed=1, setup=setup, left="reds", right="blues", record=path) as game:
        players = game.team("reds", strategy_decide("dribblers")) | game.team("blues", strategy_decide("wanderer"))
        driver = GameLoop(game, players)
        game.record_with(minds=lambda: driver.players)
        driver.run()
    return path


def test_a_recording_becomes_a_file_of_numbers_and_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(tmp_path / "runs" / "match.nutmeg")
    out = tmp_path / "body.toml"
    words = [
        "calibrate",
        "behavioural",
        "--from",
        str(tmp_path / "runs"),
        "--base",
        "nao",
        "--output",
        str(out),
        "--json",
    ]
    assert main(words) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    ahead = answer["estimates"]["walk.ahead"]
    body = load_behaviour(out)
    assert body.name == "nao", "the same eyes go with it"
    assert body.walk.ahead == pytest.approx(ahead["value"] if ahead["value"] is not None else ahead["base"])
    assert answer["estimates"]["ball.deceleration"]["samples"] >= 0
    page = (tmp_path / "body.html").read_text()
    assert "Calibration of the behavioural world" in page
    assert "kick.side_distance" in page


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--from"):
        found_recordings(())
    with pytest.raises(FileError, match="is not there"):
        found_recordings((tmp_path / "nothing.nutmeg",))
