"""The omnidirectional walk of UT Austin Villa: a double linear inverted pendulum with learnable parameters.

The walk of MacAlpine, Barrett, Urieli, Vu and Stone (2012), section 3, after Graf and others (2009); equations
in the order of that section, with its misprints mended (the phase formulas, the sign of the side step, the
continuity of the forward step, the direction of the stability factor). Each cycle it turns wanted velocities into
targets of the feet as the torso sees them:

    walk = PendulumWalk(NaoBody(table), [PendulumWalkSettings()] * worlds.count, period=0.02)
    walk.advance(wanted)                 # (N, 3): m/s ahead, m/s to the left, rad/s to the left
    walk.feet                            # (N, 2, 3), left and right sole from the torso [m]

Everything is over N robots at once, each with parameters of its own; there is no loop over robots or joints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UsageError
from nutmeg.motion.pendulum_settings import PendulumWalkSettings, stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from nutmeg.motion.nao_body import NaoBody

    Array = NDArray[np.float64]

GRAVITY = 9.80665
SWAP = 3.0
"""cosh(K phi) at which the pendulums exchange: there y_stance = y_sep / 2."""
FIRST = -0.5
"""phi_start when the exchange has no solution."""
TURN_OF_FEET = 0.71
"""How far a foot turns for each radian of its HipYawPitch."""
LEFT, RIGHT = 0, 1
_TURNED = np.array([1.0, 1.0, TURN_OF_FEET])
_END = float(1 / (1 + np.exp(5.0)))
"""The logistic curve at five units below its middle."""


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
        self._half_k: Array = np.zeros(self.count)
        self._limits: Array = np.zeros((self.count, 3))
        self._lowest: Array = np.zeros((self.count, 3))
        self._delta: Array = np.zeros((self.count, 3))
        self._rows = np.arange(self.count)
        self._derive(self._rows)
        self.step: Array = np.zeros((self.count, 3))
        """Step sizes now: ahead [m], to the left [m], turn to the left [rad], (N, 3)."""
        self.swing: NDArray[np.intp] = np.zeros(self.count, dtype=np.intp)
        """The foot that swings: 0 left, 1 right, (N,)."""
        self.phi_end: Array = np.arccosh(SWAP) / self._half_k
        self.phi_start: Array = -self.phi_end
        self.phi: Array = self.phi_start.copy()
        self.stability: Array = np.ones(self.count)
        """The share of the step sizes that is walked, 0..1, (N,)."""
        self.feet: Array = np.zeros((self.count, 2, 3))
        """Left and right sole as the torso sees them, (N, 2, 3) [m]."""
        self._swing_first: Array = np.zeros((self.count, 2, 3))
        self.groin: Array = np.zeros(self.count)
        """Opening of the groin joints, (N,) [rad]."""
        self.lifted: Array = np.zeros((self.count, 2))
        """How high each foot is, as a share of its highest, (N, 2)."""
        self._place()

    def adopt(self, rows: NDArray[np.intp], values: Array) -> None:
        """Gives robots `rows` (n,) other parameters, (fields, n); each goes on at the same share of its step."""
        before = self._half_k[rows]
        self.parameters.table[:, rows] = values
        self._derive(rows)
        change = before / self._half_k[rows]
        for phase in (self.phi, self.phi_start, self.phi_end):
            phase[rows] *= change

    def _derive(self, rows: NDArray[np.intp]) -> None:
        """What follows from the parameters of robots (n,)."""
        p = self.parameters
        self._half_k[rows] = np.sqrt(GRAVITY / p.z_torso[rows]) / 2
        self._limits[rows] = np.stack([p.max_step_x, p.max_step_y, p.max_step_turn], axis=1)[rows]
        self._lowest[rows] = -self._limits[rows]
        self._lowest[rows, 0] *= p.back_share[rows]
        pace = np.stack([np.ones(self.count), p.side_delta, p.turn_delta], axis=1)
        self._delta[rows] = np.clip(p.delta[:, None] * pace, 0.0, 1.0)[rows]

    @property
    def step_time(self) -> Array:
        """How long a step takes, (N,) [s]."""
        return np.asarray((self.phi_end - self.phi_start) * self.parameters.phi_length)

    @property
    def fraction(self) -> Array:
        """t, the share of the present step that is over, 0..1, (N,)."""
        return np.asarray((self.phi - self.phi_start) / (self.phi_end - self.phi_start))

    def top_speed(self) -> Array:
        """The velocities at which the longest steps are asked for, (N, 3) [m/s, m/s, rad/s]."""
        return np.asarray(self._limits * _TURNED / self.step_time[:, None])

    def top_speed_back(self) -> Array:
        """The speed at which the longest steps backward are asked for, (N,) [m/s]."""
        return np.asarray(-self._lowest[:, 0] / self.step_time)

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Puts robots to the start of a step on the spot."""
        rows = self._rows if ids is None else np.atleast_1d(np.asarray(ids))
        self.step[rows], self.swing[rows], self.stability[rows] = 0.0, LEFT, 1.0
        self.phi_end[rows] = np.arccosh(SWAP) / self._half_k[rows]
        self.phi_start[rows] = -self.phi_end[rows]
        self.phi[rows] = self.phi_start[rows]
        self._place()

    def advance(self, wanted: ArrayLike) -> None:
        """One cycle towards wanted velocities, (N, 3) or (3,): m/s ahead, m/s to the left, rad/s to the left."""
        velocity = np.broadcast_to(np.asarray(wanted, float), (self.count, 3))
        if not np.isfinite(velocity).all():
            raise UsageError("a wanted velocity is not a number; each must be finite.")
        self._smooth(velocity)
        self._proceed()
        self._place()

    def _smooth(self, velocity: Array) -> None:
        """The filter of velocities: step += delta (desired - step), cropped to the longest steps (section 3)."""
        desired = velocity * self.step_time[:, None] / _TURNED
        step = self.step + self._delta * (desired - self.step)
        np.minimum(np.maximum(step, self._lowest), self._limits, out=self.step)

    def _proceed(self) -> None:
        """The phase: phi += dt / phi_length; at phi_end the feet exchange and the next pendulum is matched."""
        self.phi += self.period / self.parameters.phi_length
        over = np.flatnonzero(self.phi >= self.phi_end)
        if not len(over):
            return
        half_k, end = self._half_k[over], self.phi_end[over]
        late = self.phi[over] - end
        alpha = 2 * SWAP - np.cosh(half_k * end)
        start = np.where(alpha >= 1.0, -np.arccosh(np.maximum(alpha, 1.0)) / half_k, FIRST)
        self.phi_start[over], self.phi_end[over] = start, (end - start) / 2
        self.phi[over] = start + late
        self.swing[over] = 1 - self.swing[over]

    def _place(self) -> None:
        """Targets of the feet and of the groin in this cycle."""
        p, t = self.parameters, self.fraction
        steps = self.step * self.stability[:, None]
        step_x, step_y, turn = steps[:, 0], steps[:, 1], steps[:, 2]
        long_x, long_y, long_turn = np.abs(steps).T
        # x: the stance foot moves back evenly, the swing foot ahead along a logistic curve.
        f_s = p.f_s
        late, f_m = t - f_s, 1 - f_s
        u = np.minimum(np.maximum(late / f_m, 0.0), 1.0)
        share = np.where(late < 0, -0.5 - late, (1 + f_s) * _sigmoid(u) - 0.5)
        ahead = p.x_offset + p.com_x - step_x * p.x_factor
        feet = self._swing_first
        feet[:, 0, 0], feet[:, 1, 0] = step_x * share + ahead, step_x * (0.5 - late) + ahead
        # y: aside and in a turn the feet spread while the leading one swings, and close while the other does.
        left = self.swing == LEFT
        leads, opens = (step_y > 0) == left, (turn > 0) == left
        moved = (1 - np.cos(np.pi * u)) / 2
        opened = np.where(opens, moved, 1 - moved)
        self.groin[:] = long_turn * opened
        wider = long_y * np.where(leads, moved, 1 - moved) + self.groin * p.turn_sep / 2
        swung = wider * 2 * np.where(leads, p.side_split, 1 - p.side_split)
        y_stance = p.y_sep / 2 + p.y_shift * (0.5 * np.cosh(self._half_k * self.phi) - 1.5)
        feet[:, 0, 1], feet[:, 1, 1] = p.y_sep - y_stance + swung, y_stance + 2 * wider - swung
        # z: the swing foot is lifted and put down along a cosine.
        aloft = np.maximum(t - p.f_g, 0.0) / np.maximum(1 - p.f_g, 1e-9)
        lifted = (1 - np.cos(2 * np.pi * aloft)) / 2
        height = np.maximum(p.z_step + p.lift_x * long_x + p.lift_y * long_y, 0.0)
        feet[:, 0, 2], feet[:, 1, 2] = height * lifted - p.z_torso, -p.support_push * np.sin(np.pi * t) - p.z_torso
        self.feet[:] = np.where(left[:, None, None], feet, feet[:, ::-1])
        self.feet[:, RIGHT, 1] *= -1
        self.feet[:, :, 1] += p.com_y[:, None]
        self.lifted[:, LEFT], self.lifted[:, RIGHT] = left * lifted, ~left * lifted


def _sigmoid(u: Array) -> Array:
    """The logistic curve over ten of its units, from 0 to 1 as u goes from 0 to 1."""
    return np.asarray((1 / (1 + np.exp(5 - 10 * u)) - _END) / (1 - 2 * _END))
