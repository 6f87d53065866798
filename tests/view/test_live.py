"""Watched runs: the pace that a page asks for, and how a run ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from nutmeg.sim.pace import Clock
from nutmeg.view.live import PageClock, Watching, watch_run
from nutmeg.view.pages.orders import Inbox, Order
from nutmeg.view.terminal import Terminal


class Steps:
    """A run that only counts."""

    def __init__(self) -> None:
        self.time, self.closed, self.path = 0.0, 0, Path()

    def begin(self, path: Path) -> None:
        self.path, self.time = path, 0.02

    def advance(self, seconds: float, clock: Clock) -> None:
        end = self.time + seconds
        clock.start(self.time)
        while self.time < end - 1e-9:
            self.time += 0.02
            if not clock.wait(self.time):
                break

    def close(self) -> None:
        self.closed += 1


def test_a_run_ends_after_its_time_and_is_closed_before_its_end_is_told() -> None:
    run, told = Steps(), []
    how = Watching(seconds=0.2, page=False, pace=1000.0, on_end=lambda: told.append(run.closed))
    found = watch_run(run, how, Terminal(json=True))
    assert found["simulated_s"] == pytest.approx(0.2)
    assert told == [1]


def test_an_interrupted_run_is_closed_and_its_end_is_left_to_the_caller() -> None:
    class Stopped(Steps):
        def advance(self, seconds: float, clock: Clock) -> None:
            raise KeyboardInterrupt

    run, told = Stopped(), []
    watch_run(run, Watching(seconds=1.0, page=False, on_end=lambda: told.append(1)), Terminal(json=True))
    assert run.closed >= 1
    assert told == []


def test_sigterm_ends_what_is_written_at_the_end_of_a_run() -> None:
    run, written = Steps(), []

    def write() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)  # the signal comes before the next line
        written.append(1)

    found = watch_run(run, Watching(seconds=0.2, page=False, pace=1000.0, on_end=write), Terminal(json=True))
    assert written == []
    assert found["simulated_s"] == pytest.approx(0.2)


def test_a_page_holds_a_run_and_lets_it_go_on_at_another_pace() -> None:
    clock, inbox, run = PageClock(1000.0), Inbox(), Steps()
    inbox.on_pace = clock.ask
    inbox.post(Order(order="pace", numbers=(0.0, 0.0, 0.0)).line())
    thread = threading.Thread(target=run.advance, args=(1.0, clock), daemon=True)
    thread.start()
    deadline = time.monotonic() + 60.0
    while not run.time and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.1)
    assert run.time == pytest.approx(0.02), "held in its first wait"
    inbox.post(Order(order="pace", numbers=(500.0, 0.0, 0.0)).line())
    thread.join(timeout=120)
    assert not thread.is_alive()
    assert run.time == pytest.approx(1.0, abs=0.02)
    assert clock.speed == 500.0
    assert inbox.take() == [], "orders about the pace do not wait for a director"


def test_a_run_that_is_held_goes_on_step_by_step() -> None:
    clock, inbox, run = PageClock(1000.0), Inbox(), Steps()
    inbox.on_pace, inbox.on_step = clock.ask, clock.step
    inbox.post(Order(order="pace", numbers=(0.0, 0.0, 0.0)).line())
    thread = threading.Thread(target=run.advance, args=(1.0, clock), daemon=True)
    thread.start()

    def stands_at(moment: float) -> bool:
        deadline = time.monotonic() + 60.0
        while run.time < moment - 1e-6 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        return run.time == pytest.approx(moment)

    assert stands_at(0.02)
    inbox.post(Order(order="step").line())
    assert stands_at(0.04), "one cycle, then held again"
    inbox.post(Order(order="step").line())
    inbox.post(Order(order="step").line())
    assert stands_at(0.08)
    inbox.post(Order(order="pace", numbers=(1000.0, 0.0, 0.0)).line())
    thread.join(timeout=120)
    assert not thread.is_alive()
    assert run.time == pytest.approx(1.0, abs=0.02)
