"""Bars of walking speeds, ours beside the paper's (table 2 of MacAlpine and others, 2012)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nutmeg.learning.course import DIRECTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

COLOURS = {"forward": "#1f6feb", "backward": "#1a7f37", "sideways": "#d1242f"}
WIDTH = 0.26


def plot_speeds(path: Path, agents: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes a PNG: for each agent three bars with standard errors, and the paper's numbers as black marks.

    Args:
        path: of the PNG.
        agents: by name, with `speeds` and `paper`, both by direction [m/s].
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(1.5 + 1.5 * len(agents), 4.5), constrained_layout=True)
    told = False
    for place, way in enumerate(DIRECTIONS):
        left = [number + (place - 1) * WIDTH for number in range(len(agents))]
        speeds = [row["speeds"][way] for row in agents.values()]
        errors = [one["se"] for one in speeds]
        panel.bar(
            left,
            [one["mean"] for one in speeds],
            WIDTH * 0.92,
            yerr=errors,
            color=COLOURS[way],
            label=way,
            error_kw={"lw": 1, "capsize": 2},
        )
        for x, row in zip(left, agents.values(), strict=True):
            if (paper := row["paper"][way]) is not None:
                label = "" if told else "paper"
                panel.plot([x - WIDTH / 2, x + WIDTH / 2], [paper, paper], color="black", lw=2.2, label=label)
                told = True
    panel.set_xticks(range(len(agents)), agents, fontsize=9)
    panel.set_ylabel("speed over 10 s from standing [m/s]")
    panel.axhline(0, color="black", lw=0.8)
    panel.grid(axis="y", alpha=0.3)
    panel.set_axisbelow(True)
    panel.legend(loc="upper left", fontsize=8, ncols=4)
    panel.set_ylim(top=1.2 * panel.get_ylim()[1])
    figure.savefig(path, dpi=130)
    plt.close(figure)
