"""A recording prepared for display: the generalised positions of its scene at any moment.

A film holds the model of the recorded scene and a window of a few hundred rows, so that its memory does not
depend on the length of the recording. Between two rows it turns and moves things evenly, which makes slow motion
smooth.

    film = Film.open(Path("runs/match-3"))
    qpos = film.qpos_at(12.5)            # (nq,)
    film.refresh()                       # rows written since then
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from nutmeg.base.errors import ModelError, RecordingError
from nutmeg.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Indices


POSE_SUFFIX, _ANGLES_SUFFIX = ".pose", ".angles"
"""Endings of the names of channels that hold poses and joint angles."""


class _Columns(NamedTuple):
    """The coordinates that the columns of one channel fill."""

    channel: str
    used: Indices
    """The columns of the channel that the scene has a joint for."""
    targets: Indices


class Posture:
    """The map from the channels of a recording to the generalised positions of a model.

    A recorded scene has, for every thing, a channel `<thing>.pose` (x y z, then the quaternion w x y z), which belongs
    to the free joint `<thing>/root`, and, for every robot, `<thing>.angles`, labelled with joint names.

    Args:
        model: the compiled `mujoco.MjModel` of the recorded scene.
        channels: the labels of each channel, by the name that a channel of a recorded scene would have.
        rest: coordinates (nq,) that no channel has; those of the model if None.
        recorded: the names of channels in the recording, where they differ.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        channels: Mapping[str, Sequence[str]],
        *,
        rest: Floats | None = None,
        recorded: Mapping[str, str] | None = None,
    ) -> None:
        self.rest: Floats = np.array(model.qpos0 if rest is None else rest)
        joints = _joint_columns(model)
        moving = [name for name in channels if name.endswith((POSE_SUFFIX, _ANGLES_SUFFIX))]
        self._columns = [
            _Columns((recorded or {}).get(name, name), *_targets(name, channels[name], joints)) for name in moving
        ]
        self.channels = tuple(c.channel for c in self._columns)
        """The channels of the recording that move something."""
        self.robots = tuple(n.removesuffix(_ANGLES_SUFFIX) for n in moving if n.endswith(_ANGLES_SUFFIX))
        """Things that have angles."""
        self._quaternions = _quaternion_columns(model)

    def qpos(self, values: Mapping[str, NDArray[Any]], before: Floats | None = None) -> Floats:
        """Generalised positions (rows, nq) from the values (rows, k) of each channel.

        Coordinates that no channel has stay at the model's rest position. A missing value (NaN) is drawn as
        the last one before it; `before` (nq,) is the row before the first one, if it is known.
        """
        rows = max((len(channel) for channel in values.values()), default=1)
        qpos = np.tile(self.rest, (rows, 1))
        for columns in self._columns:
            qpos[:, columns.targets] = values[columns.channel][:, columns.used]
        return _filled(qpos, self.rest if before is None else before)

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


def _joint_columns(model: mujoco.MjModel) -> dict[str, range]:
    """The coordinates of each named joint."""
    widths = {mujoco.mjtJoint.mjJNT_FREE: 7, mujoco.mjtJoint.mjJNT_BALL: 4}
    columns = {}
    for joint in range(model.njnt):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        start, width = int(model.jnt_qposadr[joint]), widths.get(mujoco.mjtJoint(model.jnt_type[joint]), 1)
        columns[name] = range(start, start + width)
    return columns


def _quaternion_columns(model: mujoco.MjModel) -> list[slice]:
    free, ball = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
    starts = [
        int(address) + (3 if kind == free else 0)
        for kind, address in zip(model.jnt_type, model.jnt_qposadr, strict=True)
        if kind in (free, ball)
    ]
    return [slice(s, s + 4) for s in starts]


def _targets(channel: str, labels: Sequence[str], joints: Mapping[str, range]) -> tuple[Indices, Indices]:
    """The columns of a channel that are used, and the coordinates that they fill.

    A channel may have more labels than the thing has hinges, where it was not known at the start which robot it would
    be. A label without a hinge is an error, which names it, if also a hinge is without a label.
    """
    if channel.endswith(POSE_SUFFIX):
        return np.arange(len(labels)), _pose_columns(channel, len(labels), joints)
    thing = channel.removesuffix(_ANGLES_SUFFIX)
    wanted = [f"{thing}/{label}" for label in labels]
    known = [column for column, joint in enumerate(wanted) if len(joints.get(joint, ())) == 1]
    hinges = {name for name, columns in joints.items() if name.startswith(f"{thing}/") and len(columns) == 1}
    missing = [joint for joint in wanted if joint not in hinges]
    if missing and (not known or hinges - set(wanted)):
        raise _strangers(channel, f"the hinge {missing[0]!r}")
    return np.array(known, dtype=np.intp), np.array([joints[wanted[column]][0] for column in known], dtype=np.intp)


def _pose_columns(channel: str, width: int, joints: Mapping[str, range]) -> Indices:
    """The seven coordinates of a thing: those of a free joint, or of three slides and a ball joint."""
    thing = channel.removesuffix(POSE_SUFFIX)
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


_EMPTY_SCENE = "<mujoco/>"
_MEASURED_ENDINGS = ("angles", "angle", "positions", "position")
"""Endings of the names of channels that hold measured angles in logs of real robots."""
UNDERGROUND = -1.0
"""Robots that do not take part are parked below this height, metres."""
WINDOW_ROWS = 400
"""Rows kept at once."""


class Film:
    """A recorded scene, its model, and the poses of everything at any time.

    Args:
        recording: the recording. One without a scene, such as the log of a real robot, has an empty one.
        title: its name.
        robot: a robot (its name, or a path) that shows the motion of a recording without a scene; none if empty.
    """

    def __init__(self, recording: Recording, title: str = "recording", *, robot: str = "") -> None:
        self.recording = recording
        self.title = title
        labels = {name: channel.labels for name, channel in recording.channels.items()}
        if recording.scene_xml is not None:
            self.model = _compile(recording.scene_xml, title, recording.meshes())
            self.posture = Posture(self.model, labels)
        elif robot:
            self.model, self.posture = _stand_in(robot, recording)
        else:
            self.model = _compile(_EMPTY_SCENE, title, {})
            self.posture = Posture(self.model, {})
        self._start = self._stop = 0
        self._window: Floats = np.empty((0, self.model.nq))

    @classmethod
    def open(cls, path: Path, *, robot: str = "") -> Film:
        """The film of a recording on disk."""
        return cls(Recording.open(path), path.name.removesuffix(".nutmeg"), robot=robot)

    @classmethod
    def of_scene(cls, path: Path, *, robot: str = "") -> Film:
        """The film of a recording on disk that must show something: its scene, or the robot that moves by it."""
        film = cls.open(path, robot=robot)
        if not film.has_scene:
            raise RecordingError(
                f"{path.name}: this recording has no scene, so there is nothing to draw. Its channels can be plotted "
                f"(nutmeg replay {path.name}), and with --robot ROBOT a robot moves by them."
            )
        return film

    @property
    def has_scene(self) -> bool:
        """Whether there is anything to draw."""
        return bool(self.model.ngeom > 0)

    def another(self) -> Film:
        """The same recording with a window of its own, for a page that shows another moment of it."""
        return copy.copy(self)

    @property
    def times(self) -> Floats:
        """Times (rows,) of the rows known so far, seconds."""
        return self.recording.times

    @property
    def robots(self) -> tuple[str, ...]:
        """The names of the robots."""
        return self.posture.robots

    @property
    def start(self) -> float:
        """Time of the first row, seconds; 0 while there is none."""
        return float(self.times[0]) if len(self.times) else 0.0

    @property
    def end(self) -> float:
        """Time of the newest row, seconds; 0 while there is none."""
        return float(self.times[-1]) if len(self.times) else 0.0

    def refresh(self) -> bool:
        """Read the rows that were written since the last call; returns whether there were any."""
        return self.recording.refresh()

    def row_at(self, time: float) -> int:
        """The last row not later than `time`; the first row for earlier times."""
        return max(int(np.searchsorted(self.times, time + 1e-9, side="right")) - 1, 0)

    def qpos_at(self, time: float) -> Floats:
        """Generalised positions (nq,) at a time, evenly between the two nearest rows."""
        times = self.times
        if not len(times):
            return self.posture.rest.copy()
        row = self.row_at(time)
        here = self._row(row)
        if row + 1 >= len(times):
            return here.copy()
        gap = times[row + 1] - times[row]
        share = float(np.clip((time - times[row]) / gap, 0.0, 1.0)) if gap > 0 else 0.0
        return self.posture.between(here, self._row(row + 1), share)

    def frames(self, fps: float, seconds: float | None = None) -> Iterator[tuple[float, Floats]]:
        """Moments `fps` times a second from the start, as (time since the start, qpos)."""
        for number in range(self.frame_count(fps, seconds)):
            moment = number / fps
            yield moment, self.qpos_at(self.start + moment)

    def frame_count(self, fps: float, seconds: float | None = None) -> int:
        """The number of moments that `frames` yields."""
        length = self.end - self.start
        if seconds is not None:
            length = min(length, seconds)
        return int(np.floor(length * fps + 1e-6)) + 1 if len(self.times) else 0

    def _row(self, row: int) -> Floats:
        if not self._start <= row < self._stop:
            self._load(row)
        values: Floats = self._window[row - self._start]
        return values

    def _load(self, row: int) -> None:
        """Read the window in which `row` lies; a little of the past stays for stepping back.

        Rows that follow the window are added to it: of a recording that grows, one or two for every picture.
        """
        past, follows = WINDOW_ROWS // 8, 0 <= row - self._stop < WINDOW_ROWS // 2 and self._stop > 0
        start = self._stop if follows else max(row - past, 0)
        stop = min(start + WINDOW_ROWS - (past if follows else 0), len(self.times))
        values = self.recording.read_several(self.posture.channels, start, stop)
        before = self._window[-past:] if follows else self._window[:0]
        rows = self.posture.qpos(values, before[-1] if follows else None)
        if not values:
            rows = np.tile(self.posture.rest, (stop - start, 1))
        self._window = np.concatenate([before, rows])
        self._start, self._stop = start - len(before), stop


def _compile(scene_xml: str, title: str, meshes: Mapping[str, bytes]) -> Any:  # noqa: ANN401
    try:
        return mujoco.MjModel.from_xml_string(scene_xml, dict(meshes))
    except ValueError as error:
        raise ModelError(f"{title}: the scene.xml of this recording does not compile: {error}") from error


def _stand_in(robot: str, recording: Recording) -> tuple[Any, Posture]:
    """A robot on a floor that shows the motion in the log of a real one.

    Its joints follow the channel whose labels are names of joints; of several, the one that has most of them, and of
    these one that is called a position or an angle: a log has commands and speeds of the same joints, too.
    """
    from nutmeg.model import Placement, SceneSettings, assemble

    scene = assemble(SceneSettings(field="floor", ball="none", robots=(Placement(robot=robot),)))
    table = scene.robots[0]
    known = {name: [label in table.joints for label in c.labels] for name, c in recording.channels.items()}
    fitting = [name for name, found in known.items() if all(found)]
    if not fitting:
        raise RecordingError(
            f"{recording.path}: no channel has labels that are joints of {table.settings.name} "
            f"({', '.join(table.joints[:6])}{', …' if len(table.joints) > 6 else ''}). "
            f"Name them in the column map of nutmeg import."
        )
    chosen = max(fitting, key=lambda name: (len(known[name]), name.endswith(_MEASURED_ENDINGS)))
    angles = f"{table.name}{_ANGLES_SUFFIX}"
    labels = {angles: recording.channels[chosen].labels}
    return scene.model, Posture(scene.model, labels, rest=scene.start, recorded={angles: chosen})
