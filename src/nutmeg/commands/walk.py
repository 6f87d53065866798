"""Try one open-loop walk under several actuations: speed, falls, how much the body rocks, plotted over each other.

example: nutmeg walk nao-v6 --walk preview --speed 0.2 --step-duration 1.0 --actuation ideal,servo,motoflex
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from nutmeg.errors import UsageError

if TYPE_CHECKING:
    from nutmeg.motion.walk_comparison import WalkResult
    from nutmeg.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Options of `nutmeg walk`."""

    robot: tyro.conf.Positional[str] = "nao-v6"
    """A robot with legs like a Nao's."""
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
    seconds: float = 20.0
    """How long to walk."""
    timestep: float = 0.001
    """Of the physics [s]."""
    plot: Path | None = Path("walk.png")
    """Figure of pitch, roll and way; `None` for none."""
    json: bool = False
    """Print one JSON object as the last line."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Walks under each actuation and reports."""
    from nutmeg.body.identified import read_body
    from nutmeg.motion.preview_walk import MOTOFLEX_2, PreviewWalkSettings
    from nutmeg.motion.walk_comparison import compare_walk

    if arguments.seconds < 6:
        raise UsageError(f"--seconds is {arguments.seconds:g}; a walk needs at least 6 s to start, walk and stop.")
    support = MOTOFLEX_2.double_support if arguments.step_duration >= 1.5 else PreviewWalkSettings().double_support
    settings = PreviewWalkSettings(
        forward=arguments.speed,
        step_duration=arguments.step_duration,
        zmp_width=arguments.zmp_width,
        double_support=support,
    )
    body = None if arguments.body is None else read_body(arguments.body)
    chosen = arguments.actuation or ("ideal,servo,motoflex" if body is None else body.actuation or "ideal")
    names = [name.strip() for name in chosen.split(",") if name.strip()]
    results: list[WalkResult] = []
    for name in names:
        with terminal.console.status(f"walking with {name}"):
            walked = compare_walk(
                arguments.robot, settings, name, seconds=arguments.seconds, timestep=arguments.timestep, body=body
            )
        results.append(walked)
    columns = ("actuation", "speed [m/s]", "fell at [s]", "pitch ± [deg]", "roll ± [deg]", "way [m]")
    terminal.table("", columns, [result.cells() for result in results])
    if arguments.plot is not None:
        from nutmeg.view.walk_plots import plot_walks

        plot_walks(results, arguments.plot, commanded=arguments.speed)
        terminal.say(f"wrote {arguments.plot}")
    return {"commanded": arguments.speed, "walks": [result.as_json() for result in results]}
