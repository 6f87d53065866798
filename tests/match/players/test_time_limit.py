"""Functions that never end are stopped, in the main thread and in others."""

from __future__ import annotations

import contextlib
import signal
import threading
import time

import pytest

from nutmeg.match.players.decide import OutOfTime, time_limit


def spin() -> None:
    while True:
        pass


def spin_and_swallow() -> None:
    while True:
        with contextlib.suppress(Exception):
            spin()


@pytest.mark.parametrize("never_ends", [spin, spin_and_swallow, lambda: time.sleep(300.0)])
def test_what_never_ends_is_stopped_in_the_main_thread(never_ends: object) -> None:
    with pytest.raises(OutOfTime), time_limit(0.05):
        never_ends()  # type: ignore[operator]
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0


def test_what_never_ends_is_stopped_in_another_thread() -> None:
    stopped = []

    def work() -> None:
        try:
            with time_limit(0.05):
                spin_and_swallow()
        except OutOfTime:
            stopped.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(120.0)
    assert stopped == [True]


def test_who_waits_for_others_has_not_computed_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nutmeg.match.players.decide.WALL_TIME_FACTOR", 1000)

    def turn() -> float:
        with time_limit(0.2):
            begun = time.monotonic()
            while time.monotonic() < begun + 0.5:  # longer than it may compute, by the clock on the wall
                time.sleep(0.01)
        return time.monotonic() - begun

    assert turn() >= 0.5
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(turn()))
    thread.start()
    thread.join()
    assert found[0] >= 0.5


def test_what_ends_in_time_is_left_alone_and_an_older_alarm_still_rings() -> None:
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        with time_limit(50.0):
            total = sum(range(1000))
        assert total == 499500
        end = time.monotonic() + 120.0
        while not rung and time.monotonic() < end:
            time.sleep(0.01)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert rung == [True]


def test_no_limit_lets_everything_take_its_time() -> None:
    with time_limit(0.0):
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
