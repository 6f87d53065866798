"""Pictures of an AIBO's own camera, drawn in a process of their own and sent in three packets each."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from nutmeg.net.host.cameras import ProcessCameras
from nutmeg.net.openr.client import OpenrClient
from nutmeg.net.openr.configuration import settings_for

from .conftest import Serve


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size", "period"), [("ers7", (160, 208), 1 / 30), ("ers210", (144, 176), 1 / 25)])
def test_a_robot_sees_the_ball_in_front_of_it(serve: Serve, name: str, size: tuple[int, int], period: float) -> None:
    chosen = settings_for([name], first_port=0, awake=True)
    settings = dataclasses.replace(chosen, ball_pos=(-0.45, 0.0))  # 0.45 m ahead
    with serve(settings, cameras=ProcessCameras) as served, OpenrClient(*served.address(), timeout=60.0) as robot:
        assert robot.design.image_period == pytest.approx(period * 1e6, abs=1)
        pictures = robot.pictures()
        first = next(pictures)
        robot.move({"NECK:tilt": -0.6 if name == "ers7" else -0.3}, seconds=0.3)  # the ERS-7 also nods up by 0.3
        seen = list(itertools.islice(pictures, 12))
        assert first.planes.shape == (3, *size)
        numbers = np.array([picture.sequence for picture in seen])
        times = np.array([picture.time for picture in seen])
        assert (np.diff(numbers) > 0).all()
        assert np.abs((times - times[0]) - (numbers - numbers[0]) * period).max() < 0.0081
        red = seen[-1].planes[1]
        orange = np.argwhere(red > 165)
        assert len(orange) > 60
        assert abs(orange[:, 1].mean() - size[1] / 2) < 25  # straight ahead
