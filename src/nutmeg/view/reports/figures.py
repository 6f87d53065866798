"""Figures of fits to a hidden reality: reference following before and after, parameters and errors over generations.

Figures 5 to 7 of the Back-to-Reality paper (seed 000), drawn for any fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from nutmeg.model.model_file import convex_hull

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.model.model_file import ReducedMesh
    from nutmeg.motion.preview_walk import WalkResult
    from nutmeg.search.run import Generation
    from nutmeg.search.space import Space

    Series = tuple[Floats, Floats, Floats]


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


# ----------------------------------------------------------------------------------------------------
# Pitch, roll and way of walks under different actuations, over each other (figures 3 and 4 of seed 001).


WALK_COLOURS = ("#8a8f98", "#1f6feb", "#d1242f", "#1a7f37", "#8250df")


def plot_walks(results: Sequence[WalkResult], out: Path, *, commanded: float, title: str = "") -> None:
    """Writes a PNG with three panels: body pitch, body roll, way forward."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(3, 1, figsize=(9, 8), sharex=True, constrained_layout=True)
    for result, colour in zip(results, WALK_COLOURS * 3, strict=False):
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


# ----------------------------------------------------------------------------------------------------
# Recorded and predicted angles of a servo in recordings that no fit has seen, one panel each.


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


# ----------------------------------------------------------------------------------------------------
# A picture of how a mesh was simplified: as it was, its convex hull, and what is left of it.


_LIGHT = np.array([0.4, -0.5, 0.77])
_MESH_COLOURS = (np.array([0.62, 0.66, 0.72]), np.array([0.45, 0.68, 0.55]), np.array([0.86, 0.52, 0.30]))


def plot_mesh_reduction(vertices: Floats, faces: Ints, reduced: ReducedMesh, path: Path) -> None:
    """Draws three panels to a PNG file: the mesh (n, 3) with triangles (m, 3), its hull, the reduced hull."""
    hull, hull_faces = convex_hull(vertices)
    shown = (
        ("original", vertices, faces, reduced.original_vertices),
        ("convex hull", hull, hull_faces, reduced.hull_vertices),
        ("reduced", reduced.vertices, reduced.faces, len(reduced.vertices)),
    )
    figure = Figure(figsize=(10.5, 4.2))
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.88, wspace=0)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    for number, (label, points, triangles, count) in enumerate(shown):
        axes: Any = figure.add_subplot(1, 3, number + 1, projection="3d")
        axes.add_collection3d(_solid(points[triangles], _MESH_COLOURS[number]))
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
        axes.set_box_aspect(np.maximum(high - low, 1e-9), zoom=1.05)
        axes.set_axis_off()
        error = f"\n{100 * reduced.volume_error:.2f} % of the hull's volume lost" if label == "reduced" else "\n"
        axes.set_title(f"{label}: {count} vertices{error}", fontsize=11)
    with mpl.rc_context({"savefig.dpi": 110}):
        figure.savefig(path)


def _solid(triangles: Floats, colour: Floats) -> Any:  # noqa: ANN401
    """Triangles (m, 3, 3) with the light from one side."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    shade = 0.55 + 0.45 * np.clip(normals @ _LIGHT, 0, 1)
    solid: Any = Poly3DCollection(triangles)
    solid.set_facecolor(shade[:, None] * colour)
    solid.set_edgecolor((0.15, 0.15, 0.15, 0.5))
    solid.set_linewidth(0.3)
    return solid
