"""Types of numpy arrays: one name for each kind of number, of any shape.

from nutmeg.base.arrays import Floats

def lengths(vectors: Floats) -> Floats: ...     # docstrings say the shape: (N, 3) -> (N,)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Indices = NDArray[np.intp]
"""Positions in other arrays."""
Ids = NDArray[np.int32]
"""The engine's numbers of bodies, shapes and rows."""
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
"""Pixels, or text."""
SmallInts = NDArray[np.int8]
"""States and codes, where memory counts."""
