"""Memory that a long-running process does not need any more."""

from __future__ import annotations

import ctypes
import gc


def give_back_memory() -> None:
    """Gives memory that was used once, while everything was built, back to the system.

    The C library keeps what is freed for later use. A server that has built its models uses little more from then on.
    Only glibc has the function; with other C libraries nothing happens.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
