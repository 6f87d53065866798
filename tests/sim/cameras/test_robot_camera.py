"""Robots' cameras on real scenes."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.model import Placement, Scene, SceneSettings, assemble
from nutmeg.model.field import Light, lighting_names, load_lights
from nutmeg.sim.cameras import Quality, RobotCamera, SceneRenderer, camera_names, camera_size, scene_cameras


@pytest.fixture(scope="module")
def scene() -> Scene:
    robots = (Placement(robot="nao-v6", name="red1", pos=(-2, 0)), Placement(robot="ers7", name="dog", pos=(-2, 1)))
    return assemble(SceneSettings(field="spl2025", robots=robots, ball_pos=(-1.0, 0.0)))


@pytest.fixture(scope="module")
def renderer(scene: Scene) -> Iterator[SceneRenderer]:
    with SceneRenderer(scene.model, (32, 24)) as renderer:
        yield renderer


def test_cameras_have_the_size_that_the_robots_data_say(scene: Scene) -> None:
    assert camera_names(scene.model) == ["red1/CameraTop", "red1/CameraBottom", "dog/camera"]
    assert camera_size(scene.model, "red1/CameraTop") == (640, 480)
    assert camera_size(scene.model, "dog/camera") == (208, 160)


def test_an_unknown_camera_is_told(scene: Scene, renderer: SceneRenderer) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'dog/camera'"):
        RobotCamera(scene.model, "dog/kamera", renderer=renderer)
    with pytest.raises(UsageError, match="between 8 and 8192"):
        RobotCamera(scene.model, "dog/camera", size=(4, 3), renderer=renderer)


def test_the_dog_sees_green_below_and_sky_above(scene: Scene, renderer: SceneRenderer) -> None:
    picture = RobotCamera(scene.model, "dog/camera", renderer=renderer).look(scene.start).astype(int)
    assert picture.shape == (160, 208, 3)
    red, green, blue = picture[150:, 100:110].mean(axis=(0, 1))
    assert green > red + 30
    assert green > blue + 30
    red, _, blue = picture[:10, 100:110].mean(axis=(0, 1))
    assert blue > red + 20


def test_a_ball_is_seen_where_a_pinhole_has_it(scene: Scene, renderer: SceneRenderer) -> None:
    camera = RobotCamera(scene.model, "red1/CameraBottom", size=(160, 120), renderer=renderer)
    away, near = scene.start.copy(), scene.start.copy()
    root = scene.model.joint("ball/root").qposadr[0]
    away[root : root + 2], near[root : root + 2] = (5, 5), (-1.5, 0.05)
    changed = np.abs(camera.look(near).astype(int) - camera.look(away)).sum(axis=2) > 60
    rows, columns = np.nonzero(changed)
    seen_from = renderer.data.cam_xmat[camera.number].reshape(3, 3)
    right, up, back = seen_from.T @ (near[root : root + 3] - renderer.data.cam_xpos[camera.number])
    focal = 60 / np.tan(camera.fov / 2)
    assert columns.mean() == pytest.approx(79.5 + focal * right / -back, abs=1.5)
    assert rows.mean() == pytest.approx(59.5 - focal * up / -back, abs=1.5)


def test_how_a_camera_turns_is_told_in_its_own_frame(scene: Scene, renderer: SceneRenderer) -> None:
    velocity = np.zeros(scene.model.nv)
    joint = scene.model.joint("red1/HeadYaw")
    velocity[joint.dofadr[0]] = 2.0
    renderer.pose(scene.start)
    number = mujoco.mj_name2id(scene.model, mujoco.mjtObj.mjOBJ_CAMERA, "red1/CameraTop")
    turning = renderer.angular_velocity(number, velocity)
    assert turning[1] == pytest.approx(2.0, abs=0.01)  # about its own y, up but for the camera's pitch of 1.2 degrees
    assert np.linalg.norm(turning) == pytest.approx(2.0)


def test_a_turning_head_leans_the_goal_and_both_ways_agree(scene: Scene, renderer: SceneRenderer) -> None:
    velocity = np.zeros(scene.model.nv)
    velocity[scene.model.joint("red1/HeadYaw").dofadr[0]] = 1.0
    settings = scene_cameras(scene)["red1/CameraTop"]
    camera = RobotCamera(
        scene.model, "red1/CameraTop", size=(160, 120), renderer=renderer, settings=settings, effects="shutter"
    )
    leaning = camera.look(scene.start, velocity).astype(int)
    assert np.abs(leaning - camera.look(scene.start, velocity, moments=15)).mean() < 2.5
    assert np.abs(leaning - camera.look(scene.start)).mean() > 2.5


def test_noise_needs_a_generator_and_repeats_with_it(scene: Scene, renderer: SceneRenderer) -> None:
    settings = scene_cameras(scene)["dog/camera"]
    with pytest.raises(UsageError, match="rng="):
        RobotCamera(scene.model, "dog/camera", renderer=renderer, settings=settings)
    first, second = (
        RobotCamera(scene.model, "dog/camera", renderer=renderer, settings=settings, rng=np.random.default_rng(5)).look(
            scene.start
        )
        for _ in range(2)
    )
    assert np.array_equal(first, second)


def test_each_of_several_lights_casts_its_own_shadow() -> None:
    robots = (Placement(robot="ers7", name="dog"), Placement(robot="nao-v6", name="red1", pos=(1.2, 0)))
    scene = assemble(SceneSettings(field="floor", robots=robots, ball="none"))
    left, right = (Light(pos=(0.6, y, 1.5), direction=(0.6, -y, -1.5), colour=(0.4, 0.4, 0.4)) for y in (1.2, -1.2))
    dark = [_shadows(scene, lights) for lights in ([left], [right], [left, right])]
    assert dark[0][:, 64:].sum() > 3 * dark[0][:, :64].sum()  # a light from the left: a shadow on the right
    assert dark[1][:, :64].sum() > 3 * dark[1][:, 64:].sum()
    alone = (dark[0] | dark[1]).sum()
    assert (dark[2] & (dark[0] | dark[1])).sum() > 0.8 * alone  # both lights: both shadows


def _shadows(scene: Scene, lights: list[Light]) -> np.ndarray:
    """Where shadows make the floor darker, (96, 128)."""
    pictures = []
    for quality in (Quality(), Quality(shadows=True)):
        with SceneRenderer(scene.model, (128, 96), quality=quality, lights=lights) as renderer:
            camera = RobotCamera(scene.model, "dog/camera", size=(128, 96), renderer=renderer)
            pictures.append(camera.look(scene.start).astype(int).sum(axis=2))
    floor = np.zeros((96, 128), bool)
    floor[52:] = True
    return floor & (pictures[0] - pictures[1] > 15)


def test_lightings_come_by_name_or_file() -> None:
    assert {"hall", "window", "evening"} <= set(lighting_names())
    assert sum(light.shadow for light in load_lights("hall").light) == 4
    with pytest.raises(UnknownNameError, match="lighting"):
        load_lights("hal")
