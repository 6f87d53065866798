"""Whole matches, cycle by cycle."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.rules.book import Foul, Rules, load_rules
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.rules.slots import slot_of
from nutmeg.match.worlds.physical.percept import JOINTS, Action, Percept
from nutmeg.recording import Recording

RULES = load_rules("sim3d")
REDS, BLUES = "reds", "blues"


def new_game(
    rules: Rules = RULES, *, seed: int = 5, seats: int = 2, record: Path | None = None, **options: Any
) -> Game:
    """One player a side, the second of type 1; options are those of the setup."""
    setup = PhysicalSetup(**options)
    game = Game(rules, seed=seed, left=REDS, right=BLUES, seats=seats, record=record, setup=setup)
    game.enter(REDS, 1)
    game.enter(BLUES, 0, 1)
    return game


def idle(game: Game, cycles: int) -> dict[int, Percept]:
    percepts: dict[int, Percept] = {}
    for _ in range(cycles):
        percepts = game.cycle({})
    return percepts


def test_number_and_side_are_told_once() -> None:
    game = new_game()
    first, second = game.cycle({}), game.cycle({})
    assert (first[0].game.number, first[0].game.side) == (1, Side.LEFT)
    assert (first[11].game.number, first[11].game.side) == (1, Side.RIGHT)
    assert second[0].game.number is None
    assert second[0].game.mode == "BeforeKickOff"
    assert [first[0].time, second[0].time] == [0.02, 0.04]


def test_there_is_an_image_every_third_cycle() -> None:
    game = new_game()
    seen = [game.cycle({})[0].sight is not None for _ in range(9)]
    assert seen == [False, False, True] * 3


def test_what_is_answered_to_a_percept_shows_in_the_next_but_one() -> None:
    game = new_game(beam_noise=False)
    idle(game, 5)
    speeds = np.full(22, np.nan)
    speeds[JOINTS.index("hj1")] = 1.0
    first = game.cycle({0: Action(speeds=speeds, beam=(-3.0, 1.0, 0.0), say="hello")})
    assert first[0].angles[0] == pytest.approx(0.0, abs=0.01)
    assert first[0].hears == ()
    assert game.world.position[0, 0] == pytest.approx(-14.2, abs=0.05)
    second = game.cycle({})
    assert second[0].angles[0] == pytest.approx(np.degrees(0.02), abs=0.05)
    assert game.world.position[0, :2] == pytest.approx([-3.0, 1.0], abs=0.01)
    assert [h.message for h in second[0].hears] == ["hello"]
    assert second[0].hears[0].direction is None
    assert second[11].hears[0].team == REDS
    assert game.cycle({})[0].hears == ()


def test_nobody_is_beamed_while_the_ball_is_in_play() -> None:
    game = new_game()
    idle(game, 3)
    game.set_play_mode(PlayMode.PLAY_ON)
    game.cycle({0: Action(beam=(-3.0, 1.0, 0.0))})
    game.cycle({})
    assert game.world.position[0, 0] == pytest.approx(-14.2, abs=0.05)


def test_a_goal_is_scored_by_a_ball_over_the_line() -> None:
    game = new_game()
    idle(game, 3)
    game.set_play_mode(PlayMode.PLAY_ON)
    game.place_ball((14.0, 0.0, 0.042), (8.0, 0.0, 0.0))
    kinds: list[str] = []
    for _ in range(20):
        game.cycle({})
        kinds += [event.kind for event in game.events]
    assert game.view.score_left == 1
    assert "goal" in kinds
    assert game.view.mode == "Goal_Left"
    idle(game, 160)
    assert game.view.mode == "KickOff_Right"
    assert game.world.ball[:2] == pytest.approx([0.0, 0.0], abs=0.01)


def game_with_incapable_players() -> Game:
    """A game in which number 1 of the left team is called for lying on the ground, although it stands."""
    changes = dict.fromkeys(("not_standing_time", "goalie_not_standing_time"), 0.1)
    tall = dataclasses.replace(RULES.fouls.incapable, not_standing_height=9.0, **changes)
    game = new_game(dataclasses.replace(RULES, fouls=dataclasses.replace(RULES.fouls, incapable=tall)))
    game.cycle({})
    game.place_player(0, (-3.0, 1.0, 0.4), 0.0)
    game.set_play_mode(PlayMode.PLAY_ON)
    return game


def test_all_fouls_are_kept_in_the_order_in_which_they_were_called() -> None:
    game = game_with_incapable_players()
    told = []
    for _ in range(20):
        game.cycle({})
        told += [event for event in game.events if event.kind == "foul"]
    assert told
    assert {event.foul for event in told} == {Foul.INCAPABLE}
    assert game.fouls == told


def test_a_foul_is_reported_in_each_of_the_26_cycles_until_its_offender_stands_outside() -> None:
    game = game_with_incapable_players()
    reports = []
    for _ in range(60):
        before = len(game.foul_reports)
        game.cycle({})
        reports.append(sum(event.side is Side.LEFT for event in game.foul_reports[before:]))
    first = reports.index(1)
    assert reports[first : first + 26] == [1] * 26
    assert sum(reports) == 26
    assert abs(game.world.position[0, 1]) > 10.0
    assert sum(event.side is Side.LEFT for event in game.fouls) == 1


def test_a_foul_is_not_reported_any_more_when_the_game_is_paused() -> None:
    game = game_with_incapable_players()
    while len(game.foul_reports) < 6:
        game.cycle({})
    game.set_play_mode(PlayMode.BEFORE_KICK_OFF)
    known = len(game.foul_reports)
    idle(game, 40)
    assert len(game.foul_reports) == known


def played(path: Path, seed: int) -> str:
    """The content of the recording of a short match in which much happens."""
    with new_game(RULES.with_match(players=1), seed=seed, record=path) as game:
        rng, percepts = np.random.default_rng(1), game.cycle({})
        game.kick_off(Side.LEFT)
        for _ in range(60):
            actions = {
                slot: Action(speeds=percept.angles * -0.1 + rng.normal(0, 2.0, 22), say="x")
                for slot, percept in percepts.items()
            }
            percepts = game.cycle(actions)
        game.place_player(0, (-0.2, 0.0, 0.38), 0.0)
        game.place_ball((0.5, 0.0, 0.3), None)
        for _ in range(40):
            game.cycle({0: Action(beam=(-1.0, 0.0, 0.0))})
    return Recording.open(path).content_hash()


def test_the_same_seed_gives_the_same_recording(tmp_path: Path) -> None:
    first = played(tmp_path / "one.nutmeg", 5)
    assert played(tmp_path / "two.nutmeg", 5) == first
    assert played(tmp_path / "three.nutmeg", 6) != first


def test_a_recording_has_all_that_a_viewer_needs(tmp_path: Path) -> None:
    path = tmp_path / "match.nutmeg"
    rules = RULES.with_match(players=1)
    with new_game(rules, record=path) as game:
        game.cycle({})
        game.kick_off(Side.RIGHT)
        idle(game, 9)
        angles, ball = np.radians(game.world.angles[11, :22]), game.world.ball
    recording = Recording.open(path)
    assert recording.problems == []
    assert recording.manifest.kind == "match"
    assert recording.manifest.config["left"] == REDS
    joints = next(c for c in recording.manifest.channels if c.name == "right1.angles").labels
    order = [JOINTS.index(joint) for joint in joints]
    assert recording.read("right1.angles")[-1] == pytest.approx(angles[order], abs=1e-4)
    assert recording.read("right1.pose")[-1, 2] == pytest.approx(0.42, abs=0.01), "type 1 is taller"
    assert recording.read("ball.pose")[-1, :3] == pytest.approx(ball, abs=1e-4)
    state = recording.read("game.state")
    assert state[0, 0] == PlayMode.BEFORE_KICK_OFF
    assert state[-1, 0] == PlayMode.KICK_OFF_RIGHT
    assert state[-1, 1] == pytest.approx(0.18, abs=1e-3)
    kinds = [event["kind"] for event in recording.events]
    assert kinds == ["join", "join", "play_mode"]


def test_teams_change_ends_with_their_players_and_their_score() -> None:
    rules = RULES.with_match(swap_ends=True, half_length=0.1)
    game = new_game(rules)
    game.kick_off(Side.LEFT)
    game.set_score(2, 1)
    idle(game, 10)
    assert game.swaps == 1
    assert game.team_names == (BLUES, REDS)
    assert (game.view.score_left, game.view.score_right) == (1, 2)
    assert game.robot_types[[0, 11]].tolist() == [1, 0]


def test_who_cannot_join_is_told_why() -> None:
    game = new_game()
    with pytest.raises(UsageError, match="number 1 of the left team is taken already"):
        game.enter(REDS, 1)
    with pytest.raises(UsageError, match="team 'greens' cannot join: 'reds' plays 'blues'"):
        game.enter("greens", 1)
    with pytest.raises(UsageError, match="player number 12 is not possible"):
        game.enter(REDS, 12)
    with pytest.raises(UsageError, match="robot type 7 is not known"):
        game.enter(REDS, 2, 7)


def test_a_small_team_may_have_any_numbers_as_on_the_leagues_server() -> None:
    game = Game(RULES.with_match(players=2), seed=1, seats=2)
    assert [game.enter(REDS, number) for number in (3, 9)] == [slot_of(Side.LEFT, 3), slot_of(Side.LEFT, 9)]
    with pytest.raises(UsageError, match="the left team has its 2 players already"):
        game.enter(REDS, 10)


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (Action(say="(syn)"), "cannot be said"),
        (Action(beam=(np.inf, 0.0, 0.0)), "x, y and heading must be finite numbers"),
        (Action(beam=(0.0, 0.0, np.nan)), "x, y and heading must be finite numbers"),
        (Action(speeds=np.zeros(7)), "7 joint speeds were given"),
    ],
)
def test_an_impossible_action_is_refused_and_disturbs_nobody(action: Action, why: str) -> None:
    game = new_game()
    game.cycle({0: action, 11: Action(say="fine")})
    assert len(game.refused) == 1
    assert game.refused[0][0] == 0
    assert why in game.refused[0][1]
    assert [h.message for h in game.cycle({})[11].hears] == ["fine"]
    assert not game.refused


def test_a_team_is_limited_in_types_on_request() -> None:
    game = Game(RULES, seed=1, seats=8, setup=PhysicalSetup(type_limits=True))
    for _ in range(7):
        game.enter(REDS)
    with pytest.raises(UsageError, match="at most 7 of one type"):
        game.enter(REDS)
    assert game.enter(REDS, 0, 1) == 7


def test_who_left_is_not_told_anything_and_can_come_back() -> None:
    game = new_game()
    idle(game, 3)
    game.leave(11)
    assert set(game.cycle({11: Action(speeds=np.ones(22))})) == {0}
    assert game.enter(BLUES, 1, 2) == 11
    assert game.cycle({})[11].game.number == 1


def test_a_trainer_can_send_a_player_off() -> None:
    game = new_game()
    idle(game, 3)
    game.send_off(0)
    game.cycle({})
    assert abs(game.world.position[0, 1]) > 10.3
    places, turns = game.body_poses()
    assert places.shape == (22, len(game.body_names), 3)
    assert turns[0, 0, 2, 2] == pytest.approx(1.0, abs=0.01)
    assert game.ball_pose()[0] == pytest.approx(game.world.ball)


def test_a_robot_with_toes_joins_while_the_match_goes_on() -> None:
    game = new_game(seats=3, toed=1)
    idle(game, 40)  # newcomers drop from a little above the ground
    before = game.world.position.copy()
    slot = game.enter(REDS, 5, 4)
    percepts = game.cycle({slot: Action(speeds=np.zeros(24))})
    assert percepts[slot].angles.shape == (24,)
    assert percepts[slot].forces.shape == (4, 6)
    assert percepts[0].angles.shape == (22,)
    assert game.world.position[[0, 11]] == pytest.approx(before[[0, 11]], abs=1e-3)
    idle(game, 30)
    assert game.world.position[slot, 2] == pytest.approx(0.385, abs=0.01)


def test_recorded_commands_move_the_robot_as_they_did_on_the_leagues_server() -> None:
    path = Path(__file__).parent / "data" / "walk_start.csv"
    recorded = np.genfromtxt(path, delimiter=",", skip_header=2)
    commands, angles, inertial = recorded[:, :22], recorded[:, 22:44], recorded[:, 44:]
    game = Game(RULES, seed=1, left=REDS, seats=1, setup=PhysicalSetup(noise=False, beam_noise=False))
    slot = game.enter(REDS)
    ground = game.world.ground
    ground.world.qpos[ground.seats["joints"][game.world.seat_of[slot], :22]] = np.radians(angles[1])
    game.place_player(slot, (-3.0, 0.0, 0.0), 0.0)
    for _ in range(30):  # until it has come to rest in the ground, as there
        game.cycle({slot: Action(speeds=np.zeros(22))})
    game.world.command([slot], commands[:1])
    percepts: list[Percept] = []
    for row in commands[1:-1]:
        if not percepts:  # the command before the first is under way already
            ground.seats["driven"] = ground.seats["ordered"]
        percepts.append(game.cycle({slot: Action(speeds=row)})[slot])
    moved = np.array([percept.angles for percept in percepts])

    def error(shift: int) -> float:
        """Of the legs' angles when our percepts are shifted by some cycles, degrees."""
        ours, theirs = moved[1:-1, 10:], angles[3 + shift : 1 + shift + len(moved), 10:]
        return float(np.sqrt(np.mean((ours - theirs) ** 2)))

    assert error(0) < 1.0
    assert error(0) < 0.5 * min(error(-1), error(1)), "the delay is that of the league's server"
    felt = np.array([[*percept.gyro, *percept.acc] for percept in percepts])
    alike = [np.corrcoef(felt[:, k], inertial[2:, k])[0, 1] for k in range(6)]
    assert min(alike[:3]) > 0.4, "the gyroscope has the axes and signs of the league's"
    assert alike[5] > 0.5, "the accelerometer is late by one cycle"


def test_a_cycle_worked_on_ahead_is_the_same_cycle() -> None:
    percepts = []
    for ahead in (False, True):
        game, told = new_game(), []
        rng = np.random.default_rng(2)
        for _ in range(30):
            actions = {slot: Action(speeds=rng.normal(0, 2.0, 22), say="x") for slot in (0, 11)}
            told.append(game.cycle(actions))
            if ahead:
                game.work_ahead()
        percepts.append(told)
    for one, other in zip(*percepts, strict=True):
        for slot in (0, 11):
            assert np.array_equal(one[slot].angles, other[slot].angles)
            assert np.array_equal(one[slot].acc, other[slot].acc)
            assert np.array_equal(one[slot].forces, other[slot].forces, equal_nan=True)
            assert one[slot].hears == other[slot].hears


def test_percepts_of_past_cycles_stay_as_they_were() -> None:
    game = new_game(seats=3)
    kept = idle(game, 5)[0]
    before = kept.angles.copy(), kept.acc.copy(), kept.forces.copy()
    game.enter(REDS)
    game.cycle({0: Action(speeds=np.ones(22))})
    idle(game, 5)
    for now, then in zip((kept.angles, kept.acc, kept.forces), before, strict=True):
        assert np.array_equal(now, then, equal_nan=True)
