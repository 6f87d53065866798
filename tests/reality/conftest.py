"""Small systems with known parameters: a pendulum for Back-to-Reality, and logs of a servo bench."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.base.arrays import Bools, Floats
from nutmeg.reality.btr.controllers import ControllerSettings, SinusoidControllers
from nutmeg.reality.btr.settings import BtrSettings, StopSettings, TransferSettings
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.observation import FitnessSettings
from nutmeg.reality.realities import RealitySettings
from nutmeg.reality.twin import Searched, Trial, Twin, TwinSettings
from nutmeg.search import GeneticSettings, SearchSettings

PENDULUM = Path(__file__).parents[2] / "examples" / "pendulum"
GAIT = """
[gaits.sway]
frequency = 1.5
[gaits.sway.joints]
swing = { theta = 0.3, a = 0.4, psi = 0.0 }
"""
HIDDEN = {"damping": 0.12, "stiffness": 6.0}


@pytest.fixture(scope="session")
def sway(tmp_path_factory: pytest.TempPathFactory) -> ControllerSettings:
    """Gaits of the pendulum, half a second long."""
    file = tmp_path_factory.mktemp("gaits") / "gaits.toml"
    file.write_text(GAIT, encoding="utf-8")
    return ControllerSettings(gait="sway", file=file, search=("amplitude", "centre"), seconds=0.6)


@pytest.fixture(scope="session")
def small_btr(sway: ControllerSettings) -> Callable[..., BtrSettings]:
    """Settings of the small run; anything can be given differently."""

    def make(**changed: Any) -> BtrSettings:
        given: dict[str, Any] = {
            "robot": TwinSettings(robot=str(PENDULUM), field="none"),
            "simulation": {
                "damping": Searched(low=0.01, high=0.3, start=0.05, scale="log", sets=("joint.swing.damping",)),
                "stiffness": Searched(low=3.0, high=12.0, start=8.0, sets=("drives.servo.stiffness",)),
            },
            "controller": sway,
            "fitness": FitnessSettings(kind="swing"),
            "distance": DistanceSettings(kind="rms"),
            "reality": RealitySettings(values=HIDDEN),
            "controller_search": SearchSettings(generations=2, genetic=GeneticSettings(population=5)),
            "simulation_search": SearchSettings(generations=4, genetic=GeneticSettings(population=8, step=0.2)),
            "transfer": TransferSettings(trials=2),
            "stop": StopSettings(iterations=3),
            "seed": 4,
        }
        return BtrSettings(**{**given, **changed})

    return make


@pytest.fixture(scope="session")
def pendulum(small_btr: Callable[..., BtrSettings]) -> Twin:
    """The simulation of the small run."""
    settings = small_btr()
    return Twin(settings.robot, settings.simulation)


@pytest.fixture(scope="session")
def pendulum_gaits(pendulum: Twin, sway: ControllerSettings) -> SinusoidControllers:
    """The controllers of the small run."""
    return SinusoidControllers.of(sway, pendulum)


BENCH = Path(__file__).parents[2] / "examples" / "servo_xl330"
BENCH_VALUES = {"coulomb": 0.05, "viscous": 0.02}
BENCH_CONFIG = f"""
powered = "torque_on"
[robot]
robot = "{BENCH}"
actuation = "{BENCH / "kp200.toml"}"
field = "none"
timestep = 0.002
[recordings]
train = ["slow.csv", "fast.csv"]
held_out = ["dropped.csv"]
columns = "{BENCH / "columns.toml"}"
[commands]
"servo.goal" = "pendulum"
[compare]
"servo.position" = "angles.pendulum"
[parameters.coulomb]
low = 0.01
high = 0.1
unit = "N m"
scale = "log"
sets = ["servo.*.coulomb"]
[parameters.viscous]
low = 0.002
high = 0.1
unit = "N m s/rad"
scale = "log"
sets = ["servo.*.viscous"]
[search]
evaluations = 120
"""


@dataclass(frozen=True)
class Bench:
    """A servo bench whose numbers are known."""

    hidden: Mapping[str, float]
    logs: Callable[[Path], Path]
    """Writes three logs and a configuration into a folder; gives the path of the configuration."""
    log: Callable[[Path, Floats, Floats, Floats, Bools], None]
    """Writes a log: times, goal, position, powered."""


@pytest.fixture(scope="session")
def bench() -> Bench:
    return Bench(BENCH_VALUES, write_logs, write_log)


def write_logs(folder: Path) -> Path:
    """Three logs and a configuration; gives the path of the configuration."""
    settings = TwinSettings(robot=str(BENCH), actuation=str(BENCH / "kp200.toml"), field="none", timestep=0.002)
    twin = Twin(settings, {n: Searched(low=v / 2, high=2 * v, sets=(f"servo.*.{n}",)) for n, v in BENCH_VALUES.items()})
    times: Floats = np.arange(150) * np.float64(0.01)
    goals = {"slow": 1.2 * np.sin(3 * times), "fast": 0.8 * np.sin(9 * times), "dropped": np.where(times < 0.3, 1.2, 0)}
    fed = {name: np.ones(150, bool) for name in goals} | {"dropped": times < 0.8}
    trials = [Trial(name=name, period=0.01, commands=goal[:, None], powered=fed[name]) for name, goal in goals.items()]
    rollouts = twin.simulate([list(BENCH_VALUES.values())], trials)
    for trial, rollout in zip(trials, rollouts, strict=True):
        write_log(folder / f"{trial.name}.csv", times, trial.commands[:, 0], rollout.angles[0, :, 0], fed[trial.name])
    config = folder / "identify.toml"
    config.write_text(BENCH_CONFIG, encoding="utf-8")
    return config


def write_log(path: Path, times: Floats, goal: Floats, position: Floats, powered: Bools) -> None:
    """A log in the columns of the bench; NaN becomes an empty cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["time_s", "goal_rad", "position_rad", "speed_rad_s", "load_raw", "supply_V", "torque_on"])
        for row in zip(times, goal, position, powered, strict=True):
            cells = ["" if np.isnan(value) else repr(float(value)) for value in row[:3]]
            writer.writerow([*cells, "0", "0", "7.3", "1" if row[3] else "0"])
