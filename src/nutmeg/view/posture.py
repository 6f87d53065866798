"""Which number of a recording goes into which coordinate of the physics model.

A scene recording has, for every thing, a channel `<thing>.pose` (x y z, then the quaternion w x y z) that
belongs to the free joint `<thing>/root`, and, for every robot, `<thing>.angles`, labelled with joint names.
The table is made once; after that a block of rows is copied by columns.

    posture = Posture(model, {name: channel.labels for name, channel in recording.channels.items()})
    qpos = posture.qpos({name: recording.read(name, 0, 100) for name in posture.channels})  # (100, nq)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.errors import RecordingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Indices

POSE, ANGLES = ".pose", ".angles"
"""How the names of the channels end that place things and bend robots."""


@dataclass(frozen=True, kw_only=True)
class _Columns:
    """Where the columns of one channel go."""

    channel: str
    targets: Indices


class Posture:
    """The map from the channels of a recording to the generalised positions of a model."""

    def __init__(self, model: Any, channels: Mapping[str, Sequence[str]]) -> None:  # noqa: ANN401
        """Make the table.

        Args:
            model: the compiled `mujoco.MjModel` of the recorded scene.
            channels: the labels of each channel, by channel name.
        """
        self.rest: Floats = np.array(model.qpos0)
        joints = _joint_columns(model)
        self._columns = [
            _Columns(channel=name, targets=_targets(name, labels, joints))
            for name, labels in channels.items()
            if name.endswith((POSE, ANGLES))
        ]
        self.channels = tuple(c.channel for c in self._columns)
        """The channels that move something."""
        self.robots = tuple(n.removesuffix(ANGLES) for n in self.channels if n.endswith(ANGLES))
        """Things that have angles."""
        self._quaternions = _quaternion_columns(model)

    def qpos(self, values: Mapping[str, NDArray[Any]]) -> Floats:
        """Generalised positions (rows, nq) from the values (rows, k) of each channel.

        Coordinates that no channel tells stay at the model's rest position. A missing value (NaN) is drawn as
        the last one before it.
        """
        rows = max((len(values[c.channel]) for c in self._columns), default=1)
        qpos = np.tile(self.rest, (rows, 1))
        for columns in self._columns:
            qpos[:, columns.targets] = values[columns.channel]
        return _filled(qpos, self.rest)

    def values(self, qpos: NDArray[Any]) -> dict[str, Floats]:
        """The inverse of `qpos`: what each channel says about rows (rows, nq) of positions."""
        return {c.channel: np.asarray(qpos, dtype=np.float64)[:, c.targets] for c in self._columns}

    def between(self, first: Floats, second: Floats, share: float) -> Floats:
        """The position (nq,) at `share` (0 to 1) of the way, turning the short way round."""
        second = second.copy()
        for columns in self._quaternions:
            if first[columns] @ second[columns] < 0:
                second[columns] *= -1
        middle = first + share * (second - first)
        for columns in self._quaternions:
            middle[columns] /= max(float(np.linalg.norm(middle[columns])), 1e-9)
        return middle


def _filled(rows: Floats, rest: Floats) -> Floats:
    """Rows without NaN: each takes the value of the row before it, the first ones that of rest."""
    missing = np.isnan(rows)
    if not missing.any():
        return rows
    known = np.where(missing, 0, np.arange(1, len(rows) + 1)[:, None])
    last = np.maximum.accumulate(known, axis=0)
    held = np.take_along_axis(rows, np.maximum(last - 1, 0), axis=0)
    return np.where(last > 0, held, rest)


def _joint_columns(model: Any) -> dict[str, range]:  # noqa: ANN401
    """The coordinates of each named joint."""
    widths = {mujoco.mjtJoint.mjJNT_FREE: 7, mujoco.mjtJoint.mjJNT_BALL: 4}
    columns = {}
    for joint in range(model.njnt):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        start, width = int(model.jnt_qposadr[joint]), widths.get(mujoco.mjtJoint(model.jnt_type[joint]), 1)
        columns[name] = range(start, start + width)
    return columns


def _quaternion_columns(model: Any) -> list[slice]:  # noqa: ANN401
    free, ball = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
    starts = [
        int(address) + (3 if kind == free else 0)
        for kind, address in zip(model.jnt_type, model.jnt_qposadr, strict=True)
        if kind in (free, ball)
    ]
    return [slice(s, s + 4) for s in starts]


def _targets(channel: str, labels: Sequence[str], joints: Mapping[str, range]) -> Indices:
    """The coordinates a channel fills; a joint that the scene lacks is an error that names it."""
    if channel.endswith(POSE):
        return _pose_columns(channel, len(labels), joints)
    thing = channel.removesuffix(ANGLES)
    wanted = [f"{thing}/{label}" for label in labels]
    missing = [joint for joint in wanted if len(joints.get(joint, ())) != 1]
    if missing:
        raise _strangers(channel, f"the hinge {missing[0]!r}")
    return np.array([joints[joint][0] for joint in wanted], dtype=np.intp)


def _pose_columns(channel: str, width: int, joints: Mapping[str, range]) -> Indices:
    """The seven coordinates of a thing: those of a free joint, or of three slides and a ball joint."""
    thing = channel.removesuffix(POSE)
    parts = (
        [f"{thing}/root"] if len(joints.get(f"{thing}/root", ())) == 7 else [f"{thing}/{a}" for a in (*"xyz", "root")]
    )
    columns = [column for part in parts for column in joints.get(part, ())]
    if len(columns) != 7:
        raise _strangers(channel, f"the joint '{thing}/root' with 7 coordinates")
    if width != 7:
        raise RecordingError(f"channel {channel!r} has {width} columns; a pose has 7 (x y z qw qx qy qz).")
    return np.array(columns, dtype=np.intp)


def _strangers(channel: str, needed: str) -> RecordingError:
    return RecordingError(
        f"channel {channel!r} needs {needed}, but the scene of the recording has none. The recording and its "
        f"scene.xml do not belong together."
    )
