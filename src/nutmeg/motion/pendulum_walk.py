"""The omnidirectional walk of UT Austin Villa: a double linear inverted pendulum with learnable parameters.

The walk of MacAlpine, Barrett, Urieli, Vu and Stone (2012), section 3, after Graf and others (2009); equations
in the order of that section, with its misprints mended (the phase formulas, the sign of the side step, the
continuity of the forward step, the direction of the stability factor). Each cycle it turns wanted velocities into
targets of the feet as the torso sees them:

    walk = PendulumWalk(NaoBody(table), [PendulumWalkSettings()] * worlds.count, period=0.02)
    walk.advance(wanted)                 # (N, 3): m/s ahead, m/s to the left, rad/s to the left
    walk.feet                            # (N, 2, 3), left and right sole from the torso [m]
    walk.targets()                       # (N, motors) joint angles

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


class PendulumWalk:
    """The phases, steps and feet of N walking robots.

    Args:
        body: the robot.
        walks: parameters of each of the N.
        period: of a control cycle [s].
    """

    def __init__(self, body: NaoBody, walks: Sequence[PendulumWalkSettings], *, period: float = 0.02) -> None:
        self.body, self.period, self.count = body, period, len(walks)
        self.parameters = p = stacked(walks)
        self._k = np.sqrt(GRAVITY / p.z_torso)
        self._half_k = self._k / 2
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
        self.groin: Array = np.zeros(self.count)
        """Opening of the groin joints, (N,) [rad]."""
        self.lifted: Array = np.zeros((self.count, 2))
        """How high each foot is, as a share of its highest, (N, 2)."""
        self._limits = np.stack([p.max_step_x, p.max_step_y, p.max_step_turn], axis=1)
        self._delta = np.clip(p.delta[:, None] * np.stack([p.delta**0, p.side_delta, p.turn_delta], axis=1), 0.0, 1.0)
        self._place()

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
        return self._limits * [1.0, 1.0, TURN_OF_FEET] / self.step_time[:, None]

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Puts robots to the start of a step on the spot."""
        rows = np.arange(self.count) if ids is None else np.atleast_1d(np.asarray(ids))
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
        desired = velocity * self.step_time[:, None] / [1.0, 1.0, TURN_OF_FEET]
        self.step += self._delta * (desired - self.step)
        low = -self._limits.copy()
        low[:, 0] *= self.parameters.back_share
        np.clip(self.step, low, self._limits, out=self.step)

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
        f_s, f_m, f_g, f_a = p.f_s, 1 - p.f_s, p.f_g, 1 - p.f_g
        step_x, step_y, turn = (self.step * self.stability[:, None]).T
        u = np.clip((t - f_s) / f_m, 0.0, 1.0)
        moved = (1 - np.cos(np.pi * u)) / 2
        in_air = (t >= f_g) & (f_a > 0)
        z_frac = np.where(in_air, (1 - np.cos(2 * np.pi * (t - f_g) / f_a)) / 2, 0.0)
        x_stance = step_x * (0.5 + f_s - t)
        x_swing = np.where(t < f_s, step_x * (f_s - 0.5 - t), step_x * (-0.5 + (2 - f_m) * _sigmoid(u)))
        y_stance = p.y_sep / 2 + p.y_shift * (-1.5 + 0.5 * np.cosh(self._half_k * self.phi))
        y_swing = p.y_sep - y_stance
        # Aside and in a turn the feet spread while the leading one swings, and close while the other does.
        rows, swing = np.arange(self.count), self.swing
        spread = np.where((step_y > 0) == (swing == LEFT), moved, 1 - moved)
        opened = np.where((turn > 0) == (swing == LEFT), moved, 1 - moved)
        wider = np.abs(step_y) * spread + np.abs(turn) * p.turn_sep * opened / 2
        outward = np.where(swing == LEFT, 1.0, -1.0)
        lead = 2 * p.side_split
        share_swing = np.where((step_y > 0) == (swing == LEFT), lead, 2 - lead)
        self.groin[:] = np.abs(turn) * opened
        ahead = p.x_offset - step_x * p.x_factor + p.com_x
        height = p.z_step + p.lift_x * np.abs(step_x) + p.lift_y * np.abs(step_y)
        push = p.support_push * np.sin(np.pi * t)
        feet = self.feet
        feet[rows, swing, 0], feet[rows, 1 - swing, 0] = x_swing + ahead, x_stance + ahead
        feet[rows, swing, 1] = outward * (y_swing + wider * share_swing) + p.com_y
        feet[rows, 1 - swing, 1] = -outward * (y_stance + wider * (2 - share_swing)) + p.com_y
        feet[rows, swing, 2] = -p.z_torso + np.maximum(height, 0.0) * z_frac
        feet[rows, 1 - swing, 2] = -p.z_torso - push
        self.lifted[rows, swing], self.lifted[rows, 1 - swing] = z_frac, 0.0


def _sigmoid(u: Array) -> Array:
    """The logistic curve over ten of its units, from 0 to 1 as u goes from 0 to 1."""
    ends = 1 / (1 + np.exp(5.0))
    return np.asarray((1 / (1 + np.exp(-10 * (u - 0.5))) - ends) / (1 - 2 * ends))
