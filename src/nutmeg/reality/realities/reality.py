"""The protocol of realities: trials in, their observed behaviours out.

    for observed in reality.try_out(trials):        # one a trial, in their order, each as soon as it is there
        observed.fitness, observed.behaviour

A reality is a hidden simulation, a set of recordings, or a robot in a laboratory. `LoggedReality` puts a memory in
front of any of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from nutmeg.reality.behaviour import Behaviour
    from nutmeg.reality.twin import Trial


@dataclass(frozen=True, kw_only=True)
class Observed:
    """The result of one trial in reality."""

    trial: str
    """Name of the trial."""
    behaviour: Behaviour
    """Its fitness (None where it was not measured, nan is a mistake) and its series (T, columns)."""

    @property
    def fitness(self) -> float | None:
        """Fitness of the controller; None if it was not measured."""
        found = self.behaviour.fitness
        return None if found is None else float(found)


class Reality(Protocol):
    """Where trials are expensive: a robot, recordings of one, or a hidden simulation."""

    @property
    def trials(self) -> int:
        """Number of trials so far."""

    def try_out(self, trials: Sequence[Trial]) -> Iterable[Observed]:
        """Tries them; one result each, in their order. What is a failure of reality itself is an error."""


def fingerprint(trial: Trial) -> str:
    """A number that two trials share only if they command the same, whatever they are called."""
    digest = hashlib.sha256(np.ascontiguousarray(trial.commands, dtype="<f8").tobytes())
    digest.update(f"{trial.commands.shape} {trial.period!r} {trial.conditions!r}".encode())
    if trial.powered is not None:
        digest.update(np.packbits(np.asarray(trial.powered, bool)).tobytes())
    if trial.start is not None:
        for name, value in sorted(vars(trial.start).items()):
            digest.update(name.encode() + (b"" if value is None else np.asarray(value, "<f8").tobytes()))
    return digest.hexdigest()[:24]
