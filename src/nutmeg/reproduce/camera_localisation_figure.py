"""A walk around the pitch, true and believed, and the errors over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.angles import wrap_angle

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.body.field import FieldSettings
    from nutmeg.recording import Recording

TRUTH, COLOURS = "#24292f", {"pictures": "#1f6feb", "shaken": "#d1242f", "odometry": "#8c959f"}
NAMES = {"pictures": "pictures", "shaken": "pictures, shaken and noisy", "odometry": "odometry alone, start known"}
WANTED = (0.3, 10.0)
"""Goals of the medians, m and degrees."""


def plot_walk(path: Path, recording: Recording, field: FieldSettings) -> None:
    """Writes a PNG.

    Args:
        path: of the PNG.
        recording: of `camera_localisation`.
        field: the pitch.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    truth, times = recording.read("truth.pose"), recording.times
    figure = plt.figure(figsize=(10, 4.6), constrained_layout=True)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.25, 1))
    pitch, place, turn = figure.add_subplot(grid[:, 0]), figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    _draw_pitch(pitch, field)
    for name in reversed(COLOURS):
        believed, colour = recording.read(f"{name}.pose")[:, :3], COLOURS[name]
        off = believed - truth
        degrees = np.degrees(np.abs(wrap_angle(off[:, 2])))
        pitch.plot(believed[:, 0], believed[:, 1], color=colour, linewidth=1.0, label=NAMES[name])
        place.semilogy(times, np.maximum(np.hypot(off[:, 0], off[:, 1]), 1e-3), color=colour, linewidth=0.8)
        turn.semilogy(times, np.maximum(degrees, 1e-2), color=colour, linewidth=0.8)
    pitch.plot(truth[:, 0], truth[:, 1], color=TRUTH, linewidth=2.2, alpha=0.55, label="true")
    pitch.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=8, frameon=False)
    for panel, goal, label in zip((place, turn), WANTED, ("error of place [m]", "error of heading [°]"), strict=True):
        panel.axhline(goal, color=TRUTH, linestyle="--", linewidth=0.8)
        panel.set_ylabel(label)
        panel.grid(alpha=0.25)
    place.tick_params(labelbottom=False)
    place.set_title("dashed: what the median must stay below", fontsize=9)
    turn.set_xlabel("time [s]")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_pitch(panel: Any, field: FieldSettings) -> None:  # noqa: ANN401 (an axes of matplotlib)
    x, y = field.length / 2 + field.border, field.width / 2 + field.border
    panel.set_facecolor("#e6f2e6")
    for (x1, y1), (x2, y2) in field.lines():
        panel.plot((x1, x2), (y1, y2), color="white", linewidth=3, zorder=0)
    if field.goal is not None:
        post = field.length / 2 + field.goal.post_offset, field.goal.inner_width / 2 + field.goal.post_radius
        for end, colour in ((-1, field.goal.left_colour), (1, field.goal.right_colour)):
            panel.plot((end * post[0],) * 2, (-post[1], post[1]), "o", color=colour, markersize=6)
    panel.set_xlim(-x, x)
    panel.set_ylim(-y, y)
    panel.set_aspect("equal")
    panel.set_xlabel("x [m]")
    panel.set_ylabel("y [m]")
