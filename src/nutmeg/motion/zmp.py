"""Preview control of the zero-moment point: the sway of the body for a given path of the ZMP.

The robot is a cart of constant height z_c on a massless table (Kajita and others, "Biped walking pattern
generation by using preview control of zero-moment point", ICRA 2003): its zero-moment point (ZMP) is
p = x - (z_c / g) x''. With the jerk of the cart as input that is a linear system of three states; a servo with
preview (Katayama and others, "Design of an optimal controller for a discrete-time system subject to previewable
demand", International Journal of Control 41(3), 1985; equation numbers below are of that paper) then finds the
jerk that makes p follow a reference known some time ahead:

    u(k) = -G_i sum e - G_x x(k) - sum_j G_p(j) p_ref(k + j).

Sideways and forward motion are the same equations and share the gains.

    control = PreviewControl(0.26)
    path = control.follow(reference)         # reference (T, 2): time, x and y [m]
    path.position                            # of the centre of mass, (T, 2)

`PlannedMotion` finds the motion of a whole robot in this way: of its torso and legs, above given feet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from scipy.linalg import solve_discrete_are

from nutmeg.base.constants import GRAVITY
from nutmeg.base.errors import ModelError
from nutmeg.base.settings import above, check_bounds
from nutmeg.motion.legs.nao import Pose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.motion.legs.nao import NaoBody


@dataclass(frozen=True, kw_only=True)
class PreviewSettings:
    """Settings of the preview control; weights as in Kajita's example."""

    period: Annotated[float, above(0.0, "s")] = 0.01
    """Time between two samples [s]."""
    preview: Annotated[float, above(0.0, "s")] = 1.6
    """Time for which the reference is known ahead [s]; later gains are negligible at human-like heights and below."""
    error_weight: Annotated[float, above(0.0)] = 1.0
    """Weight Q_e of the squared ZMP error."""
    jerk_weight: Annotated[float, above(0.0)] = 1e-6
    """Weight R of the squared change of jerk; larger is smoother and follows less closely."""
    gravity: Annotated[float, above(0.0, "m/s^2")] = GRAVITY
    """Gravitational acceleration [m/s²]."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.preview < self.period:
            raise ValueError(f"preview is {self.preview} s, less than one period of {self.period} s.")


@dataclass(frozen=True)
class CentrePath:
    """A motion of the centre of mass; arrays have the shape of the reference, (T, axes)."""

    position: Floats
    velocity: Floats
    acceleration: Floats
    zmp: Floats
    """The ZMP of the cart, x - (z_c / g) x''."""


class PreviewControl:
    """The gains for a cart, and the motion they give.

    Args:
        height: z_c of the cart [m].
        settings: weights, period and preview.

    Attributes:
        a: state matrix, (3, 3).
        b: input vector, (3,).
        c: output vector, (3,).
        riccati: solution of the Riccati equation, (4, 4).
        integral: G_i.
        state: G_x, (3,).
        preview: G_p for 1 to L samples ahead, (L,).
        closed: closed-loop matrix of error and state differences, (4, 4).
    """

    def __init__(self, height: float, settings: PreviewSettings | None = None) -> None:
        self.settings = settings or PreviewSettings()
        if not height > 0:
            raise ModelError(f"the height of the centre of mass must be a number above 0, found {height}.")
        dt = self.settings.period
        self.a = np.array([[1, dt, dt**2 / 2], [0, 1, dt], [0, 0, 1]])
        self.b = np.array([dt**3 / 6, dt**2 / 2, dt])
        self.c = np.array([1.0, 0.0, -height / self.settings.gravity])
        # Eq. 8 and 15: the state is the error and the change of the cart's state.
        tall = np.block([[np.eye(1), (self.c @ self.a)[None]], [np.zeros((3, 1)), self.a]])
        push = np.concatenate([[self.c @ self.b], self.b])
        weight, jerk_weight = np.diag([self.settings.error_weight, 0.0, 0.0, 0.0]), self.settings.jerk_weight
        self.riccati = solve_discrete_are(tall, push[:, None], weight, np.array([[jerk_weight]]))  # eq. 18
        scale = jerk_weight + push @ self.riccati @ push
        gain = push @ self.riccati @ tall / scale
        self.integral, self.state = float(gain[0]), gain[1:]  # eq. 17a
        self.closed = tall - np.outer(push, gain)
        samples = round(self.settings.preview / dt)
        self.preview, ahead = np.empty(samples), self.riccati[:, 0]
        for sample in range(samples):  # eq. 17b
            self.preview[sample] = -push @ ahead / scale
            ahead = self.closed.T @ ahead

    def follow(self, reference: ArrayLike) -> CentrePath:
        """The motion that follows a reference ZMP (T, axes).

        It starts at rest above the first sample; after the last one the reference is taken to stay.
        """
        given = np.asarray(reference, float)
        wanted = given - given[0]
        samples, axes = wanted.shape
        longer = np.concatenate([wanted, np.repeat(wanted[-1:], len(self.preview), axis=0)])
        windows = np.lib.stride_tricks.sliding_window_view(longer[1:], len(self.preview), axis=0)[:samples]
        ahead = windows @ self.preview  # the sums over j of G_p(j) p_ref(k + j), (T, axes)
        states, error = np.zeros((samples, axes, 3)), np.zeros(axes)
        for k in range(samples - 1):
            error = error + states[k] @ self.c - wanted[k]
            jerk = -self.integral * error - states[k] @ self.state - ahead[k]
            states[k + 1] = states[k] @ self.a.T + jerk[:, None] * self.b
        states[..., 0] += given[0]
        return CentrePath(states[..., 0], states[..., 1], states[..., 2], states @ self.c)


@dataclass(frozen=True)
class MotionPlan:
    """Planned feet, ZMP and torso of a robot at T times; the ground is at z = 0."""

    feet: Pose
    """The soles, (T, 2, 3) and (T, 2, 3, 3)."""
    zmp: Floats
    """Reference ZMP, (T, 2) [m]."""
    height: Floats
    """The height of the torso's origin, (T,) [m]."""
    turned: Floats
    """Rotation of the torso, (T, 3, 3)."""


class PlannedMotion:
    """The motion of a robot's torso and legs that follows a plan.

    Args:
        body: the robot.
        plan: the plan.
        centre_height: z_c of the cart-table model [m].
        control: settings of the preview control.
        corrections: number of corrections of the sway for effects outside the cart-table model, above all the swinging
            legs (Kajita's second stage of preview control).

    Attributes:
        centre: planned path of the centre of mass, (T, 2) [m].
        torso: planned pose of the torso, (T, 3) and (T, 3, 3).
        legs: angles of the legs, (T, 2, 6).
        zmp: ZMP of the robot if it moved exactly as planned, (T, 2) [m].
    """

    def __init__(
        self, body: NaoBody, plan: MotionPlan, centre_height: float, control: PreviewSettings, corrections: int
    ) -> None:
        preview = PreviewControl(centre_height, control)
        self.centre = preview.follow(plan.zmp).position
        self.torso, self.legs = body.balance(self.centre, plan.height, plan.turned, plan.feet)
        for _ in range(corrections):
            error = plan.zmp - body.zmp(self.torso, self.legs.angles, control.period, gravity=control.gravity)
            self.centre = self.centre + preview.follow(error).position
            guess = self.torso.position
            self.torso, self.legs = body.balance(self.centre, plan.height, plan.turned, plan.feet, guess=guess)
        self.zmp = body.zmp(self.torso, self.legs.angles, control.period, gravity=control.gravity)


def sample_times(duration: float, period: float) -> Floats:
    """Times from 0 to a duration, (T,) [s]."""
    return np.asarray(np.arange(math.ceil(duration / period - 1e-9) + 1) * period, float)


def interpolated(commands: Floats, period: float, time: ArrayLike) -> Floats:
    """Commands (T, motors) that were sampled every `period` seconds, at a time, (motors,), or at N times, (N, motors).

    Before the first and after the last sample that sample is held.
    """
    share = np.clip(np.asarray(time, float) / period, 0, len(commands) - 1)
    before = np.minimum(share.astype(np.intp), len(commands) - 2)
    share = (share - before)[..., None]
    return np.asarray((1 - share) * commands[before] + share * commands[before + 1])
