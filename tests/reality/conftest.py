"""A run of Back-to-Reality that takes a second: a pendulum on a servo, two numbers of it, and two of its gait."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nutmeg.reality.btr.controllers import ControllerSettings, ControllerSpace
from nutmeg.reality.btr.settings import BtrSettings, StopSettings, TransferSettings
from nutmeg.reality.distances.distance import DistanceSettings
from nutmeg.reality.observation import FitnessSettings
from nutmeg.reality.realities import RealitySettings
from nutmeg.reality.twin import Searched, Twin, TwinSettings
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
def pendulum_gaits(pendulum: Twin, sway: ControllerSettings) -> ControllerSpace:
    """The controllers of the small run."""
    return ControllerSpace.of(sway, pendulum)
