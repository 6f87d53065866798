"""The two sonars in the chest of every player of a physical match, where the match has them; the league has none.

    sonars = Sonars(world, rng)
    sonars.listen()
    sonars.answers[slot]        # (left, right), m; NaN where nothing answers

Cones, range and noise are those of the behavioural world: the table `[sonar]` of the eyes that are named after the
league's robot. Rays are cast in the engine as for every sonar (`sim.sensing`), from the middle of the torso, so that
distances begin at the axis of the robot in both worlds. What answers is what stands there: other robots, posts and the
crossbar. The cone of an upright robot passes over the ball and over robots that lie; the ground is met too obliquely to
answer. The robot itself is left out, and so are nets, which are boxes for the engine, but mostly holes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.constants import BEHAVIOURAL_CYCLE, CONTROL_CYCLE
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.match.worlds.behavioural.sonar import LEFT_SONAR, answer
from nutmeg.match.worlds.physical.percept import ROBOT
from nutmeg.model.posing import standing
from nutmeg.model.robot import load_robot
from nutmeg.sim.sensing import SOLID_GROUPS, cone_rays, nearest_echo

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.match.worlds.physical.world import MatchWorld

SONAR_CYCLES = round(BEHAVIOURAL_CYCLE / CONTROL_CYCLE)
"""Cycles between two measurements: ten a second, as in the behavioural world and on a Nao."""
_SILENT_GROUP = 5
"""A group of geoms in which nothing echoes."""
_BODY_REACH = 0.6  # no part of a robot is farther from the middle of its torso [m]


class Sonars:
    """The sonars of all players of a match.

    Args:
        world: the robots.
        noise: random generator of the noise; None for perfect sonars.
    """

    def __init__(self, world: MatchWorld, noise: np.random.Generator | None = None) -> None:
        self.settings = load_eyes(ROBOT).sonar
        """Cones, range and noise."""
        self.answers: Floats = np.full((SLOTS, 2), np.nan)
        """(22, 2) the last distances to the left and to the right, m; NaN where nothing answers."""
        self._world, self._noise = world, noise
        self._height = self.settings.height - standing(load_robot(ROBOT), "zero").height
        self._rays = _rays(math.radians(self.settings.angle_degrees), math.radians(self.settings.opening_degrees))
        self._goal_width = world.field.goal.inner_width if world.field.goal is not None else -math.inf
        model = world.ground.world.model
        nets = [geom for geom in range(model.ngeom) if "/net_" in model.geom(geom).name]
        model.geom_group[nets] = _SILENT_GROUP

    def listen(self) -> None:
        """Measures with all sonars."""
        # Noise is drawn for all slots, so that the noise of a player does not depend on who else plays.
        noise = np.zeros((SLOTS, 2)) if self._noise is None else self._noise.standard_normal((SLOTS, 2))
        self.answers.fill(np.nan)
        for slot in self._world.playing[self._near_something()].tolist():
            for side, distance in enumerate(self._cast(slot).tolist()):
                self.answers[slot, side] = answer(
                    distance, noise[slot, side], self.settings.nearest, self.settings.farthest, self.settings.noise
                )

    def _near_something(self) -> Bools:
        """(A,) which players are near another one or a goal; rays of the others, most of the players, meet nothing."""
        ground, world, reach = self._world.ground, self._world, self.settings.farthest + _BODY_REACH
        places = ground.world.data.xpos[ground.seats["torso"][world.seat_of[world.playing]], :2]
        apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
        np.fill_diagonal(apart, np.inf)
        beyond = np.abs(places) - (world.field.length / 2, self._goal_width / 2)
        near: Bools = (apart.min(axis=1) < reach) | ((np.abs(beyond[:, 0]) < reach) & (beyond[:, 1] < reach))
        return near

    def _cast(self, slot: int) -> Floats:
        """(2,) distances of the nearest echoes to the left and to the right of a player, m; infinite without one."""
        ground, seat = self._world.ground, int(self._world.seat_of[slot])
        model, data, torso = ground.world.model, ground.world.data, int(ground.seats["torso"][seat])
        turn = data.xmat[torso].reshape(3, 3)
        start = data.xpos[torso] + self._height * turn[:, 2]
        rays = self._rays @ turn.T
        flat = rays.reshape(-1, 3)
        found, normals, hit = np.empty(len(flat)), np.empty(flat.shape), np.empty(len(flat), np.int32)
        own, farthest = ground.rows[seat]["geom"], self.settings.farthest
        group = model.geom_group[own].copy()
        model.geom_group[own] = _SILENT_GROUP
        mujoco.mj_multiRay(
            model, data, start, flat.ravel(), SOLID_GROUPS, 1, -1, hit, found, normals.ravel(), len(flat), farthest
        )
        model.geom_group[own] = group
        return nearest_echo(rays, found.reshape(rays.shape[:2]), normals.reshape(rays.shape))

    def swap_ends(self) -> None:
        """Lets measurements follow their players to the other side."""
        self.answers = np.roll(self.answers, SLOTS // 2, axis=0)


def _rays(angle: float, opening: float) -> Floats:
    """(2, rays, 3) unit vectors in the torso's frame (x ahead) that fill the cones of the left and the right sonar."""
    cone = cone_rays(opening)
    turned = np.empty((2, *cone.shape))
    for side in range(2):
        way = angle if side == LEFT_SONAR else -angle
        c, s = math.cos(way), math.sin(way)
        turned[side] = cone @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    return turned
