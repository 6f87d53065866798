"""Numbers of measurements and of bodies are found from recordings of a simulation in which they are known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.reality.behaviour import Behaviour
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.identify.identification import ReplayCost
from nutmeg.reality.logs.replay import MeasuredTrial
from nutmeg.reality.twin import Searched, Trial, Twin, TwinSettings
from nutmeg.search import Budget, InThisThread, LeastSquares, LeastSquaresSettings, minimise

PENDULUM = str(Path(__file__).parents[3] / "examples" / "pendulum")
ARM = """
<mujoco>
  <worldbody>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <inertial pos="0 0 0" mass="2" diaginertia="0.01 0.01 0.01"/>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0"/>
      <inertial pos="0.05 0 -0.1" mass="0.5" diaginertia="0.003 0.004 0.002"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2" contype="0" conaffinity="0"/>
      <body name="fore" pos="0 0 -0.2">
        <joint name="elbow" axis="0 1 0"/>
        <inertial pos="0 0 -0.1" mass="0.3" diaginertia="0.002 0.002 0.001"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2" contype="0" conaffinity="0"/>
      </body>
    </body>
    </body>
  </worldbody>
  <actuator>
    <position name="shoulder" joint="shoulder" kp="20" kv="1"/>
    <position name="elbow" joint="elbow" kp="12" kv="0.6"/>
  </actuator>
</mujoco>
"""


def found(twin: Twin, truth: Mapping[str, float], columns: tuple[str, ...], units: tuple[str, ...]) -> dict[str, float]:
    """What least squares finds from a recording without noise of a twin with known numbers."""
    times = 0.02 * np.arange(110)
    phases = np.arange(len(twin.table.motors))
    waves = sum(np.sin(2 * np.pi * f * times[:, None] + phases + f) / f for f in (0.6, 1.3, 2.1))
    trial = Trial(name="hidden", period=0.02, commands=0.4 * np.asarray(waves) * np.minimum(times / 0.3, 1)[:, None])
    blank = Behaviour(columns=columns, units=units, series=np.zeros((100, len(columns))))
    measured = MeasuredTrial(source="hidden", trial=trial, times=times[:100], real=blank)
    cost = ReplayCost(twin, (measured,), DistanceSettings(kind="rms", scale="none"))
    series = np.asarray(cost.behaviours(twin.space.array(truth)[None])[0].series)[0]
    real = Behaviour(columns=columns, units=units, series=series)
    measured = MeasuredTrial(source="hidden", trial=trial, times=times[:100], real=real)
    cost = cost.of((measured,))
    searcher = LeastSquares(twin.space, LeastSquaresSettings(starts=1), np.random.default_rng(0))
    result = minimise(cost.rows, searcher, InThisThread(), budget=Budget(evaluations=160), seed=0)
    return twin.space.named(result.estimate)


def test_bias_gain_delay_and_drift_of_a_channel_are_found_beside_the_stiffness() -> None:
    searched = {
        "stiffness": Searched(low=3.0, high=20.0, start=6.0, scale="log", sets=("drives.servo.stiffness",)),
        "bias": Searched(low=-0.2, high=0.2, start=0.0, sets=("channel.angles.swing.bias",)),
        "gain": Searched(low=0.8, high=1.25, start=1.0, sets=("channel.angles.*.gain",)),
        "lag": Searched(low=0.0, high=0.05, start=0.005, sets=("channel.*.delay",)),
        "drift": Searched(low=-0.03, high=0.03, start=0.0, sets=("channel.*.drift",)),
    }
    twin = Twin(TwinSettings(robot=PENDULUM, field="none", timestep=0.004), searched)
    truth = {"stiffness": 9.0, "bias": 0.06, "gain": 1.1, "lag": 0.02, "drift": 0.01}
    estimate = found(twin, truth, ("angles.swing",), ("rad",))
    for name, value in truth.items():
        width = searched[name].high - searched[name].low
        assert estimate[name] == pytest.approx(value, abs=0.01 * width), name


def test_a_channel_that_is_not_compared_is_named() -> None:
    lost = {"bias": Searched(low=-0.2, high=0.2, sets=("channel.angles.knee.bias",))}
    twin = Twin(TwinSettings(robot=PENDULUM, field="none"), lost)
    with pytest.raises(UnknownNameError, match="knee"):
        found(twin, {"bias": 0.1}, ("angles.swing",), ("rad",))


def test_the_inertia_and_a_length_of_an_mjcf_arm_are_found(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    searched = {
        "mass": Searched(low=-0.4, high=0.4, start=0.0, sets=("inertia.fore.alpha",)),
        "forward": Searched(low=-1.0, high=1.0, start=0.0, sets=("inertia.fore.t1",)),
        "length": Searched(low=-0.25, high=-0.15, start=-0.2, unit="m", sets=("offset.fore.z",)),
    }
    twin = Twin(TwinSettings(robot=str(tmp_path / "arm.xml"), field="none", timestep=0.004, held=True), searched)
    truth = {"mass": 0.2, "forward": 0.4, "length": -0.22}
    estimate = found(twin, truth, ("angles.shoulder", "angles.elbow"), ("rad", "rad"))
    for name, value in truth.items():
        width = searched[name].high - searched[name].low
        assert estimate[name] == pytest.approx(value, abs=0.02 * width), name
