"""The picture of strengths in both worlds: physical against behavioural, before and after calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def plot_worlds(path: Path, answer: Mapping[str, Any]) -> None:
    """Writes the picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 4.8), layout="constrained")
    for axes, word in zip(figure.subplots(1, 2, sharex=True, sharey=True), ("before", "after"), strict=True):
        for row in answer["table"]:
            axes.errorbar(
                row[word],
                row["physical"],
                xerr=2 * row[f"{word}_error"],
                yerr=2 * row["physical_error"],
                fmt="o",
                color="#227848",
                capsize=2,
                linewidth=0.8,
            )
            axes.annotate(
                row["strategy"], (row[word], row["physical"]), xytext=(5, 4), textcoords="offset points", fontsize=8
            )
        axes.axline((0.0, 0.0), slope=1.0, color="0.7", linewidth=0.8, linestyle="--")
        found = answer[word]
        low, high = found["spearman_interval"]
        axes.set_title(f"{word} calibration: Spearman {found['spearman']:.2f} ({low:.2f} to {high:.2f})", fontsize=10)
        axes.set_xlabel("behavioural world, goals a game")
    figure.axes[0].set_ylabel("physical world, goals a game")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
