"""The picture of table 3: goal differences of all pairs, ours and the paper's, each with twice its standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def plot_differences(path: Path, pairs: Sequence[Mapping[str, Any]]) -> None:
    """Writes the picture."""
    from matplotlib.figure import Figure

    shown = [row for row in pairs if row["difference"] is not None]
    figure = Figure(figsize=(8.0, 1.2 + 0.38 * max(len(shown), 1)), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(shown):
        error = 2 * (row["error"] or 0.0)
        axes.errorbar(row["difference"], place - 0.12, xerr=error, fmt="o", color="#227848", capsize=3)
        axes.errorbar(
            row["paper_difference"], place + 0.12, xerr=2 * row["paper_error"], fmt="s", color="#d9772b", capsize=3
        )
    axes.plot([], [], "o", color="#227848", label="here, ± 2 standard errors")
    axes.plot([], [], "s", color="#d9772b", label="paper")
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set_yticks(range(len(shown)), [f"{row['home']} – {row['away']}" for row in shown])
    axes.invert_yaxis()
    axes.set_xlabel("goals a game, first minus second")
    axes.legend(loc="best", fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
