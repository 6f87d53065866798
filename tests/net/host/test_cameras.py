"""Cameras that are drawn in step with the simulation."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.net.host.cameras import CamerasInStep, Picture
from nutmeg.sim import Worlds


def pictures(max_rate: float | None, seconds: float) -> list[Picture]:
    """What the camera of an AIBO brings in frames of 8 ms."""
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(Placement(robot="ers7", name="aibo"),)))
    worlds = Worlds(scene)
    cameras = CamerasInStep(worlds, max_rate=max_rate)
    found: list[Picture] = []
    try:
        cameras.show(0.0, worlds.qpos[0])
        assert not cameras.take()  # nobody looks yet
        cameras.want({"aibo/camera"})
        for frame in range(round(seconds / 0.008)):
            cameras.show(frame * 0.008, worlds.qpos[0])
            found += cameras.take()
    finally:
        cameras.close()
    return found


def test_a_picture_is_there_in_the_frame_in_which_it_is_due() -> None:
    found = pictures(None, 0.1)
    assert [picture.time for picture in found] == pytest.approx([0.0, 0.04, 0.072])  # 30 a second, in frames of 8 ms
    assert [picture.sequence for picture in found] == [0, 1, 2]
    assert found[0].pixels.shape == (160, 208, 3)
    assert not np.array_equal(found[0].pixels, found[1].pixels)  # noise


def test_pictures_are_the_same_every_time_and_as_few_as_wanted() -> None:
    one, other = (pictures(10.0, 0.15) for _ in range(2))
    assert [picture.time for picture in one] == pytest.approx([0.0, 0.104])
    assert all(np.array_equal(a.pixels, b.pixels) for a, b in zip(one, other, strict=True))
