"""Make an MP4 video of a recording.

example: nutmeg video match.nutmeg match.mp4 --camera follow:nao-v6-1
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from nutmeg.commands.options import JsonOption, Seconds, check_output

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg video`."""

    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RECORDING")]
    """The recording to film."""
    output: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="OUT.mp4")]
    """The MP4 file to write."""
    camera: str = "broadcast"
    """broadcast, side, follow:ROBOT, eyes:ROBOT, or a camera of the scene."""
    fps: float = 30.0
    """Pictures per second."""
    size: tuple[int, int] = (1280, 720)
    """Width and height in pixels."""
    seconds: Seconds = 0.0
    """Film only this time from the start; 0 films all."""
    quick: bool = False
    """No shadows, reflections or smoothing: about twelve times faster in software."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Films the recording."""
    from nutmeg.recording import Recording
    from nutmeg.view.files.pictures import FINE, QUICK
    from nutmeg.view.files.video import video

    check_output(arguments.output, ".mp4")
    for problem in Recording.open(arguments.file).problems:
        terminal.warn(problem)
    with terminal.counting("filming") as on_progress:
        frames = video(
            arguments.file,
            arguments.output,
            fps=arguments.fps,
            size=arguments.size,
            camera=arguments.camera,
            quality=QUICK if arguments.quick else FINE,
            max_seconds=arguments.seconds or None,
            on_progress=on_progress,
        )
    terminal.say(f"wrote {arguments.output}: {frames} frames, {frames / arguments.fps:.1f} s.")
    return {"file": str(arguments.output), "frames": frames}
