"""What players see, beside what the league's own server told standing agents."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.match.worlds.physical.percept import JOINTS, PARTS, Sight
from nutmeg.match.worlds.physical.vision import VISION_NOISE, Seeing
from nutmeg.match.worlds.physical.world import MatchWorld
from nutmeg.model.field import load_field

RECORDED = (Path(__file__).parent / "data" / "standing_agents.txt").read_text().splitlines()[1:]
TEAMS = ("reds", "blues")


@pytest.fixture(scope="module")
def world() -> MatchWorld:
    world = MatchWorld(seats=2)
    world.join(0, 0)
    return world


def polar(text: str) -> list[float]:
    return [float(number) for number in text.split()]


def recorded_sight(message: str) -> tuple[list[str], Floats, Floats, dict[str, list[float]]]:
    """Labels, marks (K, 3), lines (L, 2, 3) and own parts of a recorded percept."""
    marks = re.findall(r"\(([FG][12][LR]|B) \(pol ([^)]*)\)\)", message)
    lines = re.findall(r"\(L \(pol ([^)]*)\) \(pol ([^)]*)\)\)", message)
    parts = re.findall(rf"\(({'|'.join(PARTS)}) \(pol ([^)]*)\)\)", message)
    return (
        [name for name, _ in marks],
        np.array([polar(place) for _, place in marks]),
        np.array([[polar(one), polar(other)] for one, other in lines]),
        {name: polar(place) for name, place in parts},
    )


def posed(world: MatchWorld, message: str, place: Floats, ball: tuple[float, float, float]) -> Sight:
    """What slot 0 sees without noise, bent as in a recorded percept, with its torso at x, y, z and a heading."""
    ground, seat = world.ground, int(world.seat_of[0])
    for name, degrees in re.findall(r"\(HJ \(n (\w+)\) \(ax ([^)]*)\)\)", message):
        ground.world.qpos[ground.seats["joints"][seat, JOINTS.index(name)]] = np.radians(float(degrees))
    world.place_ball(ball)
    world.place(0, x=place[0], y=place[1], height=place[2], heading=place[3])
    world.settle()
    return Seeing(load_field("sim3d")).look(world, TEAMS)[0]


def fitted(world: MatchWorld, message: str, start: list[float]) -> tuple[Sight, Floats]:
    """What is seen from where the landmarks are explained best: the beam's noise is not known."""
    labels, marks, _, _ = recorded_sight(message)
    place, ball = np.array(start), (0.0, 0.0, 0.042)

    def errors(at: Floats) -> Floats:
        sight = posed(world, message, at, ball)
        assert list(sight.labels) == labels
        expected = np.column_stack([0.001 * marks[:, 0], np.full((len(marks), 2), 0.13)])
        return np.asarray((sight.marks - marks) / expected).ravel()

    for _ in range(4):  # Gauss-Newton
        now = errors(place)
        slopes = np.column_stack([(errors(place + 1e-4 * axis) - now) / 1e-4 for axis in np.eye(4)])
        place = place - np.linalg.lstsq(slopes, now, rcond=None)[0]
    return posed(world, message, place, ball), place


@pytest.mark.parametrize(
    ("message", "beam"),
    [(RECORDED[0], [-13.0, 0.0, 0.32, -0.1]), (RECORDED[1], [9.0, 5.0, 0.42, np.radians(209.0)])],
    ids=["head turned and bent", "right team"],
)
def test_recorded_percepts_of_standing_agents_are_explained_within_the_noise(
    world: MatchWorld, message: str, beam: list[float]
) -> None:
    labels, marks, lines, parts = recorded_sight(message)
    sight, place = fitted(world, message, beam)
    assert place[:2] == pytest.approx(beam[:2], abs=0.1)
    assert place[3] == pytest.approx(beam[3], abs=np.radians(12.0))
    assert list(sight.labels) == labels
    assert sight.lines.shape == lines.shape
    angles = np.concatenate([(sight.marks - marks)[:, 1:], (sight.lines - lines).reshape(-1, 3)[:, 1:]])
    far = lines.reshape(-1, 3)[:, 0] > 2.0  # a camera misplaced by 5 mm sees near things elsewhere
    assert np.sqrt(np.mean(angles[np.concatenate([np.ones(len(marks), bool), far])] ** 2)) < 0.2
    assert np.abs(angles[np.concatenate([np.ones(len(marks), bool), far])]).max() < 0.6
    assert np.abs(angles).max() < 2.0
    assert np.abs(sight.lines[..., 0] / lines[..., 0] - 1.0).max() < 0.02
    for name, (distance, left, up) in parts.items():
        if message is RECORDED[0]:  # the other agent has longer arms
            seen = sight.parts[0, PARTS.index(name)]
            assert seen[0] == pytest.approx(distance, abs=0.02)
            assert seen[1:] == pytest.approx([left, up], abs=3.0)
    assert set(parts) == {name for name, seen in zip(PARTS, sight.parts[0], strict=True) if np.isfinite(seen).all()}


def test_noise_has_the_size_that_the_rules_say(world: MatchWorld) -> None:
    posed(world, "", np.array([-10.0, 0.0, 0.4, 0.0]), (0.0, 0.0, 0.042))
    field = load_field("sim3d")
    exact = Seeing(field).look(world, TEAMS)[0]
    noisy = Seeing(field, np.random.default_rng(3))
    seen = np.array([noisy.look(world, TEAMS)[0].marks for _ in range(2000)])
    errors = (seen - exact.marks) / np.column_stack([exact.marks[:, :1], np.ones((len(exact.marks), 2))])
    assert errors.std(axis=(0, 1)) == pytest.approx(VISION_NOISE, rel=0.05)
    assert np.abs(errors.mean(axis=(0, 1))).max() < 0.01


def test_each_camera_is_misplaced_a_little_for_as_long_as_it_plays(world: MatchWorld) -> None:
    posed(world, "", np.array([-1.0, 0.0, 0.4, 0.0]), (0.0, 0.0, 0.042))
    field = load_field("sim3d")
    exact, distances = Seeing(field).look(world, TEAMS)[0].marks[-1, 0], []
    for seed in range(20):
        seeing = Seeing(field, np.random.default_rng(seed))
        seeing.greet(0)
        distances.append(np.mean([seeing.look(world, TEAMS)[0].marks[-1, 0] for _ in range(50)]))
    off = np.abs(np.array(distances) - exact)
    assert 0.001 < off.max() < 0.009


def test_a_player_behind_is_not_seen_and_one_in_front_is(world: MatchWorld) -> None:
    world.join(11, 1)
    world.place(11, x=2.0, y=0.5, heading=np.pi)
    sight = posed(world, "", np.array([0.0, 0.0, 0.4, 0.0]), (0.0, 5.0, 0.042))
    assert (sight.teams, sight.numbers) == (TEAMS, (1, 1))
    assert np.isnan(sight.parts[0, 0]).all(), "the own head is too near"
    assert sight.parts[1, 0, 0] == pytest.approx(np.hypot(2.0, 0.5), abs=0.01)
    assert sight.parts[1, 0, 1] == pytest.approx(np.degrees(np.arctan2(0.5, 2.0)), abs=0.1)
    assert sight.parts[1, PARTS.index("rfoot"), 1] > sight.parts[1, PARTS.index("lfoot"), 1], "it faces us"
    assert "B" not in sight.labels, "the ball is beside"
    turned = posed(world, "", np.array([0.0, 0.0, 0.4, np.pi]), (0.0, 5.0, 0.042))
    assert turned.numbers == (1,)
    world.leave(11)


def test_the_truth_is_told_on_request(world: MatchWorld) -> None:
    posed(world, "", np.array([-3.0, 1.0, 0.4, np.radians(20.0)]), (2.0, 1.0, 0.042))
    sight = Seeing(load_field("sim3d"), ground_truth=True).look(world, TEAMS)[0]
    assert sight.my_position is not None
    assert sight.ball_position is not None
    assert sight.my_position == pytest.approx([-3.0, 1.0, 0.555], abs=0.005)
    assert sight.my_heading == pytest.approx(20.0)
    assert sight.ball_position == pytest.approx([2.0, 1.0, 0.042])
    assert Seeing(load_field("sim3d")).look(world, TEAMS)[0].my_position is None


def test_the_truth_is_told_to_the_right_team_as_if_it_played_to_the_right_too() -> None:
    """As rcssserver3d does it."""
    world = MatchWorld("sim3d", seats=1)
    world.join(11, 0)
    world.place(11, x=3.0, y=-1.0, heading=np.pi)
    world.place_ball((1.0, -2.0))
    world.settle()
    sight = Seeing(load_field("sim3d"), ground_truth=True).look(world, TEAMS)[11]
    assert sight.my_position is not None
    assert sight.ball_position is not None
    assert sight.my_position[:2] == pytest.approx([-3.0, 1.0], abs=0.05)
    assert sight.my_position[2] > 0.4
    assert sight.my_heading == pytest.approx(0.0, abs=0.5)
    assert sight.ball_position == pytest.approx([-1.0, 2.0, 0.042], abs=0.005)
