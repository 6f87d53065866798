"""The omnidirectional walk of UT Austin Villa: a double linear inverted pendulum with learnable parameters.

The walk of MacAlpine, Barrett, Urieli, Vu and Stone (2012), section 3, after Graf and others (2009). Each cycle it
turns wanted velocities into targets of the feet as the torso sees them:

    walk = PendulumWalk(NaoBody(table), [PendulumWalkSettings()] * worlds.count, period=0.02)
    walk.advance(wanted)                 # (N, 3): m/s ahead, m/s to the left, rad/s to the left
    walk.feet                            # (N, 2, 3), left and right sole from the torso [m]

Everything is over N robots at once, each with parameters of its own. The equations, S1 to S17 in the order of that
section and with its misprints mended, are in `pendulum_kernels`: what happens in a cycle (`advance`) runs compiled, a
few microseconds for one robot; what happens now and then (`adopt`, `reset`, speeds) is array arithmetic here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.errors import UsageError
from nutmeg.motion.pendulum_settings import SWAP, TURN_OF_FEET, PendulumWalkSettings, stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.motion.nao_body import NaoBody


_TURNED = np.array([1.0, 1.0, TURN_OF_FEET])
LEFT, RIGHT = 0, 1
LOWEST, HIGHEST, DELTA, MOST = range(4)


class PendulumWalk:
    """The phases, steps and feet of N walking robots.

    Args:
        body: the robot.
        walks: parameters of each of the N.
        period: of a control cycle [s].
    """

    def __init__(self, body: NaoBody, walks: Sequence[PendulumWalkSettings], *, period: float = 0.02) -> None:
        self.body, self.period, self.count = body, period, len(walks)
        self.parameters = stacked(walks)
        """Live: `adopt` changes them."""
        self._half_k: Floats = np.zeros(self.count)
        self._steps: Floats = np.zeros((4, self.count, 3))
        self._rows = np.arange(self.count)
        self._derive(self._rows)
        self.step: Floats = np.zeros((self.count, 3))
        """Step sizes now: ahead [m], to the left [m], turn to the left [rad], (N, 3)."""
        self.swing: Indices = np.zeros(self.count, dtype=np.intp)
        """The foot that swings: 0 left, 1 right, (N,)."""
        self._phases: Floats = np.zeros((3, self.count))
        self.phi, self.phi_start, self.phi_end = self._phases
        """The phase, and where that of the present step begins and ends, (N,), live."""
        self.stability: Floats = np.ones(self.count)
        """The share of the step sizes that is walked, 0..1, (N,)."""
        self.feet: Floats = np.zeros((self.count, 2, 3))
        """Left and right sole as the torso sees them, (N, 2, 3) [m]."""
        self.more: Floats = np.zeros((self.count, 3))
        """`groin` and `lifted` side by side, (N, 3)."""
        self.groin: Floats = self.more[:, 0]
        """Opening of the groin joints, (N,) [rad], live."""
        self.lifted: Floats = self.more[:, 1:]
        """How high each foot is, as a share of its highest, (N, 2), live."""
        self.reset()

    def adopt(self, rows: Indices, values: Floats) -> None:
        """Gives robots `rows` (n,) other parameters, (fields, n); each goes on at the same share of its step."""
        before = self._half_k[rows]
        self.parameters.table[:, rows] = values
        self._derive(rows)
        self._phases[:, rows] *= before / self._half_k[rows]

    def _derive(self, rows: Indices) -> None:
        """What follows from the parameters of robots (n,)."""
        p, steps = self.parameters, self._steps
        self._half_k[rows] = np.sqrt(STANDARD_GRAVITY / p.z_torso[rows]) / 2
        highest = np.stack([p.max_step_x[rows], p.max_step_y[rows], p.max_step_turn[rows]], axis=1)
        pace = np.stack([np.ones(len(rows)), p.side_delta[rows], p.turn_delta[rows]], axis=1)
        steps[HIGHEST, rows], steps[LOWEST, rows] = highest, -highest
        steps[LOWEST, rows, 0] *= p.back_share[rows]
        steps[DELTA, rows] = np.clip(p.delta[rows, None] * pace, 0.0, 1.0)
        steps[MOST, rows] = p.step_change[rows, None] * pace * highest

    @property
    def step_time(self) -> Floats:
        """How long a step takes, (N,) [s]."""
        return np.asarray((self.phi_end - self.phi_start) * self.parameters.phi_length)

    @property
    def fraction(self) -> Floats:
        """t, the share of the present step that is over, 0..1, (N,)."""
        return np.asarray((self.phi - self.phi_start) / (self.phi_end - self.phi_start))

    def top_speed(self) -> Floats:
        """The velocities at which the longest steps are asked for, (N, 3) [m/s, m/s, rad/s]."""
        return np.asarray(self._steps[HIGHEST] * _TURNED / self.step_time[:, None])

    def top_speed_back(self) -> Floats:
        """The speed at which the longest steps backward are asked for, (N,) [m/s]."""
        return np.asarray(-self._steps[LOWEST, :, 0] / self.step_time)

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Puts robots to the start of a step on the spot."""
        rows = self._rows if ids is None else np.atleast_1d(np.asarray(ids))
        self.step[rows], self.swing[rows], self.stability[rows] = 0.0, LEFT, 1.0
        self.phi_end[rows] = np.arccosh(SWAP) / self._half_k[rows]
        self.phi_start[rows] = self.phi[rows] = -self.phi_end[rows]
        self._place()

    def advance(self, wanted: ArrayLike) -> None:
        """One cycle towards wanted velocities, (N, 3) or (3,): m/s ahead, m/s to the left, rad/s to the left."""
        from nutmeg.motion.pendulum_kernels import advance  # here: the compiler takes its time to load

        velocity = np.ascontiguousarray(wanted, float)
        if velocity.shape != self.step.shape:
            velocity = np.broadcast_to(velocity, self.step.shape).copy()
        walks, half = self.parameters.records, self._half_k
        if not advance(walks, half, self._steps, velocity, self.period, self._phases, self.swing, self.step):
            raise UsageError("a wanted velocity is not a number; each must be finite.")
        self._place()

    def _place(self) -> None:
        """Targets of the feet and of the groin in this cycle."""
        from nutmeg.motion.pendulum_kernels import place

        walks, half = self.parameters.records, self._half_k
        place(walks, half, self._phases, self.swing, self.step, self.stability, self.feet, self.more)
