"""Play a match in the browser: score, clock, cameras, what players see, believe and intend.

In the physical world, robots have joints and motors, and teams are walks of the built-in team. In the behavioural
world, robots have none: they walk, kick and fall by a few numbers, see through two cameras and decide ten times a
second, so that a match is quickly played; teams are strategies, or a `decide` of your own, which plays in the physical
world, too. At the end there is a report of one page, a replay that plays offline, and on request a video and the
pictures of all robots' cameras. Ctrl-C ends the match; what was played is reported all the same.

example: nutmeg play
         nutmeg play --left holonomic --right final --players 9 --fast
         nutmeg play --players 2 --half 60 --no-page --video match.mp4
         nutmeg play --world behavioural --left roles-pass --right mine.py:decide
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nutmeg.base.interrupts import Starting, load_physics

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Options of `nutmeg play`."""

    world: Literal["physical", "behavioural"] = "physical"
    """Robots with joints and motors, or robots that move by a few numbers, for strategies."""
    left: str = ""
    """The left team, which also gets this name: a walk (by name or TOML file) with which the built-in team plays in the
    physical world; or, in both worlds, a strategy, `builtin` for the built-in tactics, or `file.py:decide`. If left
    out, final, or roles-pass in the behavioural world."""
    right: str = ""
    """The right team. If left out, holonomic, or attacker-keeper in the behavioural world."""
    field: str = ""
    """What is played on; sim3d, or spl2011 in the behavioural world, if left out."""
    rules: str = ""
    """The rule book: a name, or a TOML file; if left out, sim3d, or spl2011 in the behavioural world on pitches with
    penalty marks."""
    walk: str = "final"
    """How robots walk in the physical world whose team is not a walk."""
    behaviour: str = "nao"
    """What robots and ball of the behavioural world can do: a name, or a TOML file."""
    eyes: str = ""
    """What robots of the behavioural world see and hear with: a name, or a TOML file; what goes with the robots if left
    out."""
    images: bool = False
    """Whether players of the behavioural world may ask for the pictures of their cameras (`percept.images`), which
    takes some milliseconds each; needs a renderer (see nutmeg doctor)."""
    players: int = 4
    """Players of each team, 1 to 11."""
    half: float = 300.0
    """Length of a half in seconds."""
    seconds: float = 0.0
    """End after so much simulated time; 0 plays the whole match."""
    swap_ends: bool = False
    """Whether the teams change ends at half time."""
    seed: int = 1
    """Of everything random; the same seed gives the same match."""
    fast: bool = False
    """As fast as the computer can, instead of in real time."""
    page: bool = True
    """Whether to show the match in the browser."""
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 8080
    """Port of the page."""
    open: bool = False
    """Open the page in your browser."""
    output: Path | None = None
    """Folder for recording, report and replay; runs/match-N if left out."""
    record: Path | None = None
    """Keep the recording under this name instead of in the folder."""
    report: Path | None = None
    """Write the report under this name instead of in the folder."""
    replay: Path | None = None
    """Write the replay under this name instead of in the folder."""
    make_replay: bool = True
    """Whether to make a replay that plays offline, which takes a while for a long match."""
    video: Path | None = None
    """Make a video of the match, too: an MP4 file; needs a renderer (see nutmeg doctor)."""
    record_cameras: bool = False
    """Write what both cameras of every robot see in the behavioural world into a folder `cameras`, with the truth in
    frames.csv; needs a renderer (see nutmeg doctor)."""
    camera_rate: float = 2.0
    """Pictures per second that --record-cameras writes, at most 10."""
    camera_format: Literal["png", "mp4"] = "png"
    """Numbered PNG files, or one video for each camera."""
    json: bool = False
    """Print one JSON object as the last line."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Plays the match, then writes what there is to read and to see of it."""
    with Starting():
        load_physics()
        from nutmeg.commands.play_match import check, command_of, new_match
        from nutmeg.commands.play_run import Aftermath, Files, MatchRun
        from nutmeg.match.loop import PlayerError
        from nutmeg.view.live import UNPACED_SPEED, Watching, watch_run
        from nutmeg.view.pages.process import check_port

        check(arguments)
    if arguments.page:
        check_port(arguments.host, arguments.port)  # before the teams are called together
    files = Files.of(arguments)
    match = MatchRun(lambda path: new_match(arguments, path), terminal)
    cameras = (arguments.camera_rate, arguments.camera_format) if arguments.record_cameras else None
    aftermath = Aftermath(files, command=command_of(arguments), seed=arguments.seed, terminal=terminal, cameras=cameras)
    how = Watching(
        seconds=arguments.seconds,
        host=arguments.host,
        port=arguments.port,
        open_browser=arguments.open,
        record=files.record,
        page=arguments.page,
        title="match",
        seed=arguments.seed,
        pace=UNPACED_SPEED if arguments.fast else 1.0,
        paced=True,
        longest=10 * arguments.half + 3600.0,
        on_end=aftermath.write,
    )
    try:
        watched = watch_run(match, how, terminal)
    except PlayerError:
        aftermath.write()
        raise
    return {**match.result(), "url": watched["url"], "simulated_s": watched["simulated_s"], **aftermath.write()}
