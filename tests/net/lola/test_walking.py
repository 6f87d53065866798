"""The example walks a Nao over its socket, with servos and with everything in between that a real one has."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.net.lola.client import LolaClient

Serving = Callable[..., AbstractContextManager[Any]]
EXAMPLE = Path(__file__).parents[3] / "examples" / "lola_walk.py"


@pytest.fixture(name="example", scope="module")
def _example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lola_walk", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("actuation", ["servo", "motoflex"])
def test_a_nao_walks_ahead_and_stays_on_its_feet(serving: Serving, example: ModuleType, actuation: str) -> None:
    with serving(actuation=actuation, seed=1) as served, LolaClient.connect(served.path()) as client:
        robot = served.host.robots["nao-1"]
        nao = example.WalkingNao(client)
        nao.stand(1.0)
        start = robot.pose.copy()
        nao.wanted[:] = (0.08, 0.0, 0.0)
        *_, senses = nao.walk(4.0)
        assert np.abs(senses.angles).max() < 0.4
        assert 0.15 < robot.pose[0] - start[0] < 0.6
        assert abs(robot.pose[1] - start[1]) < 0.15


def test_names_that_do_not_exist_and_walks_of_other_robots_are_refused(nao: Any, example: ModuleType) -> None:
    with pytest.raises(UnknownNameError, match="robot"):
        example.ReportedNao().robot("somebody")
    with LolaClient.connect(nao.path()) as client:
        client.sense()
        with pytest.raises(UnknownNameError, match="HeadYaw"):
            client.move({"HeadYow": 0.0})
        with pytest.raises(UnknownNameError, match="Chest"):
            client.light("Cheast", (1, 0, 0))
        client.send()
        with pytest.raises(UsageError, match="nao-spark"):
            example.WalkingNao(client, "initial")
