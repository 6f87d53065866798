"""A trot for four legs: diagonal paws swing together while the other two push the body ahead.

    trot = Trot(AiboLegs(table), [TrotSettings()] * worlds.count, period=0.02)
    trot.advance(wanted)                 # (N, 3): m/s ahead, m/s to the left, rad/s to the left
    trot.angles()                        # (N, 4, 3): rotor, elevator, knee of each leg [rad]

A paw on the ground moves back by the distance that the body moves ahead in that time, sideways and turning likewise:
d = -(step + turn x r), where r is its place. A swinging paw returns along half an ellipse or a rectangle. A robot
whose wanted velocity is zero puts its paws down and stands. Everything is over N robots at once, each with parameters
of its own; `TrotWalker` moves robots in simulated worlds with it, `net.openr` one behind OPEN-R. The parameters are
those that teams of the four-legged league searched (Kohl and Stone, 2004: places and heights of the fore and hind
paths, length, lift, time, share on the ground).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.base.settings import Bounded, Bounds
from nutmeg.model.posing import pose_angles
from nutmeg.motion.legs.aibo import FORE_SIGN, LEFT_SIGN, AiboLegs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.motion.bodies import Bodies
    from nutmeg.motion.policy import PolicyWalker
    from nutmeg.motion.walk.walker import Walker


@dataclass(frozen=True, kw_only=True)
class TrotSettings(Bounded):
    """Parameters of the trot; fore and hind legs have their own places, heights and lifts."""

    step_x: Annotated[float, Bounds(0.0, 0.14, "m")] = 0.060
    """Largest displacement of the trunk ahead while a paw is on the ground."""
    step_y: Annotated[float, Bounds(0.0, 0.10, "m")] = 0.040
    """Largest displacement of the trunk aside while a paw is on the ground."""
    step_turn: Annotated[float, Bounds(0.0, 1.0, "rad")] = 0.40
    """Largest turn of the trunk while a paw is on the ground."""
    back_share: Annotated[float, Bounds(0.1, 1.5)] = 1.0
    """Largest displacement backward as a share of `step_x`."""
    frequency: Annotated[float, Bounds(0.5, 3.0, "Hz")] = 1.6
    """Step cycles a second: each of the two pairs swings once in a cycle."""
    duty: Annotated[float, Bounds(0.45, 0.80)] = 0.58
    """Share of a cycle in which a paw is on the ground."""
    lift_fore: Annotated[float, Bounds(0.003, 0.05, "m")] = 0.016
    """Lift of the fore paws."""
    lift_hind: Annotated[float, Bounds(0.003, 0.05, "m")] = 0.021
    """Lift of the hind paws."""
    squareness: Annotated[float, Bounds(0.0, 1.0)] = 0.0
    """Path of a swinging paw: 0 is half an ellipse, 1 a rectangle, values between are between."""
    height_fore: Annotated[float, Bounds(0.070, 0.135, "m")] = 0.100
    """Height of the shoulders above the ground."""
    height_hind: Annotated[float, Bounds(0.070, 0.135, "m")] = 0.100
    """Height of the hips above the ground."""
    ahead_fore: Annotated[float, Bounds(-0.03, 0.08, "m")] = 0.045
    """Distance from the shoulders ahead to the middle of the fore paws' paths."""
    ahead_hind: Annotated[float, Bounds(-0.06, 0.05, "m")] = -0.025
    """Distance from the hips ahead to the middle of the hind paws' paths."""
    width_fore: Annotated[float, Bounds(-0.01, 0.06, "m")] = 0.030
    """Distance of the fore paws outward from the shoulders."""
    width_hind: Annotated[float, Bounds(-0.01, 0.06, "m")] = 0.020
    """Distance of the hind paws outward from the hips."""
    response: Annotated[float, Bounds(0.02, 1.0, "s")] = 0.15
    """Time constant with which steps approach the wanted size."""


TROT_AHEAD_PARAMETERS = (
    *("step_x", "frequency", "duty", "lift_fore", "lift_hind", "squareness", "height_fore", "height_hind"),
    *("ahead_fore", "ahead_hind", "width_fore", "width_hind"),
)
"""The twelve parameters on which a trot straight ahead depends."""
TROT_PARAMETERS = tuple(one.name for one in dataclasses.fields(TrotSettings))


LEG_PHASES = np.array([0.0, 0.5, 0.5, 0.0])
"""Phase of each leg: left fore with right hind, right fore with left hind, (4,)."""
STANDING_ACTIVITY = 1e-3
"""Activity below which a robot stands."""
RISE_SHARE = 0.25
"""Share of the swing in which a paw moves straight up, and straight down again, on a rectangle."""


class Trot:
    """The phases, steps and paws of N trotting robots, in control cycles of `period` [s]."""

    def __init__(self, legs: AiboLegs, trots: Sequence[TrotSettings], *, period: float = 0.02) -> None:
        if not trots:
            raise UsageError("no trot parameters were given; at least one set is needed.")
        self.legs, self.period, self.count = legs, period, len(trots)
        columns = {one.name: [getattr(trot, one.name) for trot in trots] for one in dataclasses.fields(TrotSettings)}
        p = {name: np.array(values, float) for name, values in columns.items()}
        self.frequency, self.duty, self._squareness = p["frequency"], p["duty"], p["squareness"][:, None]
        self._longest = np.stack([p["step_x"], p["step_y"], p["step_turn"]], axis=1)
        self._back = p["step_x"] * p["back_share"]
        self._share = 1 - np.exp(-period / p["response"])[:, None]
        self._lift = _fore_and_hind(p["lift_fore"], p["lift_hind"])
        ahead, aside = (
            _fore_and_hind(p["ahead_fore"], p["ahead_hind"]),
            _fore_and_hind(p["width_fore"], p["width_hind"]),
        )
        up = legs.paw - _fore_and_hind(p["height_fore"], p["height_hind"])
        self.home: Floats = legs.shoulders + np.stack([ahead, aside * LEFT_SIGN, up], axis=-1)
        """Middles of the paws' paths on the ground, from the trunk, (N, 4, 3) [m]."""
        self._slope = (up[:, 1] - up[:, 0]) / (self.home[:, 1, 0] - self.home[:, 0, 0])
        self.swing: Indices = np.zeros(self.count, dtype=np.intp)
        """The pair that swings second: 0 is left fore with right hind, (N,)."""
        self.phase: Floats = np.zeros(self.count)
        """Share of the cycle that is over, 0..1, (N,)."""
        self.step: Floats = np.zeros((self.count, 3))
        """Displacement of the trunk while a paw is on the ground: ahead, left [m], turn to the left [rad], (N, 3)."""
        self.activity: Floats = np.zeros(self.count)
        """0 stands, 1 trots, (N,)."""

    @property
    def step_time(self) -> Floats:
        """Half a cycle, (N,) [s]."""
        return np.asarray(0.5 / self.frequency)

    def top_speed(self) -> Floats:
        """The velocities at which the longest steps are asked for, (N, 3) [m/s, m/s, rad/s]."""
        return np.asarray(self._longest * (self.frequency / self.duty)[:, None])

    def top_speed_back(self) -> Floats:
        """The speed at which the longest steps backward are asked for, (N,) [m/s]."""
        return np.asarray(self._back * self.frequency / self.duty)

    def velocity(self) -> Floats:
        """The velocities of the present steps, if no paw slips, (N, 3) [m/s, m/s, rad/s]."""
        return np.asarray(self.step * (self.frequency / self.duty)[:, None])

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Resets robots to the start of a cycle, standing."""
        rows = np.arange(self.count) if ids is None else np.atleast_1d(np.asarray(ids))
        self.phase[rows], self.step[rows], self.activity[rows] = 0.0, 0.0, 0.0

    def advance(self, wanted: ArrayLike) -> None:
        """One cycle towards wanted velocities, (N, 3) or (3,): m/s ahead, m/s to the left, rad/s to the left."""
        velocity = np.broadcast_to(np.asarray(wanted, float), self.step.shape)
        if not np.isfinite(velocity).all():
            raise UsageError("a wanted velocity is not a number; each must be finite.")
        lowest = -self._longest
        lowest[:, 0] = -self._back
        # A paw is on the ground for duty / frequency seconds; the displacement of the body in that time is a step.
        goal = np.clip(velocity * (self.duty / self.frequency)[:, None], lowest, self._longest)
        moving = velocity.any(axis=1)
        self.step += self._share * (goal - self.step)
        self.activity += self._share[:, 0] * (moving - self.activity)
        # Steps and lifts fade out before a robot stands, so that it does not put its paws down from the air.
        stands = ~moving & (self.activity < STANDING_ACTIVITY)
        self.activity[stands], self.step[stands], self.phase[stands] = 0.0, 0.0, 0.0
        self.phase = np.where(stands, 0.0, (self.phase + self.frequency * self.period) % 1.0)

    def paws(self) -> Floats:
        """Centres of the paws from the trunk, (N, 4, 3) [m]."""
        along, lifted = self._path((self.phase[:, None] + LEG_PHASES + 0.5 * self.swing[:, None]) % 1.0)
        way = along[..., None] / 2 * self._ways()
        # A trunk that is not level sees the ground sloped: paws keep to it on their way.
        up = self._lift * lifted * self.activity[:, None] + self._slope[:, None] * way[..., 0]
        return np.asarray(self.home + np.concatenate([way, up[..., None]], axis=-1))

    def angles(self) -> Floats:
        """Angles of the legs, (N, 4, 3) [rad], always inside the joints' limits."""
        return self.legs.inverse(self.paws())

    def _ways(self) -> Floats:
        """The displacement of each paw over the ground, ahead and to the left, (N, 4, 2) [m]."""
        ahead, left, turn = (self.step[:, None, axis] for axis in range(3))
        return np.stack([ahead - turn * self.home[..., 1], left + turn * self.home[..., 0]], axis=-1)

    def _path(self, phase: Floats) -> tuple[Floats, Floats]:
        """Positions of paws at phases (N, 4): along their paths, from 1 (foremost) to -1, and their lift, 0..1."""
        duty = self.duty[:, None]
        pushed = np.minimum(phase / duty, 1.0)
        swung = np.clip((phase - duty) / (1 - duty), 0.0, 1.0)
        ellipse = -np.cos(np.pi * swung), np.sin(np.pi * swung)
        across = 2 * np.clip((swung - RISE_SHARE) / (1 - 2 * RISE_SHARE), 0.0, 1.0) - 1
        raised = np.minimum(np.minimum(swung, 1 - swung) / RISE_SHARE, 1.0)
        along = ellipse[0] + self._squareness * (across - ellipse[0])
        lifted = ellipse[1] + self._squareness * (raised - ellipse[1])
        on_ground = phase < duty
        return np.where(on_ground, 1 - 2 * pushed, along), np.where(on_ground, 0.0, lifted)


def _fore_and_hind(fore: Floats, hind: Floats) -> Floats:
    """A number for each leg, (N, 4), from those of fore and hind legs, (N,)."""
    return np.where(FORE_SIGN > 0, fore[:, None], hind[:, None])


class TrotWalker:
    """One robot of every world, trotting, without feedback from sensors.

    Neck, mouth, ears and tail stay as in the pose `ready`.

    Args:
        worlds: N worlds with the robot in them.
        robot: its name.
        trots: parameters for each world, or one set for all.
        period: control cycle [s].
    """

    def __init__(self, worlds: Bodies, robot: str, trots: Sequence[TrotSettings], *, period: float = 0.02) -> None:
        if len(trots) not in (1, worlds.count):
            raise UsageError(f"{len(trots)} sets of trot parameters for {worlds.count} worlds; give one, or one each.")
        self._robot = worlds.robot(robot)
        table = self._robot.table
        if set(table.drives) != {"position"}:
            raise UsageError(f"{table.settings.name} is driven by {sorted(set(table.drives))}; a trot needs angles.")
        self.walk = Trot(AiboLegs(table), list(trots) * (worlds.count // len(trots)), period=period)
        self.wanted: Floats = np.zeros((worlds.count, 3))
        """Wanted velocities, (N, 3) [m/s, m/s, rad/s]."""
        self.chosen: Indices = np.zeros(worlds.count, dtype=np.intp)
        """There is one set of parameters: always 0, (N,)."""
        ready = pose_angles(table.settings, table, "ready")[table.motor_joints]
        self._commands = np.tile(ready, (worlds.count, 1))

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Starts again from standing."""
        self.walk.reset(ids)

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """Runs one cycle: advances the steps and sets the commands."""
        self.walk.advance(self.wanted)
        self._commands[:, self.walk.legs.columns] = self.walk.angles()
        self._robot.command = self._commands


SteerableWalker: TypeAlias = "Walker | TrotWalker | PolicyWalker"
"""A walker of any kind: all have `wanted`, `chosen`, `walk`, `reset` and `sample`."""
