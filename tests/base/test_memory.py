"""Memory that is given back."""

from __future__ import annotations

import platform

import numba
import pytest

from nutmeg.commands.serve import give_back_memory

from ..conftest import resident


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps what is freed and can give it back")
def test_what_was_freed_is_given_back() -> None:
    blocks = [bytes(1000) for _ in range(50_000)]
    kept = blocks[::100]  # so that what lies between cannot simply be cut off at the end
    used = resident()
    del blocks
    give_back_memory()
    assert used - resident() > 20
    assert len(kept) == 500


def test_kernels_are_compiled_also_after_memory_was_given_back() -> None:
    give_back_memory()
    assert numba.njit(lambda x: 2 * x + 1)(3.0) == 7.0
