"""Returning memory to the system that a long-running process does not need any more."""

from __future__ import annotations

import ctypes
import gc
import re
import sys
from pathlib import Path

_MADV_DONTNEED = 4
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (r-[x-]p) \S+ \S+ \d+ +/")
"""A line of /proc/self/smaps: a part of a file that can be read or run, but not written."""
_CHANGED = re.compile(r"(?:Private_Dirty|Anonymous): +[1-9]")
"""A line for a mapping of which some pages are no longer those of the file: a library that was put to its place."""


def give_back_memory() -> None:
    """Gives memory that was used once, while everything was built, back to the system.

    The C library keeps what is freed for later use (some 15 MB after a match was built), and pages of libraries stay in
    memory though most of them were needed only once (the compiler that loads kernels has 60 MB). A server needs little
    of that from then on; pages are read again where they are needed. On systems other than Linux with glibc, only
    garbage is collected.

    Objects that survive are exempt from later garbage collections, which would take 5 % of a server's time.
    """
    gc.collect()
    gc.freeze()
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    trim, advise = getattr(libc, "malloc_trim", None), getattr(libc, "madvise", None)
    if trim is not None:
        trim(0)
    maps = Path("/proc/self/smaps")
    if advise is not None and maps.exists():
        for start, end in _unchanged_parts(maps.read_text()):
            advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_DONTNEED)


def _unchanged_parts(maps: str) -> list[tuple[int, int]]:
    """Address ranges of mapped files that the process has never written to, so that they can be read again."""
    found: list[tuple[int, int]] = []
    is_file = False
    for line in maps.splitlines():
        if line[0] in "0123456789abcdef":
            part = _MAPPING.match(line)
            is_file = part is not None
            if part is not None:
                found.append((int(part[1], 16), int(part[2], 16)))
        elif is_file and _CHANGED.match(line):
            found.pop()
            is_file = False
    return found
