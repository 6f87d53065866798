"""Pictures of robots' cameras in a physical match: those that its recording gives later, and only in their cycle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from nutmeg.base.errors import UsageError
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.deciding_player import DecidingPlayer, PlayerSetup
from nutmeg.match.players.request import Request
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.motion.walk.files import read_walk
from nutmeg.view.files.camera_frames import FramePlan, write_cameras

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bytes
    from nutmeg.match.players.decide import Memory, View

RED, BLUE = 0, 11


def new_game(record: Path | None = None) -> Game:
    """Two players that look at each other, with the ball between them."""
    game = Game(
        load_rules("sim3d").with_match(players=1),
        seed=1,
        left="reds",
        right="blues",
        seats=2,
        record=record,
        setup=PhysicalSetup(cameras=True),
    )
    game.enter("reds", 1)
    game.enter("blues", 1, 1)
    game.set_play_mode(PlayMode.PLAY_ON)
    place(game, RED, BLUE)
    return game


def place(game: Game, left: int, right: int) -> None:
    game.place_player(left, (-0.6, 0.0, 0.4), 0.0)
    game.place_player(right, (0.6, 0.1, 0.4), 180.0)
    game.place_ball((0.1, -0.1, 0.042))


def picture(game: Game, slot: int) -> Bytes:
    """What a player sees after the next cycle."""
    render = game.cycle({})[slot].render
    assert render is not None
    pictures = render()
    assert list(pictures) == ["Vision"]
    return pictures["Vision"]


def test_pictures_of_a_match_are_those_of_its_recording(tmp_path: Path) -> None:
    with new_game(tmp_path / "match.nutmeg") as game:
        live = {name: picture(game, slot) for name, slot in (("left1", RED), ("right1", BLUE))}
    assert game.cycles == 2
    write_cameras(tmp_path / "match.nutmeg", tmp_path / "frames", FramePlan(rate=50.0))
    for row, name in enumerate(live):
        later = np.asarray(Image.open(tmp_path / "frames" / f"{name}-Vision" / f"{row:06d}.png"))
        assert live[name].shape == later.shape == (240, 240, 3)
        assert np.mean(live[name] != later) < 0.02, "recordings round places to a tenth of a millimetre"
    assert np.mean(live["left1"] != live["right1"]) > 0.05


def test_players_keep_their_shirts_when_the_teams_change_ends() -> None:
    with new_game() as game:
        before = picture(game, RED)
        game._swap_ends()
        place(game, BLUE, RED)
        after = picture(game, BLUE)
    assert np.mean(before != after) < 0.02


def test_a_picture_is_of_its_cycle_or_refused() -> None:
    with new_game() as game:
        render = game.cycle({})[RED].render
        game.cycle({})
        assert render is not None
        with pytest.raises(UsageError, match="a cycle that is over"):
            render()


def test_a_match_with_cameras_goes_on_when_nobody_plays_any_more() -> None:
    with new_game() as game:
        assert picture(game, RED).any()
        game.leave(RED)
        assert picture(game, BLUE).any()
        game.leave(BLUE)
        assert game.cycle({}) == {}


def test_without_cameras_there_are_no_pictures() -> None:
    game = Game(load_rules("sim3d"), seed=1, left="reds", right="blues", seats=1)
    game.enter("reds", 1)
    assert game.cycle({})[RED].render is None


def test_a_decide_asks_for_pictures_as_in_the_behavioural_world() -> None:
    seen: list[Bytes] = []

    def looks(percept: View, memory: Memory) -> Request:
        if percept.cycle == 2 and percept.images is not None:
            seen.append(percept.images["Vision"])
        return Request()

    player = DecidingPlayer(looks, "reds", 1, PlayerSetup(walk=read_walk("final"), players=1, longest=60.0))
    setup = PhysicalSetup(cameras=True)
    with Game(load_rules("sim3d"), seed=1, left="reds", right="blues", seats=1, setup=setup) as game:
        GameLoop(game, {("reds", 1): player}).run(15)
    assert player.log == []
    (vision,) = seen
    assert vision.shape == (240, 240, 3)
    assert vision.std() > 10.0
