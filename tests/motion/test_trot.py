"""The trot of AIBOs: legs forwards and backwards, closed and mirrored paths, and robots that walk."""

from __future__ import annotations

from functools import lru_cache

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import ModelError, UnknownNameError, UsageError
from nutmeg.base.settings import bounds_of
from nutmeg.learning.courses import yaw_of
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.model.scene import Scene
from nutmeg.motion.legs.aibo import AiboLegs
from nutmeg.motion.trot import TROT_PARAMETERS, Trot, TrotSettings, TrotWalker
from nutmeg.sim import Worlds

AIBOS = ("ers7", "ers210")
PERIOD = 0.01
FAST = TrotSettings(frequency=2.0, squareness=0.4, height_fore=0.09, height_hind=0.1)


@lru_cache
def scene_of(robot: str) -> Scene:
    placed = Placement(robot=robot, name="aibo")
    return assemble(SceneSettings(field="floor", ball="none", robots=(placed,), visuals=False))


@lru_cache
def legs_of(robot: str = "ers7") -> AiboLegs:
    return AiboLegs(scene_of(robot).robot("aibo"))


def trotting(settings: TrotSettings, wanted: tuple[float, float, float], seconds: float = 6.0) -> Trot:
    """A robot whose steps have reached their size, at the start of a cycle."""
    trot = Trot(legs_of(), [settings], period=PERIOD)
    for _ in range(round(seconds / PERIOD)):
        trot.advance(wanted)
    trot.phase[:] = 0.0
    return trot


def cycle(trot: Trot, wanted: tuple[float, float, float], count: int) -> np.ndarray:
    """Places of the paws over so many control cycles, (count, 4, 3)."""
    rows = []
    for _ in range(count):
        rows.append(trot.paws()[0])
        trot.advance(wanted)
    return np.array(rows)


@pytest.mark.parametrize("robot", AIBOS)
def test_inverse_kinematics_undo_forward_kinematics(robot: str) -> None:
    legs = legs_of(robot)
    middle = np.array([-0.4, 0.3, 1.5])
    angles = middle + np.random.default_rng(1).uniform(-0.4, 0.4, (100, 4, 3))
    assert legs.inverse(legs.forward(angles)) == pytest.approx(angles, abs=1e-9)


@pytest.mark.parametrize("robot", AIBOS)
def test_paws_are_where_the_simulated_robot_has_them(robot: str) -> None:
    scene = scene_of(robot)
    legs, table, data = legs_of(robot), scene.robot("aibo"), mujoco.MjData(scene.model)
    angles = np.array([[-0.5, 0.3, 1.4], [-0.6, 0.1, 1.8], [0.1, 0.5, 1.0], [-0.2, 0.2, 1.2]])
    data.qpos[table.root : table.root + 7] = [0, 0, 1, 1, 0, 0, 0]
    data.qpos[table.angles[table.motor_joints[legs.columns]]] = angles
    mujoco.mj_kinematics(scene.model, data)
    found = legs.forward(angles)
    for leg, name in enumerate(("LFrShank", "LBkShank", "RFrShank", "RBkShank")):
        body = scene.model.body(f"aibo/{name}").id
        (geom,) = np.flatnonzero((scene.model.geom_bodyid == body) & (scene.model.geom_contype > 0))
        reach = scene.model.geom_size[geom, 1] * data.geom_xmat[geom].reshape(3, 3)[:, 2]
        ends = [data.geom_xpos[geom] + reach, data.geom_xpos[geom] - reach]
        assert min(np.linalg.norm(end - [0, 0, 1] - found[leg]) for end in ends) < 1e-5


def test_a_place_out_of_reach_gives_angles_within_the_limits() -> None:
    legs = legs_of()
    angles = legs.inverse(np.random.default_rng(2).uniform(-0.5, 0.5, (200, 4, 3)))
    assert np.isfinite(angles).all()
    assert (angles >= legs.limits[..., 0]).all()
    assert (angles <= legs.limits[..., 1]).all()


def test_a_robot_without_such_legs_is_told_what_is_missing() -> None:
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(Placement(robot="nao-v6", name="n"),)))
    with pytest.raises(ModelError, match="has no joint 'LFr:rotor'"):
        AiboLegs(scene.robot("n"))


@pytest.mark.parametrize("wanted", [(0.1, 0.0, 0.0), (0.0, 0.08, 0.0), (0.05, -0.02, 0.5)])
def test_a_foot_path_is_closed_and_pushes_straight_back(wanted: tuple[float, float, float]) -> None:
    trot = trotting(FAST, wanted)
    steps = round(1 / FAST.frequency / PERIOD)
    paws = cycle(trot, wanted, 2 * steps)
    assert paws[:steps] == pytest.approx(paws[steps:], abs=1e-9)
    pushing = np.diff(paws[: round(FAST.duty * steps) - 1], axis=0)[:, 0, :2] / PERIOD  # the left fore paw begins
    x, y = trot.home[0, 0, :2]
    ground = -np.array([wanted[0] - wanted[2] * y, wanted[1] + wanted[2] * x])
    assert pushing == pytest.approx(np.broadcast_to(ground, pushing.shape), abs=1e-6)


def test_diagonal_paws_move_together_and_the_other_pair_half_a_cycle_later() -> None:
    wanted = (0.1, 0.0, 0.0)
    trot = trotting(FAST, wanted)
    steps = round(1 / FAST.frequency / PERIOD)
    moved = cycle(trot, wanted, steps) - trot.home[0]
    assert moved[:, 0, 0] == pytest.approx(moved[:, 3, 0], abs=1e-9)
    assert moved[:, 0, 0] == pytest.approx(np.roll(moved[:, 2, 0], steps // 2), abs=1e-9)
    lifted = moved[..., 2].max(axis=0)
    assert lifted[0] == pytest.approx(FAST.lift_fore, abs=2e-3)


def test_a_mirrored_command_gives_a_mirrored_gait() -> None:
    wanted, mirrored = (0.08, 0.03, 0.4), (0.08, -0.03, -0.4)
    one, other = trotting(FAST, wanted), trotting(FAST, mirrored)
    other.swing[:] = 1  # the other pair begins
    for _ in range(60):
        one.advance(wanted)
        other.advance(mirrored)
        assert other.angles()[0] == pytest.approx(one.angles()[0][[2, 3, 0, 1]], abs=1e-9)


def test_a_robot_that_is_told_to_stand_stands() -> None:
    trot = trotting(FAST, (0.1, 0.0, 0.0))
    for _ in range(200):
        trot.advance((0.0, 0.0, 0.0))
    assert np.array_equal(trot.paws(), trot.home)
    assert trot.activity[0] == 0


def test_paths_go_from_an_ellipse_to_a_rectangle() -> None:
    round_, square = (trotting(TrotSettings(squareness=s, duty=0.5, frequency=1.0), (0.05, 0, 0)) for s in (0.0, 1.0))
    paws = {name: cycle(trot, (0.05, 0, 0), 100) - trot.home[0] for name, trot in (("o", round_), ("r", square))}
    swing = paws["o"][51:100, 0]
    length = round_.step[0, 0] / 2
    on_ellipse = (swing[:, 0] / length) ** 2 + (swing[:, 2] / TrotSettings().lift_fore) ** 2
    assert on_ellipse == pytest.approx(np.ones(len(swing)), abs=1e-6)
    high = paws["r"][63:88, 0]
    assert high[:, 2] == pytest.approx(np.full(len(high), TrotSettings().lift_fore), abs=1e-9)


def test_a_row_of_a_batch_is_what_one_robot_alone_does() -> None:
    settings = [FAST, TrotSettings(), TrotSettings(step_x=0.1, frequency=3.0), TrotSettings(duty=0.7), FAST]
    wanted = np.random.default_rng(3).uniform(-0.2, 0.2, (5, 3))
    many = Trot(legs_of(), settings, period=PERIOD)
    alone = [Trot(legs_of(), [one], period=PERIOD) for one in settings]
    for _ in range(50):
        many.advance(wanted)
        for trot, one in zip(alone, wanted, strict=True):
            trot.advance(one)
    assert np.array_equal(many.angles(), np.concatenate([trot.angles() for trot in alone]))


@pytest.mark.parametrize("robot", AIBOS)
def test_an_aibo_walks_ahead_sideways_and_turns_without_falling(robot: str) -> None:
    worlds = Worlds(scene_of(robot), 3)
    walker = TrotWalker(worlds, "aibo", [TrotSettings()])
    walker.wanted[:] = np.diag([1.0, 1.0, 1.0]) * walker.walk.top_speed()
    seconds, turned, last = 3.0, np.zeros(3), np.zeros(3)
    for _ in range(round(seconds / 0.02)):
        walker.sample(0.0)
        worlds.step(round(0.02 / worlds.scene.timestep))
        yaw = yaw_of(worlds.robot("aibo").pose)
        turned += (yaw - last + np.pi) % (2 * np.pi) - np.pi
        last = yaw
    pose = worlds.robot("aibo").pose
    assert (worlds.robot("aibo").uprightness() > 0.95).all()
    assert (pose[:, 2] > 0.07).all()
    assert pose[0, 0] > 0.12 * seconds
    assert pose[1, 1] > 0.05 * seconds
    assert turned[2] > 0.6 * seconds


def test_settings_outside_their_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"duty is 0.9; allowed is 0.45..0.8"):
        TrotSettings(duty=0.9)
    with pytest.raises(UnknownNameError, match="frequency"):
        bounds_of(TrotSettings, "frequencies")
    with pytest.raises(UsageError, match="2 sets of trot parameters for 3 worlds"):
        TrotWalker(Worlds(scene_of("ers7"), 3), "aibo", [FAST, FAST])
    with pytest.raises(UsageError, match="not a number"):
        Trot(legs_of(), [FAST]).advance((float("nan"), 0.0, 0.0))
    assert all(getattr(TrotSettings(), name) in bounds_of(TrotSettings, name) for name in TROT_PARAMETERS)
