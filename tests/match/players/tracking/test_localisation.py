"""The arithmetic of the pose's filter against closed forms, lines, and the ball's way."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.base.records import Records, new_records, record_values
from nutmeg.match.players.tracking.filters import track_one
from nutmeg.match.players.tracking.records import STILL, LinePart, MindRecord, Motion
from nutmeg.match.players.tracking.tracker import blank_mind, landmark_table, place_mind, tracker_numbers
from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind, goal_posts_of
from nutmeg.match.worlds.behavioural.vision import SightingRecord
from nutmeg.model.field import load_field

FIELD = load_field("spl2011")
TABLE = landmark_table(FIELD)
NUMBERS = record_values(tracker_numbers(load_eyes("nao"), FIELD, rolling=0.0, damping=1.06))
NOTHING, NO_LINES = new_records(SightingRecord, 0), new_records(LinePart, 0)
ORDER = "xytab"
"""Place, heading and slip, in the order of the covariance below."""


def mind_at(x: float, y: float, heading: float, covariance: np.ndarray) -> Records[MindRecord]:
    minds = new_records(MindRecord, 1)
    minds[0] = blank_mind(0.0325)
    place_mind(minds, 0, (x, y, heading), 0.05)
    for i, one in enumerate(ORDER):
        for j, other in enumerate(ORDER[i:], i):
            minds["pose"][one + other][0] = covariance[i, j]
    return minds


def covariance_of(minds: Records[MindRecord]) -> np.ndarray:
    found = np.zeros((5, 5))
    for i, one in enumerate(ORDER):
        for j, other in enumerate(ORDER[i:], i):
            found[i, j] = found[j, i] = minds["pose"][one + other][0]
    return found


def random_covariance(seed: int, size: float) -> np.ndarray:
    root = size * np.random.default_rng(seed).normal(size=(5, 5))
    return root @ root.T


def test_covariances_of_a_step_are_those_of_its_jacobian() -> None:
    before = random_covariance(4, 0.1)
    minds = mind_at(0.5, 0.2, 0.8, before)
    minds["pose"]["slip_ahead"], minds["pose"]["slip_left"] = 0.1, -0.2
    motion = Motion(0.02, 0.03, -0.01, 0.05, 1e-4, 2e-4, 0.3, 0.0)
    track_one(minds, 0, motion, NOTHING, NO_LINES, TABLE, NUMBERS)
    c, s, keep = math.cos(0.825), math.sin(0.825), math.exp(-0.02 / 0.5)
    ahead, left = 0.03 + 0.02 * 0.1, -0.01 - 0.02 * 0.2
    dx, dy = c * ahead - s * left, s * ahead + c * left
    f = np.eye(5)
    f[0, 2:], f[1, 2:] = (-dy, 0.02 * c, -0.02 * s), (dx, 0.02 * s, 0.02 * c)
    f[3, 3] = f[4, 4] = keep
    fresh = 2 * 0.3**2 * 0.02 / 0.5
    expected = f @ before @ f.T + np.diag([1e-4, 1e-4, 2e-4, fresh, fresh])
    assert covariance_of(minds) == pytest.approx(expected, abs=1e-12)
    belief = minds[0].belief
    assert (belief.x, belief.y, belief.heading) == pytest.approx((0.5 + dx, 0.2 + dy, 0.85))
    assert (minds[0].pose.slip_ahead, minds[0].pose.slip_left) == pytest.approx((0.1 * keep, -0.2 * keep))


def test_a_point_on_a_line_has_the_effect_of_the_kalman_equations() -> None:
    before = random_covariance(3, 0.02)
    minds = mind_at(-2.0, 1.0, 0.3, before)
    c, s = math.cos(0.3), math.sin(0.3)
    spot = np.array([1.2, 2.0 + 0.05])  # on the pitch, 5 cm beyond the touch line at y = 2, far from other lines
    z = spot - (-2.0, 1.0)
    ahead, left = c * z[0] + s * z[1], c * z[1] - s * z[0]
    part = LinePart(ahead=ahead, left=left, spread=0.1, other_ahead=ahead, other_left=left, other_spread=0.1)
    track_one(minds, 0, STILL, NOTHING, record_values(part), TABLE, NUMBERS)
    row = np.array([0.0, 1.0, z[0], 0.0, 0.0])
    gain = before @ row / (row @ before @ row + 0.1**2)
    expected = np.array([-2.0, 1.0, 0.3, 0.0, 0.0]) - 0.05 * gain
    mind = minds[0]
    found = mind.belief.x, mind.belief.y, mind.belief.heading, mind.pose.slip_ahead, mind.pose.slip_left
    assert found == pytest.approx(expected)
    assert covariance_of(minds) == pytest.approx(before - np.outer(gain, row @ before), abs=1e-12)


def test_a_point_between_two_lines_is_not_taken() -> None:
    minds = mind_at(-2.0, 1.0, 0.0, np.diag([0.09, 0.09, 0.01, 0.0, 0.0]))
    before = covariance_of(minds)
    part = LinePart(ahead=-0.7, left=-0.9, spread=0.1, other_ahead=-0.7, other_left=-0.9, other_spread=0.1)
    track_one(minds, 0, STILL, NOTHING, record_values(part), TABLE, NUMBERS)  # between goal line and penalty area
    assert covariance_of(minds) == pytest.approx(before)


def picture_from(x: float, y: float, heading: float) -> tuple[Records[SightingRecord], Records[LinePart]]:
    """One goal post and the points on lines that a player sees within 3.5 m and 60 degrees of straight ahead."""
    c, s = math.cos(heading), math.sin(heading)
    ends = np.array(FIELD.lines())
    spots = np.concatenate([start + np.linspace(0.0, 1.0, 12)[:, None] * (end - start) for start, end in ends])
    ahead, left = c * (spots[:, 0] - x) + s * (spots[:, 1] - y), c * (spots[:, 1] - y) - s * (spots[:, 0] - x)
    seen = (np.hypot(ahead, left) < 3.5) & (np.abs(np.arctan2(left, ahead)) < math.radians(60.0))
    parts = new_records(LinePart, int(seen.sum()))
    parts["ahead"] = parts["other_ahead"] = ahead[seen]
    parts["left"] = parts["other_left"] = left[seen]
    parts["spread"] = parts["other_spread"] = 0.06
    post = goal_posts_of(FIELD)[2]  # of the goal that the own team attacks, at +y
    dx, dy = float(post[0]) - x, float(post[1]) - y
    things = new_records(SightingRecord, 1)
    things[0] = (
        *(ObjectKind.THEIR_POST, math.hypot(dx, dy), math.remainder(math.atan2(dy, dx) - heading, 2 * math.pi)),
        *(0.1, math.nan, 1, False),
    )
    return things, parts


@pytest.mark.parametrize("known", [True, False])
def test_who_is_carried_to_the_other_half_finds_itself_by_one_post_and_the_lines(*, known: bool) -> None:
    pose = (0.9, -0.7, 0.5)
    minds = mind_at(-0.8, 0.7, 0.4 + math.pi, np.diag([0.0025, 0.0025, 0.0025, 0.0, 0.0]))
    if not known:
        minds[0] = blank_mind(0.0325)
    things, parts = picture_from(*pose)
    assert len(parts) > 20
    for _ in range(6):
        sure = track_one(minds, 0, STILL._replace(step=0.1), things, parts, TABLE, NUMBERS)
    belief = minds[0].belief
    assert sure
    assert (belief.x, belief.y) == pytest.approx(pose[:2], abs=0.1)
    assert math.remainder(belief.heading - pose[2], 2 * math.pi) == pytest.approx(0.0, abs=0.05)


def test_a_ball_rolls_as_far_as_its_drag_lets_it() -> None:
    minds = mind_at(0.0, 0.0, 0.0, 1e-4 * np.eye(5))
    ball = minds["ball"]
    ball["x"], ball["y"], ball["u"], ball["v"] = 1.0, 0.5, 2.0, -1.0
    minds["belief"]["seen_ago"] = -20.0  # it is watched all the time
    for _ in range(500):
        track_one(minds, 0, STILL._replace(step=0.02), NOTHING, NO_LINES, TABLE, NUMBERS)
    belief = minds[0].belief
    assert (belief.ball_x, belief.ball_y) == pytest.approx((1.0 + 2.0 / 1.06, 0.5 - 1.0 / 1.06), abs=1e-3)
    assert (belief.ball_vx, belief.ball_vy) == pytest.approx((0.0, 0.0), abs=1e-3)
