"""What the league's camera sees, brought down to the ground: geometry against the robot itself, tilt, and players."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.players.tracking.league_sight import (
    BALL_CODE,
    GroundSight,
    Image,
    head_frame,
    new_attitudes,
    new_ground_sight,
    read_sight,
    spot,
    turn_attitude,
    turn_heading,
)
from nutmeg.match.rules.book import load_rules
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.physical.percept import Action
from nutmeg.model.field import load_field

CAMERA = head_frame(0.0, 0.0)
HEIGHT = 0.345
LEVEL = np.array([0.0, 0.0, 9.81])
NOWHERE = [np.nan] * 3
UPRIGHT = True


def polar(x: float, y: float, z: float) -> list[float]:
    """Where the camera of a player at the middle of the pitch that looks along x sees a place."""
    way = np.array([x, y, z - HEIGHT]) - CAMERA.centre
    far = float(np.linalg.norm(way))
    return [far, np.degrees(np.arctan2(way[1], way[0])), np.degrees(np.arcsin(way[2] / far))]


GROUND_LINE = [[polar(4.0, -3.0, 0.0), polar(4.0, 3.0, 0.0)], [polar(2.0, -1.0, 0.0), polar(9.0, -1.0, 0.0)]]


def look(
    parts: list[list[float]] | None = None, row: int = 14, marks: dict[int, list[float]] | None = None
) -> GroundSight:
    """What an upright player sees: two lines, a player of which parts are in view, and things by their codes."""
    found, out = marks or {}, new_ground_sight(np.array([0.0, 0.8]))
    image = Image(
        marks=np.array(list(found.values())).reshape(-1, 3),
        codes=np.array(list(found), np.int64),
        lines=np.array(GROUND_LINE),
        parts=np.array([parts or [NOWHERE] * 5]),
        players=np.array([row]),
    )
    assert read_sight(new_attitudes(), image, CAMERA, LEVEL, out)
    return out


def test_something_ahead_of_a_level_head_is_ahead_of_the_torso() -> None:
    assert spot(np.array([2.0, 0.0, 0.0]), CAMERA) == pytest.approx([2.0, 0.0, 0.155])


def test_a_head_turned_left_sees_to_the_left_and_one_that_nods_up_sees_upwards() -> None:
    camera = head_frame(math.radians(90.0), 0.0)
    assert spot(np.array([2.0, 0.0, 0.0]), camera) == pytest.approx([0.0, 2.0, 0.155])
    camera = head_frame(0.0, math.radians(30.0))
    assert spot(np.array([2.0, 0.0, 0.0]), camera)[2] > 1.0


def test_turning_by_small_steps_is_turning_by_their_sum() -> None:
    attitudes = new_attitudes()
    turned = sum(turn_attitude(attitudes, np.array([0.0, 0.0, 50.0]), 0.02, UPRIGHT) for _ in range(90))
    assert turned == pytest.approx(math.pi / 2)
    expected = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert attitudes[0].turn == pytest.approx(expected, abs=1e-9)
    turn_heading(attitudes, 0.0)
    assert attitudes[0].turn == pytest.approx(np.eye(3), abs=1e-9)


def test_who_falls_on_its_face_and_is_lifted_looks_where_it_looked_before() -> None:
    attitudes = new_attitudes()
    turn_heading(attitudes, 0.7)
    turned = sum(turn_attitude(attitudes, np.array([-45.0, 0.0, 0.0]), 0.02, not UPRIGHT) for _ in range(100))
    turned += sum(turn_attitude(attitudes, np.array([45.0, 0.0, 0.0]), 0.02, not UPRIGHT) for _ in range(100))
    assert turned == pytest.approx(0.0, abs=1e-6)
    assert attitudes[0].turn[2] == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)


def test_what_a_robot_with_a_turned_head_sees_is_where_it_is() -> None:
    game = Game(load_rules("sim3d"), seed=1, left="reds", seats=2, setup=PhysicalSetup(noise=False))
    slot = game.enter("reds", 1)
    game.place_player(slot, (-2.0, 3.0, 0.4), 35.0)
    speeds = np.zeros(22)
    speeds[:2] = -1.0, -0.6
    for _ in range(30):
        percept = game.cycle({slot: Action(speeds=speeds)})[slot]
    assert percept.sight is not None
    yaw, pitch = np.radians(percept.angles[:2]).tolist()
    assert yaw < -0.4
    assert pitch < -0.2
    landmarks, sight = load_field("sim3d").landmarks(), percept.sight
    codes = [BALL_CODE if label == "B" else list(landmarks).index(label) for label in sight.labels]
    assert len(codes) >= 2
    attitudes, ground = new_attitudes(), new_ground_sight(np.array([z for _, _, z in landmarks.values()]))
    image = Image(sight.marks, np.array(codes, np.int64), sight.lines, sight.parts, np.full(len(sight.numbers), -1))
    for _ in range(3):
        assert read_sight(attitudes, image, head_frame(yaw, pitch), percept.acc, ground)
    x, y, z = game.world.poses()[slot][:3].tolist()
    heading = game.world.headings()[slot]
    assert attitudes[0].height == pytest.approx(z, abs=1e-3)
    for thing, label in zip(ground.things, sight.labels, strict=False):
        way = heading + thing.bearing
        found = x + thing.distance * math.cos(way), y + thing.distance * math.sin(way)
        truth = game.world.ball if label == "B" else np.array(landmarks[label])
        assert found == pytest.approx(truth[:2], abs=3e-3)


def test_a_torso_that_leans_is_known_to_lean_by_the_lines_on_the_ground() -> None:
    attitudes, lean = new_attitudes(), math.radians(20.0)
    c, s = math.cos(lean), math.sin(lean)
    ends = np.array([(4.0, -3.0), (4.0, 3.0), (2.0, -1.0), (9.0, -1.0)])
    lines = []
    for x, y in ends.tolist():  # as a torso sees them that has turned about its y axis, face down
        way = np.array([c * x + s * HEIGHT, y, s * x - c * HEIGHT]) - CAMERA.centre
        far = float(np.linalg.norm(way))
        lines.append([far, np.degrees(np.arctan2(way[1], way[0])), np.degrees(np.arcsin(way[2] / far))])
    image = Image(
        np.zeros((0, 3)),
        np.zeros(0, np.int64),
        np.array(lines).reshape(2, 2, 3),
        np.zeros((0, 5, 3)),
        np.zeros(0, np.int64),
    )
    ground = new_ground_sight(np.zeros(0))
    assert read_sight(attitudes, image, CAMERA, 9.81 * np.array([0.0, -s, c]), ground)
    assert attitudes[0].turn[2] == pytest.approx([-s, 0.0, c], abs=0.01)
    assert attitudes[0].height == pytest.approx(HEIGHT, abs=0.01)
    first = ground.parts[0]
    assert (first.ahead, first.left, first.other_ahead, first.other_left) == pytest.approx(
        (4.0, -3.0, 4.0, 3.0), abs=0.03
    )


def test_the_ball_and_landmarks_are_told_with_their_numbers_and_heights() -> None:
    ground = look(marks={1: polar(5.0, 1.0, 0.8), BALL_CODE: polar(1.0, -0.5, 0.3)})
    post, ball = ground.things[0], ground.things[1]
    assert (post.kind, post.number) == (ObjectKind.POST, 2)
    assert (post.distance, post.bearing) == pytest.approx((math.hypot(5.0, 1.0), math.atan2(1.0, 5.0)), abs=0.005)
    assert ball.kind == ObjectKind.BALL
    assert ground.heights[-1] == pytest.approx(0.3, abs=0.01)


STANDING = [polar(5.0, 2.5, 0.5), NOWHERE, NOWHERE, polar(5.0, 2.45, 0.01), polar(5.0, 2.55, 0.01)]
LYING = [polar(5.0, 2.5, 0.08), NOWHERE, NOWHERE, polar(5.5, 2.45, 0.05), polar(5.5, 2.55, 0.05)]


def place_of(ground: GroundSight) -> tuple[float, float]:
    thing = ground.things[0]
    return thing.distance * math.cos(thing.bearing), thing.distance * math.sin(thing.bearing)


def test_who_stands_is_where_its_head_and_feet_are() -> None:
    ground = look(STANDING)
    assert ground.counts[0] == 1
    assert place_of(ground) == pytest.approx([5.0, 2.5], abs=0.01)
    thing = ground.things[0]
    assert (thing.kind, thing.number, thing.lying) == (ObjectKind.OPPONENT, 4, False)


def test_who_lies_is_between_its_head_and_its_feet() -> None:
    ground = look(LYING, row=3)
    assert place_of(ground) == pytest.approx([5.25, 2.5], abs=0.01)
    thing = ground.things[0]
    assert (thing.kind, thing.number, thing.lying) == (ObjectKind.MATE, 4, True)


@pytest.mark.parametrize("part", [0, 1, 2, 3, 4])
def test_one_part_is_enough(part: int) -> None:
    parts = [NOWHERE] * 5
    parts[part] = polar(4.0, 1.0, 0.3)
    assert place_of(look(parts)) == pytest.approx([4.0, 1.0], abs=0.01)


def test_the_own_arms_are_nobody_else() -> None:
    assert look(STANDING, row=-1).counts[0] == 0
