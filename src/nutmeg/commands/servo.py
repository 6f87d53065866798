"""Measure a joint's servo: step and frequency response, hysteresis loop and torque-speed curve, with figures.

The robot is bolted down by its trunk, without weight, every other joint locked at zero; an ideal drive in the same
rig is shown beside it. With --against, the servo is driven by the goals of recordings of a real one instead, and
its error is printed beside "position = goal" and beside that of the ideal drive.

example: nutmeg servo nao-v6 --joint LKneePitch -o knee.png
         nutmeg servo examples/servo_xl330 --against 'examples/servo_xl330/recordings/*.csv'
"""

from __future__ import annotations

import glob
import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from nutmeg.base.errors import ModelError, UsageError
from nutmeg.base.journal import write_file
from nutmeg.base.settings import Bounds, above
from nutmeg.commands.options import BodyOptions, JsonOption, Output, check_output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nutmeg.model.identified import IdentifiedBody
    from nutmeg.sim.servo.bench import Rig, ServoMeasurement
    from nutmeg.sim.servo.replay import Comparison
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(BodyOptions, JsonOption):
    """Options of `nutmeg servo`."""

    robot: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ROBOT")]
    """Name of a built-in robot, or path of your own."""
    joint: str = ""
    """The joint; may be left out if the robot has only one motor."""
    actuation: str = ""
    """ideal, servo, motoflex, or a TOML file; if left out, the body's or motoflex, with --against
    what the robot's bench.toml says."""
    output: Output = Path("servo.png")
    """The PNG file to write."""
    html: Path | None = None
    """The page to write; beside the PNG file if left out."""
    against: str = ""
    """CSV files of a real servo, by a pattern in quotes."""
    amplitude: Annotated[float, above(0, "rad", up_to=1)] = 0.05
    """Amplitude of the sinusoids of the frequency response [rad]."""
    timestep: Annotated[float, Bounds(1e-5, 0.05, "s")] = 0.001
    """Length of a physics step [s]."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Measures, or compares with recordings."""
    page = arguments.html or arguments.output.with_suffix(".html")
    check_output(arguments.output, ".png")
    check_output(page, ".html")
    if arguments.against:
        if arguments.html is not None or arguments.type:
            raise UsageError("--html and --type do not go with --against: it compares recordings, in one PNG.")
        return _against(arguments, terminal)
    return _measure(arguments, terminal, page)


def _measure(arguments: Arguments, terminal: Terminal, page: Path) -> dict[str, Any]:
    from nutmeg.view.reports.report import write_page
    from nutmeg.view.reports.servo import numbers_table, servo_figure, servo_page

    body = _body(arguments)
    name = arguments.actuation or ("motoflex" if body is None else body.actuation or "ideal")
    rig = _rig(arguments, name, body)
    rigs = {name if name.isalpha() else Path(name).stem: rig}
    notes: list[str] = []
    if name != "ideal":
        try:
            rigs["ideal"] = _rig(arguments, "ideal", None if body is None else body.limbs)
        except ModelError as error:
            notes.append(f"No ideal drive beside it: {error}")
            terminal.warn(notes[0])
    measured = _all(rigs, arguments, terminal)
    first, *rest = measured
    ideal = rest[0] if rest else None
    title = f"{arguments.robot.rstrip('/').split('/')[-1]} {rig.joint}"
    write_file(arguments.output, servo_figure(title, first, ideal))
    write_page(page, servo_page(title, first, ideal, facts(rig), notes))
    table = numbers_table(first, ideal)
    terminal.table(title, table.columns, table.rows)
    terminal.say(f"wrote {arguments.output} and {page}.")
    return {
        "joint": rig.joint,
        "actuation": name,
        "measured": _finite(first.numbers()),
        "ideal": _finite(ideal.numbers() if ideal else {}),
        "steps": _per_step(first),
        "png": str(arguments.output),
        "html": str(page),
    }


def _body(arguments: Arguments) -> IdentifiedBody | None:
    from nutmeg.model.identified import read_body

    return None if arguments.body is None else read_body(arguments.body)


def _rig(arguments: Arguments, actuation: str, body: IdentifiedBody | None) -> Rig:
    from nutmeg.sim.servo.bench import Rig

    return Rig(arguments.robot, arguments.joint, actuation, kind=arguments.type, timestep=arguments.timestep, body=body)


def _all(rigs: dict[str, Rig], arguments: Arguments, terminal: Terminal) -> list[ServoMeasurement]:
    from nutmeg.sim.servo.bench import measure_servo

    out = []
    with terminal.progress() as bar:
        for name, rig in rigs.items():
            task = bar.add_task(name, total=None)
            out.append(
                measure_servo(
                    rig,
                    name=name,
                    amplitude=arguments.amplitude,
                    on_progress=lambda what, done, total, task=task, name=name: bar.update(  # type: ignore[misc]
                        task, description=f"{name}: {what}", completed=done, total=total
                    ),
                )
            )
    return out


def facts(rig: Rig) -> dict[str, str]:
    """The known facts of the joint's servo before it is measured."""
    low, high = rig.range
    out = {"physics step": f"{1000 * rig.timestep:g} ms"}
    out["range"] = f"{low:.3g} to {high:.3g} rad" if math.isfinite(high - low) else "turns freely"
    if rig.servo is None:
        return out
    servo = rig.servo
    return out | {
        "voltage": f"{rig.voltage:g} V",
        "motor: stall torque": f"{1000 * servo.stall_torque:.3g} mN m",
        "motor: no-load speed": f"{servo.no_load_speed:.4g} rad/s",
        "gear ratio": f"{servo.ratio:g}",
        "gear efficiency": f"{servo.efficiency:g}",
        "firmware: p": f"{servo.p:.4g} V/rad",
        "firmware: stiffness at the joint": f"{servo.stiffness(rig.voltage):.3g} N m/rad",
        "winding: L/R": f"{1e6 * servo.electrical_time(rig.voltage):.3g} µs",
        "friction: dry, viscous": f"{servo.coulomb:g} N m, {servo.viscous:g} N m s/rad",
        "delay": f"{1000 * servo.delay:g} ms",
        **({"source": servo.source} if servo.source else {}),
    }


def _per_step(measured: ServoMeasurement) -> list[dict[str, float | None]]:
    steps = measured.steps
    found = zip(steps.sizes, steps.dead_time(), steps.rise_time(), steps.overshoot(), strict=True)
    return [
        _finite({"size_rad": s, "dead_time_s": d, "rise_time_s": r, "overshoot_percent": 100 * o})
        for s, d, r, o in found
    ]


def _finite(numbers: dict[str, float]) -> dict[str, float | None]:
    """Numbers as JSON has them: what is not finite becomes null."""
    return {name: float(value) if math.isfinite(value) else None for name, value in numbers.items()}


def _against(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    from nutmeg.reality.logs.replay import looked_for
    from nutmeg.sim.servo.replay import actuation_of, compare_servo, read_bench, read_log
    from nutmeg.view.reports.servo import replay_figure

    paths = [Path(found) for found in sorted(glob.glob(arguments.against))]  # noqa: PTH207 (the pattern may be absolute)
    if not paths:
        raise UsageError(f"no file matches {arguments.against!r} (--against). {looked_for(arguments.against, Path())}")
    bench = read_bench(arguments.robot)
    logs = [read_log(path, bench) for path in paths]
    actuations = [arguments.actuation or actuation_of(log.name, bench) for log in logs]
    with terminal.counting("replaying") as on_progress:
        found = compare_servo(
            arguments.robot,
            logs,
            actuations,
            joint=arguments.joint,
            timestep=arguments.timestep,
            body=_body(arguments),
            on_progress=on_progress,
        )
    write_file(arguments.output, replay_figure("A real servo and its simulation", found))
    rows = list(_error_rows(found))
    columns = ("recording", "servo [°]", "position = goal [°]", "ideal drive [°]")
    terminal.table("mean absolute error of the angle", columns, rows)
    terminal.say(f"wrote {arguments.output}.")
    keys = ("recording", "servo_deg", "goal_deg", "ideal_deg")
    return {"errors": [dict(zip(keys, row, strict=True)) for row in rows], "png": str(arguments.output)}


def _error_rows(found: list[Comparison]) -> Iterator[tuple[str, float, float, float]]:
    """One row for each recording, and their mean if there are several [degrees]."""
    rows = []
    for one in found:
        servo, goal, ideal = (round(math.degrees(one.errors()[kind]), 2) for kind in ("servo", "goal", "ideal"))
        rows.append((one.name, servo, goal, ideal))
    yield from rows
    if len(rows) > 1:
        servo, goal, ideal = (round(statistics.mean(column), 2) for column in zip(*(r[1:] for r in rows), strict=True))
        yield "mean", servo, goal, ideal
