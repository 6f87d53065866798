"""Memory that a long-running process does not need any more."""

from __future__ import annotations

import ctypes
import gc
import re
import sys
from pathlib import Path

MADV_DONTNEED = 4
COMPILER = "libllvmlite"
"""The library that compiles kernels, and makes those that were kept on disk ready to run."""
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) r-xp .*/([^/]+)$")


def give_back_memory() -> None:
    """Gives memory that was used once, while everything was built, back to the system.

    The C library keeps what is freed for later use (some 15 MB after a match was built), and pages of the compiler's
    code stay in memory though all kernels are ready (50 MB). A server needs little of that from then on; pages of code
    are read again where they are needed. With other systems than Linux with glibc, nothing happens.
    """
    gc.collect()
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    trim, advise = getattr(libc, "malloc_trim", None), getattr(libc, "madvise", None)
    if trim is not None:
        trim(0)
    maps = Path("/proc/self/maps")
    if advise is not None and maps.exists():
        for line in maps.read_text().splitlines():
            # Only code: it is never written, so that the file has all of it. Other parts of a library may be changed.
            found = _MAPPING.match(line)
            if found and found[3].startswith(COMPILER):
                start, end = int(found[1], 16), int(found[2], 16)
                advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), MADV_DONTNEED)
