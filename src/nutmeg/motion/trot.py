"""A trot for four legs: diagonal paws swing together, the other two push the body on.

    trot = Trot(AiboLegs(table), [TrotSettings()] * worlds.count, period=0.02)
    trot.advance(wanted)                 # (N, 3): m/s ahead, m/s to the left, rad/s to the left
    trot.angles()                        # (N, 4, 3): rotor, elevator, knee of each leg [rad]

A paw on the ground goes straight back by the way that the body is to go ahead in that time, sideways and turning
likewise: d = -(step + turn x r), r its place. A swinging one comes back along half an ellipse or a rectangle. A robot
that is told to stand puts its paws down and stands. Everything is over N robots at once, each with parameters of its
own; `TrotWalker` moves robots in simulated worlds with it, and `net.openr.ball_follower` one behind OPEN-R.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UsageError
from nutmeg.motion.aibo_legs import FORE, LEFT
from nutmeg.motion.trot_settings import TrotSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.motion.aibo_legs import AiboLegs


PAIR = np.array([0.0, 0.5, 0.5, 0.0])
"""Phase of each leg: left fore with right hind, right fore with left hind, (4,)."""
STILL = 1e-3
"""A robot whose activity is less stands."""
RISE = 0.25
"""Share of the swing in which a paw goes straight up, and straight down again, on a rectangle."""


class Trot:
    """The phases, steps and paws of N trotting robots.

    Args:
        legs: of the robot.
        trots: parameters of each of the N.
        period: of a control cycle [s].
    """

    def __init__(self, legs: AiboLegs, trots: Sequence[TrotSettings], *, period: float = 0.02) -> None:
        if not trots:
            raise UsageError("no trot parameters were given; at least one set is needed.")
        self.legs, self.period, self.count = legs, period, len(trots)
        columns = {one.name: [getattr(trot, one.name) for trot in trots] for one in dataclasses.fields(TrotSettings)}
        p = {name: np.array(values, float) for name, values in columns.items()}
        self.frequency, self.duty, self._squareness = p["frequency"], p["duty"], p["squareness"][:, None]
        self._longest = np.stack([p["step_x"], p["step_y"], p["step_turn"]], axis=1)
        self._back = p["step_x"] * p["back_share"]
        self._share = 1 - np.exp(-period / p["response"])[:, None]
        self._lift = _fore_and_hind(p["lift_fore"], p["lift_hind"])
        ahead, aside = (
            _fore_and_hind(p["ahead_fore"], p["ahead_hind"]),
            _fore_and_hind(p["width_fore"], p["width_hind"]),
        )
        up = legs.paw - _fore_and_hind(p["height_fore"], p["height_hind"])
        self.home: Floats = legs.shoulders + np.stack([ahead, aside * LEFT, up], axis=-1)
        """Middles of the paws' paths on the ground, from the trunk, (N, 4, 3) [m]."""
        self._slope = (up[:, 1] - up[:, 0]) / (self.home[:, 1, 0] - self.home[:, 0, 0])
        self.swing: Indices = np.zeros(self.count, dtype=np.intp)
        """The pair that swings second: 0 is left fore with right hind, (N,)."""
        self.phase: Floats = np.zeros(self.count)
        """Share of the cycle that is over, 0..1, (N,)."""
        self.step: Floats = np.zeros((self.count, 3))
        """Way while a paw is on the ground: ahead, to the left [m], turn to the left [rad], (N, 3)."""
        self.activity: Floats = np.zeros(self.count)
        """0 stands, 1 trots, (N,)."""

    @property
    def step_time(self) -> Floats:
        """Half a cycle, (N,) [s]."""
        return np.asarray(0.5 / self.frequency)

    def top_speed(self) -> Floats:
        """The velocities at which the longest steps are asked for, (N, 3) [m/s, m/s, rad/s]."""
        return np.asarray(self._longest * (self.frequency / self.duty)[:, None])

    def top_speed_back(self) -> Floats:
        """The speed at which the longest steps backward are asked for, (N,) [m/s]."""
        return np.asarray(self._back * self.frequency / self.duty)

    def velocity(self) -> Floats:
        """The velocities of the present steps, if no paw slips, (N, 3) [m/s, m/s, rad/s]."""
        return np.asarray(self.step * (self.frequency / self.duty)[:, None])

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Puts robots to the start of a cycle, standing."""
        rows = np.arange(self.count) if ids is None else np.atleast_1d(np.asarray(ids))
        self.phase[rows], self.step[rows], self.activity[rows] = 0.0, 0.0, 0.0

    def advance(self, wanted: ArrayLike) -> None:
        """One cycle towards wanted velocities, (N, 3) or (3,): m/s ahead, m/s to the left, rad/s to the left."""
        velocity = np.broadcast_to(np.asarray(wanted, float), self.step.shape)
        if not np.isfinite(velocity).all():
            raise UsageError("a wanted velocity is not a number; each must be finite.")
        lowest = -self._longest
        lowest[:, 0] = -self._back
        goal = np.clip(velocity * (self.duty / self.frequency)[:, None], lowest, self._longest)
        moving = velocity.any(axis=1)
        self.step += self._share * (goal - self.step)
        self.activity += self._share[:, 0] * (moving - self.activity)
        stands = ~moving & (self.activity < STILL)
        self.activity[stands], self.step[stands], self.phase[stands] = 0.0, 0.0, 0.0
        self.phase = np.where(stands, 0.0, (self.phase + self.frequency * self.period) % 1.0)

    def paws(self) -> Floats:
        """Centres of the paws from the trunk, (N, 4, 3) [m]."""
        along, lifted = self._path((self.phase[:, None] + PAIR + 0.5 * self.swing[:, None]) % 1.0)
        way = along[..., None] / 2 * self._ways()
        up = self._lift * lifted * self.activity[:, None] + self._slope[:, None] * way[..., 0]
        return np.asarray(self.home + np.concatenate([way, up[..., None]], axis=-1))

    def angles(self) -> Floats:
        """Angles of the legs, (N, 4, 3) [rad], always inside the joints' limits."""
        return self.legs.inverse(self.paws())

    def _ways(self) -> Floats:
        """The whole way of each paw over the ground, ahead and to the left, (N, 4, 2) [m]."""
        ahead, left, turn = (self.step[:, None, axis] for axis in range(3))
        return np.stack([ahead - turn * self.home[..., 1], left + turn * self.home[..., 0]], axis=-1)

    def _path(self, phase: Floats) -> tuple[Floats, Floats]:
        """Where on their paths paws are at phases (N, 4): along it, 1 foremost to -1, and lifted, 0..1."""
        duty = self.duty[:, None]
        pushed = np.minimum(phase / duty, 1.0)
        swung = np.clip((phase - duty) / (1 - duty), 0.0, 1.0)
        ellipse = -np.cos(np.pi * swung), np.sin(np.pi * swung)
        across = 2 * np.clip((swung - RISE) / (1 - 2 * RISE), 0.0, 1.0) - 1
        raised = np.minimum(np.minimum(swung, 1 - swung) / RISE, 1.0)
        along = ellipse[0] + self._squareness * (across - ellipse[0])
        lifted = ellipse[1] + self._squareness * (raised - ellipse[1])
        on_ground = phase < duty
        return np.where(on_ground, 1 - 2 * pushed, along), np.where(on_ground, 0.0, lifted)


def _fore_and_hind(fore: Floats, hind: Floats) -> Floats:
    """A number for each leg, (N, 4), from those of fore and hind legs, (N,)."""
    return np.where(FORE > 0, fore[:, None], hind[:, None])
