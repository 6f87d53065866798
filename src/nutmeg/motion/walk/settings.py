"""Parameters of the pendulum walk: those of table 1 of MacAlpine and others (2012), and further ones.

    walk = PendulumWalkSettings(max_step_x=0.05)    # ValueError if a number is out of its bounds
    walk_records([walk] * 3)                        # (3,) records for compiled code

Each set of parameters in a walk file (`walk.files`) is one `PendulumWalkSettings`. The defaults are a slow walk that
stood 36 runs of 30 s in all directions on `nao-spark`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.base.records import record_values
from nutmeg.base.settings import Bounds, check_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats

EXCHANGE_COSH = 3.0
"""cosh(K phi) at which the pendulums exchange: there y_stance = y_sep / 2."""
FOOT_TURN_RATIO = 0.71
"""Turn of a foot for each radian of its HipYawPitch."""


@dataclass(frozen=True, kw_only=True)
class PendulumWalkSettings:
    """Parameters of the walk engine; names follow the paper where it has one."""

    max_step_x: Annotated[float, Bounds(0.0, 0.25, "m")] = 0.030
    """Longest step forward, and backward times `back_share`."""
    max_step_y: Annotated[float, Bounds(0.0, 0.20, "m")] = 0.025
    """Widest step aside."""
    max_step_turn: Annotated[float, Bounds(0.0, 1.0, "rad")] = 0.15
    """Largest opening of the groin joints while turning."""
    y_shift: Annotated[float, Bounds(0.0, 0.10, "m")] = 0.006
    """Shift of the body towards the supporting foot."""
    z_torso: Annotated[float, Bounds(0.20, 0.45, "m")] = 0.340
    """Height of the torso's origin above the soles."""
    z_step: Annotated[float, Bounds(0.0, 0.12, "m")] = 0.025
    """Lift of the swing foot."""
    f_g: Annotated[float, Bounds(0.0, 0.9)] = 0.10
    """Share of a step that the swing foot stays on the ground before it lifts; f_a = 1 - f_g in the air."""
    f_s: Annotated[float, Bounds(0.0, 0.9)] = 0.10
    """Share of a step before the swing foot starts to move ahead; f_m = 1 - f_s moving."""
    phi_length: Annotated[float, Bounds(0.03, 0.6)] = 0.13
    """Duration scale of a step: a step takes 7.05 phi_length / k seconds, k = sqrt(g / z_torso)."""
    delta: Annotated[float, Bounds(0.0, 1.0)] = 0.10
    """Share of the difference to the wanted step size that is made up for in a cycle."""
    x_offset: Annotated[float, Bounds(-0.10, 0.10, "m")] = -0.022
    """Distance of the feet ahead of the torso's origin."""
    x_factor: Annotated[float, Bounds(-2.0, 2.0)] = 0.0
    """Share of the step size by which the torso leads."""
    err_norm: Annotated[float, Bounds(0.0, 0.3, "m")] = 0.040
    """Error of the centre of mass up to which steps keep their size."""
    err_max: Annotated[float, Bounds(0.001, 0.6, "m")] = 0.100
    """Error of the centre of mass at which the robot walks on the spot."""

    y_sep: Annotated[float, Bounds(0.06, 0.25, "m")] = 0.110
    """Distance between the feet."""
    back_share: Annotated[float, Bounds(0.1, 2.0)] = 1.0
    """Longest step backward as a share of `max_step_x`."""
    side_split: Annotated[float, Bounds(0.0, 1.0)] = 0.5
    """Share of a side step that the leading foot takes; the paper's walk has a half."""
    side_delta: Annotated[float, Bounds(0.05, 5.0)] = 1.0
    """Factor of `delta` for side steps."""
    turn_delta: Annotated[float, Bounds(0.05, 5.0)] = 1.0
    """Factor of `delta` for turning."""
    step_change: Annotated[float, Bounds(0.005, 3.0)] = 3.0
    """Largest change of a step size in a cycle, as a share of the longest step, with the same factors as `delta`;
    with 3 there is no limit, as in the paper."""
    sensing_delay: Annotated[float, Bounds(0.0, 0.2, "s")] = 0.08
    """Time from a command to its effect in the sensors."""
    com_x: Annotated[float, Bounds(-0.05, 0.05, "m")] = 0.0
    """Constant correction of the feet for the centre of mass, ahead."""
    com_y: Annotated[float, Bounds(-0.05, 0.05, "m")] = 0.0
    """Constant correction of the feet for the centre of mass, to the left."""
    tilt: Annotated[float, Bounds(-0.5, 0.5, "rad")] = 0.0
    """Pitch of the torso, positive leans ahead."""
    tilt_x: Annotated[float, Bounds(-5.0, 5.0, "rad/m")] = 0.0
    """Pitch of the torso for each metre of step size ahead."""
    lean_y: Annotated[float, Bounds(-5.0, 5.0, "rad/m")] = 0.0
    """Roll of the torso for each metre of step size aside; positive leans in the direction of the step."""
    gyro_ankle_pitch: Annotated[float, Bounds(-0.5, 0.5, "s")] = 0.0
    """Ankle pitch against each rad/s of the torso's pitch rate."""
    gyro_ankle_roll: Annotated[float, Bounds(-0.5, 0.5, "s")] = 0.0
    """Ankle roll against each rad/s of the torso's roll rate."""
    gyro_hip_pitch: Annotated[float, Bounds(-0.5, 0.5, "s")] = 0.0
    """Hip pitch against each rad/s of the torso's pitch rate."""
    gyro_hip_roll: Annotated[float, Bounds(-0.5, 0.5, "s")] = 0.0
    """Hip roll against each rad/s of the torso's roll rate."""
    gyro_arm: Annotated[float, Bounds(-2.0, 2.0, "s")] = 0.0
    """Both shoulders swing against each rad/s of the torso's pitch rate."""
    gyro_smoothing: Annotated[float, Bounds(0.0, 0.95)] = 0.0
    """Share of the former cycle in the gyro's filtered reading."""
    arm_swing: Annotated[float, Bounds(-10.0, 10.0, "rad/m")] = 0.0
    """Swing of the shoulders for each metre that the feet are apart ahead; an arm goes with the other side's leg."""
    shoulder_pitch: Annotated[float, Bounds(-1.5, 1.5, "rad")] = 0.0
    """Added to the shoulders' pitch in `ready`, positive swings the arms back."""
    shoulder_roll: Annotated[float, Bounds(-0.5, 1.0, "rad")] = 0.0
    """Added to the shoulders' roll in `ready`, positive spreads the arms."""
    foot_pitch: Annotated[float, Bounds(-0.5, 0.5, "rad")] = 0.0
    """Pitch of the swing foot at its highest, positive lowers the toes."""
    foot_roll: Annotated[float, Bounds(-0.3, 0.3, "rad")] = 0.0
    """Roll of the swing foot at its highest, positive lowers its inner edge."""
    lift_x: Annotated[float, Bounds(-1.0, 1.0)] = 0.0
    """Further lift of the foot as a share of the step ahead."""
    lift_y: Annotated[float, Bounds(-1.0, 1.0)] = 0.0
    """Further lift of the foot as a share of the step aside."""
    support_push: Annotated[float, Bounds(-0.03, 0.03, "m")] = 0.0
    """Extension of the supporting leg in the middle of a step."""
    turn_sep: Annotated[float, Bounds(-0.2, 0.2, "m/rad")] = 0.0
    """Further distance between the feet for each radian of turning."""
    joint_gain: Annotated[float, Bounds(0.1, 1.5)] = 1.0
    """Velocity drives: share of a joint's error that is made up for in a cycle."""
    joint_smoothing: Annotated[float, Bounds(0.0, 0.9)] = 0.0
    """Share of the former cycle in the joints' targets."""
    sense_mass: Annotated[float, Bounds(0, 1)] = 0.0
    """Point whose error is the measure of stability: 1 for the centre of mass of all links, as in the paper; 0 for the
    torso's origin, which is never far from it and for which most walks were learned."""
    as_printed: Annotated[float, Bounds(0, 31)] = 0.0
    """Equations that are used as the paper prints them instead of corrected: a sum of `PRINTED_EQUATIONS`."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.err_max <= self.err_norm:
            raise ValueError(f"err_max is {self.err_max:g}; it must be above err_norm, {self.err_norm:g}.")


PRINTED_EQUATIONS = {"exchange": 1, "lift": 2, "side": 4, "ahead": 8, "stability": 16}
"""Numbers of the equations that were corrected, for `PendulumWalkSettings.as_printed`:

- exchange: alpha = 6 - cosh(k - 0.5 phi), phi_start = acosh(alpha) / (k / 2), beginning with -0.5 and 0.5. The printed
  alpha is below 1 for all torsos of a Nao's height, so that phi_start stays -0.5 and the sway jumps at each exchange.
- lift: the foot is up from f_g to f_a, not to f_g + f_a = 1, and comes down at once.
- side: 0.5 (1 + cos(pi u)), which begins with a jump, and for the stance foot alone.
- ahead: -0.5 + s, which ends f_s of a step short of where the stance foot begins.
- stability: steps are scaled by (err - err_norm) / (err_max - err_norm), so that a robot that is stable stands.
"""


PAPER_PARAMETERS = (
    *("max_step_x", "max_step_y", "max_step_turn", "y_shift", "z_torso", "z_step", "f_g", "f_s"),
    *("phi_length", "delta", "x_offset", "x_factor", "err_norm", "err_max"),
)
"""The fourteen parameters that the paper optimises (table 1, starred)."""
EXTENDED_PARAMETERS = (
    *PAPER_PARAMETERS,
    *("y_sep", "side_split", "tilt", "tilt_x", "gyro_ankle_pitch", "gyro_ankle_roll", "gyro_hip_roll"),
    *("shoulder_pitch", "lift_x", "foot_pitch", "back_share"),
)
"""The same and further parameters that make faster walks than the paper's: gyro feedback, leaning, arms."""


def walk_records(walks: Sequence[PendulumWalkSettings]) -> NDArray[np.void]:
    """The parameters of N walks, (N,), as records of `PendulumWalkSettings`."""
    if not walks:
        raise UsageError("no walk parameters were given; at least one set is needed.")
    different = {id(walk): walk for walk in walks}
    row = {key: number for number, key in enumerate(different)}
    rows: NDArray[np.void] = record_values(*different.values())[[row[id(walk)] for walk in walks]]
    return rows


def walk_matrix(records: NDArray[np.void]) -> Floats:
    """Records of walks (N,) as a matrix (N, parameters) of the same memory."""
    return records.view(np.float64).reshape(len(records), -1)
