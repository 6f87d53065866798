"""A Nao walks over its socket, with servos and with everything in between that a real one has."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.net.lola.client import LolaClient
from nutmeg.net.lola.walking import ToldBody, WalkingNao

Serving = Callable[..., AbstractContextManager[Any]]


@pytest.mark.parametrize("actuation", ["servo", "motoflex"])
def test_a_nao_walks_ahead_and_stays_on_its_feet(serving: Serving, actuation: str) -> None:
    with serving(actuation=actuation, seed=1) as served, LolaClient.connect(served.path()) as client:
        robot = served.host.robots["nao-1"]
        nao = WalkingNao(client)
        nao.stand(1.0)
        start = robot.pose.copy()
        nao.wanted[:] = (0.08, 0.0, 0.0)
        *_, senses = nao.walk(4.0)
        assert np.abs(senses.angles).max() < 0.4
        assert 0.15 < robot.pose[0] - start[0] < 0.6
        assert abs(robot.pose[1] - start[1]) < 0.15


def test_names_that_do_not_exist_and_walks_of_other_robots_are_refused(nao: Any) -> None:
    with pytest.raises(UnknownNameError, match="robot"):
        ToldBody().robot("somebody")
    with LolaClient.connect(nao.path()) as client:
        client.sense()
        with pytest.raises(UnknownNameError, match="HeadYaw"):
            client.move({"HeadYow": 0.0})
        with pytest.raises(UnknownNameError, match="Chest"):
            client.light("Cheast", (1, 0, 0))
        client.send()
        with pytest.raises(UsageError, match="nao-spark"):
            WalkingNao(client, "initial")
