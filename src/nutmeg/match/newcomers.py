"""Players that join a match: their percepts before they have a number, and their places when they enter.

    newcomers = Newcomers(rules, seeing)
    percept = newcomers.percept(world, view, time=0.04, teams=("reds", ""), robot_type=0, percepts=2)
    x, y, heading = newcomers.next_place(Side.LEFT)

rcssserver3d creates a robot when an agent asks for one with `(scene ...)`: in the middle of the pitch, with its head
1.65 m above the ground and all joints at zero. The robot falls until `(init ...)` takes it to its team; its camera
sends an image with the first percept and then every third. Here that robot is not part of the physics, because robots
that are created inside each other stall the original for seconds. Its fall is computed, and afterwards it stands still.
tests/net/data/joining.txt.gz is a recording of it.

Players that enter stand in a column in front of their own goal line, in the order in which they come: the first one
two radii from the corner, each further one three radii farther along the line.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE, GRAVITY
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.physical.ground import TOED_TYPE
from nutmeg.match.worlds.physical.percept import WITH_TOES, WITHOUT_TOES, Percept
from nutmeg.match.worlds.physical.vision import IMAGE_CYCLES

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.worlds.physical.percept import GameView, Sight
    from nutmeg.match.worlds.physical.vision import Seeing
    from nutmeg.match.worlds.physical.world import MatchWorld

_HEAD_PLACE = (0.0, -1.0)
"""Where a robot is created: x and y of its head [m]."""
_HEAD_HEIGHT = 1.654
"""Height of the head where the fall begins [m]; fitted to the recording, within 1 cm."""
_STANDING_HEIGHT = 0.54
"""Height of the head of a robot that stands with all joints at zero [m]."""
DAMPING = 0.001
"""Part of its velocity that a robot loses in each cycle: 23 bodies with a drag of 0.01 N s/m each (dragcontroller.rsg)
have 4.6 kg."""
_CYCLES_BEFORE = 2
"""Cycles for which a robot has fallen when its agent gets the first percept."""
_LOOKING_ALONG_Y = np.array([[0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
_SLOT = 0  # the slot whose camera all newcomers share; they see as the left team sees


class Newcomers:
    """Players that join a match.

    Args:
        rules: the rule book, whose player radius is the unit of the column in which players wait.
        seeing: the cameras of newcomers, apart from those of the players.
    """

    def __init__(self, rules: Rules, seeing: Seeing) -> None:
        self._pitch, self._radius = rules.pitch, rules.restarts.player_radius
        self._seeing = seeing
        self._seeing.greet(_SLOT)
        corner = self._pitch.length / 2 - 2 * self._radius
        self._next = {Side.LEFT: (-corner, self._first_y), Side.RIGHT: (corner, self._first_y)}

    @property
    def _first_y(self) -> float:
        return self._pitch.width / 2 - 2 * self._radius

    def next_place(self, side: Side) -> tuple[float, float, float]:
        """Where the next player of a side is put: x, y [m] and heading [rad]; every call gives another place."""
        x, y = self._next[side]
        below = y - 3 * self._radius
        # The next column begins farther to the right for both sides, as on the league's server.
        full = below < -self._pitch.width / 2
        self._next[side] = (x + 2 * self._radius, self._first_y) if full else (x, below)
        return x, y, 0.0 if side is Side.LEFT else math.pi

    def percept(
        self, world: MatchWorld, view: GameView, *, time: float, teams: tuple[str, str], robot_type: int, percepts: int
    ) -> Percept:
        """The percept of an agent that has a robot, but no team and number yet.

        Args:
            world: the world that its camera sees.
            view: play mode, time and score.
            time: time of the server [s].
            teams: names of the teams.
            robot_type: 0 to 4.
            percepts: number of its percepts since it asked for its robot.
        """
        joints, feet = (WITH_TOES, 4) if robot_type == TOED_TYPE else (WITHOUT_TOES, 2)
        height = _head_height(percepts)
        falls = height > _STANDING_HEIGHT
        # An accelerometer in free fall measures nothing but the damping, which is proportional to the velocity.
        measured = DAMPING * GRAVITY * percepts if falls else GRAVITY
        return Percept(
            time=time,
            game=view,
            gyro=np.zeros(3),
            acc=np.array([0.0, 0.0, measured]),
            angles=np.zeros(joints),
            forces=np.full((feet, 6), np.nan),
            sight=self._look(world, teams, height) if percepts % IMAGE_CYCLES == 0 else None,
        )

    def _look(self, world: MatchWorld, teams: tuple[str, str], height: float) -> Sight:
        with_newcomer = cast("MatchWorld", _WithNewcomer(world, np.array([[*_HEAD_PLACE, height]])))
        return self._seeing.look(with_newcomer, teams)[_SLOT]


def _head_height(percepts: int) -> float:
    """Height of a newcomer's head after a number of percepts [m]: free fall with damping, then standing."""
    height, speed = _HEAD_HEIGHT, 0.0
    for _ in range(percepts + _CYCLES_BEFORE):
        speed = (speed + GRAVITY * CONTROL_CYCLE) * (1.0 - DAMPING)
        height -= speed * CONTROL_CYCLE
        if height <= _STANDING_HEIGHT:
            return _STANDING_HEIGHT
    return height


class _WithNewcomer:
    """A world with one more player for the cameras: a head without a body, which other cameras do not see."""

    def __init__(self, world: MatchWorld, head: Floats) -> None:
        places, turns, parts = world.parts()
        row = np.full((1, parts.shape[1]), len(places), parts.dtype)
        self.ball = world.ball
        self.playing: Ints = np.append(world.playing, np.array([_SLOT], world.playing.dtype))
        self._parts = np.vstack([places, head]), np.vstack([turns, _LOOKING_ALONG_Y]), np.vstack([parts, row])

    def parts(self) -> tuple[Floats, Floats, Ints]:
        """As `MatchWorld.parts`, with the newcomer in the last row."""
        return self._parts
