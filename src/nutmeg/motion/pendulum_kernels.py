"""The equations of the pendulum walk, compiled: section 3 of MacAlpine and others (2012), one after the other.

The paper does not number them; here they have the numbers S1 to S17 in its order. Those that were misprinted are
mended, and say so. Lengths are in metres (k = sqrt(9.80665 / z_torso), in the paper 9806.65 with millimetres).

| no.      | what                                       | where                                |
|----------|--------------------------------------------|--------------------------------------|
| S1, S2   | step sizes follow the wanted ones, cropped | `filtered`                           |
| S3       | the phase and its share t                  | `advance`, `fraction`                |
| S4       | k                                          | `half_k`, which is k / 2             |
| S5 - S7  | the exchange of the pendulums              | `exchanged`                          |
| S8, S9   | heights of the feet                        | `lifted_share`, `placed`             |
| S10, S11 | feet aside                                 | `swayed`, `moved_share`, `placed`    |
| S12, S13 | feet ahead                                 | `swung_share`, `placed`              |
| S14      | offset of both feet                        | `placed`                             |
| S15      | the groin                                  | `moved_share`, `placed`              |
| S16, S17 | stability                                  | `walker_kernels.judge`               |

The equations are functions of numbers. They have no branches, so that their sources, `f.py_func`, take arrays too,
whole batches at once; a back end on a GPU compiles them as they are. `advance` and `place` go robot by robot: for a
few robots array arithmetic spends its time on being called, a microsecond for each of a hundred operations. A robot's
numbers never depend on its neighbours'. The machine code is kept beside this file or in the user's cache.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.compiled import kernel
from nutmeg.motion.pendulum_settings import SWAP, TURN_OF_FEET

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.motion.pendulum_settings import PendulumWalkSettings

    Number = Any  # a Number, or an array for the uncompiled source
    Records = NDArray[Any]

FIRST = -0.5
"""phi_start when the exchange has no solution."""
END = 1 / (1 + math.exp(5.0))
"""The logistic curve at five units below its middle."""


@kernel
def half_k(z_torso: Number) -> Number:
    """S4, halved: K = k / 2, k = sqrt(g / z_torso). The printed `k - 0.5 phi` means 0.5 k phi = K phi."""
    return np.sqrt(STANDARD_GRAVITY / z_torso) / 2


@kernel
def filtered(step: Number, desired: Number, delta: Number, most: Number, lowest: Number, highest: Number) -> Number:
    """S1: step + delta (desired - step), a change of no more than `most`; S2: cropped to the longest steps."""
    change = np.minimum(np.maximum(delta * (desired - step), -most), most)
    return np.minimum(np.maximum(step + change, lowest), highest)


@kernel
def fraction(phi: Number, phi_start: Number, phi_end: Number) -> Number:
    """S3: t, the share of the step that is over."""
    return (phi - phi_start) / (phi_end - phi_start)


@kernel
def exchanged(half: Number, phi_end: Number) -> tuple[Number, Number]:
    """phi_start and phi_end of the pendulum that takes over, such that it matches the one that ends.

    S5: alpha = 6 - cosh(K phi_end). S6: phi_start = -acosh(alpha) / K, -0.5 without a solution (printed without the
    minus). S7: phi_end = (phi_end - phi_start) / 2. Where they meet, the sway of both is the same, for the two
    y_stance add up to y_sep; their velocities are equal after about three exchanges, at phi_end = acosh(3) / K.
    """
    alpha = 2 * SWAP - np.cosh(half * phi_end)
    solved = alpha >= 1.0
    start = solved * (-np.arccosh(np.maximum(alpha, 1.0)) / half) + (1 - solved) * FIRST
    return start, (phi_end - start) / 2


@kernel
def lifted_share(t: Number, f_g: Number) -> Number:
    """S8: z_frac = (1 - cos(2 pi (t - f_g) / f_a)) / 2 from t = f_g on, f_a = 1 - f_g, and 0 before."""
    aloft = np.maximum(t - f_g, 0.0) / np.maximum(1 - f_g, 1e-9)
    return (1 - np.cos(2 * np.pi * aloft)) / 2


@kernel
def swayed(half: Number, phi: Number, y_sep: Number, y_shift: Number) -> Number:
    """S10: y_stance = y_sep / 2 + y_shift (-1.5 + 0.5 cosh(K phi)); y_swing = y_sep - y_stance."""
    return y_sep / 2 + y_shift * (0.5 * np.cosh(half * phi) - 1.5)


@kernel
def moving_share(t: Number, f_s: Number) -> Number:
    """For S11 to S15: u = (t - f_s) / f_m within 0..1, f_m = 1 - f_s, the share of the swing foot's way in time."""
    return np.minimum(np.maximum((t - f_s) / (1 - f_s), 0.0), 1.0)


@kernel
def moved_share(u: Number) -> Number:
    """S11 and S15: (1 - cos(pi u)) / 2, from 0 to 1 (S11 is printed with a plus, which jumps)."""
    return (1 - np.cos(np.pi * u)) / 2


@kernel
def swung_share(t: Number, f_s: Number) -> Number:
    """S12 and S13: where the swing foot is ahead, in step sizes.

    Before f_s it goes back with the stance foot, f_s - 0.5 - t; then -0.5 + (1 + f_s) s, where s is the logistic curve
    sigmoid(10 (u - 0.5)) brought to 0..1: with 2 - f_m = 1 + f_s it ends where the stance foot begins, 0.5 + f_s
    (as printed, feet jump by f_s step_x at each exchange).
    """
    s = (1 / (1 + np.exp(5 - 10 * moving_share(t, f_s))) - END) / (1 - 2 * END)
    waits = t < f_s
    return waits * (-0.5 - (t - f_s)) + (1 - waits) * ((1 + f_s) * s - 0.5)


@kernel
def placed(
    p: PendulumWalkSettings, half: float, t: float, phi: float, swing: int, step: Floats, share: float, feet: Floats
) -> float:
    """Feet of one robot, (2, 3); returns its groin. `step` (3,) is walked to a `share` (S17)."""
    step_x, step_y, turn = step[0] * share, step[1] * share, step[2] * share
    first, other = swing, 1 - swing
    # S13, S14: ahead; the stance foot moves back evenly, and both are offset.
    ahead = p.x_offset + p.com_x - step_x * p.x_factor
    feet[first, 0] = step_x * swung_share(t, p.f_s) + ahead
    feet[other, 0] = step_x * (0.5 - (t - p.f_s)) + ahead
    # S11, S15: aside and in a turn both feet spread while the leading one swings, and close while the other does
    # (as printed, with the stance foot alone, the robot falls). `side_split` shifts a side step to the leading foot.
    moved = moved_share(moving_share(t, p.f_s))
    left = swing == 0
    leads, opens = (step_y > 0) == left, (turn > 0) == left
    groin: float = abs(turn) * (moved if opens else 1 - moved)
    wider = abs(step_y) * (moved if leads else 1 - moved) + groin * p.turn_sep / 2
    swung = wider * 2 * (p.side_split if leads else 1 - p.side_split)
    y_stance = swayed(half, phi, p.y_sep, p.y_shift)
    feet[first, 1] = p.y_sep - y_stance + swung
    feet[other, 1] = y_stance + 2 * wider - swung
    feet[1, 1] *= -1
    feet[0, 1] += p.com_y
    feet[1, 1] += p.com_y
    # S9: z_stance = z_torso, z_swing = z_torso - z_step z_frac, downward.
    height = max(p.z_step + p.lift_x * abs(step_x) + p.lift_y * abs(step_y), 0.0)
    feet[first, 2] = height * lifted_share(t, p.f_g) - p.z_torso
    feet[other, 2] = -p.support_push * np.sin(np.pi * t) - p.z_torso
    return groin


@kernel
def place(
    walks: Records,
    half: Floats,
    phases: Floats,
    swing: Indices,
    step: Floats,
    stability: Floats,
    feet: Floats,
    more: Floats,
) -> None:
    """Where the feet of N robots are to be.

    Args:
        walks: parameters, (N,) records of `PendulumWalkSettings`.
        half: K of each, (N,).
        phases: phi, phi_start and phi_end, (3, N).
        swing: the foot that swings, (N,).
        step: step sizes, (N, 3).
        stability: the share of them that is walked, (N,).
        feet: as the torso sees them, (N, 2, 3) [m]; changed.
        more: the groin's opening [rad] and how high each foot is, as a share, (N, 3); changed.
    """
    for n in range(len(walks)):
        phi = phases[0, n]
        t = fraction(phi, phases[1, n], phases[2, n])
        more[n, 0] = placed(walks[n], half[n], t, phi, swing[n], step[n], stability[n], feet[n])
        more[n, 1 + swing[n]], more[n, 2 - swing[n]] = lifted_share(t, walks[n].f_g), 0.0


@kernel
def advance(
    walks: Records,
    half: Floats,
    steps: Floats,
    wanted: Floats,
    period: float,
    phases: Floats,
    swing: Indices,
    step: Floats,
) -> bool:
    """A cycle of step sizes and phases towards wanted velocities; False, and nothing done, if one is not finite.

    Args:
        walks: parameters, (N,) records.
        half: K of each, (N,).
        steps: lowest and highest step sizes, delta and the largest change for each, (4, N, 3).
        wanted: m/s ahead, m/s to the left, rad/s to the left, (N, 3).
        period: of a cycle [s].
        phases: phi, phi_start and phi_end, (3, N); changed.
        swing: the foot that swings, (N,); changed.
        step: step sizes, (N, 3); changed.
    """
    if not np.isfinite(wanted).all():
        return False
    for n in range(len(walks)):
        phi_length = walks[n].phi_length
        step_time = (phases[2, n] - phases[1, n]) * phi_length
        for i in range(3):
            desired = wanted[n, i] * step_time / (TURN_OF_FEET if i == 2 else 1.0)
            lowest, highest, delta, most = steps[0, n, i], steps[1, n, i], steps[2, n, i], steps[3, n, i]
            step[n, i] = filtered(step[n, i], desired, delta, most, lowest, highest)
        phases[0, n] += period / phi_length  # S3
        if phases[0, n] >= phases[2, n]:
            late = phases[0, n] - phases[2, n]
            phases[1, n], phases[2, n] = exchanged(half[n], phases[2, n])
            phases[0, n] = phases[1, n] + late
            swing[n] = 1 - swing[n]
    return True
