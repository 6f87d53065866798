"""Figures of fits to a hidden reality: reference following before and after, parameters and errors over generations.

Figures 5 to 7 of the Back-to-Reality paper (seed 000), drawn for any fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.search.run import Generation
    from nutmeg.search.space import Space


GREY, BLUE, RED, GREEN = "#8a8f98", "#1f6feb", "#d1242f", "#1a7f37"


def plot_following(
    path: Path, panels: Mapping[str, tuple[Floats, Floats, Floats]], *, period: float, begin: float = 0.0
) -> None:
    """Writes series before (left) and after (right) a fit; with a scatter of simulated over measured angles in each.

    Args:
        path: of the PNG.
        panels: by joint: commands (T,), measured (T,), simulated before and after (2, T) [rad].
        period: between rows [s].
        begin: time of the first row [s].
    """
    plt = _matplotlib()
    figure, axes = plt.subplots(
        len(panels), 2, figsize=(11, 2.6 * len(panels)), sharex=True, squeeze=False, constrained_layout=True
    )
    for row, (joint, (commands, real, simulated)) in zip(axes, panels.items(), strict=True):
        times = begin + np.arange(len(commands)) * period
        for panel, series, when in zip(row, simulated, ("before", "after"), strict=True):
            panel.plot(times, np.degrees(commands), color=GREY, lw=0.8, ls="--", label="reference")
            panel.plot(times, np.degrees(real), color=BLUE, lw=1.4, label="hidden reality")
            panel.plot(times, np.degrees(series), color=RED, lw=1.0, label="simulation")
            rms = np.degrees(np.sqrt(np.nanmean((series - real) ** 2)))
            panel.set_title(f"{joint}, {when} (RMS {rms:.2f} deg)", fontsize=9)
            panel.grid(alpha=0.3)
            panel.set_xlim(times[0], times[-1] + 0.25 * (times[-1] - times[0]))
            inset = panel.inset_axes((0.82, 0.05, 0.17, 0.4))
            inset.plot(np.degrees(real), np.degrees(series), ".", ms=1.5, color=RED)
            inset.set_xticks([])
            inset.set_yticks([])
        row[0].set_ylabel("angle [deg]")
    axes[0, 0].legend(loc="upper left", fontsize=7, ncols=3)
    for panel in axes[-1]:
        panel.set_xlabel("time [s]")
    _save(figure, path)


def plot_parameters(path: Path, history: Sequence[Generation], space: Space, hidden: Floats) -> None:
    """Writes every candidate of every parameter over generations, and the hidden value as a line."""
    plt = _matplotlib()
    columns = 4
    rows = -(-space.size // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(12, 2.5 * rows), sharex=True, squeeze=False, constrained_layout=True
    )
    for index, panel in enumerate(axes.flat):
        if index >= space.size:
            panel.axis("off")
            continue
        for one in history:
            ranks = np.argsort(np.argsort(np.where(np.isfinite(one.values), one.values, np.inf))) / len(one.values)
            panel.scatter(
                np.full(len(one.values), one.number),
                one.candidates[:, index],
                s=5,
                c=ranks,
                cmap="gray",
                vmin=0,
                vmax=1.3,
            )
        panel.plot([g.number for g in history], [g.mean[index] for g in history], color=RED, lw=1.2)
        panel.axhline(hidden[index], color=BLUE, lw=1.2)
        panel.set_ylim(space.low[index], space.high[index])
        unit = f" [{space.units[index]}]" if space.units[index] else ""
        panel.set_title(f"{space.names[index]}{unit}", fontsize=9)
        panel.grid(alpha=0.3)
    for panel in axes[-1]:
        panel.set_xlabel("generation")
    _save(figure, path)


def plot_errors(path: Path, history: Sequence[Generation], *, label: str, logarithmic: bool = False) -> None:
    """Writes the best and the mean error of every generation."""
    plt = _matplotlib()
    figure, panel = plt.subplots(figsize=(7, 4), constrained_layout=True)
    numbers = [g.number for g in history]
    finite = [np.where(np.isfinite(g.values), g.values, np.nan) for g in history]
    panel.plot(numbers, [g.best.value for g in history], color=RED, label="best so far")
    panel.plot(numbers, [np.nanmean(v) for v in finite], color=GREY, ls="--", label="mean of the generation")
    panel.set_xlabel("generation")
    panel.set_ylabel(label)
    if logarithmic:
        panel.set_yscale("log")
    panel.grid(alpha=0.3)
    panel.legend()
    _save(figure, path)


def plot_falls(path: Path, curves: Mapping[str, Floats], *, period: float) -> None:
    """Writes F of a simulation that ends earlier, over F of the one that lasts, for several exponents, (T,) each."""
    plt = _matplotlib()
    figure, panel = plt.subplots(figsize=(7, 4), constrained_layout=True)
    for (name, curve), colour in zip(curves.items(), (GREY, BLUE, RED, GREEN), strict=False):
        panel.plot((np.arange(len(curve)) + 1) * period, curve, color=colour, label=name)
    panel.axhline(1.0, color="black", lw=0.8, ls=":")
    panel.set_yscale("log")
    panel.set_xlabel("falls after [s]")
    panel.set_ylabel("F over F of staying up")
    panel.grid(alpha=0.3)
    panel.legend()
    _save(figure, path)


def _matplotlib() -> Any:  # noqa: ANN401 (pyplot)
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def _save(figure: Any, path: Path) -> None:  # noqa: ANN401 (a figure of matplotlib)
    figure.savefig(path, dpi=130)
    _matplotlib().close(figure)
