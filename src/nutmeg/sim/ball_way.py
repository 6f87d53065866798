"""The place where a ball of the league comes to rest if nobody touches it: the equations of `ode_step` for a ball.

    x, y = rest_of_ball(place, velocity, spin)

It takes some microseconds instead of seconds of simulation, so that a kick can be valued as soon as the ball is out of
reach.
"""

from __future__ import annotations

from nutmeg.base.angle_kernels import Quaternion, Vector, rotate
from nutmeg.base.constants import CONTROL_CYCLE, GRAVITY
from nutmeg.base.kernels import kernel
from nutmeg.model.ball import load_ball
from nutmeg.model.ode import BALL_DRAG, BALL_SURFACE, GROUND_SURFACE

_BALL = load_ball("sim3d")
RADIUS, MASS, DAMPING = _BALL.radius, _BALL.mass, _BALL.rolling_damping
INERTIA = 0.4 * MASS * RADIUS**2
ERP, SLIP = (BALL_SURFACE.erp + GROUND_SURFACE.erp) / 2, (BALL_SURFACE.slip + GROUND_SURFACE.slip) / 2
CFM, _BOUNCE, _BOUNCE_SPEED = BALL_SURFACE.cfm, BALL_SURFACE.bounce, BALL_SURFACE.bounce_speed
_DRAG, _SPIN_DRAG = BALL_DRAG
LAYER = 0.001
"""Depth up to which a contact does not push [m]."""
_STEPS_DOWN, _MOST_STEPS = 10, 500
"""Steps in a row on the ground after which a ball is taken to roll; largest number of steps."""


@kernel
def spin_in_world(turn: Quaternion, spin: Vector) -> Vector:
    """The angular velocity in the world's frame of a body with attitude `turn`, from that in its own frame [rad/s]."""
    return rotate(turn, spin)


@kernel
def rest_of_ball(place: Vector, velocity: Vector, spin: Vector) -> tuple[float, float]:
    """The place (x, y) at which a ball comes to rest [m], from place, velocity and spin in the world's frame."""
    h = CONTROL_CYCLE
    x, y, z = place
    vx, vy, vz = velocity
    sx, sy, _ = spin
    down = 0
    for _ in range(_MOST_STEPS):
        # One step of the engine in its order: contact from the old place, drag and gravity, contact forces, then the
        # move.
        depth, met = RADIUS - z, -vz
        slower, stiller = 1.0 - h * _DRAG / MASS, 1.0 - h * _SPIN_DRAG / INERTIA
        vx, vy, vz = vx * slower, vy * slower, vz * slower - h * GRAVITY
        sx, sy = sx * stiller, sy * stiller
        down = down + 1 if depth >= 0.0 else 0
        if depth >= 0.0:
            wanted = ERP * max(depth - LAYER, 0.0) / h
            if met > _BOUNCE_SPEED:
                wanted = max(wanted, _BOUNCE * met)
            # The normal row of `ode_step`: the speed after the step is wanted minus softness times force, and the force
            # does not pull.
            vz += max((wanted - vz) / (h / MASS + CFM), 0.0) * h / MASS
            # Friction slows the lowest point of the ball; it is a soft constraint without a limit.
            give = h * (1.0 / MASS + RADIUS * RADIUS / INERTIA) + SLIP
            fx, fy = -(vx - RADIUS * sy) / give, -(vy + RADIUS * sx) / give
            vx, vy = vx + h * fx / MASS, vy + h * fy / MASS
            sx, sy = sx + h * RADIUS * fy / INERTIA, sy - h * RADIUS * fx / INERTIA
        x, y, z = x + h * vx, y + h * vy, z + h * vz
        # A rolling ball slows down exponentially: the rest of its way is known.
        if down >= _STEPS_DOWN:
            break
    return x + vx / DAMPING, y + vy / DAMPING
