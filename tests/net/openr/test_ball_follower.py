"""The ball in the pictures of an AIBO, and an AIBO that goes to it."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest

from nutmeg.base.arrays import Bytes
from nutmeg.base.errors import UsageError
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.model.scene import Scene
from nutmeg.net.openr.ball_follower import LEG_JOINTS, BallFinder, BallFollower, Neck
from nutmeg.net.openr.client import CameraPicture, Sensors
from nutmeg.net.openr.models import model_named
from nutmeg.net.openr.packets import SensorFrames, ycrcb
from nutmeg.sim.cameras import RobotCamera, scene_cameras

HEAD = {"ers7": (0.0675, 0.2), "ers210": (0.075, 0.2)}


@lru_cache
def scene_of(robot: str) -> Scene:
    placed = Placement(robot=robot, name="aibo", pos=(-1.0, 0.0))
    return assemble(SceneSettings(field="spl2011", ball="spl-orange", robots=(placed,)))


@lru_cache
def camera_of(robot: str) -> RobotCamera:
    scene = scene_of(robot)
    settings = scene_cameras(scene)["aibo/camera"]
    return RobotCamera(scene.model, "aibo/camera", settings=settings, rng=np.random.default_rng(0))


def picture(robot: str, ball: tuple[float, float], heading: float = 0.0) -> Bytes:
    """What the robot sees, with lens and noise: a ball ahead and to the left of it; planes Y, Cr, Cb."""
    scene = scene_of(robot)
    qpos = scene.start.copy()
    table = scene.robot("aibo")
    cos, sin = math.cos(heading), math.sin(heading)
    qpos[table.root + 3 : table.root + 7] = [math.cos(heading / 2), 0, 0, math.sin(heading / 2)]
    address = int(scene.model.jnt_qposadr[scene.model.body("ball").jntadr[0]])
    qpos[address : address + 2] = [-1.0 + cos * ball[0] - sin * ball[1], sin * ball[0] + cos * ball[1]]
    return ycrcb(camera_of(robot).look(qpos, np.zeros(scene.model.nv)))


@pytest.mark.parametrize("robot", ["ers7", "ers210"])
@pytest.mark.parametrize("ball", [(0.8, 0.0), (1.2, 0.3), (1.2, -0.3), (2.0, 0.0), (3.0, 0.4)])
def test_the_ball_is_found_where_it_is(robot: str, ball: tuple[float, float]) -> None:
    seen = BallFinder(model_named(robot)).find(picture(robot, ball))
    assert seen is not None
    ahead = ball[0] - HEAD[robot][0] - 0.08  # from the lens, about
    assert seen.left == pytest.approx(math.atan2(ball[1], ahead), abs=0.04)
    assert seen.distance == pytest.approx(math.hypot(ahead, ball[1]), rel=0.35)


def test_neither_goals_nor_lines_are_a_ball() -> None:
    finder = BallFinder(model_named("ers7"))
    for heading in np.linspace(-math.pi, math.pi, 9):
        assert finder.find(picture("ers7", (-20.0, 20.0), float(heading))) is None


def test_a_ball_to_the_left_is_the_mirror_image_of_one_to_the_right() -> None:
    planes = picture("ers7", (1.2, 0.3))
    finder = BallFinder(model_named("ers7"))
    seen, mirrored = finder.find(planes), finder.find(planes[:, :, ::-1])
    assert seen is not None
    assert mirrored is not None
    assert mirrored.left == pytest.approx(-seen.left, abs=1e-9)
    assert mirrored.pixels == seen.pixels


def test_noise_alone_is_no_ball() -> None:
    finder = BallFinder(model_named("ers7"))
    planes = np.full((3, 160, 208), 100, dtype=np.uint8)
    planes[1, ::5, ::5], planes[2] = 200, 80  # orange dots without neighbours
    assert finder.find(planes) is None
    with pytest.raises(UsageError, match="shape"):
        finder.find(planes[:, :100])


def sensors_at(time: float, pan: float = 0.0) -> Sensors:
    """A sensor vector with the head at rest."""
    values = np.zeros((3, 4), dtype=[("value", np.int32)])
    values["value"][1] = round(pan * 1e6)
    frames = SensorFrames(frame=0, values=values, sync_key=0, optional=b"")
    rows = {"NECK:tilt": (0, 1e-6), "NECK:pan": (1, 1e-6), "NECK:nod": (2, 1e-6)}
    return Sensors(time=time, sequence=0, frames=frames, rows=rows)


def decided(follower: BallFollower, planes: Bytes, seconds: float = 0.5) -> dict[str, list[float]]:
    """What a follower does after it has seen the same picture for a while."""
    for k in range(round(seconds / 0.032)):
        follower.see(CameraPicture(time=k * 0.032, sequence=k, planes=planes))
        told = follower.decide(sensors_at(k * 0.032))
    return told


def test_a_follower_searches_by_turning_and_goes_to_the_ball_that_it_sees() -> None:
    follower = BallFollower(model_named("ers7"))
    told = decided(follower, picture("ers7", (-20.0, 20.0)))
    assert set(LEG_JOINTS) < set(told)
    assert all(len(values) == 4 for values in told.values())
    assert follower.trot.velocity()[0] == pytest.approx([0.0, 0.0, 0.8], abs=0.1)
    follower = BallFollower(model_named("ers7"))
    told = decided(follower, picture("ers7", (1.2, 0.3)))
    assert 0.1 < follower.bearing < 0.35
    assert told["NECK:pan"][0] == pytest.approx(follower.bearing)
    assert follower.trot.velocity()[0, 0] > 0.05
    assert follower.trot.velocity()[0, 2] > 0.2
    assert not follower.arrived


def test_a_neck_of_two_joints_looks_down_with_the_second_when_the_first_cannot() -> None:
    limits = {"NECK:nod": [-0.26, 0.78], "NECK:tilt": [-1.3, 0.0], "NECK:pan": [-1.5, 1.5]}
    assert Neck(limits).angles(0.4, 0.5) == {"NECK:pan": 0.4, "NECK:nod": 0.5, "NECK:tilt": 0.0}
    low = Neck(limits).angles(2.0, -1.0)
    assert low == {"NECK:pan": 1.5, "NECK:nod": -0.26, "NECK:tilt": pytest.approx(-0.74)}


def test_a_walk_on_two_legs_is_refused() -> None:
    with pytest.raises(UsageError, match="is for the robot 'nao-spark'"):
        BallFollower(model_named("ers7"), "initial")
