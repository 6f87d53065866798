"""The report of a servo, and its four plots as one PNG file.

    Path("servo.png").write_bytes(servo_figure("nao-v6 LKneePitch", measured, ideal))
    write_page(Path("servo.html"), servo_page("nao-v6 LKneePitch", measured, ideal, facts))

The measured servo is drawn in colour, an ideal drive in the same rig in thin grey, data sheets dashed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.view.reports.plots import GREEN, GREY, INK, ORANGE, Size, png, svg
from nutmeg.view.reports.report import Bullets, Facts, Picture, Pictures, Report, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nutmeg.sim.servo.bench import FrequencyResponse, HysteresisLoop, ServoMeasurement, StepResponses, TorqueSpeed
    from nutmeg.sim.servo.replay import Comparison

_RELEASED_SHADE = "#e3efe8"
_STEP_SHADES = (0.4, 0.55, 0.75, 1.0)  # opacities of the steps, small to large
_FIGURE_SIZE = (11.5, 8.6)  # width and height of the four plots, inches
NUMBER_NAMES = {
    "step_rad": ("step for the three numbers below", "rad"),
    "dead_time_s": ("dead time", "ms"),
    "rise_time_s": ("rise time, 10 to 90 %", "ms"),
    "overshoot_percent": ("overshoot", "%"),
    "bandwidth_Hz": ("bandwidth, -3 dB", "Hz"),
    "play_rad": ("play of the gear", "mrad"),
    "gear_stiffness_Nm_per_rad": ("stiffness of the gear", "N m/rad"),
    "holding_stiffness_Nm_per_rad": ("stiffness with the motor holding", "N m/rad"),
    "stall_torque_Nm": ("stall torque", "N m"),
    "no_load_speed_rad_per_s": ("no-load speed", "rad/s"),
    "inertia_kg_m2": ("inertia of limb and rotor", "g m²"),
}
"""Name and readable unit of each number."""
_INFINITE_WORDS = {"gear_stiffness_Nm_per_rad": "rigid", "bandwidth_Hz": "above the highest tried"}
"""Words for numbers that are infinite."""
_MISSING_WORDS = {"bandwidth_Hz": "below the lowest tried"}  # words for numbers that could not be measured
_HOW_MEASURED = """\
The robot's trunk is bolted down, it has no weight, and every other joint is locked at zero; the limb keeps its inertia.
The joint's stops are taken out; steps and sinusoids start at rest in the middle of its range.
The rise time is from 10 to 90 % of where the joint ends up, the dead time from the command to the first per cent.
Sinusoids are analysed over whole periods once they have settled.
The loop is a slow sweep of torque from outside while the firmware holds its command.
The gear alone is seen with constant torques and the rotor held fast.
The torque-speed curve is what the motor reaches at full voltage against constant torques.
Friction and losses of the gear take their share of the data sheet's line.
The battery does not sag on the rig, and friction does not grow with the load.
""".splitlines()


def readable(name: str, value: float) -> str:
    """A number with its readable unit."""
    if not math.isfinite(value):
        return (_MISSING_WORDS if math.isnan(value) else _INFINITE_WORDS).get(name, "none")
    unit = NUMBER_NAMES[name][1]
    scale = 1000.0 if unit in ("ms", "mrad", "g m²") else 1.0
    return f"{value * scale:.3g} {unit}"


def servo_figure(title: str, measured: ServoMeasurement, ideal: ServoMeasurement | None = None) -> bytes:
    """The four plots as a PNG."""

    def draw(figure: Figure) -> None:
        figure.suptitle(f"{title}, actuation {measured.actuation}", x=0.012, ha="left", fontsize=13, fontweight="bold")
        _draw(figure, measured, ideal)

    return png(draw, _FIGURE_SIZE)


def _draw(figure: Figure, measured: ServoMeasurement, ideal: ServoMeasurement | None) -> None:
    """Draw the four plots of a servo."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12, wspace=0.04, hspace=0.04))
    grid = figure.add_gridspec(2, 2)
    _draw_steps(figure.add_subplot(grid[0, 0]), measured.steps, ideal.steps if ideal else None)
    inner = grid[0, 1].subgridspec(2, 1, height_ratios=[1.25, 1], hspace=0.06)
    top = figure.add_subplot(inner[0])
    bottom = figure.add_subplot(inner[1], sharex=top)
    _draw_frequency(top, bottom, measured.frequency, ideal.frequency if ideal else None)
    _draw_loop(figure.add_subplot(grid[1, 0]), measured.loop, ideal.loop if ideal else None)
    lines = figure.add_subplot(grid[1, 1])
    _draw_torque_speed(lines, measured.torque_speed, ideal.torque_speed if ideal else None)


def replay_figure(title: str, comparisons: Iterable[Comparison]) -> bytes:
    """Recorded, simulated and commanded angles of recordings, one below the other, as a PNG."""
    shown = list(comparisons)
    columns = 1 if len(shown) < 3 else 2
    rows = math.ceil(len(shown) / columns)

    def draw(figure: Figure) -> None:
        figure.suptitle(title, x=0.012, ha="left", fontsize=13, fontweight="bold")
        for index, one in enumerate(shown):
            axes = figure.add_subplot(rows, columns, index + 1)
            axes.plot(one.times, one.goal, color=GREY, lw=0.9, ls=":", label="goal")
            axes.plot(one.times, one.ideal, color=GREY, lw=1, label="ideal drive")
            axes.plot(one.times, one.recorded, color=INK, lw=1.8, label="real servo")
            axes.plot(one.times, one.simulated, color=ORANGE, lw=1.4, label="simulated servo")
            _shade_released(axes, one)
            axes.set(title=f"{one.name}: {math.degrees(one.errors()['servo']):.1f}°", xlim=(0, one.times[-1]))
            axes.set_ylabel("angle [rad]" if index % columns == 0 else "")
            axes.set_xlabel("time [s]" if index >= len(shown) - columns else "")
        _legend(figure)

    return png(draw, (_FIGURE_SIZE[0], 0.8 + 2.3 * rows))


def _legend(figure: Figure) -> None:
    """One legend above all plots, each name once."""
    found = {n: h for axes in figure.axes for h, n in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(list(found.values()), list(found), loc="outside upper right", ncols=len(found))


def _shade_released(axes: Axes, one: Comparison) -> None:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], ~one.powered, [0]]).astype(int)))
    for start, stop in edges.reshape(-1, 2):
        axes.axvspan(one.times[start], one.times[stop - 1], color=_RELEASED_SHADE, lw=0, label="released")


def _annotate(axes: Axes, text: str, at: Size, offset: Size, colour: str, align: tuple[str, str]) -> None:
    """Write a text beside a point, shifted by `offset` points and aligned horizontally and vertically."""
    place: Any = {"textcoords": "offset points", "ha": align[0], "va": align[1], "annotation_clip": False}
    axes.annotate(text, at, offset, color=colour, **place)


def _draw_steps(axes: Axes, steps: StepResponses, ideal: StepResponses | None) -> None:
    from nutmeg.sim.servo.bench import STEP_AT

    since = 1000 * (steps.times - STEP_AT)
    restless = np.abs(steps.angles[since > 400] - steps.angles[-1]) > 0.03 * steps.sizes
    end = since[-1] if restless.any() else 400
    for index, size in enumerate(steps.sizes):
        solid = _STEP_SHADES[-len(steps.sizes) :][index]
        axes.step([-60, 0, end], [0, size, size], where="post", color=GREY, lw=0.8, ls=":")
        if ideal is not None:
            axes.plot(since, ideal.angles[:, index], color=GREY, lw=0.9)
        axes.plot(since, steps.angles[:, index], color=GREEN, alpha=solid, lw=1.9)
        _annotate(axes, f"{size:g} rad", (end, steps.angles[-1, index]), (3, 0), GREEN, ("left", "center"))
    axes.set(title="Step response", xlabel="time after the command [ms]", ylabel="angle [rad]", xlim=(-60, end))
    if ideal is not None:
        axes.plot([], [], color=GREEN, lw=1.9, label="measured")
        axes.plot([], [], color=GREY, lw=0.9, label="ideal drive")
        axes.plot([], [], color=GREY, lw=0.8, ls=":", label="command")
        axes.legend(loc="upper left")


def _draw_frequency(top: Axes, bottom: Axes, found: FrequencyResponse, ideal: FrequencyResponse | None) -> None:
    for axes, read in ((top, "decibels"), (bottom, "phase")):
        scale = 1.0 if read == "decibels" else 180 / math.pi
        if ideal is not None:
            axes.semilogx(ideal.frequencies, scale * getattr(ideal, read), color=GREY, lw=0.9)
        axes.semilogx(found.frequencies, scale * getattr(found, read), color=GREEN, lw=1.9, marker="o", ms=3)
    width = found.bandwidth()
    top.axhline(-3, color=ORANGE, lw=0.8, ls="--")
    if math.isfinite(width):
        top.axvline(width, color=ORANGE, lw=0.8, ls="--")
        _annotate(top, f"-3 dB at {width:.1f} Hz", (width, -3), (-6, -5), ORANGE, ("right", "top"))
    lowest = max(-40.0, min(-8.0, float(found.decibels.min()) - 1))
    highest = max(2.0, float(found.decibels.max()) + 1)
    top.set(title=f"Frequency response, ±{found.amplitude:g} rad", ylabel="amplitude [dB]", ylim=(lowest, highest))
    top.tick_params(labelbottom=False)
    ticks = [t for t in (0.5, 1, 2, 5, 10, 20) if t <= found.frequencies[-1] * 1.01]
    bottom.set(xlabel="frequency [Hz]", ylabel="phase [°]", xlim=(found.frequencies[0], found.frequencies[-1]))
    bottom.set_xticks(ticks, [f"{t:g}" for t in ticks])
    bottom.minorticks_off()


def _draw_loop(axes: Axes, loop: HysteresisLoop, ideal: HysteresisLoop | None) -> None:
    if ideal is not None:
        axes.plot(1000 * ideal.angles, ideal.torques, color=GREY, lw=0.9, label="ideal drive")
    axes.plot(1000 * loop.angles, loop.torques, color=GREEN, lw=1.9, label="firmware holds the motor")
    if loop.held_angles.size:
        play, _ = loop.gear()
        axes.plot(1000 * loop.held_angles, loop.held_torques, color=ORANGE, lw=1.2, label="motor held fast: the gear")
        axes.axvspan(-500 * play, 500 * play, color=ORANGE, alpha=0.12, lw=0)
        text = f"play {1000 * play:.1f} mrad"
        _annotate(axes, text, (0, float(loop.torques.min())), (0, 2), ORANGE, ("center", "bottom"))
    axes.set(title="Hysteresis loop", xlabel="angle [mrad]", ylabel="torque from outside [N m]")
    axes.legend(loc="upper left")


def _draw_torque_speed(axes: Axes, found: TorqueSpeed, ideal: TorqueSpeed | None) -> None:
    if ideal is not None:
        turning = ideal.speeds > 0
        last = ideal.torques[turning][-1]
        axes.plot(
            [*ideal.torques[turning], last], [*ideal.speeds[turning], 0.0], color=GREY, lw=0.9, label="ideal drive"
        )
    if found.sheet is not None:
        torque, speed = found.sheet
        axes.plot([0, torque], [speed, 0], color=ORANGE, lw=1.1, ls="--", label="data sheet × gear ratio, no losses")
    stall = found.stall_torque()
    turning = found.speeds > 0
    axes.plot([*found.torques[turning], stall], [*found.speeds[turning], 0], color=GREEN, lw=1.9)
    axes.plot(found.torques[turning], found.speeds[turning], color=GREEN, lw=0, marker="o", ms=3.5, label="measured")
    _annotate(axes, f"stall {stall:.3g} N m", (stall, 0), (-26, 5), GREEN, ("right", "bottom"))
    axes.set(title="Torque-speed curve at full voltage", xlabel="torque [N m]", ylabel="speed [rad/s]")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.2 * axes.get_ylim()[1])  # room for the legend
    axes.legend(loc="upper right")


def numbers_table(measured: ServoMeasurement, ideal: ServoMeasurement | None) -> Table:
    """The numbers of a servo, beside those of an ideal drive if there is one."""
    others = [] if ideal is None else [ideal]
    columns = (measured.actuation, *(["ideal"] if others else []))
    rows = tuple(
        (NUMBER_NAMES[key][0], readable(key, value), *(readable(key, other.numbers()[key]) for other in others))
        for key, value in measured.numbers().items()
    )
    return Table(columns=("", *columns), rows=rows, numeric=columns)


def servo_page(
    title: str,
    measured: ServoMeasurement,
    ideal: ServoMeasurement | None,
    facts: Mapping[str, str],
    notes: Iterable[str] = (),
) -> Report:
    """The report of a servo: plots, numbers, and how they were measured."""
    name = f"{title}, actuation {measured.actuation}"
    plots = svg(
        lambda figure: _draw(figure, measured, ideal),
        _FIGURE_SIZE,
        alt="Step response, frequency response, hysteresis loop and torque-speed curve",
        panel=False,
    )
    return Report(
        title=name,
        kind="Servo",
        sections=(
            Section(key="plots", title="Responses", blocks=(Pictures(pictures=(Picture(image=plots),), kind="wide"),)),
            Section(
                key="measured",
                title="Measured",
                blocks=(numbers_table(measured, ideal),),
                half=True,
            ),
            Section(key="given", title="Given", blocks=(Facts(items=facts),), half=True),
            Section(
                key="how", title="How it was measured", blocks=(Bullets(items=(*_HOW_MEASURED, *notes), quiet=True),)
            ),
        ),
    )
