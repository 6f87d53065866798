"""Functions that never end are stopped, in the main thread and in others."""

from __future__ import annotations

import contextlib
import signal
import threading
import time

import pytest

from nutmeg.match.time_limit import OutOfTime, time_limit


def spin() -> None:
    while True:
        pass


def spin_and_swallow() -> None:
    while True:
        with contextlib.suppress(Exception):
            spin()


@pytest.mark.parametrize("never_ends", [spin, spin_and_swallow, lambda: time.sleep(30.0)])
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
    thread.join(20.0)
    assert stopped == [True]


def test_what_ends_in_time_is_left_alone_and_an_older_alarm_still_rings() -> None:
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        with time_limit(5.0):
            total = sum(range(1000))
        assert total == 499500
        end = time.monotonic() + 10.0
        while not rung and time.monotonic() < end:
            time.sleep(0.01)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert rung == [True]


def test_no_limit_lets_everything_take_its_time() -> None:
    with time_limit(0.0):
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
