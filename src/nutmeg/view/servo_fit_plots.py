"""Recorded and predicted angles of a servo in recordings that no fit has seen, one panel each.

plot_predictions([Predicted("kp800_*", {"kp800_sin_sin.csv": (times, recorded, simulated)})], Path("servo.png"))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats

    Series = tuple[Floats, Floats, Floats]


@dataclass(frozen=True)
class Predicted:
    """What one fit says of recordings that it has not seen."""

    left_out: str
    """Which recordings those are, in words."""
    series: Mapping[str, Series]
    """Times [s], recorded and simulated angles [rad], (K,) each, by the recording's name."""


def plot_predictions(fits: Sequence[Predicted], out: Path) -> None:
    """Writes a PNG with a row for each fit and a panel for each recording."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    columns = max(len(fit.series) for fit in fits)
    size = (3.6 * columns, 2.6 * len(fits))
    figure, panels = plt.subplots(len(fits), columns, figsize=size, squeeze=False, sharex=True, constrained_layout=True)
    for row, fit in zip(panels, fits, strict=True):
        for panel in row[len(fit.series) :]:
            panel.set_axis_off()
        for panel, (name, (times, recorded, simulated)) in zip(row, fit.series.items(), strict=False):
            error = np.degrees(np.abs(simulated - recorded).mean())
            panel.plot(times, np.degrees(recorded), color="#8a8f98", lw=2.0, label="recorded")
            panel.plot(times, np.degrees(simulated), color="#d1242f", lw=1.0, label="predicted")
            panel.set_title(f"{name.removesuffix('.csv')}: {error:.1f} deg", fontsize=9)
            panel.grid(alpha=0.3)
        row[0].set_ylabel(f"without {fit.left_out}\nangle [deg]", fontsize=9)
    panels[0, 0].legend(loc="best", fontsize=8)
    figure.savefig(out, dpi=130)
    plt.close(figure)
