"""Ctrl-C while a command starts."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from nutmeg.base.interrupts import Starting, load_physics


def press_ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


def swallow(times: int, number: signal.Signals = signal.SIGINT) -> int:
    """Sends a signal once and swallows whatever comes, as some libraries do; how often it came."""
    heard, pressed, deadline = 0, False, time.monotonic() + 60.0
    while heard < times and time.monotonic() < deadline:
        try:
            if not pressed:
                pressed = True
                signal.raise_signal(number)
            time.sleep(0.01)
        except BaseException:  # noqa: BLE001 (that is what they do)
            heard += 1
    return heard


def test_ctrl_c_comes_again_until_nobody_swallows_it() -> None:
    heard = []
    with pytest.raises(KeyboardInterrupt), Starting():
        heard.append(swallow(3))
    assert heard == [3]


def fail() -> None:
    swallow(1)
    raise ImportError("initialization failed")


def test_whatever_comes_of_a_ctrl_c_it_ends_the_block() -> None:
    with pytest.raises(KeyboardInterrupt), Starting():
        fail()


def test_a_block_without_ctrl_c_changes_nothing() -> None:
    before, threads = signal.getsignal(signal.SIGINT), threading.active_count()
    with Starting():
        load_physics()
    with pytest.raises(ImportError), Starting():
        raise ImportError
    assert signal.getsignal(signal.SIGINT) is before
    assert threading.active_count() == threads
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c()


def test_ctrl_c_waits_where_signals_are_held_back() -> None:
    reached = []

    def load() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            press_ctrl_c()
            reached.append("end of the import")
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        reached.append("behind it")

    with pytest.raises(KeyboardInterrupt), Starting():
        load()
    assert reached == ["end of the import"]


def test_another_signal_means_the_same_as_ctrl_c_if_that_is_asked_for() -> None:
    before, heard = signal.getsignal(signal.SIGTERM), []
    with pytest.raises(KeyboardInterrupt), Starting(signal.SIGTERM):
        heard.append(swallow(3, signal.SIGTERM))
    assert heard == [3]
    assert signal.getsignal(signal.SIGTERM) == before


def test_other_threads_are_left_alone() -> None:
    found: list[object] = []

    def work() -> None:
        with Starting():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60.0)
    assert found == [signal.getsignal(signal.SIGINT)]
