"""Play a recording in the browser, with a time slider; or make one HTML file of it that plays offline.

example: nutmeg replay match.nutmeg
         nutmeg replay walk.nutmeg --plot walker.speed walker.angles.LKneePitch
         nutmeg replay log.nutmeg --robot nao-v6
         nutmeg replay real.nutmeg --beside simulated.nutmeg
         nutmeg replay match.nutmeg --html match.html
"""

from __future__ import annotations

import time
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.text import Text

from nutmeg.base.errors import UsageError
from nutmeg.commands.options import JsonOption, PageOptions, Seconds, check_output

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(PageOptions, JsonOption):
    """Options of `nutmeg replay`."""

    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RECORDING")]
    """The recording to play: a folder, or one packed file."""
    plot: tuple[str, ...] = ()
    """Channels to plot from the start, such as ball.speed, or nao.angles.LKneePitch for one label of a channel; more
    can be added on the page."""
    robot: str = ""
    """The robot (a name or a path) that moves by a recording without a scene, such as the log of a real robot; without
    it, only the plots of that recording are shown."""
    beside: Path | None = None
    """Another recording, drawn as a ghost at the same time since its start."""
    html: Path | None = None
    """Write a self-contained page to this file instead."""
    fps: float = 25.0
    """Moments per second kept in the page."""
    seconds: Seconds = 0.0
    """End after this number of seconds; 0 continues until Ctrl-C."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Shows or converts the recording."""
    from nutmeg.recording import Recording

    if arguments.html is not None:
        check_output(arguments.html)
        if arguments.beside is not None:
            raise UsageError("--beside works in the browser only; leave --html out.")
    recording = Recording.open(arguments.file)
    for problem in recording.problems:
        terminal.warn(problem)
    if recording.finished and not len(recording):
        raise UsageError(f"{arguments.file}: the recording ended before its first row, so there is nothing to show.")
    if arguments.html is not None:
        return _write_page(arguments, arguments.html, terminal)
    from nutmeg.view.pages.process import start_viewer_process

    with start_viewer_process(
        arguments.file,
        host=arguments.host,
        port=arguments.port,
        plot=arguments.plot,
        beside=arguments.beside,
        robot=arguments.robot,
    ) as viewer:
        terminal.say(Text.assemble((viewer.url, "bold"), "  (Ctrl-C ends)"))
        if arguments.open:
            webbrowser.open(viewer.url)
        end = time.monotonic() + (arguments.seconds or float("inf"))
        try:
            while viewer.alive and time.monotonic() < end:
                time.sleep(0.1)
        except KeyboardInterrupt:
            terminal.say("stopped.")
        return {"url": viewer.url, "rows": len(recording), "duration_s": recording.duration}


def _write_page(arguments: Arguments, out: Path, terminal: Terminal) -> dict[str, Any]:
    from nutmeg.view.files.replay import replay_html

    with terminal.counting("page") as on_progress:
        size = replay_html(
            arguments.file,
            out,
            fps=arguments.fps,
            max_seconds=arguments.seconds or None,
            plots=arguments.plot,
            robot=arguments.robot,
            on_progress=on_progress,
        )
    terminal.say(f"wrote {out}: {size / 1e6:.1f} MB. Open it in any browser; it needs no server.")
    return {"file": str(out), "bytes": size}
