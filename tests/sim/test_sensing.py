"""Sensors against what they should read: angles, accelerations, distances, forces; noise, steps, rate, latency."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.model import Placement, SceneSettings, assemble, robot_names
from nutmeg.model.scene import ObjectSettings
from nutmeg.sim import Worlds
from nutmeg.sim.sensing import RAYS_PER_SONAR_RING, SONAR_RINGS, Sensing, cone_rays

G = 9.81
ROBOT = """
format = 1
name = "probe"
source = "test"
licence = "CC0"
base = "{base}"
[[body]]
name = "box"
mass = 2.0
[[body]]
name = "pointer"
parent = "box"
mass = 0.1
inertia = [0.001, 0.001, 0.001, 0, 0, 0]
joint = {{ name = "turn", axis = [0, 0, 1] }}
[[shape]]
body = "box"
type = "box"
size = [0.2, 0.2, 0.2]
role = "both"
[drives.d]
joints = ["turn"]
{sensors}
"""


def sensor(kind: str, **more: object) -> str:
    values = {"name": kind, "type": kind, **({} if kind == "encoder" else {"body": "box"}), **more}
    return "[[sensor]]\n" + "\n".join(f"{key} = {value!r}" for key, value in values.items()) + "\n"


def probe(
    folder: Path,
    *sensors: str,
    base: str = "fixed",
    height: float = 1.0,
    field: str = "floor",
    wall: str = "",
    count: int = 1,
) -> Worlds:
    """A box with sensors, bolted at a height or free, before a wall."""
    (folder / "robot.toml").write_text(ROBOT.format(base=base, sensors="".join(sensors)))
    objects: tuple[ObjectSettings, ...] = ()
    if wall:
        (folder / "wall.xml").write_text(f"<mujoco><worldbody>{wall}</worldbody></mujoco>")
        objects = (ObjectSettings(name="wall", file=folder / "wall.xml"),)
    robots = (Placement(robot=str(folder), name="p", height=height),)
    return Worlds(assemble(SceneSettings(field=field, ball="none", robots=robots, objects=objects)), count)


def plate(x: float, y: tuple[float, float] = (-3, 3), turn: float = 0.0) -> str:
    """A thin upright plate whose near face is at x."""
    middle, half = (y[0] + y[1]) / 2, (y[1] - y[0]) / 2
    return f'<geom type="box" size=".01 {half} 3" pos="{x + 0.01} {middle} 0" euler="0 0 {math.degrees(turn)}"/>'


def test_an_encoder_reads_the_angle_in_steps(tmp_path: Path) -> None:
    worlds = probe(tmp_path, sensor("encoder", resolution=[0.01]), count=50)
    angles = np.random.default_rng(1).uniform(-1, 1, (50, 1))
    worlds.robot("p").angles[:] = angles
    senses = Sensing(worlds, "p")
    read = senses.read("encoder")
    assert np.abs(read - angles).max() <= 0.005 + 1e-12
    assert read / 0.01 == pytest.approx(np.round(read / 0.01), abs=1e-9)
    assert len(np.unique(read)) > 30
    assert senses.labels("encoder") == ("turn",)


def test_an_imu_at_rest_reads_gravity_in_its_own_frame(tmp_path: Path) -> None:
    tilted = sensor("imu", name="tilted", euler=[0.0, 0.5, 0.0])
    worlds = probe(tmp_path, sensor("imu"), tilted)
    worlds.advance(0.02)
    senses = Sensing(worlds, "p")
    assert senses.read("imu")[0] == pytest.approx([0, 0, 0, 0, 0, G], abs=1e-9)
    assert senses.read("tilted")[0, 3:] == pytest.approx([-G * math.sin(0.5), 0, G * math.cos(0.5)], abs=1e-4)
    assert senses.labels("imu")[3:] == ("accel_x", "accel_y", "accel_z")


def test_an_imu_is_right_before_the_first_step(tmp_path: Path) -> None:
    assert Sensing(probe(tmp_path, sensor("imu")), "p").read("imu")[0, 5] == pytest.approx(G)


def test_an_imu_in_free_fall_feels_nothing_and_a_spinning_one_its_rate(tmp_path: Path) -> None:
    turned = sensor("imu", name="turned", euler=[0.0, 0.0, math.pi / 2])
    worlds = probe(tmp_path, sensor("imu"), turned, base="free", field="none")
    worlds.robot("p").velocity[0, 3:] = (0.0, 0.0, 2.0)
    senses = Sensing(worlds, "p")
    assert senses.read("imu")[0] == pytest.approx([0, 0, 2, 0, 0, 0], abs=1e-6)
    worlds.robot("p").velocity[0, 3:] = (1.0, 0.0, 0.0)
    worlds.refresh()
    senses.sample(0.0)
    assert senses.read("imu")[0, :3] == pytest.approx([1, 0, 0], abs=1e-9)
    assert senses.read("turned")[0, :3] == pytest.approx([0, -1, 0], abs=1e-9)


def test_an_imu_off_the_axis_feels_the_centripetal_acceleration(tmp_path: Path) -> None:
    worlds = probe(tmp_path, sensor("imu", pos=[0.1, 0.0, 0.0]), base="free", field="none")
    worlds.robot("p").velocity[0, 3:] = (0.0, 0.0, 5.0)
    assert Sensing(worlds, "p").read("imu")[0, 3:] == pytest.approx([-25 * 0.1, 0, 0], abs=0.01)


def test_an_imu_saturates_at_its_limits(tmp_path: Path) -> None:
    worlds = probe(tmp_path, sensor("imu", limits=[1.5, 5.0]), base="free", field="none")
    worlds.robot("p").velocity[0, 3:] = (0.0, -3.0, 1.0)
    assert Sensing(worlds, "p").read("imu")[0, :3] == pytest.approx([0, -1.5, 1.0], abs=1e-6)
    still = probe(tmp_path, sensor("imu", limits=[1.5, 5.0]))
    assert Sensing(still, "p").read("imu")[0, 5] == pytest.approx(5.0)


def test_noise_has_the_declared_spread_and_no_offset(tmp_path: Path) -> None:
    worlds = probe(tmp_path, sensor("encoder", noise=[0.02]), sensor("imu", noise=[0.01, 0.3]), count=3000)
    senses = Sensing(worlds, "p", np.random.default_rng(7))
    senses.sample(0.0)
    angle, gyro, accel = senses.read("encoder"), senses.read("imu")[:, :3], senses.read("imu")[:, 3:] - [0, 0, G]
    for values, sigma in ((angle, 0.02), (gyro, 0.01), (accel, 0.3)):
        assert values.std() == pytest.approx(sigma, rel=0.05)
        assert abs(values.mean()) < 4 * sigma / math.sqrt(values.size)
    quiet = Sensing(worlds, "p")
    assert quiet.read("encoder").std() == 0


def test_noise_repeats_with_its_seed(tmp_path: Path) -> None:
    worlds = probe(tmp_path, sensor("encoder", noise=[0.02]))
    one, two, other = (Sensing(worlds, "p", np.random.default_rng(s)).read("encoder") for s in (1, 1, 2))
    assert one == two
    assert one != other


def readings(worlds: Worlds, senses: Sensing, count: int) -> list[int]:
    """What an encoder says when its joint is at 0, 1, 2, ... at consecutive samples."""
    said = []
    for k in range(count):
        worlds.robot("p").angles[:] = k
        senses.sample(k * senses.period)
        said.append(round(float(senses.read("encoder")[0, 0])))
    return said


@pytest.mark.parametrize(("latency", "late"), [(0.0, 0), (0.02, 1), (0.05, 3), (0.06, 3)])
def test_a_measurement_comes_out_after_its_latency(tmp_path: Path, latency: float, late: int) -> None:
    worlds = probe(tmp_path, sensor("encoder", latency=latency))
    assert readings(worlds, Sensing(worlds, "p"), 8) == [max(0, k - late) for k in range(8)]


def test_a_sensor_holds_its_value_between_its_turns(tmp_path: Path) -> None:
    worlds = probe(tmp_path, sensor("encoder", rate=25.0))
    assert readings(worlds, Sensing(worlds, "p"), 7) == [0, 0, 2, 2, 4, 4, 6]
    assert readings(worlds, Sensing(worlds, "p", period=0.01), 9) == [0, 0, 0, 0, 4, 4, 4, 4, 8]


def test_rate_and_latency_add_up(tmp_path: Path) -> None:
    worlds = probe(tmp_path, sensor("encoder", rate=25.0, latency=0.02))
    assert readings(worlds, Sensing(worlds, "p"), 8) == [0, 0, 0, 2, 2, 4, 4, 6]


def test_a_fast_sensor_measures_at_every_sample(tmp_path: Path) -> None:
    worlds = probe(tmp_path, sensor("encoder", rate=200.0))
    assert readings(worlds, Sensing(worlds, "p"), 4) == [0, 1, 2, 3]


def test_a_rate_that_does_not_divide_the_sampling_is_kept_on_average(tmp_path: Path) -> None:
    worlds = probe(tmp_path, sensor("encoder", rate=20.0))
    assert readings(worlds, Sensing(worlds, "p"), 11) == [0, 0, 0, 3, 3, 5, 5, 5, 8, 8, 10]
    third = probe(tmp_path, sensor("encoder", rate=33.3333))
    said = readings(third, Sensing(third, "p", period=0.01), 3001)
    assert said == [k - k % 3 for k in range(3001)]


def _folder(parent: Path) -> Path:
    (parent / "other").mkdir()
    return parent / "other"


def test_a_reset_forgets_old_measurements(tmp_path: Path) -> None:
    worlds = probe(tmp_path, sensor("encoder", latency=0.06), count=2)
    senses = Sensing(worlds, "p")
    readings(worlds, senses, 6)
    worlds.reset([1])
    senses.reset([1])
    assert senses.read("encoder")[:, 0].tolist() == [2.0, 0.0]
    senses.sample(0.0)
    assert senses.read("encoder")[:, 0].tolist() == [3.0, 0.0]


SONAR = {"pos": [0.1, 0.0, 0.0], "cone": 1.0, "range": [0.25, 2.0]}


def test_a_sonar_measures_the_distance_to_a_wall_straight_ahead(tmp_path: Path) -> None:
    worlds = probe(tmp_path, sensor("sonar", **SONAR), wall=plate(1.3))
    assert Sensing(worlds, "p").read("sonar")[0, 0] == pytest.approx(1.2, abs=1e-6)


@pytest.mark.parametrize(("distance", "said"), [(0.1, 0.25), (0.3, 0.3), (1.9, 1.9), (2.5, 2.0)])
def test_a_sonar_clips_to_its_range(tmp_path: Path, distance: float, said: float) -> None:
    worlds = probe(tmp_path, sensor("sonar", **SONAR), wall=plate(0.1 + distance))
    assert Sensing(worlds, "p").read("sonar")[0, 0] == pytest.approx(said, abs=1e-6)


def test_without_an_echo_a_sonar_says_its_largest_range(tmp_path: Path) -> None:
    assert Sensing(probe(tmp_path, sensor("sonar", **SONAR)), "p").read("sonar")[0, 0] == 2.0


def test_a_sonar_sees_what_is_inside_its_cone_and_nothing_outside(tmp_path: Path) -> None:
    edge = math.tan(0.5)
    inside = probe(tmp_path, sensor("sonar", **SONAR), wall=plate(1.1, (0.8 * edge, 3)))
    seen = float(Sensing(inside, "p").read("sonar")[0, 0])
    assert 1 / math.cos(0.8 * 0.5) - 0.02 < seen <= 1 / math.cos(0.5) + 1e-9
    outside = probe(_folder(tmp_path), sensor("sonar", **SONAR), wall=plate(1.1, (1.03 * edge, 3)))
    assert Sensing(outside, "p").read("sonar")[0, 0] == 2.0


def test_a_surface_that_turns_away_is_silent(tmp_path: Path) -> None:
    narrow = {**SONAR, "cone": 0.1}
    facing = probe(tmp_path, sensor("sonar", **narrow), wall=plate(1.1, turn=0.6))
    assert 0.9 < Sensing(facing, "p").read("sonar")[0, 0] < 1.1
    away = probe(_folder(tmp_path), sensor("sonar", **narrow), wall=plate(1.1, turn=0.9))
    assert Sensing(away, "p").read("sonar")[0, 0] == 2.0


def test_a_floor_under_a_grazing_beam_is_silent_and_one_below_is_not(tmp_path: Path) -> None:
    level = probe(tmp_path, sensor("sonar", **SONAR), height=0.3)
    assert Sensing(level, "p").read("sonar")[0, 0] == 2.0
    down = sensor("sonar", **{**SONAR, "euler": [0.0, math.pi / 3, 0.0]})
    looking = probe(_folder(tmp_path), down, height=0.6)
    assert 0.6 - 1e-6 <= Sensing(looking, "p").read("sonar")[0, 0] <= 0.6 / math.sin(math.pi / 3)


def test_the_rays_of_a_sonar_fill_its_cone() -> None:
    rays = cone_rays(0.8)
    assert rays.shape == (1 + SONAR_RINGS * RAYS_PER_SONAR_RING, 3)
    assert np.linalg.norm(rays, axis=1) == pytest.approx(1.0)
    assert np.arccos(rays[:, 0]).max() == pytest.approx(0.4)
    assert rays.mean(axis=0)[1:] == pytest.approx([0, 0], abs=1e-12)


def test_a_distance_sensor_measures_along_one_ray_whatever_the_surface_faces(tmp_path: Path) -> None:
    ray = sensor("distance", pos=[0.1, 0.0, 0.0], range=[0.05, 3.0])
    slanted = probe(tmp_path, ray, wall=plate(1.1, turn=1.0))
    assert 0.9 < Sensing(slanted, "p").read("distance")[0, 0] < 1.1
    beside = probe(_folder(tmp_path), ray, wall=plate(1.1, (0.02, 3)))
    assert Sensing(beside, "p").read("distance")[0, 0] == 3.0


def test_a_range_finder_follows_its_robot(tmp_path: Path) -> None:
    worlds = probe(
        tmp_path, sensor("distance", pos=[0.1, 0.0, 0.0]), base="free", field="none", wall=plate(2.0), count=2
    )
    worlds.robot("p").pose[1, 0] = 0.5
    worlds.refresh()
    senses = Sensing(worlds, "p")
    assert senses.read("distance")[:, 0] == pytest.approx([1.9, 1.4], abs=1e-6)


def test_force_and_switch_feel_the_weight_that_rests_on_them(tmp_path: Path) -> None:
    under = {"pos": [0.0, 0.0, -0.1], "size": [0.25, 0.25, 0.05]}
    half = {"pos": [0.06, 0.0, -0.1], "size": [0.12, 0.25, 0.05]}
    above = {"pos": [0.0, 0.0, 0.1], "size": [0.25, 0.25, 0.05]}
    sensors = (
        sensor("force", **under),
        sensor("force", name="front", **half),
        sensor("switch", name="on", threshold=10.0, **under),
        sensor("switch", name="off", threshold=30.0, **under),
        sensor("switch", name="top", **above),
    )
    worlds = probe(tmp_path, *sensors, base="free", height=0.0)
    worlds.advance(2.0)
    senses = Sensing(worlds, "p")
    read = {name: float(senses.read(name)[0, 0]) for name in senses.names}
    assert read["force"] == pytest.approx(2.1 * G, rel=0.01)
    assert read["front"] == pytest.approx(2.1 * G / 2, rel=0.05)
    assert (read["on"], read["off"], read["top"]) == (1.0, 0.0, 0.0)


def test_a_misspelt_sensor_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown sensor of p 'encodr'\. Did you mean 'encoder'"):
        Sensing(probe(tmp_path, sensor("encoder")), "p").read("encodr")


@pytest.mark.parametrize("name", robot_names())
def test_every_sensor_of_every_robot_can_be_read_from_the_start(name: str) -> None:
    robots = (Placement(robot=name, name="r"),)
    worlds = Worlds(assemble(SceneSettings(ball="none", robots=robots, visuals=False)), 2)
    senses = Sensing(worlds, "r", np.random.default_rng(0))
    for _ in range(3):
        for sensed in senses.names:
            read = senses.read(sensed)
            assert read.shape == (2, len(senses.labels(sensed)))
            assert np.isfinite(read).all()
        worlds.advance(0.02)
        senses.sample(0.0)
    cameras = {s.name for s in senses.robot.table.sensors if s.type == "camera"}
    assert not cameras & set(senses.names)
