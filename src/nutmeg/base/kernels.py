"""Compiled functions: numba's `njit`, kept on disk, and compiled anew when anything that they call has changed.

    from nutmeg.base.kernels import kernel

    @kernel
    def total(values: Floats) -> float: ...

numba's own cache knows a function by the contents of its file. What the function calls, and the constants it uses, are
compiled into it although they may stand in other files: after an upgrade or an edit of those, old machine code would
run. Here the key of the cache also has a digest of everything that is compiled in. numba has no public way to add to
the key, so `_Cache` and `_Files` override two methods of its private classes; tests/base/test_kernels.py fails if a new
numba has others. A cache folder named by a digest of all of Nutmeg would need no private class, but every edit would
then compile all kernels again, which takes minutes.

numba looks for a BLAS when the first kernel is called, and imports all of scipy.linalg for that: 0.3 s and 15 MB of
which it needs one file. `_load_blas` gives it that file alone.

Kernels run without the interpreter's lock. Processes that compile at the same time do not disturb each other.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import threading
import types
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Function = TypeVar("Function", bound="Callable[..., Any]")
CONSTANTS = (bool, int, float, str, tuple, np.dtype, np.generic)
"""Types of global values that numba compiles into a function."""
LOOK_PERIOD = 2.0
"""Time between two looks whether anything is being compiled [s]."""


def _load_blas() -> None:
    """Lets numba find scipy's BLAS without the rest of scipy.linalg, which is imported as usual by who needs it."""
    name = "scipy.linalg"
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        return
    bare = types.ModuleType(name)
    bare.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = bare
    try:
        import numba.np.arraymath  # noqa: F401 (it looks for scipy.linalg.cython_blas)
    finally:
        del sys.modules[name]


_load_blas()


def kernel(function: Function) -> Function:
    """The function, compiled for the types of its arguments when it is first called with them."""
    return _kept(function)


def inlined(function: Function) -> Function:
    """A kernel that is compiled into its callers, for small functions that run often; x / 0 is infinite or nan."""
    return _kept(function, forceinline=True, error_model="numpy")


def unchecked(function: Function) -> Function:
    """A kernel in which x / 0 is infinite or nan instead of an error, which lets loops be vectorised."""
    return _kept(function, error_model="numpy")


def anything_compiled() -> bool:
    """Whether this process has had to compile a kernel, instead of finding all of them on disk."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("nutmeg.")]
    found = [
        thing
        for module in modules
        for thing in vars(module).values()
        if isinstance(getattr(thing, "_cache", None), _Cache)
    ]
    return any(sum(one.stats.cache_misses.values()) for one in found)


@contextmanager
def telling_compilation(say: Callable[[str], object]) -> Iterator[None]:
    """Tells a user who waits in this block for kernels to be compiled that this happens once, and how long it takes."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(LOOK_PERIOD):
            if anything_compiled():
                say("the first start compiles parts of the program, for a minute or two; later starts take seconds.")
                return

    watcher = threading.Thread(target=watch, name="compilation", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _kept(function: Function, **options: object) -> Function:
    compiled = njit(nogil=True, **options)(function)
    compiled._cache = _Cache(function)  # what njit(cache=True) does, with another key
    return compiled  # type: ignore[no-any-return]


class _Cache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, with the digest as a part of its key."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._function = function
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())

    def _index_key(self, signature: object, codegen: object) -> tuple[object, ...]:
        # Only now: kernels may call others that stand below them, which are not known when they are defined.
        return (*super()._index_key(signature, codegen), _digest(self._function))


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """Files of machine code, named by the key of what they hold.

    numba counts them, and two processes that compile different things at the same time would take the same number.
    """

    def _load_index(self) -> dict[object, str]:
        """The names of machine code by key; none if the index names a type that this version no longer has."""
        try:
            return super()._load_index()  # type: ignore[no-any-return]
        except (AttributeError, ImportError):
            return {}

    def save(self, key: object, data: object) -> None:
        """Writes machine code, then the index that names it: a reader never finds an entry without its file."""
        content = hashlib.sha256(repr((self._source_stamp, key)).encode()).digest()
        name = self._data_name(int.from_bytes(content[:8]))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


def _digest(function: Callable[..., Any]) -> str:
    """A digest of the files of a function and of all kernels that it calls, and of the constants that they use."""
    parts, seen, left = set[str](), {function}, [function]
    while left:
        one = left.pop()
        parts.add(_of_file(one.__code__.co_filename))
        for name in {name for code in _codes(one.__code__) for name in code.co_names}:
            found = one.__globals__.get(name)
            if isinstance(getattr(found, "_cache", None), _Cache) and found.py_func not in seen:
                seen.add(found.py_func)
                left.append(found.py_func)
            elif isinstance(found, CONSTANTS):
                parts.add(f"{one.__module__}.{name}={found!r}")
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()


def _codes(code: Any) -> list[Any]:  # noqa: ANN401 (code objects)
    """A function's code, and that of functions inside it."""
    return [code, *(inner for const in code.co_consts if hasattr(const, "co_names") for inner in _codes(const))]


@lru_cache(maxsize=1024)
def _of_file(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
