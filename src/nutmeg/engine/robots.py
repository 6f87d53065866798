"""One robot in N worlds: its state and commands as arrays.

`angles`, `rates` and `command` gather by the address tables of the scene. When a robot's addresses are
consecutive, which the scene's assembly makes the rule, they are live views, cost nothing and can be written to.
Otherwise (the joints of velocity drives have rotors in between) they are copies, and read-only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.body.geometry import heading
from nutmeg.errors import ModelError

if TYPE_CHECKING:
    from mujoco.batch import Batch
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.body.tables import RobotTable


class RobotWorlds:
    """Views of one robot in every world of a batch; `starts` are the worlds' configurations at the start, (N, nq)."""

    def __init__(self, batch: Batch, table: RobotTable, starts: Floats) -> None:
        self.table = table
        self._batch = batch
        self._qpos, self._qvel, self._ctrl, self._act = (batch.bind(n) for n in ("qpos", "qvel", "ctrl", "act"))
        self.start = starts[0, table.angles[table.motor_joints]]
        """Angles of the motors at the start (of the first world, if they differ), (motors,) [rad]."""
        self._starts = starts
        self._forces = batch.bind("xfrc_applied")
        self._park = _equality(batch, f"{table.name}/parking")
        sleeps = mujoco.mjtEnableBit.mjENBL_SLEEP
        self._can_sleep = bool(batch.model.opt.enableflags & sleeps) and table.root >= 0

    @property
    def angles(self) -> Floats:
        """Joint angles, (N, joints) [rad]."""
        return _columns(self._qpos, self.table.angles)

    @property
    def rates(self) -> Floats:
        """Joint velocities, (N, joints) [rad/s]."""
        return _columns(self._qvel, self.table.rates)

    @property
    def pose(self) -> Floats:
        """Position and quaternion of the root, (N, 7), live."""
        self._need_root()
        view: Floats = self._qpos[:, self.table.root : self.table.root + 7]
        return view

    @property
    def velocity(self) -> Floats:
        """Velocity of the root: linear in the world's frame, angular in its own, (N, 6), live."""
        self._need_root()
        view: Floats = self._qvel[:, self.table.root_rate : self.table.root_rate + 6]
        return view

    @property
    def command(self) -> Floats:
        """What the motors are told, (N, motors): angles [rad] or, for velocity drives, speeds [rad/s]."""
        return _columns(self._ctrl, self.table.commands)

    @command.setter
    def command(self, values: ArrayLike) -> None:
        self._ctrl[:, self.table.commands] = values

    def uprightness(self) -> Floats:
        """Cosine of the angle between the root's z axis and the vertical, (N,)."""
        x, y = self.pose[:, 4], self.pose[:, 5]
        return np.asarray(1 - 2 * (x * x + y * y))

    def push(self, force: ArrayLike, ids: ArrayLike | None = None) -> None:
        """Applies a force to the root's centre of mass from now on, (3,) or (N, 3) in the world's frame [N]."""
        rows = slice(None) if ids is None else np.atleast_1d(np.asarray(ids))
        self._forces[rows, self.table.body, :3] = force
        if self._can_sleep:
            # The engine wakes a robot when a byte of its force is not zero: minus zero keeps a playing one awake.
            playing = np.flatnonzero(~self.parked)
            zero = self._forces[playing, self.table.body, 0] == 0
            self._forces[playing[zero], self.table.body, 0] = -0.0

    def activate(self, x: float, y: float, yaw: float, ids: ArrayLike | None = None) -> None:
        """Takes a robot from its parking place and puts it on the pitch, at rest in its start pose."""
        self._need_root()
        roots = np.tile([x, y, 0.0, *heading(yaw)], (len(self._starts), 1))
        roots[:, 2] = self._starts[:, self.table.root + 2]
        self._put(roots, ids, parked=False)

    def park(self, ids: ArrayLike | None = None) -> None:
        """Takes a robot out of the game: welded beside the pitch, at rest in its start pose."""
        self._need_root()
        models = self._batch.models if isinstance(self._batch.models, tuple) else (self._batch.model,)
        places = [[*model.eq_data[self._park, 3:6], 1.0, 0.0, 0.0, 0.0] for model in models]
        self._put(np.broadcast_to(places, (len(self._starts), 7)), ids, parked=True)

    @property
    def parked(self) -> Bools:
        """Whether it is parked, (N,)."""
        self._need_root()
        return np.asarray(self._batch.bind("eq_active")[:, self._park] > 0)

    def _put(self, roots: Floats, ids: ArrayLike | None, *, parked: bool) -> None:
        """Puts the root where `roots` (N, 7) says, in the worlds `ids`."""
        rows = np.arange(len(roots)) if ids is None else np.atleast_1d(np.asarray(ids))
        table = self.table
        angles = self._starts[np.ix_(rows, table.angles)]
        self._qpos[rows, table.root : table.root + 7] = roots[rows]
        self._qvel[rows, table.root_rate : table.root_rate + 6] = 0.0
        self._qpos[np.ix_(rows, table.angles)] = angles
        self._qvel[np.ix_(rows, table.rates)] = 0.0
        self._qpos[np.ix_(rows, table.hidden[:, 0])] = table.at_rest(angles)
        self._qvel[np.ix_(rows, table.hidden[:, 1])] = 0.0
        held = angles[:, table.motor_joints]
        position = np.array(table.drives) == "position"
        self._ctrl[np.ix_(rows, table.commands)] = np.where(position, held, 0.0)
        moving = position & (table.setpoints >= 0)
        if moving.any():
            self._act[np.ix_(rows, table.setpoints[moving])] = held[:, moving]
        self._batch.bind("eq_active")[rows, self._park] = float(parked)
        self.push(0.0, rows)

    def _need_root(self) -> None:
        if self.table.root < 0:
            raise ModelError(f"{self.table.name} is bolted to the world: it has no pose that could move.")


def _columns(array: Floats, addresses: Indices) -> Floats:
    """Columns of an array: a live view when the addresses are consecutive, else a read-only copy."""
    if len(addresses) and addresses[-1] - addresses[0] == len(addresses) - 1 and (np.diff(addresses) == 1).all():
        return array[:, addresses[0] : addresses[-1] + 1]
    copy = array[:, addresses]
    copy.flags.writeable = False  # a write would be lost
    return copy


def _equality(batch: Batch, name: str) -> int:
    return int(mujoco.mj_name2id(batch.model, mujoco.mjtObj.mjOBJ_EQUALITY, name))
