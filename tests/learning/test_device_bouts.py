"""Walking on a device: the same rewards as on the processor. Runs where mujoco_warp is installed, without a GPU."""

from __future__ import annotations

import dataclasses
import importlib.util
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.learning import courses
from nutmeg.learning.courses import Bout, BoutResults, StartNoise, Target, Trajectory, run_bouts
from nutmeg.learning.device_bouts import BoutsTogether, DeviceCourse, longest_queue, queues, worlds_for
from nutmeg.learning.tasks import WalkTrials, task_settings
from nutmeg.model.scene import Scene
from nutmeg.motion.walk.files import Facing, read_walk
from nutmeg.sim.worlds import Worlds

MISSING = importlib.util.find_spec("mujoco_warp") is None
installed = pytest.mark.skipif(MISSING, reason="mujoco_warp is not installed (pip install 'nutmeg-sim[gpu]')")


def bouts(walk: str = "initial") -> list[Bout]:
    ways: dict[Facing, tuple[float, float]] = {"turn": (1.0, 0.5), "hold": (0.0, -20.0), "turn-first": (0.0, 20.0)}
    return [
        Bout(
            dataclasses.replace(read_walk(walk), facing=facing),
            Trajectory(name=facing, target=(Target(to=to, seconds=2.0), Target(stop=True, seconds=0.5))),
            np.random.default_rng(3),
        )
        for facing, to in ways.items()
    ]


@installed
@pytest.mark.slow
def test_a_device_gives_the_rewards_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    from nutmeg.learning.device_bouts import walk_bouts_on_device

    there = walk_bouts_on_device("nao-spark", bouts(), device="warp-cpu")
    scene = courses.course_scene("nao-spark", native=True)
    monkeypatch.setattr(courses, "course_scene", lambda *_, **__: scene)  # the same physics as there
    here = run_bouts("nao-spark", bouts())
    np.testing.assert_allclose(there.gained, here.gained, atol=0.03)
    np.testing.assert_allclose(there.lost, here.lost, atol=0.03)
    np.testing.assert_array_equal(there.seconds, here.seconds)
    assert not there.fell.any()


class OnMujoco:
    """MuJoCo's batch in the place of `WarpBatch`: the cycle that a device runs, with the physics of the processor."""

    on_cuda = False

    def __init__(self, scene: Scene, count: int) -> None:
        self.count, self._worlds = count, Worlds(scene, count)

    def kernel_array(self, name: str) -> Any:
        return self._worlds.batch.bind(name)

    def steps_on_device(self, steps: int) -> None:
        self._worlds.step(steps)

    def overflowed(self) -> Any:
        return np.zeros(self.count, dtype=bool)

    def forget_overflow(self) -> None: ...

    def synchronize(self) -> None: ...


def course_on_mujoco(count: int, walk: str, robot: str = "nao-spark", actuation: str = "ideal") -> DeviceCourse:
    scene = courses.course_scene(robot, actuation=actuation, native=True)
    return DeviceCourse(scene, OnMujoco(scene, count), tuple(read_walk(walk).sets))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("robot", "actuation", "walk"),
    [
        ("nao-spark", "ideal", "initial"),
        ("nao-spark", "ideal", "sprint"),  # with two sets of parameters
        ("nao-v6", "motoflex", "nao-v6-motoflex"),  # with activations and delayed commands
    ],
)
def test_the_cycle_of_a_device_walks_as_the_walker_does_to_the_last_bit(
    robot: str, actuation: str, walk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = course_on_mujoco(2, walk, robot, actuation)
    monkeypatch.setattr(courses, "course_scene", lambda *_, **__: course.scene)
    here, there = run_bouts(robot, bouts(walk), actuation=actuation), course.walk(bouts(walk), StartNoise())
    for name in ("gained", "lost", "fell", "seconds"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name), name)


def test_bouts_wait_for_a_world_and_a_course_is_used_again() -> None:
    noise = StartNoise(tilt=0.5)  # so much that robots fall
    together = course_on_mujoco(2, "initial").walk(bouts(), noise)
    alone = course_on_mujoco(1, "initial")
    for _ in range(2):
        found = alone.walk(bouts(), noise)
        for name in ("gained", "lost", "fell", "seconds"):
            np.testing.assert_array_equal(getattr(found, name), getattr(together, name), name)


def test_bouts_are_shared_out_so_that_worlds_end_together() -> None:
    seconds = [8.0] * 40 + [32.0] * 4
    count = 12
    order, following = queues(seconds, count)
    assert sorted(order) == list(range(44))
    loads = np.zeros(count)
    for world in range(count):
        place = world
        while place < len(order):
            loads[world] += seconds[order[place]]
            place = following[place]
    assert loads.sum() == sum(seconds)
    assert loads.max() == 40.0, "448 s in 12 worlds: 37.3 s each, in bouts of 8 s"
    assert longest_queue(np.asarray(seconds, int)[order], following, count) == 40


def test_there_are_no_more_worlds_than_the_longest_bout_lets_work() -> None:
    assert worlds_for([10.0] * 1000) == 1024
    assert worlds_for([8.0] * 3840 + [32.0] * 64) == 1024
    assert worlds_for([10.0] * 100000) == 16384


def test_searches_that_walk_together_get_their_own_results() -> None:
    sizes = []

    def walk(_: str, all_bouts: Sequence[Bout], **__: object) -> BoutResults:
        sizes.append(len(all_bouts))
        gained = np.array([[one.trajectory.seconds] for one in all_bouts])
        return BoutResults(gained, 0 * gained, gained[:, 0] < 0, gained[:, 0], None)

    together, answers = BoutsTogether(3, walk), {}

    def search(number: int) -> None:
        one = bouts()[0]
        target = Trajectory(name="", target=(Target(to=(1, 0), seconds=number + 1.0),))
        mine = [dataclasses.replace(one, trajectory=target)] * (number + 1)
        for _ in range(number + 1):  # they end one after the other
            answers[number] = together.walk("nao-spark", mine).gained
        together.leave()

    threads = [threading.Thread(target=search, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sizes == [6, 5, 3]
    assert all((answers[number] == number + 1.0).all() for number in range(3))


def test_an_error_reaches_all_searches_that_wait() -> None:
    def walk(*_: object, **__: object) -> BoutResults:
        raise UsageError("the device is on fire")

    together = BoutsTogether(2, walk)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(together.walk, "nao-spark", bouts()) for _ in range(2)]
    assert all("on fire" in str(one.exception()) for one in waiting)


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed")
@pytest.mark.slow
def test_the_cycle_of_a_robot_compiles_for_a_cuda_device(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba.cuda
    from numba import typeof, types
    from numba.cuda import dispatcher

    from nutmeg.base.kernels import grid_of
    from nutmeg.base.records import aligned
    from nutmeg.learning.course_kernels import walk_cycle

    class Hopper:
        compute_capability = (9, 0)

    monkeypatch.setattr(dispatcher, "get_current_device", lambda: Hopper)
    course = course_on_mujoco(2, "initial")
    course.begin(bouts(), StartNoise())
    there = tuple(
        group._replace(**{name: aligned(array) for name, array in group._asdict().items()})
        for group in course.arguments
    )
    grid = grid_of(walk_cycle.one)
    text, _ = numba.cuda.compile_ptx(grid.py_func, (types.int64, typeof(there)), cc=(9, 0))
    assert ".visible .entry" in text
    assert text.count("ld.global.u8") < 50, "fields of records are read as a whole, not byte by byte"


def test_a_gpu_refuses_a_task_without_a_course() -> None:
    with pytest.raises(UsageError, match="has no course"):
        WalkTrials(
            robot="nao-spark",
            task=task_settings("drive-ball"),
            start=read_walk("initial"),
            names=("z_torso",),
            device="gpu",
        )
