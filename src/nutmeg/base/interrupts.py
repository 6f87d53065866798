"""Ctrl-C (SIGINT) while a command starts and in helper processes, and objects that are closed at the end of a block.

A command that is starting always reacts to Ctrl-C, and never with a traceback:

    with Starting():
        load_physics()                                          # libraries load
        from nutmeg.commands.play_match import new_match
        match = new_match(...)                                  # and kernels compile

Python raises KeyboardInterrupt once, wherever it happens to be. While libraries load, that is often where it is lost:
trimesh catches everything around imports that it can do without, compiled modules turn it into an ImportError, and what
is raised in a callback from C is only printed. Inside the block it is therefore raised again and again until the block
is left, and after Ctrl-C the block always ends with KeyboardInterrupt, even if its code raised something else.

Put only code into the block that may be interrupted anywhere; code that has to finish belongs behind it, or around it.
`Starting(signal.SIGTERM)` makes a second signal mean the same, for programs that others end.

Ctrl-C goes to all processes of a terminal; a helper process ignores it and leaves the reaction to its parent:

    with interrupts_blocked():
        process.start()                                         # the child calls ignore_interrupts() first
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import FrameType


_HAS_MASKS = hasattr(signal, "pthread_sigmask")
"""Whether threads can block signals; on Windows they cannot, and a helper process may see Ctrl-C as well."""
_REPEAT_INTERVAL = 0.2  # time after which an interrupt that had no effect is raised again [s]


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Delays Ctrl-C until the end of the block; processes started inside get it only when they unblock it.

    A process that still imports would end with a traceback of its own; signals that this thread holds back are held
    back in a process that it starts, too.
    """
    before = _hold_back({signal.SIGINT})
    try:
        yield
    finally:
        if _HAS_MASKS:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _hold_back(numbers: set[signal.Signals]) -> set[int]:
    """Blocks these signals for this thread, where the system can; returns the signals that were blocked before."""
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, numbers)) if _HAS_MASKS else set()


def ignore_interrupts() -> None:
    """Called in a helper process: ignores Ctrl-C, because the parent process handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _HAS_MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def signals_handled(action: Callable[[], object], *numbers: int) -> Iterator[None]:
    """Inside the block, these signals call a function instead of their usual handler.

    Python delivers signals to the main thread only: in any other thread this block does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(_signal: int, _frame: FrameType | None) -> None:
        action()

    before: dict[int, Any] = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def terminated_as_interrupted() -> AbstractContextManager[None]:
    """Inside the block, SIGTERM, which batch systems and process managers send, acts like Ctrl-C."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    return signals_handled(interrupt, signal.SIGTERM)


def load_physics() -> None:
    """Imports MuJoCo with Ctrl-C blocked: one of its libraries starts a process that would print a traceback."""
    with interrupts_blocked():
        import mujoco  # noqa: F401 (to have it loaded)


class Starting:
    """A block that ends on Ctrl-C or on one of the signals `others`.

    Outside the main thread, or where the signals are ignored, it does nothing.
    """

    def __init__(self, *others: signal.Signals) -> None:
        self._numbers = (signal.SIGINT, *others)
        self._came: signal.Signals | None = None
        self._silent = True
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._insist, name="Ctrl-C", daemon=True)

    def __enter__(self) -> Self:
        heard = [number for number in self._numbers if signal.getsignal(number) is not signal.SIG_IGN]
        self._active = threading.current_thread() is threading.main_thread() and bool(heard)
        if self._active:
            self._thread.start()
            self._unraisable, sys.unraisablehook = sys.unraisablehook, self._ignored
            self._before = {number: signal.signal(number, self._interrupt) for number in heard}
            self._silent = False
        return self

    def __exit__(self, *_: object) -> None:
        if not self._active:
            return
        self._silent = True
        self._over.set()
        self._thread.join()  # it must not interrupt what follows
        for number, handler in self._before.items():
            signal.signal(number, handler)
        sys.unraisablehook = self._unraisable
        if self._came is not None:
            raise KeyboardInterrupt

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """Raises KeyboardInterrupt in the block.

        In the block's own first and last steps, and while signals are blocked (the signal may have come through
        another thread), it is only noted and raised later.
        """
        self._came = signal.Signals(number)
        own = (Starting.__enter__.__code__, Starting.__exit__.__code__)
        held = signal.SIGINT in _hold_back(set())
        if not (self._silent or held) and (frame is None or frame.f_code not in own):
            raise KeyboardInterrupt

    def _insist(self) -> None:
        _hold_back(set(self._numbers))
        while not self._over.wait(_REPEAT_INTERVAL):
            if self._came is not None:
                _thread.interrupt_main(self._came)

    def _ignored(self, found: sys.UnraisableHookArgs) -> None:
        """Drops a KeyboardInterrupt that no code could catch: it is raised again soon."""
        if found.exc_type is None or not issubclass(found.exc_type, KeyboardInterrupt):
            self._unraisable(found)


class Closing(ABC):
    """A context manager that calls `close` at the end of a `with` block, however that ends."""

    @abstractmethod
    def close(self) -> None:
        """Releases the resources that the object holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
