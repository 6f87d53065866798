"""Walking on a GPU: the same rewards as on the processor. Runs where mujoco_warp is installed, on its processor too."""

from __future__ import annotations

import dataclasses
import importlib.util

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.learning.courses import Bout, Target, Trajectory, run_bouts
from nutmeg.learning.tasks import WalkTrials, task_settings
from nutmeg.motion.walk.files import Facing, read_walk

MISSING = importlib.util.find_spec("mujoco_warp") is None


def bouts() -> list[Bout]:
    walk = read_walk("initial")
    ways: dict[Facing, tuple[float, float]] = {"turn": (1.0, 0.5), "hold": (0.0, -20.0)}
    return [
        Bout(
            dataclasses.replace(walk, facing=facing),
            Trajectory(name=facing, target=(Target(to=to, seconds=2.0), Target(stop=True, seconds=0.5))),
            np.random.default_rng(3),
        )
        for facing, to in ways.items()
    ]


@pytest.mark.slow
@pytest.mark.skipif(MISSING, reason="mujoco_warp is not installed (pip install 'nutmeg-sim[gpu]')")
def test_a_gpu_gives_the_rewards_of_the_processor() -> None:
    from nutmeg.learning.gpu.bouts import run_bouts_on_gpu

    here, there = run_bouts("nao-spark", bouts()), run_bouts_on_gpu("nao-spark", bouts())
    np.testing.assert_allclose(there.gained, here.gained, atol=0.03)
    np.testing.assert_allclose(there.lost, here.lost, atol=0.03)
    np.testing.assert_array_equal(there.seconds, here.seconds)
    assert not there.fell.any()


@pytest.mark.skipif(not MISSING, reason="mujoco_warp is installed")
def test_a_missing_mujoco_warp_is_an_error_that_says_what_to_install() -> None:
    from nutmeg.learning.gpu.bouts import run_bouts_on_gpu

    with pytest.raises(UsageError, match=r"nutmeg-sim\[gpu\]"):
        run_bouts_on_gpu("nao-spark", bouts())


def test_a_gpu_refuses_a_task_without_a_course() -> None:
    with pytest.raises(UsageError, match="has no course"):
        WalkTrials(
            robot="nao-spark",
            task=task_settings("drive-ball"),
            start=read_walk("initial"),
            names=("z_torso",),
            device="gpu",
        )
