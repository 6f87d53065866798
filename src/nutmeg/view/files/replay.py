"""A recording as one web page that plays from disk, without any server or network.

The page has the time bar and the keys of a page with a server, its cameras (whole pitch, follow, robot's eyes;
broadcast where there is a ball), a switch for the labels, plots of all channels, and a list of events to click; that
of a match has a score board and a small map, too. A match is shown by the broadcast camera first, a single
robot is followed.

A script of the page moves the camera. The file has the path of each camera as three invisible frames that move with the
scene: at the camera's place, at its target, and at the upper edge of its picture above the target.

    replay_html(Path("match.nutmeg"), Path("match.html"))

The page of a match is written while the match is played, by a process that reads the recording as it grows
(`nutmeg.view.pages.process.MatchPagesProcess`), and so is its report: when the match ends, only the last moments are
missing.
"""

from __future__ import annotations

import base64
import contextlib
import html
import math
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import tyro
import viser
import zstandard

from nutmeg.base.errors import NutmegError, UsageError, writing
from nutmeg.base.journal import draft
from nutmeg.recording.manifest import MANIFEST
from nutmeg.view.html import read_text, render, script_json
from nutmeg.view.match_story import MatchStory, is_match
from nutmeg.view.pages.overlay import match_table
from nutmeg.view.pages.page import BALL, BROADCAST, EYES, FOLLOW, FREE, WHOLE, listed_events
from nutmeg.view.pages.plots import Signals, SignalTable
from nutmeg.view.pages.server import open_server
from nutmeg.view.reports.match import MatchStatistics, write_match_page
from nutmeg.view.reports.plots import load_plotting
from nutmeg.view.stage.cameras import (
    broadcast_view,
    eyes_view,
    follow_view,
    robot_cameras,
    root_body,
    stand_view,
    thing_bounds,
    thing_position,
    things,
)
from nutmeg.view.stage.film import UNDERGROUND, Film
from nutmeg.view.stage.stage import Cast, Shift, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import IO

    from nutmeg.base.arrays import Floats
    from nutmeg.view.stage.cameras import Viewpoint

FOLLOW_SMOOTHING = 0.6
"""Time constant with which the broadcast camera follows the ball, seconds."""
_BROADCAST_PATH, _WHOLE_PATH = "/cameras/broadcast", "/cameras/whole"
"""Scene paths of the frames of cameras beside the pitch; those of a robot's eyes are children of its head."""
BLOCK_BYTES = 4 * 2**20
"""Size of uncompressed messages at which they are compressed into the temporary file, bytes."""
_COMPRESSION = 9  # level of zstandard's compression
LOOK_PERIOD = 0.5
"""Time between two checks for new rows of a growing recording, seconds."""
_MSGPACK_ARRAY = b"\xdd"  # the byte before the length (4 bytes) of a long array in MessagePack


class _Reel:
    """A scene and the messages that move it, in the file format of viser's player, written as it grows.

    The format is one stream compressed by zstandard: the length of a MessagePack table, the table with all messages and
    their times, then the arrays that messages refer to. viser's own serializer keeps all messages in memory until the
    end (a gigabyte for a long match) and compresses them then. Here they are compressed block by block into a
    temporary file: zstandard reads blocks one after the other as one stream.
    """

    def __init__(self, server: viser.ViserServer) -> None:
        scene = server.get_scene_serializer()
        scene.serialize()  # ends it: what it holds is the scene as it is now
        self._buffers: list[memoryview] = list(scene._binary_buffers)
        self._encoder = msgspec.msgpack.Encoder()
        self._waiting = bytearray()
        self._blocks: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the reel)
        self._count = self._bytes = 0
        self.time = 0.0
        """Time of the next messages, seconds."""
        for _, message in scene._messages:
            self._append(message)

    def add(self, message: Any) -> None:  # noqa: ANN401
        """Add a message of viser's scene at the present time."""
        self._append(message.as_serializable_dict(self._buffers))

    def write(self, out: IO[bytes], more: str) -> None:
        """Write the page: viser's player, with `more` and the reel in its head."""
        self._put_aside()
        player = (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
        head = player.index("</head>")
        start = re.sub(r"<title>.*?</title>", "", player[:head], flags=re.DOTALL)
        out.write(f'{start}{more}<script>window.__VISER_EMBED_DATA__="'.encode())
        _write_base64(out, self._stream())
        dark = "{darkMode:matchMedia('(prefers-color-scheme: dark)').matches}"
        out.write(f'";window.__VISER_EMBED_CONFIG__={dark};</script>{player[head:]}'.encode())

    def close(self) -> None:
        """Drops all messages and the temporary file."""
        self._blocks.close()

    def _append(self, message: dict[str, Any]) -> None:
        self._waiting += self._encoder.encode((self.time, message))
        self._count += 1
        if len(self._waiting) > BLOCK_BYTES:
            self._put_aside()

    def _put_aside(self) -> None:
        self._bytes += len(self._waiting)
        self._blocks.write(zstandard.compress(bytes(self._waiting), _COMPRESSION))
        self._waiting.clear()

    def _stream(self) -> Iterator[bytes]:
        """The file: the size of everything, then the compressed blocks."""
        encode = self._encoder.encode
        # A table of four entries: its head, then keys and values; the messages are already encoded.
        table = [
            b"\x84",
            encode("durationSeconds"),
            encode(self.time),
            encode("viserVersion"),
            encode(viser.__version__),
        ]
        table += [encode("binaryBufferLengths"), encode([buffer.nbytes for buffer in self._buffers])]
        first = b"".join([*table, encode("messages"), _MSGPACK_ARRAY, self._count.to_bytes(4, "big")])
        length = len(first) + self._bytes
        arrays = bytearray()
        for buffer in self._buffers:  # each begins at a multiple of 8 bytes
            arrays += b"\0" * (-(8 + length + len(arrays)) % 8) + bytes(buffer)
        yield (8 + length + len(arrays)).to_bytes(8, "little")
        yield zstandard.compress(length.to_bytes(8, "little") + first, _COMPRESSION)
        self._blocks.seek(0)
        while block := self._blocks.read(2**20):
            yield block
        yield zstandard.compress(bytes(arrays), _COMPRESSION)


def _write_base64(out: IO[bytes], parts: Iterator[bytes]) -> None:
    """Write bytes as one text of base64, which takes them three at a time."""
    rest = b""
    for part in parts:
        data = rest + part
        whole = len(data) - len(data) % 3
        out.write(base64.b64encode(data[:whole]))
        rest = data[whole:]
    out.write(base64.b64encode(rest))


class _ReplayWriter:
    """Writes the page of a recording, which may still grow.

    The `server` has no browsers: viser needs one to describe a scene.
    """

    def __init__(
        self,
        film: Film,
        fps: float,
        server: viser.ViserServer,
        *,
        max_seconds: float | None = None,
        plots: Sequence[str] = (),
    ) -> None:
        self._film, self._fps, self._max, self._plots = film, fps, max_seconds, plots
        self._signals = SignalTable(film.recording)
        self.story = MatchStory(film.recording) if is_match(film.recording) else None
        """The story of a match; None of other recordings."""
        self._titles = {robot: robot for robot in film.robots}
        stage = Stage(server, film.model, robots=film.robots)
        self._cast = Cast(stage, server, film.qpos_at(film.start))
        self._ball = thing_position(film.model, self._cast.data, "ball")
        if self.story is not None:
            self._titles = {robot: self.story.name_of(robot) for robot in film.robots}
            for robot, title in self._titles.items():
                self._cast.name(robot, title)
        self._cameras = self._add_cameras(server)
        if self.story is not None and self._ball is not None:
            stage.aim(stand_view(stage.pitch, self._ball))
        elif len(film.robots) == 1 and (place := self._cast_position(film.robots[0])) is not None:
            stage.aim(follow_view(place))
        self._reel = _Reel(server)
        self._cast.emit = self._reel.add
        self._done = 0

    def _cast_position(self, thing: str) -> Floats | None:
        return thing_position(self._cast.model, self._cast.data, thing)

    def advance(self, on_progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
        """Adds all moments that are recorded by now."""
        film, total = self._film, self._film.frame_count(self._fps, self._max)
        self._signals.take(math.inf if self._max is None else film.start + self._max)
        while self._done < total:
            self._cast.show(film.qpos_at(film.start + self._done / self._fps))
            self._move_broadcast(1 / self._fps)
            self._done += 1
            self._reel.time = self._done / self._fps
            on_progress(self._done, total)

    def _move_broadcast(self, seconds: float) -> None:
        """Move the broadcast camera after the ball, as long as that is on the pitch."""
        place, pitch = self._cast_position("ball"), self._cast.stage.pitch
        if place is None or self._ball is None:
            return
        goal = np.clip(place, pitch.low, pitch.high)
        self._ball = self._ball + (1 - math.exp(-seconds / FOLLOW_SMOOTHING)) * (goal - self._ball)
        for frame, where in _frames(stand_view(pitch, self._ball)).items():
            self._reel.add(Shift(f"{_BROADCAST_PATH}/{frame}", tuple(np.round(where, 3).tolist())))

    def _add_cameras(self, server: viser.ViserServer) -> dict[str, Any]:
        """Adds the frames of all cameras to the scene; returns their description for the script of the page."""
        stage, robots, data = self._cast.stage, self._film.robots, self._cast.data

        def add(path: str, view: Viewpoint, body: int = 0) -> str:
            turn = data.xmat[body].reshape(3, 3)
            for frame, place in _frames(view).items():
                server.scene.add_frame(f"{path}/{frame}", show_axes=False, position=turn.T @ (place - data.xpos[body]))
            return path

        def add_eyes(robot: str) -> str | None:
            names = robot_cameras(self._film.model, robot)
            if not names:
                return None
            body = int(self._film.model.body_weldid[self._film.model.camera(names[0]).bodyid[0]])
            piece = next(piece for piece in stage.tree if piece.body == body)
            return add(f"{piece.path}/eyes", eyes_view(self._film.model, data, names[0]), body)

        pieces = {piece.body: piece.path for piece in reversed(stage.tree)}
        roots = {thing: pieces[root_body(self._film.model, thing)] for thing in things(self._film.model)}
        eyes = {robot: add_eyes(robot) for robot in robots}
        paths = {WHOLE: add(_WHOLE_PATH, broadcast_view(stage.pitch))}
        if self._ball is not None:
            paths[BROADCAST] = add(_BROADCAST_PATH, stand_view(stage.pitch, self._ball))
        followed = [*([BALL] if self._ball is not None else []), *([FOLLOW] if robots else [])]
        choices = [*reversed(paths), *followed, *([EYES] if any(eyes.values()) else []), FREE]
        first = BROADCAST if self.story is not None else FOLLOW if len(robots) == 1 else FREE
        return {
            "choices": choices,
            "first": first if first in choices else FREE,
            "paths": paths,
            "things": [
                {
                    "name": self._titles[robot],
                    "team": int(robot.startswith("right")),
                    "path": roots[robot],
                    "eyes": eyes[robot],
                    "distance": self._follow_distance(robot),
                }
                for robot in robots
                if robot in roots
            ],
            "ball": roots.get("ball"),
            "half": np.round((stage.pitch.high - stage.pitch.low)[:2] / 2, 2).tolist(),
            "underground": UNDERGROUND,
        }

    def _follow_distance(self, robot: str) -> float:
        """The distance from which a camera shows a robot well, metres."""
        bounds = thing_bounds(self._film.model, self._cast.data, robot)
        view = follow_view(np.zeros(3)) if bounds is None else follow_view(np.zeros(3), bounds.size)
        return round(float(np.linalg.norm(view.position)), 2)

    def finish(self, out: Path) -> int:
        """Write the page; returns its size in bytes."""
        title = f"<title>{html.escape(self._film.title)} · Nutmeg</title>"
        plots = self._signals.packed(self._plots, self._titles)
        table = {
            "cameras": self._cameras,
            "length": self._reel.time,
            "fps": self._fps,
            "plots": plots,
            **self._script_data(),
        }
        head = title + render(
            "replay_head.html.j2",
            table=script_json(table),
            style=read_text("page.css"),
            labels=read_text("label_switch.html"),
            script=read_text("page.js") + read_text("replay_plots.js"),
        )
        try:
            with writing(out), draft(out) as temporary, temporary.open("wb") as file:
                self._reel.write(file, head)
        finally:
            self._reel.close()
        return out.stat().st_size

    def _script_data(self) -> dict[str, Any]:
        """Data for the script of the page: the list of events and, for a match, score board and map."""
        film = self._film
        end = film.end if self._max is None else min(film.end, film.start + self._max)
        if self.story is not None:
            self.story.refresh()
            return match_table(self.story, film.start, end)
        return {"colours": None, "events": [event for event in listed_events(film) if event["t"] <= end - film.start]}


def replay_html(
    path: Path,
    out: Path,
    *,
    fps: float = 25.0,
    max_seconds: float | None = None,
    plots: Sequence[str] = (),
    robot: str = "",
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Write the page; returns its size in bytes.

    Args:
        path: the recording.
        out: the HTML file to write.
        fps: moments per second that are kept.
        max_seconds: duration to keep, from the start [s]; None for all.
        plots: channels that are plotted from the start; all can be chosen on the page.
        robot: the robot (a name or a path) that moves by a recording without a scene.
        on_progress: called with the moments done and their total.
    """
    if not 1 <= fps <= 120:
        raise UsageError(f"fps is {fps:g}; it must lie between 1 and 120.")
    film = Film.of_scene(path, robot=robot)
    for name in plots:
        Signals(film.recording).find(name)  # a wrong name is an error now, not after minutes of work
    with open_server("127.0.0.1", 0) as server:
        writer = _ReplayWriter(film, fps, server, max_seconds=max_seconds, plots=plots)
        writer.advance(on_progress)
        return writer.finish(out)


def _frames(view: Viewpoint) -> dict[str, Floats]:
    """A view as three points (3,) in the world: `place`, `target`, and `top` at the upper edge of the picture."""
    reach = float(np.linalg.norm(view.look_at - view.position))
    top = view.look_at + view.up * reach * math.tan(view.fov / 2)
    return {"place": view.position, "target": view.look_at, "top": top}


# ---- beside a running match


@dataclass(frozen=True, kw_only=True)
class _FollowSettings:
    """Write the replay and the report of a match while it is played."""

    path: tyro.conf.Positional[Path]
    """The recording to follow."""
    replay: Path | None = None
    """The page of the replay, if one is wanted."""
    report: Path | None = None
    """The page of the report, if one is wanted."""
    command: str = ""
    """The command line that plays the same match, for the report."""
    seed: int = 0
    """The seed of the match, for the report."""
    fps: float = 10.0
    """Moments of the replay per second."""
    parent: int = 0
    """End without a page when this process is no longer the parent."""


def _follow_recording(settings: _FollowSettings, say: Callable[[str], None]) -> None:
    """Reads rows as they come, and writes the pages when the recording is finished.

    A line is printed for each finished page: `report`, then `replay` with its size in bytes.
    """
    while not (settings.path / MANIFEST).is_file():
        if os.getppid() != settings.parent:
            return
        time.sleep(LOOK_PERIOD)
    film = Film.open(settings.path)
    with contextlib.ExitStack() as stack:
        writer = statistics = None
        if settings.replay is not None:
            server = stack.enter_context(open_server("127.0.0.1", 0))
            writer = _ReplayWriter(film, settings.fps, server)
        if settings.report is not None:
            statistics = MatchStatistics(writer.story if writer and writer.story else MatchStory(film.recording))
            load_plotting()  # now, and not when the match has ended
        ended = False
        while not ended:
            if os.getppid() != settings.parent:
                return
            film.refresh()
            ended = film.recording.finished
            if statistics is not None:
                statistics.take()
            if writer is not None:
                writer.advance()
            if not ended:
                time.sleep(LOOK_PERIOD)
        if settings.report is not None and statistics is not None:
            write_match_page(
                film.recording,
                statistics.facts(),
                settings.report,
                command=settings.command,
                seed=settings.seed,
                replay=settings.replay,
            )
            say("report")
        if settings.replay is not None and writer is not None:
            say(f"replay {writer.finish(settings.replay)}")


def main() -> int:
    """Follow a recording; prints which pages are written."""
    try:
        _follow_recording(tyro.cli(_FollowSettings), lambda line: print(line, flush=True))  # noqa: T201 (this is a command)
    except NutmegError as error:
        print(error, file=sys.stderr)  # noqa: T201 (this is a command)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
