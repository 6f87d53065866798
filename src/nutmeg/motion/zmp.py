"""From where the weight should rest to how the body must sway: preview control of the zero-moment point.

The robot is a cart of constant height z_c on a massless table (Kajita and others, "Biped walking pattern
generation by using preview control of zero-moment point", ICRA 2003): its zero-moment point (ZMP) is
p = x - (z_c / g) x''. With the jerk of the cart as input that is a linear system of three states; a servo with
preview (Katayama and others, "Design of an optimal controller for a discrete-time system subject to previewable
demand", International Journal of Control 41(3), 1985; equation numbers below are of that paper) then finds the
jerk that makes p follow a reference known some time ahead:

    u(k) = -G_i sum e - G_x x(k) - sum_j G_p(j) p_ref(k + j).

Everything is for N carts at once, of different heights; sideways and forward motion are the same equations and
share the gains.

    control = PreviewControl([0.26, 0.30])
    path = control.follow(reference)         # reference (2, T, 2): worlds, time, x and y [m]
    path.position                            # of the centre of mass, (2, T, 2)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import GRAVITY
from nutmeg.base.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats


@dataclass(frozen=True, kw_only=True)
class PreviewSettings:
    """How the ZMP is followed; weights as in Kajita's example."""

    period: float = 0.01
    """Time between two samples [s]."""
    preview: float = 1.6
    """How far ahead the reference is known [s]; gains beyond it are negligible at human-like heights and below."""
    error_weight: float = 1.0
    """Weight Q_e of the squared ZMP error."""
    jerk_weight: float = 1e-6
    """Weight R of the squared change of jerk; larger is smoother and follows less closely."""
    gravity: float = GRAVITY
    """[m/s²]."""

    def __post_init__(self) -> None:
        for name in ("period", "preview", "error_weight", "jerk_weight", "gravity"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be above 0.")
        if self.preview < self.period:
            raise ValueError(f"preview is {self.preview} s, less than one period of {self.period} s.")


@dataclass(frozen=True)
class CentrePath:
    """A motion of the centre of mass; arrays have the shape of the reference, (N, T, axes)."""

    position: Floats
    velocity: Floats
    acceleration: Floats
    zmp: Floats
    """The ZMP of the cart, x - (z_c / g) x''."""


class PreviewControl:
    """Gains for N carts, and the motion they give.

    Args:
        heights: z_c of each cart, (N,) [m].
        settings: weights, period and preview.

    Attributes:
        a: state matrix, (3, 3).
        b: input vector, (3,).
        c: output vectors, (N, 3).
        riccati: solution of the Riccati equation, (N, 4, 4).
        integral: G_i, (N,).
        state: G_x, (N, 3).
        preview: G_p for 1 to L samples ahead, (N, L).
        closed: closed-loop matrix of error and state differences, (N, 4, 4).
    """

    def __init__(self, heights: ArrayLike, settings: PreviewSettings | None = None) -> None:
        self.settings = settings or PreviewSettings()
        heights = np.atleast_1d(np.asarray(heights, float))
        if heights.ndim != 1 or not (heights > 0).all():
            raise ModelError(f"heights of the centre of mass must be numbers above 0, found {heights.tolist()}.")
        dt = self.settings.period
        self.heights = heights
        self.a = np.array([[1, dt, dt**2 / 2], [0, 1, dt], [0, 0, 1]])
        self.b = np.array([dt**3 / 6, dt**2 / 2, dt])
        self.c = np.stack([np.ones_like(heights), 0 * heights, -heights / self.settings.gravity], axis=-1)
        self._find_gains()

    def _find_gains(self) -> None:
        count, samples = len(self.heights), round(self.settings.preview / self.settings.period)
        tall = np.zeros((count, 4, 4))  # eq. 8 and 15: the state is the error and the change of the cart's state
        tall[:, 0, 0] = 1.0
        tall[:, 0, 1:] = self.c @ self.a
        tall[:, 1:, 1:] = self.a
        push = np.concatenate([(self.c @ self.b)[:, None], np.tile(self.b, (count, 1))], axis=1)
        weight = np.zeros((4, 4))
        weight[0, 0] = self.settings.error_weight
        self.riccati = riccati(tall, push, weight, self.settings.jerk_weight)  # eq. 18
        row = np.einsum("ni,nij->nj", push, self.riccati)
        scale = self.settings.jerk_weight + np.einsum("ni,ni->n", row, push)
        gain = np.einsum("nj,njk->nk", row, tall) / scale[:, None]
        self.integral, self.state = gain[:, 0], gain[:, 1:]  # eq. 17a
        self.closed = tall - push[:, :, None] * gain[:, None, :]
        self.preview = np.empty((count, samples))  # eq. 17b
        ahead = self.riccati[:, :, 0]
        for sample in range(samples):
            self.preview[:, sample] = -np.einsum("ni,ni->n", push, ahead) / scale
            ahead = np.einsum("nji,nj->ni", self.closed, ahead)

    def follow(self, reference: ArrayLike) -> CentrePath:
        """The motion that follows a reference ZMP (N, T, axes), or one for all (T, axes).

        It starts at rest above the first sample; after the last one the reference is taken to stay.
        """
        given = np.asarray(reference, float)
        wanted = np.broadcast_to(given, (len(self.heights), *given.shape[-2:]))
        start = wanted[:, :1]
        ahead = self._previewed(wanted - start)
        count, samples, axes = wanted.shape
        states = np.zeros((samples, count, axes, 3))
        error = np.zeros((count, axes))
        for k in range(samples):
            state = states[k]
            error = error + np.einsum("nas,ns->na", state, self.c) - (wanted[:, k] - start[:, 0])
            if k + 1 == samples:
                break
            jerk = -self.integral[:, None] * error - np.einsum("nas,ns->na", state, self.state) - ahead[:, k]
            states[k + 1] = state @ self.a.T + jerk[..., None] * self.b
        paths = np.moveaxis(states, 0, 1)
        paths[..., 0] += start
        zmp = np.einsum("ntas,ns->nta", paths, self.c)
        return CentrePath(paths[..., 0], paths[..., 1], paths[..., 2], zmp)

    def _previewed(self, wanted: Floats) -> Floats:
        """The sums over j of G_p(j) p_ref(k + j), (N, T, axes)."""
        samples, length = wanted.shape[1], self.preview.shape[1]
        longer = np.concatenate([wanted, np.repeat(wanted[:, -1:], length, axis=1)], axis=1)
        total = np.zeros_like(wanted)
        for j in range(length):
            total += self.preview[:, j, None, None] * longer[:, j + 1 : j + 1 + samples]
        return total


def riccati(a: Floats, b: Floats, q: Floats, r: float) -> Floats:
    """The stabilising solution P of P = a' P a - a' P b (r + b' P b)^-1 b' P a + q, for N systems of one input.

    Args:
        a: (N, n, n).
        b: (N, n).
        q: (n, n), symmetric, positive semidefinite.
        r: above 0.

    By the structure-preserving doubling algorithm (Chu, Fan, Lin, Wang, 2004): its k-th iterate is the 2^k-th of the
    plain iteration, so that some fifteen rounds suffice where that one needs thousands.
    """
    eye = np.eye(a.shape[-1])
    grow, spread = a, b[:, :, None] * b[:, None, :] / r
    found = np.broadcast_to(q, a.shape).copy()
    for _ in range(_ROUNDS):
        solved = np.linalg.solve(eye + spread @ found, np.concatenate([grow, spread], axis=-1))
        left, right = solved[..., : len(eye)], solved[..., len(eye) :]
        new = found + _transposed(grow) @ found @ left
        spread = spread + grow @ right @ _transposed(grow)
        grow = grow @ left
        change = np.abs(new - found).max(axis=(1, 2)) / np.abs(new).max(axis=(1, 2))
        found = (new + _transposed(new)) / 2
        if (change < _SETTLED).all():
            return np.asarray(found)
    raise ModelError(
        f"the Riccati equation did not settle in {_ROUNDS} doublings (change {change.max():.2g}). "
        "Use a larger jerk_weight."
    )


_ROUNDS = 60
_SETTLED = 1e-13


def _transposed(matrix: Floats) -> Floats:
    return np.swapaxes(matrix, -1, -2)
