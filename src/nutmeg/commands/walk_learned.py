"""`nutmeg walk --params`: a learned walk in the browser, or measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from nutmeg.base.errors import UsageError

if TYPE_CHECKING:
    from nutmeg.commands.walk import Arguments
    from nutmeg.learning.measure import WalkMeasurement
    from nutmeg.motion.walk.files import WalkParameters
    from nutmeg.view.terminal import Terminal


def show_learned(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Measures a walk, or shows it in the browser."""
    from nutmeg.motion.walk.files import read_walk

    if arguments.body is not None:
        raise UsageError("--body does not go together with --params; leave one of them out.")
    if "," in arguments.actuation:
        raise UsageError(f"--actuation is {arguments.actuation!r}; a learned walk is tried under one at a time.")
    wanted = velocities(arguments.command)
    if arguments.seed < 0:
        raise UsageError(f"--seed is {arguments.seed}; allowed is 0 or more.")
    if arguments.seconds is not None and not 0 < arguments.seconds < math.inf:
        raise UsageError(f"--seconds is {arguments.seconds:g}; needed is a time above 0, or leave it out.")
    walk = read_walk(arguments.params, arguments.robot).for_robot(arguments.robot)
    if arguments.measure:
        return _measure(walk, arguments, terminal)
    return _watch(walk, wanted, arguments, terminal)


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


def _measure(walk: WalkParameters, arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    from nutmeg.learning.measure import measure_walk

    if arguments.threads < 1:
        raise UsageError(f"--threads is {arguments.threads}; allowed is 1 or more.")
    with terminal.busy(f"measuring {walk.name}"):
        found = measure_walk(
            walk,
            trials=arguments.trials,
            seed=arguments.seed,
            actuation=arguments.actuation or "ideal",
            threads=arguments.threads,
        )
    show_measurement(found, terminal)
    return {**found.as_json(), "seed": arguments.seed, "actuation": arguments.actuation or "ideal"}


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


def _watch(
    walk: WalkParameters, wanted: tuple[float, float, float], arguments: Arguments, terminal: Terminal
) -> dict[str, Any]:
    from nutmeg.commands.walk_drive import Driver
    from nutmeg.learning.courses import ROBOT_NAME, make_walker
    from nutmeg.model import Placement, SceneSettings, assemble
    from nutmeg.sim import Worlds
    from nutmeg.view.live import Watching, watch
    from nutmeg.view.pages.orders import Inbox

    placement = Placement(robot=walk.robot, name=ROBOT_NAME, team="blue", actuation=arguments.actuation or "ideal")
    worlds = Worlds(assemble(SceneSettings(field="floor", ball="none", robots=(placement,))))
    walker = make_walker(worlds, [walk])
    inbox = Inbox()
    driver = Driver(worlds, walker, wanted, inbox, sets=tuple(walk.as_tables()))
    top = walker.walk.top_speed()[0]
    if any(abs(value) > most + 1e-9 for value, most in zip(wanted, top, strict=True)):
        terminal.warn(f"this walk's longest steps are {top[0]:.2f}, {top[1]:.2f} m/s and {top[2]:.2f} rad/s.")
    how = Watching(
        seconds=arguments.seconds or 0.0,
        host=arguments.host,
        port=arguments.port,
        open_browser=arguments.open,
        record=arguments.record,
        title=walk.name or "walk",
        drive=driver.offer(),
        inbox=inbox,
    )
    terminal.say("drive it in the page: W A S D or arrows, Q E to turn, space stops, R puts it back on its feet.")
    return watch(worlds, driver, how, terminal)
