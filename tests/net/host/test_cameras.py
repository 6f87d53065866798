"""Pictures from another process are never waited for and end with it; pictures in step are there when they are due."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import EnvironmentProblem, UnknownNameError
from nutmeg.model import Placement, Scene, SceneSettings, assemble
from nutmeg.net.host.cameras import MAILBOX_SIZE, CameraLook, CameraProcess, CamerasInStep, Mailbox, Picture
from nutmeg.sim import Worlds
from nutmeg.sim.cameras import RobotCamera, scene_cameras

from ...conftest import wait_until

CAMERA = "dog/camera"


@pytest.fixture(scope="module")
def scene() -> Scene:
    return assemble(SceneSettings(field="spl2025", robots=(Placement(robot="ers7", name="dog"),)))


@pytest.fixture(scope="module")
def cameras(scene: Scene) -> Iterator[CameraProcess]:
    look = CameraLook(size=(64, 48), settings=scene_cameras(scene), effects="vignette")
    with CameraProcess(scene.model, [CAMERA], look) as cameras:
        cameras.wait_until_ready()
        yield cameras


def test_a_mailbox_gives_the_newest_entry_and_keeps_a_few() -> None:
    box = Mailbox(multiprocessing.get_context("spawn"), (5,), "f8")
    assert box.read(after=0) is None
    for number in range(1, 8):
        box.write(number, number / 10, np.full(5, float(number)))
    found = box.read(after=3)
    assert found is not None
    assert found[0] == 7
    assert found[1]["time"] == pytest.approx(0.7)
    assert np.array_equal(found[1]["values"], np.full(5, 7.0))
    assert box.read(after=7) is None
    assert box.entry(8 - MAILBOX_SIZE) is not None
    assert box.entry(7 - MAILBOX_SIZE) is None


def test_a_picture_is_that_of_the_same_camera_here_effects_included(scene: Scene, cameras: CameraProcess) -> None:
    sequence = cameras.ask(CAMERA, 1.5, scene.start)
    assert cameras.wait(120.0)
    picture = cameras.take()[-1]
    assert (picture.camera, picture.sequence, picture.time) == (CAMERA, sequence, 1.5)
    settings = scene_cameras(scene)[CAMERA]
    with RobotCamera(scene.model, CAMERA, size=(64, 48), settings=settings, effects="vignette") as here:
        assert np.array_equal(picture.pixels, here.look(scene.start))


def test_the_newest_state_wins_and_sequence_numbers_tell_what_was_skipped(scene: Scene, cameras: CameraProcess) -> None:
    asked = [cameras.ask(CAMERA, 0.01 * k, scene.start) for k in range(200)]
    seen = []
    while not seen or seen[-1] != asked[-1]:
        assert cameras.wait(120.0)
        seen += [picture.sequence for picture in cameras.take()]
    assert seen == sorted(set(seen))
    assert len(seen) < 200
    statistics = cameras.statistics[CAMERA]
    assert statistics["asked"] == asked[-1] + 1
    assert statistics["drawn"] < statistics["asked"]


def test_an_unknown_camera_is_told(scene: Scene, cameras: CameraProcess) -> None:
    with pytest.raises(UnknownNameError, match="Known cameras: dog/camera"):
        cameras.ask("dog/eye", 0.0, scene.start)


def test_a_killed_process_is_told_instead_of_waited_for(scene: Scene) -> None:
    with CameraProcess(scene.model, [CAMERA], CameraLook(size=(64, 48))) as cameras:
        cameras.wait_until_ready()
        os.kill(cameras.pid, signal.SIGKILL)
        while cameras.alive:
            time.sleep(0.01)
        assert cameras.ask(CAMERA, 0.0, scene.start) == 0
        with pytest.raises(EnvironmentProblem, match="has ended"):
            cameras.take()


PARENT = """
import os, signal, sys
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.net.host.cameras import CameraLook, CameraProcess
if __name__ == "__main__":
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(Placement(robot="ers7", name="dog"),)))
    cameras = CameraProcess(scene.model, ["dog/camera"], CameraLook(size=(64, 48)))
    cameras.wait_until_ready()
    print(cameras.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_it_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    child = int(done.stdout)
    wait_until(lambda: not _runs(child))


def _runs(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


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
