"""Dribbling: a network that steers a walk so that the robot brings the ball into a wanted direction.

    dribbling = read_dribbling(Path("runs/train-dribble-nao-spark-type0-1"))    # the folder of `nutmeg train dribble`
    dribbler = Dribbler(walker, dribbling, kind="type0")                        # a `PolicyWalker` of N robots
    walker.wanted[:] = dribbler.velocities(ball, ball_velocity, direction)      # once a cycle, before walker.sample

Players of a match dribble by it with the strategy `network-dribbles` (`match.players.limbs`).

Gait and balance are those of the walk: the network only chooses the velocity that the walk is asked for, anew every
`DECISION_CYCLES` cycles. It does so by correcting a simple rule, that of the tactics: walk through the ball into the
wanted direction, faster to the side the farther the ball lies there, and turn towards it. The network observes place
and velocity of the ball and the wanted direction in the robot's frame, its last correction, the velocity that the walk
should have by now, the walk's clock, gyro and upward direction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import FileError, UsageError
from nutmeg.base.settings import check_bounds, read, toml_text
from nutmeg.motion.policy import MirrorImage, network_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats, Floats32
    from nutmeg.motion.policy import Network, PolicyWalker

FORMAT = 1
FILE = "dribble.toml"
"""The file of a dribbling in its folder."""
SHIPPED_FOLDER = Path(__file__).parent / "data" / "dribble"
"""The folder of the dribblings that come with Nutmeg, each in a folder with the name of its walk."""
DECISION_CYCLES = 4
"""Cycles from one decision of the network to the next."""
SIGNS = (1, -1, 1, -1, 1, -1, 1, -1, -1, 1, -1, -1, -1, -1, -1, 1, -1, 1, -1, 1)
"""Signs of the observation in a mirror."""
ACTION_SIGNS = (1, -1, -1)
"""Signs of the action in a mirror: velocity ahead, aside and turn."""
MAX_BALL_DISTANCE, MAX_BALL_SPEED = 2.0, 3.0
"""Limits of the observed place [m] and velocity [m/s] of the ball along each axis."""
REACH = (0.3, 0.5, 0.3)
"""By which share of the highest velocities ahead, aside and in turning an action of 1 corrects the rule."""
AHEAD_OF_BALL, ASIDE_GAIN, TURN_GAIN = 0.25, 2.0, 2.0
"""The rule heads for a point that lies so far beyond the ball [m], corrects sideward errors by this factor faster than
that alone would, and turns by this rate for each radian [1/s]."""


@dataclass(frozen=True, kw_only=True)
class Dribbling:
    """A dribbling as its file has it."""

    format: int = FORMAT
    """Version of this file format, 1."""
    robot: str
    """The robot that it is for."""
    walk: str = "policy"
    """The walk that it steers."""
    weights: Mapping[str, str]
    """The file of the network for each type of the robot, in its folder."""
    about: str = ""
    """Origin of the network, in a sentence."""
    folder: str = field(default="", compare=False)
    """Its folder; not written into the file."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.format != FORMAT:
            raise ValueError(f"has format {self.format}; this version of Nutmeg reads format {FORMAT}.")


def read_dribbling(folder: Path) -> Dribbling:
    """The dribbling in a folder."""
    return dataclasses.replace(read(folder / FILE, Dribbling), folder=str(folder))


def own_dribbling(folders: Sequence[Path], robot: str, walk: str, kind: str) -> Dribbling | None:
    """The dribbling of a robot of some type with a walk: that of the first folder that has one, or the shipped one."""
    for _, dribbling in _dribblings_in((*folders, SHIPPED_FOLDER / walk)):
        if (dribbling.robot, dribbling.walk) == (robot, walk) and kind in dribbling.weights:
            return dribbling
    return None


def check_dribblings(folders: Sequence[Path], robot: str, walk: str, kinds: Sequence[str]) -> None:
    """Refuses folders with a dribbling for another robot or walk, or for none of these types of the robot."""
    for path, dribbling in _dribblings_in(folders):
        for what, found, needed in (("robot", dribbling.robot, robot), ("walk", dribbling.walk, walk)):
            if found != needed:
                raise FileError(path, f"dribbles with the {what} {found!r}; these players have {needed!r}.")
        played = [kind for kind in dict.fromkeys(kinds) if kind in dribbling.weights]
        if not played:
            raise UsageError(
                f"{path}: its network is for {', '.join(dribbling.weights)}, but the robots of these players are of "
                f"{', '.join(dict.fromkeys(kinds))}. Train it for one of these types."
            )
        for kind in played:
            network_of(dribbling.weights, dribbling.folder, kind, "dribbling")  # now, and not in the middle of a match


def _dribblings_in(folders: Sequence[Path]) -> Iterator[tuple[Path, Dribbling]]:
    """The dribblings in those of some folders that have one, with their files."""
    for folder in folders:
        if (folder / FILE).exists():
            yield folder / FILE, read_dribbling(folder)


def dribbling_text(dribbling: Dribbling) -> str:
    """A dribbling as the text of its file."""
    return toml_text({name: value for name, value in dataclasses.asdict(dribbling).items() if name != "folder"})


def mirror_of_dribbling() -> MirrorImage:
    """Mirror images of observations and actions."""
    seen, done = np.array(SIGNS, np.float32), np.array(ACTION_SIGNS, np.float32)
    return MirrorImage(np.arange(len(seen)), seen, np.arange(len(done)), done, exists=True)


def observe_dribbling(
    walker: PolicyWalker, ball: Floats, ball_velocity: Floats, direction: Floats, last: Floats
) -> Floats32:
    """What the networks of N robots see, (N, 20).

    Args:
        walker: the walk.
        ball: place of the ball in the robots' frames, (N, 2) [m].
        ball_velocity: its velocity over the ground in these frames, (N, 2) [m/s].
        direction: wanted direction of the ball in these frames, (N,) [rad].
        last: the last actions, (N, 3).
    """
    states, turn = walker.states, 2.0 * np.pi * walker.states["clock"]
    steps = states["steps"].astype(float)
    parts = (
        np.clip(ball, -MAX_BALL_DISTANCE, MAX_BALL_DISTANCE),
        np.clip(ball_velocity, -MAX_BALL_SPEED, MAX_BALL_SPEED),
        np.stack([np.cos(direction), np.sin(direction)], axis=1),
        last,
        walker.walk.reached,
        np.stack([steps * np.sin(turn), steps * np.cos(turn)], axis=1),
        walker.senses.gyro,
        walker.senses.up,
    )
    return np.concatenate(parts, axis=1, dtype=np.float32)


def asked_velocities(walker: PolicyWalker, ball: Floats, direction: Floats, actions: ArrayLike) -> Floats:
    """The velocities to ask of the walk, (N, 3): those of the rule, corrected by actions (N, 3).

    `ball` (N, 2) and `direction` (N,) are those of `observe_dribbling`.
    """
    top, back = walker.walk.top_speed(), walker.walk.top_speed_back()
    cos, sin, turned = np.cos(direction), np.sin(direction), np.arctan2(np.sin(direction), np.cos(direction))
    along, beside = cos * ball[:, 0] + sin * ball[:, 1], cos * ball[:, 1] - sin * ball[:, 0]
    bearing = turned + np.arctan2(ASIDE_GAIN * beside, np.maximum(along, 0.0) + AHEAD_OF_BALL)
    ahead, left = np.cos(bearing), np.sin(bearing)
    speed = 1.0 / np.hypot(ahead / np.where(ahead > 0, top[:, 0], back), left / top[:, 1])
    rule = np.stack([speed * ahead, speed * left, TURN_GAIN * turned], axis=1)
    low = np.stack([-back, -top[:, 1], -top[:, 2]], axis=1)
    return np.asarray(np.clip(np.clip(rule, low, top) + np.asarray(actions, float) * REACH * top, low, top))


class Dribbler:
    """N robots that dribble with a network.

    Args:
        walker: their walk.
        dribbling: the network.
        kind: the type of the robots.
    """

    def __init__(self, walker: PolicyWalker, dribbling: Dribbling, kind: str = "") -> None:
        self._walker, self._image = walker, mirror_of_dribbling()
        self._network: Network = network_of(dribbling.weights, dribbling.folder, kind, "dribbling")
        if (int(self._network.sizes[0]), int(self._network.sizes[-1])) != (len(SIGNS), len(ACTION_SIGNS)):
            raise UsageError(f"the network in {dribbling.folder} is not one of `nutmeg train dribble`.")
        count = len(walker.states)
        self._last: Floats = np.zeros((count, len(ACTION_SIGNS)))
        self._asked: Floats = np.zeros((count, 3))
        self._cycle = 0

    def begin(self) -> None:
        """Begins anew: the robots have not dribbled before."""
        self._last[:], self._cycle = 0.0, 0

    def velocities(self, ball: Floats, ball_velocity: Floats, direction: Floats) -> Floats:
        """The velocities to ask of the walk in this cycle, (N, 3), for what `observe_dribbling` takes."""
        from nutmeg.motion.policy_kernels import decide  # here: loading the compiler takes long

        if self._cycle % DECISION_CYCLES == 0:
            seen = observe_dribbling(self._walker, ball, ball_velocity, direction, self._last)
            self._last[:] = [decide(row, self._network, self._image, (True, True)) for row in seen]
            self._asked = asked_velocities(self._walker, ball, direction, self._last)
        self._cycle += 1
        return self._asked
