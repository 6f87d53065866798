"""Getting up: keyframes played in every world that has fallen, each at its own time, again if one try was not enough.

    get_up = GetUp(worlds, "nao", shipped_motions("nao-spark"), falls=falls)
    get_up.begin(ids, Lying.FRONT)          # from here on these worlds follow the motion for it
    get_up.sample(time)                     # once a cycle, after the senses and the fall detector
    get_up.targets                          # (N, motors) joint angles to go to; angles at the beginning elsewhere
    get_up.done                             # (N,) upright, or at the end of the motion

A robot on its side rolls over first. With a fall detector, a motion that has ended with the robot still lying is
followed by the one for how it lies then, as often as it takes; without one a motion is played once. Poses are gone to
along straight lines in joint space, from wherever the joints are at the beginning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UnknownNameError, UsageError
from nutmeg.motion.fall_detection import FallDetector, Lying
from nutmeg.motion.get_up_motion import SIDES, GetUpMotion, Mirror, Side, poses_of, shipped_get_up, shipped_sides

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.motion.own_body import Bodies


Motions = Mapping[Side, Sequence[GetUpMotion]]
"""The motion for each side, for all worlds alike or for each."""
SETTLE = 0.2
"""How long after the last pose a robot has to come to rest, before it is looked at [s]."""


def shipped_motions(robot: str, kind: str = "", actuation: str = "ideal") -> dict[Side, tuple[GetUpMotion]]:
    """All get-ups of a robot, or of one of its types, that come with Nutmeg, for what drives its joints.

    Not every robot has one for every side.
    """
    known = shipped_sides(robot)
    if not known:
        shipped_get_up(robot, "front")  # says what there is
    return {side: (shipped_get_up(robot, side, kind, actuation),) for side in known}


class GetUp:
    """One robot of every world, getting up when it is told to.

    Args:
        worlds: N worlds with the robot in them, or an `OwnBody`.
        robot: its name.
        motions: for `front`, `back` and `side`, one motion or N; a side that is missing cannot be begun.
        falls: tells who still lies; None plays each motion once.
        period: of a control cycle [s].
    """

    def __init__(
        self,
        worlds: Bodies,
        robot: str,
        motions: Motions,
        *,
        falls: FallDetector | None = None,
        period: float = 0.02,
    ) -> None:
        table, count = worlds.robot(robot).table, worlds.count
        self._falls, self._period, self._qpos = falls, period, worlds.qpos
        self._addresses = table.angles[table.motor_joints]
        self._rows = np.arange(count)
        mirror = Mirror.of(worlds.scene, table)
        most = max((len(motion.frame) for each in motions.values() for motion in each), default=1)
        self._poses = np.zeros((count, len(Lying), most, len(table.motors)))
        self._ends = np.zeros((count, len(Lying), most))
        self._known = np.zeros(len(Lying), dtype=bool)
        for side, each in motions.items():
            if side not in SIDES:
                raise UnknownNameError("side to get up from", side, SIDES)
            if len(each) not in (1, count):
                raise UsageError(f"{len(each)} motions from the {side} for {count} worlds; give one, or one each.")
            for row, motion in enumerate(each):
                self._store(side, slice(None) if len(each) == 1 else row, motion, poses_of(motion, table, mirror))
            if side == "side":
                self._poses[:, Lying.RIGHT] = mirror(self._poses[:, Lying.LEFT])
                self._ends[:, Lying.RIGHT] = self._ends[:, Lying.LEFT]
        self.active: Bools = np.zeros(count, dtype=bool)
        """Who is at it, (N,)."""
        self.done: Bools = np.zeros(count, dtype=bool)
        """Who has begun and ended, (N,); until the next `begin`."""
        self.tries: Indices = np.zeros(count, dtype=np.intp)
        """How many motions were begun since `begin`, (N,)."""
        self.seconds: Floats = np.zeros(count)
        """Time since `begin`, (N,) [s]."""
        self.targets: Floats = worlds.qpos[:, self._addresses]
        """Joint angles to go to, (N, motors) [rad]."""
        self._from: Floats = self.targets.copy()
        self._kind = np.zeros(count, dtype=np.intp)
        self._clock: Floats = np.zeros(count)

    def _store(self, side: Side, row: slice | int, motion: GetUpMotion, poses: Floats) -> None:
        kind = {"front": Lying.FRONT, "back": Lying.BACK, "side": Lying.LEFT}[side]
        used = len(poses)
        self._known[kind] = True
        self._known[Lying.RIGHT] |= kind == Lying.LEFT
        self._poses[row, kind, :used], self._poses[row, kind, used:] = poses, poses[-1]
        self._ends[row, kind, :used] = np.cumsum([frame.seconds for frame in motion.frame])
        self._ends[row, kind, used:] = motion.seconds

    def begin(self, ids: ArrayLike, kind: ArrayLike) -> None:
        """Lets worlds `ids` (n,) get up from how they lie: a `Lying` for all, or (n,)."""
        rows = np.atleast_1d(np.asarray(ids, dtype=np.intp))
        self.tries[rows], self.seconds[rows] = 0, 0.0
        self.active[rows], self.done[rows] = True, False
        self._start(rows, np.broadcast_to(np.asarray(kind, dtype=np.intp), rows.shape))

    def _start(self, rows: Indices, kinds: Indices) -> None:
        missing = ~self._known[kinds]
        if missing.any():
            name = Lying(int(kinds[missing][0])).name
            raise UsageError(f"no get-up is known for a robot that lies {name}; give a motion for it.")
        self._kind[rows], self._clock[rows] = kinds, 0.0
        self._from[rows] = self._qpos[np.ix_(rows, self._addresses)]
        self.targets[rows] = self._from[rows]
        self.tries[rows] += 1

    def stop(self, ids: ArrayLike) -> None:
        """Lets worlds leave off, wherever they are."""
        self.active[np.atleast_1d(np.asarray(ids, dtype=np.intp))] = False

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """One cycle of those who are at it."""
        rows = np.flatnonzero(self.active)
        if not len(rows):
            return
        self._clock[rows] += self._period
        self.seconds[rows] += self._period
        kind, clock = self._kind[rows], self._clock[rows]
        ends = self._ends[rows, kind]
        self.targets[rows] = self._at(rows, kind, clock, ends)
        over = clock >= ends[:, -1] - 1e-9
        if self._falls is not None:
            lying = self._falls.fallen[rows]
            again = over & lying & ((clock >= ends[:, -1] + SETTLE) | self._rolled(kind))
            over &= ~lying
            self._start(rows[again], self._falls.lying[rows[again]])
        self.done[rows[over]], self.active[rows[over]] = True, False

    def _at(self, rows: Indices, kind: Indices, clock: Floats, ends: Floats) -> Floats:
        """Where the joints are to be `clock` (n,) after the beginning, (n, motors)."""
        last = ends.shape[1] - 1
        frame = np.minimum((clock[:, None] >= ends).sum(axis=1), last)
        before = np.maximum(frame - 1, 0)
        each = np.arange(len(rows))
        since = np.where(frame > 0, ends[each, before], 0.0)
        share = np.minimum((clock - since) / np.maximum(ends[each, frame] - since, self._period), 1.0)[:, None]
        start = np.where(frame[:, None] > 0, self._poses[rows, kind, before], self._from[rows])
        return np.asarray(start + share * (self._poses[rows, kind, frame] - start))

    @staticmethod
    def _rolled(kind: Indices) -> Bools:
        """Who only rolled over and need not come to rest before it goes on, (n,)."""
        return np.asarray((kind == Lying.LEFT) | (kind == Lying.RIGHT))
