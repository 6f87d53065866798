"""Pitch, roll and way of walks under different actuations, over each other (figures 3 and 4 of seed 001)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nutmeg.motion.walk_comparison import WalkResult

COLOURS = ("#8a8f98", "#1f6feb", "#d1242f", "#1a7f37", "#8250df")


def plot_walks(results: Sequence[WalkResult], out: Path, *, commanded: float, title: str = "") -> None:
    """Writes a PNG with three panels: body pitch, body roll, way forward."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(3, 1, figsize=(9, 8), sharex=True, constrained_layout=True)
    for result, colour in zip(results, COLOURS * 3, strict=False):
        trial = result.trial
        shown = trial.times <= min(result.fallen_at + 0.3, trial.times[-1])
        times = trial.times[shown]
        panels[0].plot(times, np.degrees(trial.pitch[shown, 0]), color=colour, label=result.name, lw=1.2)
        panels[1].plot(times, np.degrees(trial.roll[shown, 0]), color=colour, lw=1.2)
        panels[2].plot(times, trial.place[shown, 0, 0] - trial.place[0, 0, 0], color=colour, lw=1.6)
        if np.isfinite(result.fallen_at):
            for panel in panels:
                panel.axvline(result.fallen_at, color=colour, ls=":", lw=1)
    start = results[0].trial.times
    panels[2].plot(start, np.clip(start - 1.0, 0, None) * commanded, color="black", ls="--", lw=0.8, label="commanded")
    for panel, label in zip(panels, ("pitch [deg]", "roll [deg]", "way [m]"), strict=True):
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
    panels[0].set_ylim(-30, 30)
    panels[1].set_ylim(-30, 30)
    panels[0].legend(loc="upper left", ncols=len(results))
    panels[2].legend(loc="upper left")
    panels[2].set_xlabel("time [s]")
    if title:
        figure.suptitle(title)
    figure.savefig(out, dpi=130)
    plt.close(figure)
