"""How the ball bounces in steps of 20 ms: in one step, off the ground and off players, who may be faster than the ball.

    bounce(...)                 # between the halves of a step, see `MatchWorld`

A bounce takes a few milliseconds, so no spring can carry it out in such steps; the engine's contact only stops the
ball, and what is left to do is done here, as the league's engine (ODE) does it: a ball that meets something with a
velocity `v` along the contact's normal leaves with `e v`, if `v` is above 0.8 m/s (ball.rsg of rcssserver3d: bounce
0.8, from 0.8 m/s on). The ground is met when the ball is in it. A swinging foot moves by more than the ball's radius in
a step, and where it would be found inside the ball is a matter of luck; so a player meets the ball in the step in which
they would touch, with the normal from before. The ball has 0.026 kg and a player 4.6: what a player loses by it is
left out. As in `motion.leg_kernels`, the machine code is kept beside this file or in the user's cache.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.compiled import kernel
from nutmeg.match.world_kernels import BALL_OWNER

if TYPE_CHECKING:
    import mujoco
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Ints
    from nutmeg.body.ball import BallSettings


SLOWEST = 0.8
"""Slower balls do not bounce [m/s]."""
REACH = 0.1
"""Things nearer to the ball than this are looked at before they touch it [m]: a foot at 5 m/s."""
DRAGGED = 0.257
"""Of a player's speed across the normal, what the ball is given: friction is unlimited there, but turns the ball
(3.5 / 0.026 kg against the slip 0.3 / 0.02 s, the mean of ball.rsg and touchperceptorhandler.rsg)."""
DEPTH_SHARE = 0.5
"""Of the depth of a contact, taken out in a step: the league's ERP (ball.rsg)."""

AIR_DRAG = 0.385
"""The league's linear drag, 0.01 N s/m (ball.rsg), over 0.026 kg; recorded flights lose 0.35 to 0.55 1/s between
bounces. The ball's file has 0.9 1/s, which makes good for bounces in shorter steps [1/s]."""
IMPEDANCE = 0.96
"""Of the engine's contact. With the match's ratio of frictions, a ball that lands is slowed down and turned as in
recorded kicks: let go as recorded, it is within 5 cm of them all the way."""


def contact_numbers(step: float) -> tuple[float, float]:
    """The engine's `solref` of a ball that is stopped within a step and pushed out of what it is in."""
    return -DEPTH_SHARE / step**2, -1.0 / step


def prepare_ball(model: mujoco.MjModel, ball: BallSettings, rate: int) -> None:
    """Gives the ball of a model, whose velocities begin at `rate`, the numbers that go with `bounce`."""
    skin = model.geom("ball/skin").id
    model.geom_gap[skin] = REACH
    model.geom_solref[skin], model.geom_solimp[skin, :2] = contact_numbers(model.opt.timestep), IMPEDANCE
    linear, angular = replace(ball, air_drag=AIR_DRAG).damping()
    model.dof_damping[rate : rate + 3], model.dof_damping[rate + 3 : rate + 6] = linear, angular


@kernel
def bounce(
    geoms: NDArray[np.int32],
    places: Floats,
    frames: Floats,
    depths: Floats,
    owner: Ints,
    geom_body: NDArray[np.int32],
    root_of: NDArray[np.int32],
    velocities: Floats,
    centres: Floats,
    slot_of: Ints,
    restitution: float,
    step: float,
    place: Floats,
    velocity: Floats,
    touches: Bools,
) -> None:
    """Changes the ball's place (3,) and velocity (3,) after a step, from the K contacts of the state before it.

    `velocities` (bodies, 6) turn and translation about `centres` (bodies, 3) of the trees, both from before the step.
    """
    for k in range(len(geoms)):
        ball_first = owner[geoms[k, 0]] == BALL_OWNER
        if not ball_first and owner[geoms[k, 1]] != BALL_OWNER:
            continue
        ball, other = (geoms[k, 0], geoms[k, 1]) if ball_first else (geoms[k, 1], geoms[k, 0])
        normal = frames[k, :3] * (-1.0 if ball_first else 1.0)  # towards the ball
        theirs = _velocity(geom_body[other], root_of, velocities, centres, places[k])
        before = _velocity(geom_body[ball], root_of, velocities, centres, places[k])
        meeting = ((theirs - before) * normal).sum()
        seat = owner[other]
        touch = depths[k] < (meeting * step if seat >= 0 else 0.0)
        if not touch or meeting < SLOWEST:
            continue
        missing = ((theirs - velocity) * normal).sum() + restitution * meeting
        if missing > 0.0:
            change = missing * normal
            if seat >= 0:
                change += DRAGGED * (theirs - before - meeting * normal)
            velocity += change
            place += change * step
        if seat >= 0 and slot_of[seat] >= 0:
            touches[slot_of[seat]] = True


@kernel
def _velocity(body: int, root_of: NDArray[np.int32], velocities: Floats, centres: Floats, place: Floats) -> Floats:
    """Of a body's point, (3,) m/s."""
    lever = place - centres[root_of[body]]
    return velocities[body, 3:] + np.cross(velocities[body, :3], lever)
