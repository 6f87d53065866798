"""A recording as one web page that plays from disk, without any server or network.

The page has a time slider, play and pause, speeds from 0.5x to 8x, an orbiting camera, and a switch for the labels;
that of a match has a score board and a list of events to click, and follows the ball. The page of a single robot
follows the robot.

    replay_html(Path("match.nutmeg"), Path("match.html"))

The page of a match is written while the match is played, by a process that reads the recording as it grows
(`nutmeg.view.pages.process.ReplayProcess`): when the match ends, only the last moments are missing.
"""

from __future__ import annotations

import base64
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

from nutmeg.base.errors import FileError, NutmegError, UsageError
from nutmeg.recording.manifest import MANIFEST
from nutmeg.view.html import read_text
from nutmeg.view.match_story import MatchStory, is_match
from nutmeg.view.pages.furniture import replay_head
from nutmeg.view.pages.server import open_server
from nutmeg.view.stage.cameras import follow_view, stand_view, thing_position
from nutmeg.view.stage.film import Film
from nutmeg.view.stage.stage import Cast, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

    from nutmeg.base.arrays import Floats

FOLLOW_SMOOTHING = 0.6
"""The view goes after what it follows with this time constant, seconds."""
BLOCK_BYTES = 4 * 2**20
"""Messages are compressed and put aside whenever there are so many bytes of them."""
COMPRESSION = 9
"""Level of zstandard's compression."""
LOOK_PERIOD = 0.5
"""Seconds between two looks for new rows of a recording that grows."""
MSGPACK_ARRAY = b"\xdd"
"""The byte before the length (4 bytes) of a long array in MessagePack."""


class Reel:
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
        out.write(f'";window.__VISER_EMBED_CONFIG__={{darkMode:false}};</script>{player[head:]}'.encode())

    def close(self) -> None:
        """Forget everything."""
        self._blocks.close()

    def _append(self, message: dict[str, Any]) -> None:
        self._waiting += self._encoder.encode((self.time, message))
        self._count += 1
        if len(self._waiting) > BLOCK_BYTES:
            self._put_aside()

    def _put_aside(self) -> None:
        self._bytes += len(self._waiting)
        self._blocks.write(zstandard.compress(bytes(self._waiting), COMPRESSION))
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
        first = b"".join([*table, encode("messages"), MSGPACK_ARRAY, self._count.to_bytes(4, "big")])
        length = len(first) + self._bytes
        arrays = bytearray()
        for buffer in self._buffers:  # each begins at a multiple of 8 bytes
            arrays += b"\0" * (-(8 + length + len(arrays)) % 8) + bytes(buffer)
        yield (8 + length + len(arrays)).to_bytes(8, "little")
        yield zstandard.compress(length.to_bytes(8, "little") + first, COMPRESSION)
        self._blocks.seek(0)
        while block := self._blocks.read(2**20):
            yield block
        yield zstandard.compress(bytes(arrays), COMPRESSION)


def _write_base64(out: IO[bytes], parts: Iterator[bytes]) -> None:
    """Write bytes as one text of base64, which takes them three at a time."""
    rest = b""
    for part in parts:
        data = rest + part
        whole = len(data) - len(data) % 3
        out.write(base64.b64encode(data[:whole]))
        rest = data[whole:]
    out.write(base64.b64encode(rest))


class ReplayWriter:
    """Writes the page of a recording, which may still grow.

    Args:
        film: the recording.
        fps: moments per second that are kept.
        server: a server that nobody looks at: viser needs one to describe a scene.
        max_seconds: keep only so much from the start.
    """

    def __init__(self, film: Film, fps: float, server: viser.ViserServer, *, max_seconds: float | None = None) -> None:
        self._film, self._fps, self._max = film, fps, max_seconds
        self._match = is_match(film.recording)
        self._subject = "ball" if self._match else film.robots[0] if len(film.robots) == 1 else ""
        stage = Stage(server, film.model, robots=film.robots)
        self._cast = Cast(stage, server, film.qpos_at(film.start))
        if self._match:
            story = MatchStory(film.recording)
            for robot in film.robots:
                self._cast.name(robot, story.name_of(robot))
            stage.aim(stand_view(stage.pitch, stage.pitch.centre))
        elif (place := thing_position(film.model, self._cast.data, self._subject)) is not None:
            stage.aim(follow_view(np.append(stage.pitch.centre[:2], place[2])))
        self._reel = Reel(server)
        self._cast.emit = self._reel.add
        self._followed: Floats | None = None
        self._done = 0

    def advance(self, on_progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
        """Take up all moments that are recorded by now."""
        film, total = self._film, self._film.frame_count(self._fps, self._max)
        while self._done < total:
            self._cast.show(film.qpos_at(film.start + self._done / self._fps))
            if self._subject:
                self._followed = _followed(self._cast, self._subject, self._followed, 1 / self._fps)
                self._cast.carry(self._followed)
            self._done += 1
            self._reel.time = self._done / self._fps
            on_progress(self._done, total)

    def finish(self, out: Path) -> int:
        """Write the page; returns its size in bytes."""
        unfinished = out.with_name(f".{out.name}.unfinished")
        title = f"<title>{html.escape(self._film.title)} · Nutmeg</title>"
        head = title + read_text("label_switch.html") + _match_head(self._film, self._max)
        try:
            with unfinished.open("wb") as file:
                self._reel.write(file, head)
            unfinished.replace(out)
        except OSError as error:
            raise FileError(out, f"the replay cannot be written: {error.strerror}.") from error
        finally:
            unfinished.unlink(missing_ok=True)
            self._reel.close()
        return out.stat().st_size


def replay_html(
    path: Path,
    out: Path,
    *,
    fps: float = 25.0,
    max_seconds: float | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Write the page; returns its size in bytes.

    Args:
        path: the recording.
        out: the HTML file to write.
        fps: moments per second that are kept.
        max_seconds: keep only so much from the start.
        on_progress: called with the moments done and their total.
    """
    if not 1 <= fps <= 120:
        raise UsageError(f"fps is {fps:g}; it must lie between 1 and 120.")
    film = Film.of_scene(path)
    with open_server("127.0.0.1", 0) as server:
        writer = ReplayWriter(film, fps, server, max_seconds=max_seconds)
        writer.advance(on_progress)
        return writer.finish(out)


def _followed(cast: Cast, subject: str, before: Floats | None, seconds: float) -> Floats:
    """The point (3,) to look at: it follows a thing smoothly from the point `before`; a ball only on the pitch."""
    pitch, place = cast.stage.pitch, thing_position(cast.model, cast.data, subject)
    goal = pitch.centre if place is None else np.clip(place, pitch.low, pitch.high) if subject == "ball" else place
    return goal if before is None else before + (1 - math.exp(-seconds / FOLLOW_SMOOTHING)) * (goal - before)


def _match_head(film: Film, seconds: float | None) -> str:
    """What the head of the page of a match has for score board and events."""
    if not is_match(film.recording):
        return ""
    end = film.end if seconds is None else min(film.end, film.start + seconds)
    return replay_head(MatchStory(film.recording), film.start, end)


# ---- beside a running match


@dataclass(frozen=True, kw_only=True)
class FollowSettings:
    """Write the page of a recording while it grows."""

    path: tyro.conf.Positional[Path]
    """The recording."""
    out: tyro.conf.Positional[Path]
    """The page."""
    fps: float = 10.0
    """Moments per second that are kept."""
    parent: int = 0
    """End without a page when this process is no longer the parent."""


def follow_recording(settings: FollowSettings) -> int | None:
    """Take up rows as they come; write the page when the recording is finished, and return its size."""
    while not (settings.path / MANIFEST).is_file():
        if os.getppid() != settings.parent:
            return None
        time.sleep(LOOK_PERIOD)
    film = Film.open(settings.path)
    with open_server("127.0.0.1", 0) as server:
        writer = ReplayWriter(film, settings.fps, server)
        while not film.recording.finished:
            if os.getppid() != settings.parent:
                return None
            film.refresh()
            writer.advance()
            time.sleep(LOOK_PERIOD)
        writer.advance()
        return writer.finish(settings.out)


def main() -> int:
    """Follow a recording; prints the size of the page."""
    try:
        print(follow_recording(tyro.cli(FollowSettings)) or 0)  # noqa: T201 (this is a command)
    except NutmegError as error:
        print(error, file=sys.stderr)  # noqa: T201 (this is a command)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
