"""Recordings as files for other viewers: MCAP for Foxglove, `.rrd` for rerun.

    write_mcap(Path("walk.nutmeg"), Path("walk.mcap"), fps=25.0)
    write_rrd(Path("walk.nutmeg"), Path("walk.rrd"), fps=25.0)

Both hold every row of every channel as numbers to plot, the events as a log, and the scene: its visible shapes once,
and the pose of each moving body, `fps` times a second. Times are those of the recording.

An MCAP file has JSON messages. Topics are `/tf` (foxglove.FrameTransforms), `/scene` (foxglove.SceneUpdate), `/events`
(foxglove.Log) and one for each channel, `/nao1/angles` for `nao1.angles`, with a number for each label; missing values
(NaN) are null. Units are in the schemas. A rerun file has the same under `scene/...`, `events` and `nao1/angles`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.base.errors import MissingExtraError, RecordingError
from nutmeg.base.journal import draft
from nutmeg.view.stage.bodies import body_tree, geom_part, local_poses, visible_geoms
from nutmeg.view.stage.film import Film

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.recording import Channel
    from nutmeg.view.stage.bodies import Part, Piece

_BLOCK_ROWS = 4000  # rows that are read at once
_INFO_LEVEL = 2  # `INFO` of foxglove.Log


class _Scene:
    """The pieces of a recording's scene, their shapes, and their poses."""

    def __init__(self, film: Film, fps: float) -> None:
        self._film, self._fps = film, fps
        self.tree: Sequence[Piece] = [piece for piece in body_tree(film.model) if piece.path != "/world/paint"]

    def shapes(self) -> Iterator[tuple[Piece, list[Part]]]:
        """Each piece with its visible parts, in the frame of the piece."""
        model = self._film.model
        parts: dict[int, list[Part]] = {}
        for geom in visible_geoms(model):
            body = int(model.body_weldid[model.geom_bodyid[geom]])
            parts.setdefault(body, []).append(geom_part(model, geom))
        for piece in self.tree:
            yield piece, parts.get(piece.body, [])

    def poses(self) -> Iterator[tuple[float, Floats, Floats]]:
        """Times [s], and positions (pieces, 3) and quaternions (pieces, 4), w first, of pieces in their parents."""
        data = mujoco.MjData(self._film.model)
        for moment, qpos in self._film.frames(self._fps):
            data.qpos[:] = qpos
            mujoco.mj_kinematics(self._film.model, data)
            yield self._film.start + moment, *local_poses(self.tree, data.xpos, data.xquat)


def _blocks(film: Film) -> Iterator[tuple[Floats, dict[str, Floats]]]:
    """Times (rows,) and the values (rows, labels) of all channels, some thousand rows at a time."""
    recording = film.recording
    for start in range(0, len(film.times), _BLOCK_ROWS):
        stop = min(start + _BLOCK_ROWS, len(film.times))
        yield film.times[start:stop], {name: recording.read(name, start, stop) for name in recording.channels}


def _entity(channel: str) -> str:
    return channel.replace(".", "/")


# ----------------------------------------------------------------------------------------------------
# MCAP


_NUMBER = {"type": "number"}
_TIME = {"type": "object", "title": "time", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}


def _object(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


def _array(items: object) -> dict[str, object]:
    return {"type": "array", "items": items}


_OTHER_PRIMITIVES = ("arrows", "cubes", "spheres", "cylinders", "lines", "texts", "models")
"""Fields of a foxglove.SceneEntity that stay empty here: all shapes are triangles."""
_TEXT = {"type": "string"}
_VECTOR = _object(x=_NUMBER, y=_NUMBER, z=_NUMBER)
_QUATERNION = _object(x=_NUMBER, y=_NUMBER, z=_NUMBER, w=_NUMBER)
_COLOUR = _object(r=_NUMBER, g=_NUMBER, b=_NUMBER, a=_NUMBER)
_TRIANGLES = _object(
    pose=_object(position=_VECTOR, orientation=_QUATERNION),
    points=_array(_VECTOR),
    color=_COLOUR,
    colors=_array(_COLOUR),
    indices=_array({"type": "integer"}),
)
_SCHEMAS: dict[str, dict[str, object]] = {
    "foxglove.FrameTransforms": _object(
        transforms=_array(
            _object(
                timestamp=_TIME, parent_frame_id=_TEXT, child_frame_id=_TEXT, translation=_VECTOR, rotation=_QUATERNION
            )
        )
    ),
    "foxglove.SceneUpdate": _object(
        deletions=_array(_object()),
        entities=_array(
            _object(
                timestamp=_TIME,
                frame_id=_TEXT,
                id=_TEXT,
                lifetime=_TIME,
                frame_locked={"type": "boolean"},
                metadata=_array(_object(key=_TEXT, value=_TEXT)),
                triangles=_array(_TRIANGLES),
                **{name: _array(_object()) for name in _OTHER_PRIMITIVES},
            )
        ),
    ),
    "foxglove.Log": _object(
        timestamp=_TIME, level={"type": "integer"}, message=_TEXT, name=_TEXT, file=_TEXT, line={"type": "integer"}
    ),
}


def write_mcap(recording: Path, file: Path, *, fps: float) -> int:
    """Writes a recording as MCAP for Foxglove and returns the number of messages."""
    try:
        from mcap.writer import Writer
    except ImportError:
        raise MissingExtraError("an MCAP file", "mcap", "mcap") from None
    film = Film.open(recording)
    if film.start < 0:
        raise RecordingError(f"{recording}: begins at t={film.start:g} s, but MCAP has no times before 0.")
    with draft(file) as temporary, temporary.open("wb") as stream:
        writer = Writer(stream)
        writer.start(library="nutmeg")
        output = _Mcap(writer)
        if film.has_scene:
            output.scene(_Scene(film, fps), film.start)
        for name, channel in film.recording.channels.items():
            output.open_channel(name, channel)
        for times, values in _blocks(film):
            for name, channel in film.recording.channels.items():
                output.rows(name, channel, times, values[name])
        for event in film.recording.events:
            output.event(dict(event))
        writer.finish()
    return output.count


class _Mcap:
    """Writes messages, each under its topic."""

    def __init__(self, writer: Any) -> None:  # noqa: ANN401 (mcap has no types)
        self._writer, self.count = writer, 0
        self._topics: dict[str, int] = {}

    def _topic(self, name: str, schema: str, description: dict[str, object]) -> int:
        """The number of a topic; it and its schema are written when it is first used."""
        if name not in self._topics:
            text = json.dumps({"title": schema, **description}).encode()
            number = self._writer.register_schema(schema, "jsonschema", text)
            self._topics[name] = self._writer.register_channel(name, "json", number)
        return self._topics[name]

    def _add(self, topic: int, time: float, message: object) -> None:
        stamp = round(time * 1e9)
        self._writer.add_message(topic, stamp, json.dumps(message).encode(), stamp)
        self.count += 1

    def scene(self, scene: _Scene, start: float) -> None:
        """Writes the shapes once, and then the poses of moving pieces."""
        topic = self._topic("/scene", "foxglove.SceneUpdate", _SCHEMAS["foxglove.SceneUpdate"])
        entities = [_entity_message(piece, parts, start) for piece, parts in scene.shapes() if parts]
        self._add(topic, start, {"deletions": [], "entities": entities})
        moving = [(place, piece) for place, piece in enumerate(scene.tree) if piece.parent >= 0]
        topic = self._topic("/tf", "foxglove.FrameTransforms", _SCHEMAS["foxglove.FrameTransforms"])
        for time, positions, turns in scene.poses():
            stamp, places, quaternions = _stamp(time), positions.tolist(), turns.tolist()
            transforms = [
                {
                    "timestamp": stamp,
                    "parent_frame_id": _frame(scene.tree[piece.parent]),
                    "child_frame_id": _frame(piece),
                    "translation": dict(zip("xyz", places[place], strict=True)),
                    "rotation": dict(zip("wxyz", quaternions[place], strict=True)),
                }
                for place, piece in moving
            ]
            self._add(topic, time, {"transforms": transforms})

    def open_channel(self, name: str, channel: Channel) -> None:
        """Writes the schema of a channel, with its unit; also of one without a row."""
        unit = f"[{channel.unit}]" if channel.unit else ""
        labels = {label: {"type": ["number", "null"], "description": unit} for label in channel.labels}
        description = {"description": f"{channel.about} {unit}".strip(), **_object(timestamp=_TIME, **labels)}
        self._topic(f"/{_entity(name)}", f"nutmeg.{name}", description)

    def rows(self, name: str, channel: Channel, times: Floats, values: Floats) -> None:
        """Writes rows of a channel."""
        topic = self._topics[f"/{_entity(name)}"]
        plain = values.astype(object)
        plain[~np.isfinite(values)] = None  # JSON has neither NaN nor infinity
        for time, row in zip(times.tolist(), plain.tolist(), strict=True):
            self._add(topic, time, {"timestamp": _stamp(time), **dict(zip(channel.labels, row, strict=True))})

    def event(self, event: dict[str, Any]) -> None:
        """Writes an event as a line of a log."""
        topic = self._topic("/events", "foxglove.Log", _SCHEMAS["foxglove.Log"])
        time, kind = float(event.pop("time")), str(event.pop("kind"))
        place = {"timestamp": _stamp(time), "level": _INFO_LEVEL, "file": "", "line": 0}
        self._add(topic, time, {**place, "name": kind, "message": _sentence(kind, event)})


def _entity_message(piece: Piece, parts: Sequence[Part], start: float) -> dict[str, object]:
    """A foxglove.SceneEntity with the shapes of a piece."""
    still = {"position": {"x": 0.0, "y": 0.0, "z": 0.0}, "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}}
    triangles = [
        {
            "pose": still,
            "points": [dict(zip("xyz", point, strict=True)) for point in part.mesh.points.round(5).tolist()],
            "color": dict(zip("rgba", part.finish.rgba, strict=True)),
            "colors": [],
            "indices": part.mesh.faces.ravel().tolist(),
        }
        for part in parts
    ]
    return {
        "timestamp": _stamp(start),
        "frame_id": _frame(piece),
        "id": _frame(piece),
        "lifetime": {"sec": 0, "nsec": 0},
        "frame_locked": True,
        "metadata": [],
        "triangles": triangles,
        **{name: [] for name in _OTHER_PRIMITIVES},
    }


def _frame(piece: Piece) -> str:
    """The frame of a piece: the name of its body."""
    return piece.path.rpartition("/")[2].replace(":", "/")


def _stamp(time: float) -> dict[str, int]:
    seconds, nanoseconds = divmod(round(time * 1e9), 10**9)
    return {"sec": seconds, "nsec": nanoseconds}


def _sentence(kind: str, fields: dict[str, Any]) -> str:
    """An event as text: its own text if it has one, else its fields."""
    said = fields.pop("text", "")
    pairs = ", ".join(f"{key} {item}" for key, item in fields.items())
    return str(said) or f"{kind}: {pairs}".removesuffix(": ")


# ----------------------------------------------------------------------------------------------------
# rerun


def write_rrd(recording: Path, file: Path, *, fps: float) -> int:
    """Writes a recording for rerun and returns the number of rows."""
    try:
        import rerun as rr
    except ImportError:
        raise MissingExtraError("a rerun file", "rerun-sdk", "rerun") from None
    film = Film.open(recording)
    # The same recording has the same identity, so that opening it again replaces it in the viewer.
    output = rr.RecordingStream("nutmeg", recording_id=film.recording.content_hash())
    with draft(file) as temporary:
        output.save(temporary)
        if film.has_scene:
            _rrd_scene(rr, output, _Scene(film, fps))
        for name, channel in film.recording.channels.items():
            names = [f"{label} [{channel.unit}]" if channel.unit else label for label in channel.labels]
            output.log(_entity(name), rr.SeriesLines(names=names), static=True)
        for times, values in _blocks(film):
            for name, numbers in values.items():
                columns = rr.Scalars.columns(scalars=numbers.ravel()).partition([numbers.shape[1]] * len(numbers))
                output.send_columns(_entity(name), [rr.TimeColumn("time", duration=times)], columns)
        for event in film.recording.events:
            fields = dict(event)
            output.set_time("time", duration=float(fields.pop("time")))
            kind = str(fields.pop("kind"))
            output.log("events", rr.TextLog(_sentence(kind, fields), level=rr.TextLogLevel.INFO))
        output.flush()
        output.disconnect()
    return len(film.times)


def _rrd_scene(rr: Any, output: Any, scene: _Scene) -> None:  # noqa: ANN401 (an extra)
    """Logs the shapes once, and the poses of moving pieces."""
    output.log("scene", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    for piece, parts in scene.shapes():
        for number, part in enumerate(parts):
            colour = [round(255 * share) for share in part.finish.rgba]
            mesh = rr.Mesh3D(
                vertex_positions=part.mesh.points,
                triangle_indices=part.mesh.faces,
                vertex_normals=part.mesh.normals,
                albedo_factor=colour,
            )
            output.log(f"scene{_path(piece)}/shape{number}", mesh, static=True)
    moments = list(scene.poses())
    times = [rr.TimeColumn("time", duration=[moment for moment, _, _ in moments])]
    for place, piece in enumerate(scene.tree):
        if piece.parent >= 0:
            positions = np.array([positions[place] for _, positions, _ in moments])
            turns = np.array([turns[place] for _, _, turns in moments])[:, [1, 2, 3, 0]]  # w last
            columns = rr.Transform3D.columns(translation=positions, quaternion=turns)
            output.send_columns(f"scene{_path(piece)}", times, columns)


def _path(piece: Piece) -> str:
    """The path of a piece with only characters that rerun need not escape."""
    return "".join(sign if sign.isalnum() or sign in "/_-." else "_" for sign in piece.path)
