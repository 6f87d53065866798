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

`for_each_world` turns a function for one world into one for N worlds: a compiled loop on this processor, or one thread
for each world on a CUDA device. Both are compiled from the same source, and it may call any kernel that neither
allocates memory nor uses numpy's functions.

    @for_each_world
    def fall(world: int, count: int, heights: Floats, speeds: Floats) -> None: ...

    fall.run(count, heights, speeds)                        # numpy arrays
    fall.launch(stream, count, heights_there, speeds_there) # arrays of numba-cuda, on a stream of the device

Kernels run without the interpreter's lock. Processes that compile at the same time do not disturb each other.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import sys
import types
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

from nutmeg.base.installation import ON_COMPILED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Function = TypeVar("Function", bound="Callable[..., Any]")
CONSTANTS = (bool, int, float, str, tuple, np.dtype, np.generic)
"""Types of global values that numba compiles into a function."""
_COUNTER = itertools.count(1)  # counts the kernels that this process has compiled


def _load_blas() -> None:
    """Lets numba find scipy's BLAS without loading the rest of scipy.linalg; other imports of it work as usual."""
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


def closure(function: Function, *calls: Callable[..., Any]) -> Function:
    """A kernel like `unchecked` of a function whose closure holds other kernels: all of them, and what they hold."""
    return _kept(function, calls=calls, error_model="numpy")


class ForEachWorld:
    """A function `one(n, count, *arrays)` for one world of N, compiled for this processor and for a CUDA device."""

    THREADS = 64
    """Threads of a block: few, because one robot's cycle needs many registers."""

    def __init__(self, one: Callable[..., None]) -> None:
        self.one = _kept(one)
        self._loop: Callable[..., None] | None = None
        self._grid: Any = None

    def run(self, count: int, *arrays: object) -> None:
        """Goes world by world over `count` of them on this processor; the arrays are numpy's."""
        if self._loop is None:
            self._loop = _loop_over(self.one)
        self._loop(count, arrays)

    def launch(self, stream: int, count: int, *arrays: object) -> None:
        """Starts `count` threads on a stream of a CUDA device, by its handle; the arrays are numba-cuda's."""
        if self._grid is None:
            self._grid = grid_of(self.one)
        blocks = -(-count // self.THREADS)
        self._grid[blocks, self.THREADS, numba_cuda().external_stream(stream)](count, arrays)


def for_each_world(one: Callable[..., None]) -> ForEachWorld:
    """Turns a function for one world into one that runs over N worlds, on this processor or on a CUDA device."""
    return ForEachWorld(one)


def numba_cuda() -> Any:  # noqa: ANN401 (a module)
    """`numba.cuda`, of the package numba-cuda."""
    vars(np).setdefault("row_stack", np.vstack)  # numba-cuda 0.30 asks for it, numpy 2.5 has it no more
    from numba import cuda

    return cuda


def _loop_over(one: Any) -> Callable[..., None]:  # noqa: ANN401 (compiled)
    """A compiled loop over worlds."""

    def loop(count: int, arrays: tuple[Any, ...]) -> None:
        for n in range(count):
            one(n, count, *arrays)

    compiled: Callable[..., None] = _kept(loop, calls=(one,))
    return compiled


def grid_of(one: Any) -> Any:  # noqa: ANN401 (compiled)
    """A CUDA kernel with a thread for each world; what it calls is compiled for the device as well."""
    cuda = numba_cuda()

    def grid(count: int, arrays: tuple[Any, ...]) -> None:
        n = cuda.grid(1)
        if n < count:
            one(n, count, *arrays)

    return cuda.jit(grid)


def _kept(function: Function, *, calls: Sequence[Any] = (), **options: object) -> Function:
    compiled = njit(nogil=True, **options)(function)
    compiled._cache = _Cache(function, [one.py_func for one in calls])  # what njit(cache=True) does, with another key
    return compiled  # type: ignore[no-any-return]


class _Cache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, with the digest as a part of its key.

    `calls` are the functions that it calls through its closure, and those that they call so.
    """

    def __init__(self, function: Callable[..., Any], calls: Sequence[Callable[..., Any]] = ()) -> None:
        super().__init__(function)
        self._function, self._calls = function, calls
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())

    def _index_key(self, signature: object, codegen: Any) -> tuple[object, ...]:  # noqa: ANN401 (numba's)
        # Only now: kernels may call others that stand below them, which are not known when they are defined.
        if not self._calls:
            return (*super()._index_key(signature, codegen), _digest(self._function))
        # numba's key has the pickled values of a closure, which are others in every process.
        called = tuple((one.__qualname__, _digest(one)) for one in self._calls)
        return signature, codegen.magic_tuple(), _digest(self._function), *called


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
        count = next(_COUNTER)
        for tell in ON_COMPILED:
            tell(count)


def _digest(function: Callable[..., Any]) -> str:
    """A digest of the files of a function and of all kernels that it calls, and of the constants that they use."""
    parts, seen, left = set[str](), {function}, [function]
    while left:
        one = left.pop()
        parts.add(_of_file(one.__code__.co_filename))
        for name in {name for code in _codes(one.__code__) for name in code.co_names}:
            found: Any = one.__globals__.get(name)
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
