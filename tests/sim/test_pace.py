"""Clocks: real time that can be held, and lock-step that waits for everybody."""

from __future__ import annotations

import threading
import time

import pytest

from nutmeg.base.errors import UsageError
from nutmeg.sim.pace import AsFastAsPossible, RealTime


def test_as_fast_as_possible_never_waits_and_is_never_behind() -> None:
    clock = AsFastAsPossible()
    clock.start(0.0)
    assert clock.wait(1e9)
    assert not clock.behind(1e9)


class Wall:
    """A clock on the wall that stands still unless somebody sleeps, in place of `time`."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Wall:
    """The time that clocks see."""
    found = Wall()
    monkeypatch.setattr("nutmeg.sim.pace.time", found)
    return found


def test_real_time_does_not_run_ahead_of_the_wall_clock() -> None:
    clock = RealTime()
    start = time.monotonic()
    clock.start(5.0)
    assert clock.wait(5.05)
    assert time.monotonic() - start >= 0.05


def test_who_comes_in_time_is_not_behind(wall: Wall) -> None:
    clock = RealTime()
    clock.start(5.0)
    wall.sleep(0.03)
    assert clock.wait(5.05)
    assert wall.now == pytest.approx(100.05)
    assert not clock.behind(5.05)


def test_speed_stretches_simulated_time() -> None:
    clock = RealTime(speed=0.5)
    start = time.monotonic()
    clock.start(0.0)
    clock.wait(0.03)
    assert time.monotonic() - start >= 0.06
    clock.set_speed(1e6, 0.03)
    clock.wait(0.03 + 1000)  # would take a quarter of an hour at the old speed
    assert clock.speed == 1e6


def test_a_late_run_is_behind_until_it_has_caught_up(wall: Wall) -> None:
    clock = RealTime(slack=10.0)
    clock.start(0.0)
    wall.sleep(0.05)
    assert clock.wait(0.01)
    assert clock.behind(0.01)
    assert clock.wait(0.2)
    assert not clock.behind(0.2)
    assert clock.lost == 0


def test_a_run_that_is_much_too_late_gives_the_time_up_and_counts_it(wall: Wall) -> None:
    clock = RealTime(slack=0.01)
    clock.start(0.0)
    wall.sleep(0.05)
    assert clock.wait(0.001)
    assert clock.behind(0.001)
    lost = clock.lost
    assert lost >= 0.04
    start = wall.now
    assert clock.wait(0.031)
    assert wall.now - start == pytest.approx(0.03)  # it goes on from there instead of racing after the lost time
    assert clock.lost == lost


def test_a_paused_run_stands_still_until_it_is_resumed(wall: Wall) -> None:
    clock = RealTime()
    clock.start(0.0)
    clock.pause()
    passed = threading.Event()

    def go_on() -> None:
        clock.wait(0.001)
        passed.set()

    thread = threading.Thread(target=go_on)
    thread.start()
    assert not passed.wait(0.1)
    wall.sleep(100.0)
    clock.resume()
    assert passed.wait(60.0)
    thread.join()
    assert clock.lost == 0  # the pause is not lateness


def test_an_end_wakes_a_paused_run_and_ends_it() -> None:
    clock = RealTime()
    clock.start(0.0)
    clock.pause()
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(clock.wait(0.001)))
    thread.start()
    assert not clock.ended
    clock.end()
    thread.join(60.0)
    assert answers == [False]
    assert clock.ended


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
def test_an_impossible_speed_is_refused(speed: float) -> None:
    with pytest.raises(UsageError, match="above 0"):
        RealTime(speed)
    clock = RealTime()
    with pytest.raises(UsageError, match="above 0"):
        clock.set_speed(speed, 0.0)
    assert clock.speed == 1.0
