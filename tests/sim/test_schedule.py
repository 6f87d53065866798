"""Tasks at exact rates of simulated time."""

from __future__ import annotations

import math

import pytest

from nutmeg.base.errors import ModelError
from nutmeg.model import Placement, Scene, SceneSettings, assemble
from nutmeg.sim import Worlds
from nutmeg.sim.pace import RealTime
from nutmeg.sim.schedule import Schedule


@pytest.fixture(scope="module")
def scene() -> Scene:
    return assemble(SceneSettings(ball="none", robots=(Placement(robot="ant", name="ant"),), visuals=False))


@pytest.fixture
def schedule(scene: Scene) -> Schedule:
    return Schedule(Worlds(scene))


class Late:
    """A clock that is behind at the times it was told."""

    def __init__(self, *late: float, end: float = math.inf) -> None:
        self.late, self.end = late, end
        self.started: list[float] = []
        self.waits: list[float] = []

    def start(self, now: float) -> None:
        self.started.append(round(now, 9))

    def wait(self, now: float) -> bool:
        self.waits.append(round(now, 9))
        return now < self.end - 1e-9

    def behind(self, now: float) -> bool:
        return any(abs(now - t) < 1e-9 for t in self.late)


def logged(schedule: Schedule, period: float, **more: object) -> list[float]:
    times: list[float] = []
    schedule.every(period, lambda now: times.append(round(now, 9)), **more)  # type: ignore[arg-type]
    return times


def test_every_task_runs_at_exactly_its_rate(schedule: Schedule) -> None:
    fast, slow, odd = (logged(schedule, p) for p in (0.004, 0.02, 0.012))
    shifted = logged(schedule, 0.02, offset=0.008)
    schedule.run(0.1)
    assert fast == pytest.approx([0.004 * k for k in range(26)])
    assert slow == pytest.approx([0.0, 0.02, 0.04, 0.06, 0.08, 0.1])
    assert odd == pytest.approx([0.012 * k for k in range(9)])
    assert shifted == pytest.approx([0.008, 0.028, 0.048, 0.068, 0.088])
    assert [t.turns for t in schedule.tasks] == [26, 6, 9, 5]


def test_the_worlds_are_at_the_time_of_the_task(schedule: Schedule) -> None:
    seen: list[tuple[float, float]] = []
    schedule.every(0.012, lambda now: seen.append((now, float(schedule.worlds.time[0]))))
    schedule.run(0.1)
    assert [now for now, _ in seen] == pytest.approx([there for _, there in seen])
    assert schedule.time == pytest.approx(0.1)
    assert schedule.worlds.time[0] == pytest.approx(0.1)


def test_no_drift_in_a_long_run(schedule: Schedule) -> None:
    times = logged(schedule, 0.02)
    schedule.run(20.0)
    assert len(times) == 1001
    assert times[-1] == 20.0


def test_tasks_due_together_run_in_the_order_they_were_added(schedule: Schedule) -> None:
    order: list[str] = []
    for name, period in (("b", 0.02), ("a", 0.004), ("c", 0.02)):
        schedule.every(period, lambda _, n=name: order.append(n), name=name)  # type: ignore[misc]
    schedule.run(0.02)
    assert "".join(order) == "bac" + "a" * 4 + "bac"
    assert [t.name for t in schedule.tasks] == ["b", "a", "c"]


def test_best_effort_tasks_are_left_out_while_the_run_is_behind(schedule: Schedule) -> None:
    needed, picture = logged(schedule, 0.02), logged(schedule, 0.02, best_effort=True)
    clock = Late(0.02, 0.06)
    schedule.run(0.1, clock)
    assert needed == pytest.approx([0, 0.02, 0.04, 0.06, 0.08, 0.1])
    assert picture == pytest.approx([0, 0.04, 0.08, 0.1])
    assert schedule.tasks[1].left_out == 2
    assert schedule.tasks[0].left_out == 0


def test_the_clock_is_asked_after_every_stretch(schedule: Schedule) -> None:
    schedule.every(0.02, lambda _: None)
    clock = Late()
    schedule.run(0.05 - 0.002, clock)
    assert clock.started == [0.0]
    assert clock.waits == pytest.approx([0.02, 0.04, 0.048])


def test_a_run_goes_on_where_the_last_one_ended(schedule: Schedule) -> None:
    times = logged(schedule, 0.02)
    schedule.run(0.04)
    schedule.run(0.04)
    clock = Late()
    schedule.run(0.012, clock)
    schedule.run(0.008)
    assert times == pytest.approx([0, 0.02, 0.04, 0.06, 0.08, 0.1])
    assert clock.started == [0.08]


def test_a_task_can_stop_the_run_and_the_moment_is_finished(schedule: Schedule) -> None:
    schedule.every(0.02, lambda now: schedule.stop() if now > 0.05 else None)
    after = logged(schedule, 0.02)
    schedule.run(1.0)
    assert schedule.time == pytest.approx(0.06)
    assert after == pytest.approx([0, 0.02, 0.04, 0.06])
    schedule.tasks.pop(0)
    schedule.run(0.04)
    assert after == pytest.approx([0, 0.02, 0.04, 0.06, 0.08, 0.1])


def test_the_clock_can_end_the_run(schedule: Schedule) -> None:
    times = logged(schedule, 0.02)
    schedule.run(1.0, Late(end=0.06))
    assert schedule.time == pytest.approx(0.06)
    assert times == pytest.approx([0, 0.02, 0.04])
    schedule.run(0.02)
    assert times == pytest.approx([0, 0.02, 0.04, 0.06, 0.08])


def test_a_run_without_an_end_goes_on_until_it_is_stopped(schedule: Schedule) -> None:
    schedule.every(0.02, lambda now: schedule.stop() if now >= 0.2 else None)
    schedule.run(math.inf)
    assert schedule.time == pytest.approx(0.2)


@pytest.mark.parametrize("period", [0.005, 0.001, 0.0, -0.02])
def test_a_period_that_is_no_multiple_of_the_step_is_refused_with_the_numbers(
    schedule: Schedule, period: float
) -> None:
    with pytest.raises(ModelError, match=rf"{period} s is not a whole number of physics steps of 0\.004 s"):
        schedule.every(period, lambda _: None)
    with pytest.raises(ModelError, match="whole number"):
        schedule.every(0.02, lambda _: None, offset=0.001)
    assert not schedule.tasks


def test_a_run_in_real_time_runs_its_best_effort_tasks(schedule: Schedule) -> None:
    clock = RealTime(slack=10.0)
    pictures = logged(schedule, 0.02, best_effort=True)
    schedule.run(0.2, clock)
    assert len(pictures) + schedule.tasks[0].left_out == 11
    assert len(pictures) >= 2
