"""Compiled functions: numba's `njit`, kept on disk, and compiled anew when anything that they call has changed.

    from nutmeg.base.kernels import kernel

    @kernel
    def total(values: Floats) -> float: ...

numba keeps machine code by the contents of the file that a function stands in. What it calls from other files is
compiled into it, but not looked at: after an upgrade, or an edit, old code would run on. Here the key of what is kept
also has a digest of those other files. Kernels run without the interpreter's lock. Processes that compile at the same
time do not get at each other's code.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")


def kernel(function: Function) -> Function:
    """The function, compiled when it is first called."""
    return _kept(function)


def inlined(function: Function) -> Function:
    """A kernel that is compiled into those that call it, for small ones that run often; x / 0 is not an error there."""
    return _kept(function, forceinline=True, error_model="numpy")


def unchecked(function: Function) -> Function:
    """A kernel in which x / 0 is infinite, or not a number, instead of an error."""
    return _kept(function, error_model="numpy")


def _kept(function: Function, **options: object) -> Function:
    compiled = njit(nogil=True, **options)(function)
    compiled.nutmeg_digest = _digest(function)
    compiled._cache = _Cache(function, compiled.nutmeg_digest)  # what njit(cache=True) does, with another key
    return compiled  # type: ignore[no-any-return]


class _Cache(FunctionCache):  # type: ignore[misc]
    """Machine code by the digest, too."""

    def __init__(self, function: Callable[..., Any], digest: str) -> None:
        super().__init__(function)
        self.digest = digest
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())

    def _index_key(self, signature: object, codegen: object) -> tuple[object, ...]:
        return (*super()._index_key(signature, codegen), self.digest)


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """Machine code in files that are named by what is in them.

    numba numbers them, and two processes that compile different things at the same time would use the same number.
    """

    def save(self, key: object, data: object) -> None:
        """Keeps machine code; it is there before the index says so."""
        content = hashlib.sha256(repr((self._source_stamp, key)).encode()).digest()
        name = self._data_name(int.from_bytes(content[:8]))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


def _digest(function: Callable[..., Any]) -> str:
    """Of the files of all kernels that a function calls by name, directly or through others."""
    names = [name for code in _codes(function.__code__) for name in code.co_names]
    called: list[Any] = [function.__globals__.get(name) for name in names]
    digests = {str(found.nutmeg_digest) for found in called if hasattr(found, "nutmeg_digest")}
    return hashlib.sha256("".join([_of_file(function.__code__.co_filename), *sorted(digests)]).encode()).hexdigest()


def _codes(code: Any) -> list[Any]:  # noqa: ANN401 (code objects)
    """A function's code, and that of functions inside it."""
    return [code, *(inner for const in code.co_consts if hasattr(const, "co_names") for inner in _codes(const))]


@lru_cache(maxsize=1024)
def _of_file(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
