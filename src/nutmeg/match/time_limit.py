"""How long somebody else's function may take, and what stops one that never ends.

    try:
        with time_limit(1.0):
            answer = decide(view, memory)
    except OutOfTime:
        ...

What counts is processor time: on a busy computer nobody loses because others compute. A function that waits instead, in
a sleep or for an answer, is stopped after `WAITS` times as long by the clock on the wall.

In the main thread the alarm clock of the process (`signal.setitimer`) interrupts whatever runs, a sleep included. In
other threads, where Python delivers no signals, a second thread asks the interpreter to raise the exception there: that
stops a loop written in Python, while a call into compiled code is stopped when it returns. `OutOfTime` is no
`Exception`, so that a loop around `try: ... except Exception: pass` ends as well; the alarm rings again and again until
the function has been left. A loop that catches *everything* cannot be stopped from within its own process.
"""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

WAITS = 10
"""How many times as long as it may compute a function may take in all."""
AGAIN = 0.05
"""An alarm that was not heeded rings again after so long [s]."""


class OutOfTime(BaseException):
    """The time is over."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises `OutOfTime` in the body of a `with` that computes longer; 0 lets it take as long as it likes."""
    if seconds <= 0:
        yield
    elif threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        with _alarm(seconds):
            yield
    else:
        with _other_thread(seconds):
            yield


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """In the main thread; an alarm that somebody else has set rings later than it would have, but rings."""
    armed = True
    began, over = time.monotonic(), _limit(seconds, time.thread_time)

    def ring(_number: int, _frame: FrameType | None) -> None:
        if armed and over():
            raise OutOfTime

    handler = signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        if left > 0:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), AGAIN), interval)


@contextmanager
def _other_thread(seconds: float) -> Iterator[None]:
    """In a thread that gets no signals: another one watches it."""
    me, done, lock = threading.get_ident(), threading.Event(), threading.Lock()
    clock = time.pthread_getcpuclockid(me)
    over = _limit(seconds, lambda: time.clock_gettime(clock))

    def watch() -> None:
        wait = seconds
        while not done.wait(wait):
            with lock:
                if not done.is_set() and over():
                    _raise_in(me, OutOfTime)
            wait = AGAIN

    watcher = threading.Thread(target=watch, daemon=True, name="time limit")
    watcher.start()
    try:
        yield
    finally:
        with lock:
            done.set()
            _raise_in(me, None)  # what was asked for too late is not raised any more


def _limit(seconds: float, computed: Callable[[], float]) -> Callable[[], bool]:
    """Tells whether the time is over that begins now; `computed` is the thread's own processor time [s]."""
    began, before = time.monotonic(), computed()
    return lambda: computed() - before >= seconds or time.monotonic() - began >= WAITS * seconds


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Asks for an exception in a thread, or takes back what was asked for."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(error) if error is not None else None
    )
