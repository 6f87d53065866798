"""Balls as data, and their place in a scene.

A ball is a TOML file under `data/balls/` (or a user's own): size, mass, how it rolls, how it bounces, how it
looks, and where each number comes from.

    ball = load_ball("spl-foam")
    add_ball(spec, ball, (0.0, 0.0, ball.radius))

**Rolling.** People measure the deceleration `a` of a rolling ball, MuJoCo wants a rolling coefficient `mu_r`
(metres): a resisting torque of at most `mu_r N`. With the inertia `I = c m r^2` (c = 2/5 solid, 2/3 hollow), the
traction `F` slows the ball, `m a = F`, and spins it up; the resisting torque `T` slows the spin, `I a / r = T - F r`.
Hence `T = m a r (1 + c)`, and with `N = m g`: `mu_r = a r (1 + c) / g`. An elliptic cone shares the normal force
between sliding and rolling, `(F / mu N)^2 + (T / mu_r N)^2 <= 1`, hence

    mu_r = a r (1 + c) / sqrt(g^2 - (a / mu)^2)          elliptic                                            (1)
    mu_r = a r (1 + c) / (g - a / mu)                    pyramidal                                           (1')

A ball that rolls at speed `v` then stops after `v^2 / 2a`. Play with elliptic cones: a pyramidal one brakes only
the faster of two axes, which bends the path of a rolling ball by up to 12 degrees and lets it roll 1.4 times as far
along a diagonal; (1') holds along x and y. The cone of the scene must be set before the ball is added. The impedance
is a constant 0.99: at 0.9 friction creeps, and a ball of 0.5 m/s rolls a tenth too far.

**Bouncing.** The contact is a spring and damper of frequency `w` and damping ratio `z = sin p`; it lets go when its
force vanishes, after `(pi - 2p) / (w cos p)`, which gives the restitution

    e = exp(-(pi - 2p) tan p)                                                                                (2)

The half period `pi / (w cos p)` is `contact_time`, but at least five steps, below which a spring gains energy. The
step of the scene must hence be set before the ball is added. MuJoCo applies the damper `b` explicitly, which takes
out too much (`(1 - exp(-b dt)) / dt` would be right), and the spring at its first touch too little; half the
correction makes the mean right. Single bounces scatter with the phase of the step they start in: in height by 5,
12, 20 and 25 % (standard deviation) at steps of 1, 2, 4 and 5 ms. A ball at rest hops by less than a step's fall.

**Combination.** MuJoCo takes friction, softness and dimension of a contact from the geom of the higher `priority`;
the ball has 2, soles 1, the carpet 0: touching anything but a goal, all numbers are the ball's own.

**Drag.** `rolling_damping` becomes damping of the free joint, which has one number for all six freedoms; its effect
on the flight is negligible. A ball that is braked in the air as well needs two numbers; it moves on three slides and
a ball joint, each with its own damping, whose coordinates are those of a free joint: x y z, then the quaternion.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import mujoco
import numpy as np

from nutmeg.base.constants import GRAVITY
from nutmeg.base.settings import Bounds, above, at_least, check_bounds, names_in, read_named

if TYPE_CHECKING:
    from collections.abc import Sequence

BALLS_FOLDER = Path(__file__).parent / "data" / "balls"
INERTIA_FACTORS = {"solid": 2 / 5, "hollow": 2 / 3}
BALL_PRIORITY = 2
BALL_IMPEDANCE = (0.99, 0.99, 0.001, 0.5, 2.0)
STEPS_PER_CONTACT = 5
LOWEST_RESTITUTION = 0.15  # equation (2) ends at exp(-2), the critically damped contact


@dataclass(frozen=True, kw_only=True)
class EngineContact:
    """A ball's contact numbers for MuJoCo, for leagues whose server is MuJoCo; they replace all derived numbers."""

    friction: tuple[float, float, float]
    """Sliding coefficient; torsional and rolling coefficients [m]."""
    solref: tuple[float, float]
    """MuJoCo's contact reference: time constant and damping ratio, or negated stiffness and damping."""
    solimp: tuple[float, float, float, float, float] = (0.9, 0.95, 0.001, 0.5, 2.0)
    """MuJoCo's contact impedance."""
    priority: int = BALL_PRIORITY
    """MuJoCo's contact priority: of two touching shapes, the one with the higher priority sets the contact numbers."""


@dataclass(frozen=True, kw_only=True)
class BallSettings:
    """A ball; `source` says where each number comes from."""

    name: str
    """The name it is called by, that of its file."""
    radius: Annotated[float, above(0, "m")]
    """Radius [m]."""
    mass: Annotated[float, above(0, "kg")]
    """Mass [kg]."""
    inertia: Literal["solid", "hollow"]
    """A solid sphere (2/5 m r^2) or a thin shell (2/3 m r^2)."""
    rolling_deceleration: Annotated[float, at_least(0, "m/s²")]
    """Deceleration of the rolling ball on its carpet that does not depend on its speed [m/s²]."""
    rolling_damping: Annotated[float, at_least(0, "1/s")] = 0.0
    """Deceleration of the rolling ball for each m/s of its speed [1/s]."""
    air_drag: Annotated[float, at_least(0, "1/s")] = 0.0
    """Deceleration of the flying ball for each m/s of its speed [1/s]."""
    restitution: Annotated[float, Bounds(LOWEST_RESTITUTION, 1, without_high=True)]
    """Speed after a bounce over speed before it, 0.15 to 1."""
    contact_time: Annotated[float, above(0, "s")]
    """Half period of the contact [s]: the softness of the ball."""
    friction: tuple[Annotated[float, at_least(0)], Annotated[float, at_least(0, "m")]]
    """Sliding coefficient, and torsional coefficient [m]."""
    colour: tuple[float, float, float]
    """Red, green, blue, 0 to 1."""
    pattern: Literal["plain", "patches"] = "plain"
    """Whether the ball has twelve patches, which show how it turns."""
    patch_colour: tuple[float, float, float] = (0.05, 0.05, 0.06)
    """Colour of the patches."""
    engine: EngineContact | None = None
    """Contact numbers of a league whose server is MuJoCo; `restitution`, `contact_time`, `rolling_deceleration` and
    `friction` then describe the ball for people and for the behavioural world alone."""
    source: Mapping[str, str] = field(default_factory=dict)
    """Source of each number."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.rolling_deceleration >= self.friction[0] * GRAVITY:
            raise ValueError("rolling_deceleration exceeds what sliding friction can give (friction[0] * 9.81).")

    @property
    def inertia_factor(self) -> float:
        """The moment of inertia over m r^2."""
        return INERTIA_FACTORS[self.inertia]

    def rolling_coefficient(self, cone: mujoco.mjtCone) -> float:
        """MuJoCo's rolling friction [m]: equation (1) or (1')."""
        traction = self.rolling_deceleration / self.friction[0]
        torque = self.rolling_deceleration * self.radius * (1 + self.inertia_factor)
        if cone == mujoco.mjtCone.mjCONE_ELLIPTIC:
            return torque / math.sqrt(GRAVITY**2 - traction**2)
        return torque / (GRAVITY - traction)

    def contact(self, step: float) -> tuple[float, float]:
        """MuJoCo's `solref` (direct form: minus stiffness, minus damping, per unit mass) at a time step [s]."""
        ratio = damping_ratio(self.restitution)
        half_period = max(self.contact_time, STEPS_PER_CONTACT * step)
        frequency = math.pi / half_period / math.sqrt(1 - ratio**2)
        damping = 2 * ratio * frequency
        explicit = -math.expm1(-damping * step) / step
        return -(frequency**2), -(damping + explicit) / 2

    def damping(self) -> tuple[float, float]:
        """Damping of the ball's translation [N s/m] and rotation [N m s/rad] that give both drags."""
        linear = self.mass * self.air_drag
        rolling = self.mass * (1 + self.inertia_factor) * self.rolling_damping
        return linear, max(0.0, rolling - linear) * self.radius**2


def damping_ratio(restitution: float) -> float:
    """The damping ratio of a contact with that restitution: equation (2), solved by bisection."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        if math.exp(-(math.pi - 2 * middle) * math.tan(middle)) > restitution:
            low = middle
        else:
            high = middle
    return math.sin(low)


def ball_names() -> list[str]:
    """The balls that come with Nutmeg."""
    return names_in(BALLS_FOLDER)


def load_ball(name: str | Path) -> BallSettings:
    """The ball of that name, or of a user's own file (a path ending in `.toml`)."""
    return read_named(name, BALLS_FOLDER, BallSettings, "ball")


def add_ball(
    spec: mujoco.MjSpec, ball: BallSettings, pos: Sequence[float], name: str = "ball", *, visuals: bool = True
) -> None:
    """Adds a body with a joint `<name>/root`; `pos` is its centre [m]. Set timestep and cone of the scene before."""
    body = spec.worldbody.add_body(name=name, pos=list(pos))
    _add_freedom(body, ball, pos, name)
    body.explicitinertial = True
    body.ipos = [0, 0, 0]  # without it, MuJoCo adds `pos` to the centre of mass once more
    body.mass = ball.mass
    body.inertia = [ball.inertia_factor * ball.mass * ball.radius**2] * 3
    contact = ball.engine or EngineContact(
        friction=(*ball.friction, ball.rolling_coefficient(spec.option.cone)),
        solref=ball.contact(spec.option.timestep),
        solimp=BALL_IMPEDANCE,
    )
    body.add_geom(
        name=f"{name}/skin",
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[ball.radius, 0, 0],
        mass=0,
        condim=6,
        priority=contact.priority,
        friction=list(contact.friction),
        solref=list(contact.solref),
        solimp=list(contact.solimp),
        rgba=[*ball.colour, 1],
        group=0,
    )
    if visuals and ball.pattern == "patches":
        _add_patches(body, ball, name)


def _add_freedom(body: mujoco.MjsBody, ball: BallSettings, pos: Sequence[float], name: str) -> None:
    """Adds the joints of the ball with their damping; they have seven coordinates either way."""
    if not ball.air_drag:
        joint = body.add_freejoint(name=f"{name}/root")
        rolling = ball.mass * (1 + ball.inertia_factor) * ball.rolling_damping
        joint.damping[0] = rolling / (1 + 1 / ball.radius**2)
        return
    linear, angular = ball.damping()
    for axis, (label, start) in enumerate(zip("xyz", pos, strict=True)):
        slide = body.add_joint(name=f"{name}/{label}", type=mujoco.mjtJoint.mjJNT_SLIDE)
        slide.axis = [float(axis == other) for other in range(3)]
        slide.ref, slide.damping[0] = start, linear
    body.add_joint(name=f"{name}/root", type=mujoco.mjtJoint.mjJNT_BALL).damping[0] = angular


def _add_patches(body: mujoco.MjsBody, ball: BallSettings, name: str) -> None:
    """Twelve spherical caps at the corners of an icosahedron, 20 degrees wide, standing out by 1 %."""
    golden = (1 + math.sqrt(5)) / 2
    corners = [(0.0, a, b * golden) for a in (-1, 1) for b in (-1, 1)]
    corners = [tuple(np.roll(corner, shift)) for shift in range(3) for corner in corners]
    size, out = 0.85 * ball.radius, 0.16 * ball.radius
    for number, corner in enumerate(corners):
        direction = np.array(corner) / math.hypot(1, golden)
        body.add_geom(
            name=f"{name}/patch{number}",
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[size, 0, 0],
            pos=(out * direction).tolist(),
            mass=0,
            contype=0,
            conaffinity=0,
            rgba=[*ball.patch_colour, 1],
            group=1,
        )
