"""Curves of the share of robots that survive a push over its impulse, with 95 % intervals: a panel for each walk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

WALKING, STANDING = "#1f6feb", "#d1242f"
STYLES = {"ideal": "-", "servo": "--", "motoflex": ":"}
COLUMNS = 4


def plot_pushes(path: Path, curves: Sequence[Mapping[str, Any]]) -> None:
    """Writes a PNG: walking in blue, stepping on the spot in red, other actuations dashed or dotted.

    Args:
        path: of the PNG.
        curves: as `walk_robustness` gives them.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(curve["walk"] for curve in curves))
    columns = min(COLUMNS, len(names))
    rows = -(-len(names) // columns)
    size = (3.4 * columns, 2.9 * rows + 0.4)
    figure, grid = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False, constrained_layout=True
    )
    for place, panel in enumerate(grid.flat):
        if place >= len(names):
            panel.axis("off")
            continue
        for curve in curves:
            if curve["walk"] == names[place]:
                _draw(panel, curve)
        panel.set_title(names[place], fontsize=10)
        panel.set_ylim(-0.04, 1.04)
        panel.grid(alpha=0.3)
        panel.legend(fontsize=7, loc="lower left")
        panel.set_xlabel("impulse [N s]")
        panel.tick_params(labelbottom=True)
    for row in grid:
        row[0].set_ylabel("share on their feet")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _draw(panel: Any, curve: Mapping[str, Any]) -> None:  # noqa: ANN401 (an axes of matplotlib)
    """One curve; impulses that nobody was left for are not drawn."""
    known = [row for row in curve["impulses"] if row["share"] is not None]
    shares = [row["share"] for row in known]
    below = [row["share"] - row["low"] for row in known]
    above = [row["high"] - row["share"] for row in known]
    other = "" if curve["actuation"] == "ideal" else f", {curve['actuation']}"
    panel.errorbar(
        [row["impulse"] for row in known],
        shares,
        yerr=[[max(one, 0.0) for one in below], [max(one, 0.0) for one in above]],
        linestyle=STYLES.get(curve["actuation"], "-."),
        color=WALKING if curve["walking"] else STANDING,
        marker="o",
        markersize=3,
        elinewidth=0.8,
        capsize=2,
        label=("walking" if curve["walking"] else "on the spot") + other,
    )
