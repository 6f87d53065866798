"""What an environment asks of its task: N episodes at once, begun and advanced as arrays.

task.begin(rows, generators, {})            # some episodes, each by its generator
outcome = task.advance(actions, active)     # (N, actions) in -1..1
task.observe()                              # (N, observations)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from nutmeg.base.arrays import Bools, Floats, Indices
from nutmeg.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats32
    from nutmeg.learning.environments.bodies import Bodies
    from nutmeg.learning.environments.layout import Layout
    from nutmeg.learning.environments.options import RobotOptions


class Outcome(NamedTuple):
    """What a cycle brought."""

    reward: Floats
    """(N,)."""
    fell: Bools
    """Episodes that end because the robot fell, (N,)."""
    over: Bools
    """Episodes whose time is over, (N,)."""


class Task(Protocol):
    """N episodes of a task."""

    bodies: Bodies
    layout: Layout
    """Of observations."""
    width: int
    """How many numbers an action has."""

    @property
    def options(self) -> RobotOptions:
        """What was chosen."""

    def begin(self, rows: Indices, generators: Sequence[np.random.Generator], given: Mapping[str, Any]) -> None:
        """Begins episodes `rows` (n,) anew; `given` are the options of a reset."""

    def advance(self, actions: Floats, active: Bools) -> Outcome:
        """Lets a cycle of 20 ms pass in the active episodes; what comes of the others has no meaning."""

    def observe(self) -> Floats32:
        """What the robots know, (N, width of the layout)."""

    def info(self) -> dict[str, NDArray[Any]]:
        """Further numbers, each (N, ...), new at every call."""


def action_space(task: Task) -> Space[Floats32]:
    """The space of one action."""
    return cast("Space[Floats32]", Box(-1.0, 1.0, (task.width,), dtype=np.float32))


def checked(actions: object, shape: tuple[int, ...]) -> Floats:
    """Actions as numbers of the right shape, cut off at -1 and 1; what is no number is refused."""
    try:
        values = np.asarray(actions, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"an action is {actions!r}; needed is an array of numbers of shape {shape}.") from None
    if values.shape != shape:
        raise UsageError(f"an action has the shape {values.shape}; needed is {shape}.")
    if not np.isfinite(values).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise UsageError(f"action {list(place)} is {values[place]}; each must be a finite number, -1..1.")
    return np.clip(values, -1.0, 1.0)


def known_options(given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuses options of a reset that mean nothing."""
    for name in given:
        if name not in known:
            raise UnknownNameError("option of a reset", name, known)
