"""Sonars of robots of a physical match, against where everything is."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.match.worlds.physical.sonar import SONAR_CYCLES, Sonars
from nutmeg.match.worlds.physical.world import MatchWorld

ME, OTHER = 0, 12
ANGLE, HALF_DEPTH, POST_RADIUS = math.radians(19.48), 0.05, 0.02
"""Direction of the sonars; half the depth of a torso and the radius of a post [m]."""
AWAY = (-5.0, -5.0)
NOISE = 0.01


class Pair:
    """Two robots, and the sonars of the first, which hear exactly."""

    def __init__(self) -> None:
        self.world = MatchWorld("sim3d", seats=2)
        self.world.join(ME, 0)
        self.world.join(OTHER, 0)
        self.sonars = Sonars(self.world)

    def hears(
        self,
        other: tuple[float, float] = AWAY,
        heading: float = 0.0,
        me: tuple[float, float, float] = (0.0, 0.0, 0.0),
        *,
        lies: bool = False,
    ) -> Floats:
        """(2,) what the first robot hears with the second at a place."""
        self.world.place(ME, x=me[0], y=me[1], heading=me[2])
        self.world.place(OTHER, x=other[0], y=other[1], heading=heading)
        self.world.settle()
        if lies:
            qpos = self.world.ground.numbers(int(self.world.seat_of[OTHER]))[0]
            self.world.ground.world.qpos[qpos][2:7] = 0.1, math.cos(math.pi / 4), 0.0, math.sin(math.pi / 4), 0.0
            self.world.ground.world.touch()
            self.world.settle()
        self.sonars.listen()
        answers: Floats = self.sonars.answers[ME].copy()
        return answers


@pytest.fixture(scope="module")
def pair() -> Pair:
    return Pair()


def at(distance: float, angle: float) -> tuple[float, float]:
    return distance * math.cos(angle), distance * math.sin(angle)


@pytest.mark.parametrize(("side", "sign"), [(0, 1), (1, -1)])
def test_a_robot_half_a_metre_ahead_of_a_sonar_is_heard_at_that_less_half_its_depth(
    pair: Pair, side: int, sign: int
) -> None:
    heard = pair.hears(at(0.5, sign * ANGLE), sign * ANGLE)
    assert heard[side] == pytest.approx(0.5 - HALF_DEPTH, abs=1e-3)
    assert np.isnan(heard[1 - side])


def test_a_sonar_turns_with_its_robot(pair: Pair) -> None:
    x, y = at(0.5, ANGLE + 2.0)
    heard = pair.hears((1.0 + x, y - 2.0), ANGLE + 2.0, (1.0, -2.0, 2.0))
    assert heard[0] == pytest.approx(0.5 - HALF_DEPTH, abs=1e-3)


@pytest.mark.parametrize("place", [(-0.5, 0.0), (0.0, 0.6), (0.0, -0.6), at(0.95, ANGLE), AWAY])
def test_nothing_is_heard_behind_beside_or_out_of_range(pair: Pair, place: tuple[float, float]) -> None:
    assert np.isnan(pair.hears(place)).all()


def test_a_robot_that_is_too_near_gives_no_answer(pair: Pair) -> None:
    heard = pair.hears(at(0.3, ANGLE), ANGLE)
    assert heard[0] == pytest.approx(0.3 - HALF_DEPTH, abs=1e-3)
    assert np.isnan(pair.hears(at(0.19, ANGLE), ANGLE)[0]), "its back is 0.14 m away; sonars answer from 0.15 m"


def test_cones_pass_over_the_ball_and_over_robots_that_lie(pair: Pair) -> None:
    place = at(0.45, ANGLE)
    pair.world.place_ball(place)
    assert np.isnan(pair.hears()).all()
    pair.world.place_ball((3.0, 3.0))
    assert np.isfinite(pair.hears(place)).any()
    assert np.isnan(pair.hears(place, lies=True)).all()


def test_posts_are_heard_and_nets_are_not(pair: Pair) -> None:
    goal = pair.world.field.goal
    assert goal is not None
    front, post = pair.world.field.length / 2 + goal.post_offset, goal.inner_width / 2 + goal.post_radius
    x, y = at(0.5, ANGLE)
    heard = pair.hears(me=(front - x, post - y, 0.0))
    assert heard[0] == pytest.approx(0.5 - POST_RADIUS, abs=1e-2)
    assert np.isnan(pair.hears(me=(front + 0.25, 0.0, 0.0))).all(), "the net behind it is 0.35 m away"


def game_with_sonars(*, seed: int = 3, sonar: bool = True, noise: bool = True) -> Game:
    """Two robots that stand before each other."""
    game = Game(
        load_rules("sim3d"),
        seed=seed,
        left="reds",
        right="blues",
        seats=2,
        setup=PhysicalSetup(sonar=sonar, noise=noise),
    )
    slots = game.enter("reds", 1), game.enter("blues", 1)
    game.set_play_mode(PlayMode.PLAY_ON)
    for slot, x, heading in zip(slots, (-1.0, -0.5), (0.0, 180.0), strict=True):
        game.place_player(slot, (x, 0.0, 0.4), heading)
    return game


def played(game: Game, cycles: int) -> tuple[list[tuple[float, float] | None], Floats]:
    """What the first player's sonars measured in each cycle, and where everybody is at the end."""
    heard = [game.cycle({})[0].sonar for _ in range(cycles)]
    poses = game.world.poses()[[0, 11]]
    game.close()
    return heard, poses


def test_percepts_have_what_sonars_measure_in_every_fifth_cycle() -> None:
    heard, _ = played(game_with_sonars(noise=False), 15)
    assert [one is not None for one in heard] == [cycle % SONAR_CYCLES == SONAR_CYCLES - 1 for cycle in range(15)]
    for one in heard[SONAR_CYCLES - 1 :: SONAR_CYCLES]:
        assert one is not None
        assert 0.15 <= min(one) < 0.5 - HALF_DEPTH, "arms and feet are nearer than the torso"


def test_the_league_has_no_sonars_and_they_change_nothing_else() -> None:
    heard, poses = played(game_with_sonars(sonar=False), 20)
    assert heard == [None] * 20
    np.testing.assert_array_equal(played(game_with_sonars(), 20)[1], poses)


def test_what_is_heard_has_the_noise_of_the_settings() -> None:
    exact = played(game_with_sonars(noise=False), 5)[0][-1]
    noisy = [played(game_with_sonars(seed=seed), 5)[0][-1] for seed in range(30)]
    assert exact is not None
    errors = np.array(noisy, float) - exact
    assert 0.6 * NOISE < errors.std() < 1.4 * NOISE
    assert abs(errors.mean()) < NOISE


def test_matches_hear_the_same_alone_and_beside_others_in_threads() -> None:
    alone = [played(game_with_sonars(seed=seed), 30) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: played(game_with_sonars(seed=seed), 30), range(4)))
    for (heard, poses), (heard_there, poses_there) in zip(alone, together, strict=True):
        assert heard == heard_there
        np.testing.assert_array_equal(poses, poses_there)
