"""Records for kernels: a dataclass as a numpy dtype, so that a kernel reads `player.heading`, not `row[17]`.

    @dataclass
    class Player:
        heading: float
        present: bool

    players = new_records(Player, 512, 22)    # Records[Records[Player]]: players[7][3].heading in a kernel
    players[7, 3].heading                     # the same in Python
    players["heading"]                        # (512, 22), a view, in Python
    numbers = record_values(settings)         # (1,): numbers[0].walk.ahead in a kernel

Fields are numbers, dataclasses (a record in the record), `tuple[float, float, float]` (an array of three numbers),
`Annotated[Floats, (2, 3)]` (an array of that shape), or `Records[Other]` with `field(metadata={"length": 22})` (an
array of records). Fields that are no numbers (names, sources) are left out. The dataclass is the type of its record for
the type checker, so that kernels are checked.

In a kernel a record is only an address: it does not keep its array alive. numba frees an array after the last line that
names it, so that `game = np.zeros(1, GAME)[0]`, or `games = ...; game = games[0]` with no later use of `games`, leaves
`game` in memory that others use. Arrays of which a kernel takes single records are therefore arguments, or are indexed
again in every turn of the loop that uses the records. tests/base/test_kernels.py looks for kernels that break this.
"""

from __future__ import annotations

import dataclasses
import itertools
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, cast, get_args, get_origin, get_type_hints, overload

import numpy as np

from nutmeg.base.arrays import Bools, Bytes, Floats, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KINDS: dict[object, type[np.generic]] = {float: np.float64, int: np.int64, bool: np.bool_, np.uint64: np.uint64}
_ARRAYS: dict[object, type[np.generic]] = {Floats: np.float64, Ints: np.int64, Bools: np.bool_, Bytes: np.uint8}

Item = TypeVar("Item")


if TYPE_CHECKING:

    class Records(np.ndarray[Any, np.dtype[np.record]], Generic[Item]):
        """An array of records as the type checker sees it: `records[3]` is a record, `records["x"]` is a field."""

        @overload  # type: ignore[override]
        def __getitem__(self, index: slice) -> Records[Item]: ...
        @overload
        def __getitem__(self, index: int | np.integer[Any]) -> Item: ...
        @overload
        def __getitem__(self, index: str | tuple[Any, ...] | NDArray[Any] | list[int]) -> Any: ...  # noqa: ANN401
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...  # noqa: ANN401
        def __len__(self) -> int: ...

else:

    class Records(Generic[Item]):
        """An array of records: the type of fields that hold one; the array itself is a numpy array."""


@lru_cache(maxsize=256)
def record_of(kind: type[Any]) -> np.dtype[np.record]:
    """The dtype of a dataclass whose fields are numbers, dataclasses, or arrays of either.

    Every field begins at a multiple of eight bytes. numpy's own alignment does not reach into `np.record`, which is
    what makes `record.x` work in Python as it does in kernels.
    """
    hints = get_type_hints(kind, include_extras=True)
    found = [(field.name, _format(field, hints[field.name])) for field in dataclasses.fields(kind)]
    formats = {name: np.dtype(one) for name, one in found if one is not None}
    ends = [0, *itertools.accumulate(-(-one.itemsize // 8) * 8 for one in formats.values())]
    layout: Any = {"names": [*formats], "formats": [*formats.values()], "offsets": ends[:-1], "itemsize": ends[-1]}
    dtype: np.dtype[Any] = np.dtype((np.record, np.dtype(layout)))
    return dtype


def _format(field: dataclasses.Field[Any], hint: Any) -> Any:  # noqa: ANN401 (types)
    """The numpy format of a field; None for names and other fields that are not numbers."""
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        if hint in _ARRAYS:
            return _ARRAYS[hint], next(note for note in notes if isinstance(note, tuple))
    if hint in _KINDS:
        return _KINDS[hint]
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return record_of(hint)
    if get_origin(hint) is tuple and set(get_args(hint)) == {float}:
        return np.float64, (len(get_args(hint)),)
    if get_origin(hint) is Records:
        return record_of(get_args(hint)[0]), (field.metadata["length"],)
    return None


@overload
def new_records(kind: type[Item], count: int, /) -> Records[Item]: ...
@overload
def new_records(kind: type[Item], count: int, rows: int, /) -> Records[Records[Item]]: ...
@overload
def new_records(kind: type[Item], count: int, rows: int, columns: int, /) -> Records[Records[Records[Item]]]: ...
def new_records(kind: Any, *shape: int) -> Any:
    """An array of records of a dataclass, filled with zeros."""
    return np.zeros(shape, record_of(kind))


def record_values(*objects: Item) -> Records[Item]:
    """(N,) the records of objects of one dataclass.

    Kernels get settings as arrays of one record: numba takes 12 us to find the type of a single record, 0.2 us of an
    array.
    """
    dtype = record_of(cast("Any", type(objects[0])))
    return cast("Records[Item]", np.array([_values(each, dtype) for each in objects], dtype))


def _values(value: Any, dtype: np.dtype[Any]) -> tuple[Any, ...]:  # noqa: ANN401
    values = ((getattr(value, name), dtype[name]) for name in dtype.names or ())
    return tuple(_values(one, kind) if dataclasses.is_dataclass(one) else one for one, kind in values)


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory with a type that says that its records are aligned, for CUDA devices; other arrays stay.

    numba reads fields of `np.record` byte by byte on a device, because numpy does not call them aligned.
    """
    dtype = array.dtype
    if dtype.fields is None:
        return np.ascontiguousarray(array)
    names = [*dtype.fields]
    layout: Any = {"names": names, "formats": [dtype.fields[name][0] for name in names]}
    layout |= {"offsets": [dtype.fields[name][1] for name in names], "itemsize": dtype.itemsize}
    return np.ascontiguousarray(array).view(np.ndarray).view(np.dtype(layout, align=True))
