"""Logs of a simulated servo bench whose numbers are known, for tests of identification."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.arrays import Bools, Floats
from nutmeg.reality.twin import Searched, Trial, Twin, TwinSettings

BENCH = Path(__file__).parents[3] / "examples" / "servo_xl330"
HIDDEN = {"coulomb": 0.05, "viscous": 0.02}
CONFIG = f"""
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
    return Bench(HIDDEN, write_logs, write_log)


def write_logs(folder: Path) -> Path:
    """Three logs and a configuration; gives the path of the configuration."""
    settings = TwinSettings(robot=str(BENCH), actuation=str(BENCH / "kp200.toml"), field="none", timestep=0.002)
    twin = Twin(settings, {n: Searched(low=v / 2, high=2 * v, sets=(f"servo.*.{n}",)) for n, v in HIDDEN.items()})
    times: Floats = np.arange(150) * np.float64(0.01)
    goals = {"slow": 1.2 * np.sin(3 * times), "fast": 0.8 * np.sin(9 * times), "dropped": np.where(times < 0.3, 1.2, 0)}
    fed = {name: np.ones(150, bool) for name in goals} | {"dropped": times < 0.8}
    trials = [Trial(name=name, period=0.01, commands=goal[:, None], powered=fed[name]) for name, goal in goals.items()]
    rollouts = twin.simulate([list(HIDDEN.values())], trials)
    for trial, rollout in zip(trials, rollouts, strict=True):
        write_log(folder / f"{trial.name}.csv", times, trial.commands[:, 0], rollout.angles[0, :, 0], fed[trial.name])
    config = folder / "identify.toml"
    config.write_text(CONFIG, encoding="utf-8")
    return config


def write_log(path: Path, times: Floats, goal: Floats, position: Floats, powered: Bools) -> None:
    """A log in the columns of the bench; NaN becomes an empty cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["time_s", "goal_rad", "position_rad", "speed_rad_s", "load_raw", "supply_V", "torque_on"])
        for row in zip(times, goal, position, powered, strict=True):
            cells = ["" if np.isnan(value) else repr(float(value)) for value in row[:3]]
            writer.writerow([*cells, "0", "0", "7.3", "1" if row[3] else "0"])
