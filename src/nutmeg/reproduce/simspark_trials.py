"""Recordings of the 3D simulation league's server, cut into trials that can be replayed on `nao-spark`.

A log has a row for each cycle of 20 ms: the joint speeds that an agent sent, and what it was told that cycle (joint
angles, gyro, every third cycle the true place of its head). Of each trial the part from standing still on is kept:

    cut_log(Path("walk_type0.csv.gz"), Path("walk.csv.gz"), modes=("PlayOn",), seconds=4.0)

| column                        | what it is                                                                        |
|-------------------------------|-----------------------------------------------------------------------------------|
| `time_s`                      | 100 s times the number of the trial, plus 0.02 s a row; the first row is one cycle |
|                               | before the trial                                                                  |
| `JOINT_cmd_rad_s`             | as sent, but cut off at 6.1395 rad/s, as the server does                          |
| `JOINT_deg`                   | as recorded                                                                       |
| `gyro_x_deg_s` ...            | as recorded, in our axes (x forward, y left; the server's x is right)              |
| `roll_deg`, `pitch_deg`, `yaw_deg` | turn of the torso: the gyro added up from upright                            |
| `torso_x_m` ...               | place of the torso relative to the start and its heading, from the head's         |
| `start_z_m`                   | height of the torso with the feet on the ground                                   |

That the torso is upright at the start was checked: the accelerometer is within 0.2 degrees of it in all twenty trials.
The server's gyro is the speed with which it has just turned the torso, so that adding it up loses nothing but decimals:
the heading of the head that follows from it stays within 0.1 degrees (standard deviation) of the one the server tells.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.body import Placement, SceneSettings, assemble
from nutmeg.errors import FileError, UsageError
from nutmeg.reality.columns import turns_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats


CYCLE = 0.02
"""Of the server [s]."""
APART = 100.0
"""Between the starts of two trials in the time column [s]."""
FASTEST = 6.1395
"""The server cuts off faster commands [rad/s]; cut off here, so that a delay mixes what the motors really got."""
HEAD = np.array([0.0, 0.0, 0.155])
"""Centre of the head from that of the torso: neck 0.09 m up, head 0.065 m further (naoneckhead.rsg) [m]."""
JOINTS = (
    *("hj1", "hj2"),
    *(f"{side}aj{i}" for side in "rl" for i in range(1, 5)),
    *(f"{side}lj{i}" for side in "rl" for i in range(1, 7)),
)
"""Of type 0, in the order of the log."""
COLUMNS = (
    "time_s",
    *(f"{joint}_cmd_rad_s" for joint in JOINTS),
    *(f"{joint}_deg" for joint in JOINTS),
    *("gyro_x_deg_s", "gyro_y_deg_s", "gyro_z_deg_s"),
    *("roll_deg", "pitch_deg", "yaw_deg"),
    *("torso_x_m", "torso_y_m", "torso_z_m"),
    "start_z_m",
)


def cut_log(source: Path, target: Path, *, modes: Sequence[str], seconds: float) -> int:
    """Writes the trials of a log to a CSV file.

    Args:
        source: the log, `.csv` or `.csv.gz`.
        target: where to write; packed if it ends in `.gz`.
        modes: play modes that a trial may have; it begins with the first row of one of them.
        seconds: how much of each trial is kept.

    Returns:
        How many trials there are.
    """
    rows = _rows(source)
    inside = [row["playmode"] in modes for row in rows]
    starts = [i for i in range(1, len(rows)) if inside[i] and not inside[i - 1]]
    if not starts:
        found = ", ".join(sorted({row["playmode"] for row in rows}))
        raise FileError(
            source, f"has no row with the play mode {' or '.join(modes)}. It has {found or 'no rows at all'}."
        )
    heights = _Heights()
    lines = [",".join(COLUMNS)]
    for number, first in enumerate(starts):
        length = round(seconds / CYCLE) + 2
        lines += _lines(rows[first - 1 : first - 1 + length], APART * number, heights)
    data = ("\n".join(lines) + "\n").encode()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(_packed(data) if target.suffix == ".gz" else data)
    return len(starts)


def _rows(source: Path) -> list[dict[str, str]]:
    try:
        packed = source.read_bytes()
        text = (gzip.decompress(packed) if source.suffix == ".gz" else packed).decode()
        rows = list(csv.DictReader(io.StringIO(text)))
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise FileError(source, f"cannot be read: {error}. Check the path, or fetch the file anew.") from None
    needed = {"playmode", "gyr_x", "mypos_x", "myorien_deg", *(f"{joint}_deg" for joint in JOINTS)}
    if missing := sorted(needed - set(rows[0] if rows else ())):
        raise FileError(source, f"has no column {missing[0]!r}: it is no log of the league's server.")
    return rows


def _packed(data: bytes) -> bytes:
    """Packed without the time of packing, so that the same trials make the same file."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, compresslevel=9) as file:
        file.write(data)
    return buffer.getvalue()


def _lines(rows: list[dict[str, str]], offset: float, heights: _Heights) -> list[str]:
    """The lines of one trial."""

    def series(*columns: str) -> Floats:
        return np.array([[float(row[c]) if row[c] else np.nan for c in columns] for row in rows])

    told = series(*(f"{joint.replace('j', 'e')}_cmd_rad_s" for joint in JOINTS)).clip(-FASTEST, FASTEST)
    angles = series(*(f"{joint}_deg" for joint in JOINTS))
    gyro = series("gyr_y", "gyr_x", "gyr_z") * [1, -1, 1]
    turned = _added_up(np.radians(gyro))
    heading = _heading(np.radians(series("myorien_deg")[:, 0]), np.radians(angles[:, :2]), turned)
    places = _torso(series("mypos_x", "mypos_y", "mypos_z"), heading, turned)
    height = heights.of(np.radians(angles[0]))
    places[0] = 0.0, 0.0, height  # where it starts, by definition
    parts = (
        ("{:.2f}", offset + CYCLE * np.arange(len(rows))[:, None]),
        ("{:.4f}", told),
        ("{:.2f}", angles),
        ("{:.2f}", gyro),
        ("{:.3f}", np.degrees(turns_of(turned))),
        ("{:.3f}", places),
        ("{:.5f}", np.full((len(rows), 1), height)),
    )
    cells = [[_cell(form, value) for form, values in parts for value in values[i]] for i in range(len(rows))]
    return [",".join(row) for row in cells]


def _cell(form: str, value: float) -> str:
    return "" if np.isnan(value) else form.format(value + 0.0)


def _added_up(gyro: Floats) -> Floats:
    """Quaternions (T, 4) of a torso that is upright in row 0, from its rates in its own frame, (T, 3) [rad/s]."""
    now = np.array([1.0, 0.0, 0.0, 0.0])
    out = [now.copy()]
    for rate in gyro[1:]:
        mujoco.mju_quatIntegrate(now, rate, CYCLE)
        out.append(now.copy())
    return np.array(out)


def _heading(told: Floats, neck: Floats, turned: Floats) -> float:
    """Where the torso was headed at first, from the head's headings (T,), neck angles (T, 2) and the turns since."""
    c, s = np.cos(neck), np.sin(neck)
    forward = np.stack([c[:, 0] * c[:, 1], s[:, 0] * c[:, 1], s[:, 1]], axis=-1)  # of the head, seen from the torso
    seen = np.stack([_rotated(quaternion, one) for quaternion, one in zip(turned, forward, strict=True)])
    since = np.exp(1j * (told - np.arctan2(seen[:, 1], seen[:, 0])))
    if np.isnan(since).all():
        raise UsageError("a trial has no row with the heading of the head.")
    return float(np.angle(np.nanmean(since)))


def _torso(heads: Floats, heading: float, turned: Floats) -> Floats:
    """Places of the torso in the frame of its start, (T, 3); NaN where the head's place was not told."""
    first = int(np.flatnonzero(np.isfinite(heads[:, 0]))[0])
    c, s = np.cos(heading), np.sin(heading)
    way = heads - heads[first] * [1, 1, 0]
    way = np.stack([c * way[:, 0] + s * way[:, 1], c * way[:, 1] - s * way[:, 0], way[:, 2]], axis=-1)
    up = np.stack([_rotated(quaternion, HEAD) for quaternion in turned])
    return np.asarray(way - up + up[first] * [1, 1, 0])


def _rotated(quaternion: Floats, vector: Floats) -> Floats:
    out = np.zeros(3)
    mujoco.mju_rotVecQuat(out, vector, quaternion)
    return out


class _Heights:
    """How high the torso is when the feet stand on the ground."""

    def __init__(self) -> None:
        placement = Placement(robot="nao-spark", name="robot")
        self.scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
        self.table, self.data = self.scene.robot("robot"), mujoco.MjData(self.scene.model)
        model = self.scene.model
        self.soles = [g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name.endswith("Foot")]

    def of(self, angles: Floats) -> float:
        """For joint angles in the order of `JOINTS` [rad]."""
        model, data, table = self.scene.model, self.data, self.table
        data.qpos[:] = self.scene.start
        data.qpos[table.angles] = [angles[JOINTS.index(joint)] for joint in table.joints]
        mujoco.mj_kinematics(model, data)
        lowest = min(
            data.geom_xpos[g, 2] - float(np.abs(data.geom_xmat[g].reshape(3, 3)[2]) @ model.geom_size[g])
            for g in self.soles
        )
        return float(data.qpos[table.root + 2] - lowest)
