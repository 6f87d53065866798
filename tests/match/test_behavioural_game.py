"""A match of the behavioural world: the same every time, unhurt by its players, and recorded like any other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.behavioural_game import BehaviourGame, BehaviourSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.request import Look, Request, Stand, Walk
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.fouls import penalised
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.state import Legs
from nutmeg.recording import Recording

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.match.players.decide import Decide, Memory, View

BOOK = load_rules("spl2011")
RULES = replace(BOOK, shoot_out=replace(BOOK.shoot_out, on=False)).with_match(
    half_length=8.0, wait_before_kick_off=1.0, players=3
)
REDS, BLUES = "reds", "blues"


def new_match(
    left: Decide,
    right: Decide,
    *,
    seed: int = 1,
    record: Path | None = None,
    players: int = 2,
    longest: float = 20.0,
    cameras: bool = False,
) -> GameLoop:
    game = BehaviourGame(RULES, seed=seed, left=REDS, right=BLUES, record=record, setup=BehaviourSetup(cameras=cameras))
    teams = game.team(REDS, left, players, longest=longest) | game.team(BLUES, right, players, longest=longest)
    driver = GameLoop(game, teams)
    if record is not None:
        game.record_with(minds=lambda: driver.players)
    return driver


def poses(driver: GameLoop, cycles: int) -> np.ndarray:
    found = []
    for _ in range(cycles):
        driver.cycle()
        state = driver.game.world.state
        found.append(np.concatenate([state.pose[0].ravel(), state.ball[0]]))
    return np.array(found)


def stands(percept: View, memory: Memory) -> Request:
    return Request()


def test_the_same_seed_gives_the_same_match_and_another_one_another() -> None:
    roles, chase = strategy_decide("roles"), strategy_decide("kick-anywhere")
    first, again, other = (poses(new_match(roles, chase, seed=seed), 120) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_player_that_fails_loses_its_turns_and_the_match_goes_on(tmp_path: Path) -> None:
    def fails(percept: View, memory: Memory) -> Request:
        if percept.number == 1:
            return "kick it"  # type: ignore[return-value]
        if percept.cycle == 12:
            while True:
                pass
        raise RuntimeError("where is the ball?")

    path = tmp_path / "match.nutmeg"
    driver = new_match(fails, strategy_decide("roles"), record=path, longest=0.3)
    driver.run(60)
    driver.game.close()
    silent = driver.players[0]
    assert silent.lost_turns == 59
    assert "UsageError" in silent.log[0]
    assert any("longer than" in line for line in driver.players[1].log)
    assert any("where is the ball?" in line for line in driver.players[1].log)
    told = [event for event in Recording.open(path).events if event["kind"] == "lost_turn"]
    assert {event["robot"] for event in told} == {"left1", "left2"}
    assert any("RuntimeError" in event["text"] for event in told)


def test_a_match_ends_and_teams_keep_their_players_when_they_change_ends() -> None:
    assert RULES.match.swap_ends
    driver = new_match(stands, stands)
    sides: list[str] = []
    driver.run(on_cycle=lambda d: sides.append(d.game.teams[0]))
    assert driver.game.over
    assert sides[0] == REDS
    assert driver.game.teams == (BLUES, REDS)
    assert driver.slot(REDS, 1) == 11
    assert driver.percepts[11].team == REDS


def test_a_recording_has_poses_beliefs_and_others_and_beliefs_are_near_the_truth(tmp_path: Path) -> None:
    path = tmp_path / "match.nutmeg"
    driver = new_match(strategy_decide("roles"), strategy_decide("roles"), record=path)
    driver.run(70)
    driver.game.close()
    recording = Recording.open(path)
    assert recording.manifest.config["world"] == "behavioural"
    poses, belief = recording.read("right2.pose"), recording.read("right2.belief")
    assert np.linalg.norm(poses[1:, :2] - belief[1:, :2], axis=1).max() < 0.4
    labels = recording.channels["right2.belief"].labels
    assert labels[-3:] == ("spread", "heading_spread", "ball_spread")
    assert (belief[1:, labels.index("spread")] > 0).all()
    assert np.isfinite(recording.read("left1.others")).any()
    assert recording.read("left1.angles").shape[1] == len(recording.channels["left1.angles"].labels)
    assert (recording.read("left3.pose")[:, 2] < -1).all(), "who does not play is below the ground"
    assert recording.read("game.state").shape[0] == len(recording)


def test_the_built_in_team_plays_here_as_well() -> None:
    driver = new_match(strategy_decide("builtin"), strategy_decide("statue"), players=3)
    ball = []
    driver.run(170, on_cycle=lambda d: ball.append(d.game.world.state.ball[0].copy()))
    assert all(player.lost_turns == 0 for player in driver.players.values())
    assert any(player.request.intent not in ("", "line up") for player in driver.players.values())
    assert np.ptp(np.array(ball), axis=0).max() > 0.05, "it has played the ball"


def test_team_mates_hear_each_other_and_opponents_do_not() -> None:
    heard: dict[str, set[str]] = {REDS: set(), BLUES: set()}

    def talks(percept: View, memory: Memory) -> Request:
        heard[percept.team] |= {one.message for one in percept.heard}
        return Request(say=f"{percept.team}{percept.number}")

    new_match(talks, talks).run(30)
    assert heard == {REDS: {"reds1", "reds2"}, BLUES: {"blues1", "blues2"}}


def test_a_view_tells_what_is_seen_and_where_the_head_is() -> None:
    views: list[View] = []

    def looks(percept: View, memory: Memory) -> Request:
        if percept.number == 2 and percept.team == REDS:
            views.append(percept)
        return Request(legs=Walk(ahead=0.1), look=Look(yaw=0.2, pitch=-0.1))

    driver = new_match(looks, stands)
    driver.run(40)
    last = views[-1]
    assert last.head == pytest.approx((0.2, -0.1), abs=0.01)
    assert last.sonar is not None
    assert last.images is None
    assert any(view.seen.marks for view in views)
    seen = [view for view in views if view.seen.ball is not None]
    assert seen
    told, believed = seen[-1].seen.ball, seen[-1].belief
    assert told is not None
    assert told == pytest.approx(tuple(believed.to_body(believed.ball.place)), abs=0.3)


def test_a_player_that_asks_for_its_pictures_gets_them() -> None:
    pictures: list[np.ndarray] = []

    def photographs(percept: View, memory: Memory) -> Request:
        if percept.cycle == 3 and percept.number == 1 and percept.images is not None:
            pictures.extend((percept.images["top"], percept.images["bottom"]))
        return Request()

    driver = new_match(photographs, stands, cameras=True)
    driver.run(6)
    driver.game.close()
    assert [player.log for player in driver.players.values()] == [[], [], [], []]
    assert [picture.shape for picture in pictures] == [(240, 320, 3), (240, 320, 3)]
    assert all(np.ptp(picture) > 50 for picture in pictures), "something is to be seen on them"


def test_who_serves_a_penalty_stands_whatever_it_wants() -> None:
    def runs(percept: View, memory: Memory) -> Request:
        return Request(legs=Walk(ahead=0.3))

    driver = new_match(runs, runs)
    for _ in range(170):
        driver.cycle()
        held = penalised(driver.game.state).reshape(SLOTS)
        driver.game._order({slot: Request(legs=Walk(ahead=0.3)) for slot in driver.players})
        assert (driver.game.world.orders.legs[0, held] == Legs.STAND).all()
        free = driver.game.present & ~held
        assert (driver.game.world.orders.legs[0, free] != Legs.STAND).all()


def test_rules_of_another_pitch_are_refused() -> None:
    with pytest.raises(UsageError, match=r"30 m x 20 m.*spl2011"):
        BehaviourGame(load_rules("sim3d"), seed=1)


def test_trainers_put_ball_and_players_where_they_like() -> None:
    driver = new_match(stands, stands)
    game = driver.game
    game.place_ball((1.0, 0.5, 0.0), (0.3, 0.0, 0.0))
    game.place_player(0, (-1.0, 0.2, 0.0), 90.0)
    assert game.world.state.ball[0].tolist() == [1.0, 0.5]
    assert game.world.state.pose[0, 0].tolist() == pytest.approx([-1.0, 0.2, np.pi / 2])
    with pytest.raises(UsageError, match="left9"):
        game.place_player(8, (0.0, 0.0, 0.0))
    game.kick_off()
    assert game.view.mode == "KickOff_Left"
    assert isinstance(Request().legs, Stand)
