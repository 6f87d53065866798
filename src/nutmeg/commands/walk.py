"""Watch or measure a learned walk, or compare one open-loop walk under several actuations.

A learned walk is the pendulum walk, or an AIBO's trot, with the parameters of a file, or of one that comes with Nutmeg.

example: nutmeg walk drive nao-spark --params final
         nutmeg walk measure nao-spark --params runs/learn-go-to-target-1 --json
         nutmeg walk drive ers7 --params trot --command 0.15,0,0
         nutmeg walk compare nao-v6 --speed 0.2 --step-duration 1.0 --actuation ideal,servo,motoflex
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from nutmeg.base.errors import UsageError
from nutmeg.base.settings import Bounds
from nutmeg.commands.options import Count, JsonOption, Seed, Threads, WatchOptions, check_output, processors

if TYPE_CHECKING:
    from nutmeg.learning.measure import WalkMeasurement
    from nutmeg.motion.preview_walk import WalkResult
    from nutmeg.motion.walk.files import WalkParameters
    from nutmeg.view.terminal import Terminal

_USUAL_WALK = {"nao-spark": "final", "ers7": "learned", "ers210": "trot", "t1": "policy", "k1": "policy"}
"""The walk of each robot that is meant when none is named; other robots have one of their own name."""


@dataclass(frozen=True, kw_only=True)
class LearnedWalk:
    """Which learned walk is meant."""

    robot: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[ROBOT]")] = "nao-spark"
    """A robot for which there is a walk, such as nao-spark, nao-v6, t1, k1 or ers7, or the path of your own."""
    params: str = ""
    """The walk: a name that comes with Nutmeg (such as initial or final), a TOML file, or the folder of a run of
    `nutmeg learn` or `nutmeg train`; if left out, the robot's usual one: final of nao-spark, policy of t1 and k1."""
    actuation: str = "ideal"
    """Actuation of the joints: ideal, servo, motoflex, or a TOML file."""

    def read(self) -> WalkParameters:
        """The walk, for this robot."""
        from nutmeg.model.robot import load_robot
        from nutmeg.motion.walk.files import read_walk

        load_robot(self.robot)  # first: a robot that does not exist has no walk, and the robot is what is wrong
        return read_walk(self.params or _USUAL_WALK.get(self.robot, self.robot), self.robot).for_robot(self.robot)


@dataclass(frozen=True, kw_only=True)
class DriveArguments(LearnedWalk, WatchOptions, JsonOption):
    """Watch a learned walk in the browser, and drive the robot by keyboard, buttons or sliders.

    example: nutmeg walk drive nao-spark --params final
    """

    command: Annotated[str, tyro.conf.arg(metavar="AHEAD,LEFT,TURN")] = "0,0,0"
    """Commanded speeds at the start: ahead, to the left [m/s] and turning left [rad/s]."""


@dataclass(frozen=True, kw_only=True)
class MeasureArguments(LearnedWalk, JsonOption):
    """Measure speeds over 10 s from standing, stopping distances and falls of a learned walk, from noisy starts.

    example: nutmeg walk measure nao-spark --params final --trials 40 --json
    """

    trials: Count = 20
    """How many starts for each number."""
    seed: Seed = 0
    """Seed of the starts."""
    threads: Threads = 0
    """How many threads simulate; 0 takes all processors; the result is the same."""


@dataclass(frozen=True, kw_only=True)
class CompareArguments(JsonOption):
    """Try a walk by preview control under several actuations, and plot speed, falls and how much the body rocks.

    example: nutmeg walk compare nao-v6 --speed 0.2 --actuation ideal,servo,motoflex
    """

    robot: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[ROBOT]")] = "nao-v6"
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
    seconds: Annotated[float, Bounds(6, math.inf, "s", without_high=True)] = 20.0
    """How long to walk; the robot needs 6 s to start, walk and stop."""
    timestep: Annotated[float, Bounds(1e-5, 0.05, "s")] = 0.001
    """Time step of the physics [s]."""
    plot: Path | None = Path("walk.png")
    """Figure of pitch, roll and way; `None` for none."""


def run(arguments: DriveArguments | MeasureArguments | CompareArguments, terminal: Terminal) -> dict[str, Any]:
    """Shows or measures a learned walk, or compares actuations."""
    if isinstance(arguments, MeasureArguments):
        return _measure(arguments, terminal)
    if isinstance(arguments, DriveArguments):
        return _drive(arguments, terminal)
    return _compare(arguments, terminal)


def velocities(text: str) -> tuple[float, float, float]:
    """Wanted velocities from a text such as `0.5,0,0`."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 3 or not all(math.isfinite(number) for number in numbers):
        raise UsageError(
            f"--command is {text!r}; needed are three finite numbers: m/s ahead, m/s to the left, rad/s to the left, "
            "such as 0.5,0,0."
        )
    return numbers[0], numbers[1], numbers[2]


def _measure(arguments: MeasureArguments, terminal: Terminal) -> dict[str, Any]:
    from nutmeg.learning.measure import measure_walk

    walk = arguments.read()
    with terminal.busy(f"measuring {walk.name}"):
        found = measure_walk(
            walk,
            trials=arguments.trials,
            seed=arguments.seed,
            actuation=arguments.actuation,
            threads=processors(arguments.threads),
        )
    show_measurement(found, terminal)
    return {**found.as_json(), "seed": arguments.seed, "actuation": arguments.actuation}


def show_measurement(found: WalkMeasurement, terminal: Terminal) -> None:
    """Prints a measurement as a table."""
    rows = []
    for name, speed in found.speeds.items():
        stop = found.stopping.get(name)
        way = f"{stop.mean:.3f} ± {stop.se:.3f} m" if stop and math.isfinite(stop.mean) else "–"
        way += f", {stop.falls} of {stop.trials} fell" if stop and stop.falls else ""
        unit = "rad/s" if name == "turn" else "m/s"
        rows.append((name, f"{speed.mean:.3f} ± {speed.se:.3f} {unit}", f"{speed.falls} of {speed.trials}", way))
    terminal.table(f"{found.walk} on {found.robot}", ("direction", "speed over 10 s", "falls", "to stop"), rows)
    changes = found.changes
    terminal.say(
        f"direction changed every 3 s for 24 s: {changes.falls} of {changes.trials} fell, "
        f"{changes.mean:.1f} s walked on average; a step takes {found.step_time:.3f} s; "
        f"fastest over slowest {found.evenness:.2f}."
    )


def _drive(arguments: DriveArguments, terminal: Terminal) -> dict[str, Any]:
    from nutmeg.commands.directors import Driver
    from nutmeg.learning.courses import ROBOT_NAME, make_walker
    from nutmeg.model import Placement, SceneSettings, assemble
    from nutmeg.sim import Worlds
    from nutmeg.view.live import watch
    from nutmeg.view.pages.orders import Inbox

    walk, wanted = arguments.read(), velocities(arguments.command)
    placement = Placement(robot=walk.robot, name=ROBOT_NAME, team="blue", actuation=arguments.actuation)
    worlds = Worlds(assemble(SceneSettings(field="floor", ball="none", robots=(placement,))))
    walker = make_walker(worlds, [walk])
    driver = Driver(worlds, walker, wanted, Inbox(), sets=tuple(walk.as_tables()))
    top = walker.walk.top_speed()[0]
    if any(abs(value) > most + 1e-9 for value, most in zip(wanted, top, strict=True)):
        terminal.warn(f"this walk's longest steps are {top[0]:.2f}, {top[1]:.2f} m/s and {top[2]:.2f} rad/s.")
    how = arguments.watching(walk.name or "walk", controls=driver.controls())
    if arguments.view:
        terminal.say("drive it in the page: W A S D or arrows, Q E to turn, space stops, R puts it back on its feet.")
    return watch(worlds, driver, how, terminal)


def _compare(arguments: CompareArguments, terminal: Terminal) -> dict[str, Any]:
    from nutmeg.model.identified import read_body
    from nutmeg.motion.preview_walk import MOTOFLEX_2, PreviewWalkSettings, compare_walk

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
                arguments.robot, settings, name, seconds=arguments.seconds, timestep=arguments.timestep, body=body
            )
        results.append(walked)
    columns = ("actuation", "speed [m/s]", "fell at [s]", "pitch ± [deg]", "roll ± [deg]", "way [m]")
    terminal.table("", columns, [result.cells() for result in results])
    if arguments.plot is not None:
        from nutmeg.view.reports.figures import plot_walks

        plot_walks(results, arguments.plot, commanded=arguments.speed)
        terminal.say(f"wrote {arguments.plot}")
    return {"commanded": arguments.speed, "walks": [result.as_json() for result in results]}
