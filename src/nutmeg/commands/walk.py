"""Watch or measure a learned walk; or try one open-loop walk under several actuations and compare.

With --params it is the pendulum walk, or an AIBO's trot, with the parameters of a file, or of one that comes with
Nutmeg: in the browser, or measured (speeds over 10 s from standing, stopping distance, falls). Without, a walk by
preview control is tried under several actuations: speed, falls, how much the body rocks, plotted over each other.

example: nutmeg walk nao-spark --params initial --command 0.15,0,0
         nutmeg walk nao-spark --params runs/learn-go-to-target-1 --measure --json
         nutmeg walk ers7 --params trot --command 0.15,0,0
         nutmeg walk nao-v6 --walk preview --speed 0.2 --step-duration 1.0 --actuation ideal,servo,motoflex
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from nutmeg.base.errors import UsageError
from nutmeg.commands.options import check_output

if TYPE_CHECKING:
    from nutmeg.motion.preview_walk import WalkResult
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Options of `nutmeg walk`."""

    robot: tyro.conf.Positional[str] = "nao-v6"
    """A robot with legs like a Nao's; with --params also an AIBO, ers7 or ers210."""
    walk: Literal["preview"] = "preview"
    """The walk: ZMP preview control, without sensor feedback."""
    speed: float = 0.2
    """Forward speed [m/s]."""
    step_duration: float = 1.0
    """A step of the left and one of the right foot together [s]."""
    zmp_width: float = 1.0
    """Sideways swing of the reference ZMP, as a share of the feet's distance."""
    actuation: str = ""
    """Actuations to compare, separated by commas: ideal, servo, motoflex, motoflex-paper or TOML files; the first
    three if left out, or that of the body."""
    body: Path | None = None
    """An identified body (the params.toml of `nutmeg identify`)."""
    seconds: float | None = None
    """How long to walk; 20 s if left out, or until Ctrl-C when a learned walk is watched."""
    timestep: float = 0.001
    """Of the physics [s]."""
    plot: Path | None = Path("walk.png")
    """Figure of pitch, roll and way; `None` for none."""
    params: str = ""
    """A learned walk: a name that comes with Nutmeg, a TOML file, or the folder of a run of `nutmeg learn`."""
    command: str = "0.1,0,0"
    """With --params: wanted speeds ahead, to the left [m/s] and turning left [rad/s]."""
    measure: bool = False
    """With --params: measure speeds, stopping distance and falls from noisy starts, without a viewer."""
    trials: int = 20
    """With --measure: how many starts for each number."""
    seed: int = 0
    """With --measure: of the starts."""
    threads: int = 1
    """With --measure: how many threads simulate; the result is the same."""
    host: str = "127.0.0.1"
    """With --params: address of the page."""
    port: int = 8080
    """With --params: port of the page."""
    open: bool = False
    """With --params: open the page in your browser."""
    record: Path | None = None
    """With --params: keep the recording under this name."""
    json: bool = False
    """Print one JSON object as the last line."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Shows or measures a learned walk, or compares actuations."""
    if arguments.params:
        from nutmeg.commands.walk_learned import show_learned

        return show_learned(arguments, terminal)
    if arguments.measure:
        raise UsageError("--measure needs --params: which walk is to be measured? `initial` comes with Nutmeg.")
    return _compare(arguments, terminal)


def _compare(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    from nutmeg.model.identified import read_body
    from nutmeg.motion.preview_walk import MOTOFLEX_2, PreviewWalkSettings, compare_walk

    seconds = 20.0 if arguments.seconds is None else arguments.seconds
    if not 6 <= seconds < math.inf:
        raise UsageError(f"--seconds is {seconds:g}; a walk needs at least 6 s to start, walk and stop.")
    if not arguments.timestep > 0:
        raise UsageError(f"--timestep is {arguments.timestep:g} s; allowed is 0.00001 to 0.05.")
    if arguments.plot is not None:
        check_output(arguments.plot, ".png", ".pdf", ".svg")
    support = MOTOFLEX_2.double_support if arguments.step_duration >= 1.5 else PreviewWalkSettings().double_support
    try:
        settings = PreviewWalkSettings(
            forward=arguments.speed,
            step_duration=arguments.step_duration,
            zmp_width=arguments.zmp_width,
            double_support=support,
        )
    except ValueError as error:
        raise UsageError(f"--speed, --step-duration, --zmp-width: {error}") from None
    body = None if arguments.body is None else read_body(arguments.body)
    chosen = arguments.actuation or ("ideal,servo,motoflex" if body is None else body.actuation or "ideal")
    names = [name.strip() for name in chosen.split(",") if name.strip()]
    if not names:
        raise UsageError(f"--actuation is {chosen!r}; name at least one, such as ideal,servo.")
    results: list[WalkResult] = []
    for name in names:
        with terminal.busy(f"walking with {name}"):
            walked = compare_walk(
                arguments.robot, settings, name, seconds=seconds, timestep=arguments.timestep, body=body
            )
        results.append(walked)
    columns = ("actuation", "speed [m/s]", "fell at [s]", "pitch ± [deg]", "roll ± [deg]", "way [m]")
    terminal.table("", columns, [result.cells() for result in results])
    if arguments.plot is not None:
        from nutmeg.view.reports.figures import plot_walks

        plot_walks(results, arguments.plot, commanded=arguments.speed)
        terminal.say(f"wrote {arguments.plot}")
    return {"commanded": arguments.speed, "walks": [result.as_json() for result in results]}
