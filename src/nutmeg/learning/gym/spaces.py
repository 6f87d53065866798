"""Observations, actions and tasks of environments.

    layout = Layout([Part("gyro", 3, -20.0, 20.0), Part("tilt", 2, -1.6, 1.6)])
    layout.space                                # Box(-20.0, 20.0, (5,), float32), its bounds part by part
    layout.slices["tilt"]                       # slice(3, 5)
    layout.rows({"gyro": ..., "tilt": ...})     # (N, 5), cut off at the bounds

An environment runs a task: N episodes at once, begun and advanced as arrays.

    task.begin(rows, generators, {})            # some episodes, each by its generator
    outcome = task.advance(actions, active)     # (N, actions) in -1..1
    task.observe()                              # (N, observations)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import ArrayLike, NDArray

from nutmeg.base.arrays import Bools, Floats, Floats32, Indices
from nutmeg.base.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from nutmeg.learning.gym.robots import RobotBatch


Options = TypeVar("Options", bound="DataclassInstance")


class Outcome(NamedTuple):
    """Results of a cycle."""

    reward: Floats
    """Reward of the step for each robot, (N,)."""
    fell: Bools
    """Episodes that end because the robot fell, (N,)."""
    over: Bools
    """Episodes whose time is over, (N,)."""


class Task(Protocol):
    """N episodes of a task."""

    bodies: RobotBatch
    layout: Layout
    """The layout of observations."""
    width: int
    """How many numbers an action has."""

    def begin(self, rows: Indices, generators: Sequence[np.random.Generator], given: Mapping[str, Any]) -> None:
        """Begins episodes `rows` (n,) anew; `given` are the options of a reset."""

    def advance(self, actions: Floats, active: Bools) -> Outcome:
        """Lets a cycle of 20 ms pass in the active episodes; the results of the others have no meaning."""

    def observe(self) -> Floats32:
        """Observations, (N, width of the layout)."""

    def info(self) -> dict[str, NDArray[Any]]:
        """Further numbers, each (N, ...), new at every call."""


def action_space(task: Task) -> Space[Floats32]:
    """The space of one action."""
    return cast("Space[Floats32]", Box(-1.0, 1.0, (task.width,), dtype=np.float32))


def checked_actions(actions: object, shape: tuple[int, ...]) -> Floats:
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


def checked_options(kind: type[Options], environment: str, options: Mapping[str, Any]) -> Options:
    """The options of an environment from keyword arguments."""
    known = {one.name for one in fields(kind)}
    for name in options:
        if name not in known:
            raise UnknownNameError(f"option of {environment}", name, known)
    return kind(**options)


def known_options(given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuses options of a reset that mean nothing."""
    for name in given:
        if name not in known:
            raise UnknownNameError("option of a reset", name, known)


@dataclass(frozen=True)
class Part:
    """A part of an observation."""

    name: str
    width: int
    low: ArrayLike
    """Lowest value, one or (width,)."""
    high: ArrayLike
    """Highest value, one or (width,)."""


class Layout:
    """The parts of an observation, in order."""

    def __init__(self, parts: Sequence[Part]) -> None:
        ends = np.cumsum([part.width for part in parts])
        self.slices: dict[str, slice] = {
            part.name: slice(int(end) - part.width, int(end)) for part, end in zip(parts, ends, strict=True)
        }
        """Where each part is."""
        self._low, self._high = (
            np.concatenate([np.broadcast_to(np.asarray(bound, np.float32), part.width) for part, bound in bounds])
            for bounds in ([(p, p.low) for p in parts], [(p, p.high) for p in parts])
        )
        self.width = int(ends[-1])

    @property
    def space(self) -> Space[Floats32]:
        """The space of one observation."""
        return cast("Space[Floats32]", Box(self._low, self._high, dtype=np.float32))

    def rows(self, values: Mapping[str, ArrayLike]) -> Floats32:
        """Observations (N, width) from the parts (N, part's width), new at every call."""
        joined = np.concatenate([np.asarray(values[name], np.float32) for name in self.slices], axis=1)
        return np.clip(joined, self._low, self._high, out=joined)
