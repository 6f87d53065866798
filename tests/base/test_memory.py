"""Memory that is given back."""

from __future__ import annotations

import ctypes
import platform
import sys
from pathlib import Path

import numba
import pytest

from nutmeg.base.memory import _unchanged_parts, give_back_memory


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps what is freed and can give it back")
def test_what_was_freed_is_given_back() -> None:
    blocks = [bytes(1000) for _ in range(50_000)]
    kept = blocks[::100]  # so that what lies between cannot simply be cut off at the end
    used = resident()
    del blocks
    give_back_memory()
    assert used - resident() > 20_000_000
    assert len(kept) == 500


def test_kernels_are_compiled_also_after_memory_was_given_back() -> None:
    give_back_memory()
    assert numba.njit(lambda x: 2 * x + 1)(3.0) == 7.0


MAPS = """\
1000-3000 r-xp 00000000 08:01 17 /lib/code.so
Private_Dirty:         0 kB
Anonymous:             0 kB
3000-4000 r--p 00002000 08:01 17 /lib/code.so
Private_Dirty:         8 kB
Anonymous:             8 kB
4000-5000 rw-p 00003000 08:01 17 /lib/code.so
Private_Dirty:         0 kB
5000-6000 r--p 00000000 08:01 18 /lib/with blanks/data
Private_Dirty:         0 kB
6000-7000 r-xp 00000000 00:00 0
Private_Dirty:         0 kB
7000-8000 r-xp 00000000 00:00 0                          [vdso]
Private_Dirty:         0 kB
"""


def test_only_parts_of_files_that_were_never_written_are_given_back() -> None:
    assert _unchanged_parts(MAPS) == [(0x1000, 0x3000), (0x5000, 0x6000)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what is mapped")
def test_what_this_process_has_written_to_is_no_such_part() -> None:
    address = ctypes.addressof(ctypes.c_int.in_dll(ctypes.pythonapi, "Py_OptimizeFlag"))
    parts = _unchanged_parts(Path("/proc/self/smaps").read_text())
    assert parts
    assert not any(start <= address < end for start, end in parts)
