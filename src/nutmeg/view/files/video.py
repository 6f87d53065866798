"""A recording as an MP4 file that plays everywhere (H.264, yuv420p).

    video(Path("match.nutmeg"), Path("match.mp4"), camera="follow:nao1")

A video that cannot be finished (full disk, Ctrl-C) leaves no file behind.
"""

from __future__ import annotations

import contextlib
import functools
import subprocess
import tempfile
from typing import IO, TYPE_CHECKING

from nutmeg.base.errors import FileError, MissingExtraError, UsageError
from nutmeg.view.files.pictures import FINE, Photographer
from nutmeg.view.stage.cameras import CameraOperator
from nutmeg.view.stage.film import Film

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from nutmeg.base.arrays import Bytes
    from nutmeg.sim.cameras.renderer import Quality


def video(
    path: Path,
    out: Path,
    *,
    fps: float = 30.0,
    size: tuple[int, int] = (1280, 720),
    camera: str = "broadcast",
    quality: Quality = FINE,
    max_seconds: float | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Write a video of a recording; returns the number of frames.

    Args:
        path: the recording.
        out: the MP4 file to write.
        fps: pictures per second; the video runs in real time.
        size: width and height, pixels; both must be even.
        camera: `broadcast`, `side`, `follow:<robot>`, `eyes:<robot>` or a camera of the scene.
        quality: quality of each picture.
        max_seconds: duration to write, from the start [s]; None for all.
        on_progress: called with the frames done and their total.
    """
    _check(out, size, fps)
    film = Film.of_scene(path)
    total = film.frame_count(fps, max_seconds)
    if not total:
        raise UsageError(f"{path}: the recording has no rows yet, so there is nothing to film.")
    operator = CameraOperator(film.model, camera, aspect=size[0] / size[1])
    unfinished = out.with_name(f".{out.name}.unfinished.mp4")
    try:
        with Photographer(film.model, size, quality) as photographer, encoder(unfinished, out, size, fps) as encode:
            for done, (_, qpos) in enumerate(film.frames(fps, max_seconds), 1):
                photographer.pose(qpos)
                encode(photographer.shoot(operator.view(photographer.data)))
                on_progress(done, total)
        unfinished.replace(out)
    finally:
        unfinished.unlink(missing_ok=True)
    return total


@contextlib.contextmanager
def encoder(path: Path, out: Path, size: tuple[int, int], fps: float) -> Iterator[Callable[[Bytes], None]]:
    """A running ffmpeg that takes one picture per call; an ffmpeg that fails, even at the end, is an error."""
    try:
        import imageio_ffmpeg
    except ImportError:
        raise MissingExtraError("a video", "imageio-ffmpeg", "video") from None
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:g}", "-i", "-"]
    command += ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-preset", "veryfast"]
    command += ["-movflags", "+faststart", str(path)]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)  # noqa: S603
        assert process.stdin is not None
        try:
            with contextlib.suppress(BrokenPipeError):  # its exit code below says why
                yield functools.partial(_feed, process.stdin)
                process.stdin.close()
            code = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        if code:
            said.seek(0)
            reason = said.read().decode(errors="replace").strip() or f"ffmpeg ended with code {code}"
            raise FileError(out, f"the video cannot be written: {reason}")


def _feed(pipe: IO[bytes], image: Bytes) -> None:
    pipe.write(image.tobytes())


def _check(out: Path, size: tuple[int, int], fps: float) -> None:
    if out.suffix.lower() != ".mp4":
        raise FileError(out, "videos are MP4 files; let the name end in .mp4.")
    if not out.parent.is_dir():
        raise FileError(out, "the folder does not exist. Make it first, or write elsewhere.")
    if min(size) <= 0:
        raise UsageError(f"the video size is {size[0]} x {size[1]}; both must be above 0.")
    if size[0] % 2 or size[1] % 2:
        raise UsageError(f"the video size is {size[0]} x {size[1]}; H.264 needs even numbers.")
    if not 1 <= fps <= 240:
        raise UsageError(f"fps is {fps:g}; it must lie between 1 and 240.")
