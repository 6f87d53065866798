"""Figures of experiments as PNG files: fits to a hidden reality, walks, servo predictions, and reduced meshes.

    plot_errors(Path("errors.png"), result.history, label="RMS error [deg]")
    plot_walks(results, Path("walks.png"), commanded=0.2)

The figures of hidden realities are figures 5 to 7 of Zagal and others (2009), drawn for any fit; those of walks are
figures 3 and 4 of the MoToFlex paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.view.reports.fit import parameter_rows
from nutmeg.view.reports.fit_plots import Convergence, draw_convergence, draw_errors
from nutmeg.view.reports.plots import BLUE, COLOUR_CYCLE, GREEN, GREY, INK, RED, alone, save_png, side_by_side

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.model.model_file import ReducedMesh
    from nutmeg.motion.preview_walk import WalkResult
    from nutmeg.search.run import Generation
    from nutmeg.search.space import Space

_MESH_LIGHT = np.array([0.4, -0.5, 0.77])  # the direction towards the light on a drawn mesh
_MESH_COLOURS = (np.array([0.62, 0.66, 0.72]), np.array([0.45, 0.68, 0.55]), np.array([0.86, 0.52, 0.30]))
"""Colours of a mesh, its convex hull, and the reduced hull."""


@dataclass(frozen=True)
class Predicted:
    """The prediction of a fit for recordings that it has not seen."""

    left_out: str
    """A description of those recordings."""
    series: Mapping[str, tuple[Floats, Floats, Floats]]
    """Times [s], recorded and simulated angles [rad], (K,) each, by the name of the recording."""


def plot_following(
    path: Path, panels: Mapping[str, tuple[Floats, Floats, Floats]], *, period: float, begin: float = 0.0
) -> None:
    """Draw series before (left) and after (right) a fit, each with a scatter of simulated over measured angles.

    Args:
        path: the PNG file.
        panels: by joint: commands (T,), measured (T,), simulated before and after (2, T) [rad].
        period: time between rows [s].
        begin: time of the first row [s].
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots(len(panels), 2, sharex=True, squeeze=False)
        for row, (joint, (commands, real, simulated)) in zip(axes, panels.items(), strict=True):
            times = begin + np.arange(len(commands)) * period
            for panel, series, when in zip(row, simulated, ("before", "after"), strict=True):
                panel.plot(times, np.degrees(commands), color=GREY, lw=0.8, ls="--", label="reference")
                panel.plot(times, np.degrees(real), color=BLUE, lw=1.4, label="hidden reality")
                panel.plot(times, np.degrees(series), color=RED, lw=1.0, label="simulation")
                rms = np.degrees(np.sqrt(np.nanmean((series - real) ** 2)))
                panel.set_title(f"{joint}, {when} (RMS {rms:.2f} deg)")
                panel.set_xlim(times[0], times[-1] + 0.25 * (times[-1] - times[0]))
                inset = panel.inset_axes((0.82, 0.05, 0.17, 0.4))
                inset.plot(np.degrees(real), np.degrees(series), ".", ms=1.5, color=RED)
                inset.set_xticks([])
                inset.set_yticks([])
            row[0].set_ylabel("angle [deg]")
        axes[0, 0].legend(loc="upper left", ncols=3)
        for panel in axes[-1]:
            panel.set_xlabel("time [s]")

    save_png(path, draw, (11, 2.6 * len(panels)))


def plot_parameters(path: Path, history: Sequence[Generation], space: Space, hidden: Floats) -> None:
    """Draw every candidate of every parameter over the evaluations, the best, and the hidden value as a line."""
    rows = parameter_rows(space, history[-1].best.candidate, true=space.named(hidden))
    found = (_convergence(history),)
    panels = [partial(draw_convergence, row=row, convergences=found, index=i) for i, row in enumerate(rows)]
    save_png(path, *side_by_side(panels, columns=4))


def plot_errors(path: Path, history: Sequence[Generation], *, label: str) -> None:
    """Draw the errors of all candidates over the evaluations, and the best."""
    save_png(path, alone(partial(draw_errors, convergences=(_convergence(history),), label=label)), (7, 4))


def _convergence(history: Sequence[Generation]) -> Convergence:
    return Convergence(
        candidates=np.concatenate([g.candidates for g in history]), values=np.concatenate([g.values for g in history])
    )


def plot_falls(path: Path, curves: Mapping[str, Floats], *, period: float) -> None:
    """Draw F of a simulation that ends earlier over F of the one that lasts, for several exponents, (T,) each."""

    def draw(axes: Axes) -> None:
        for (name, curve), colour in zip(curves.items(), (GREY, BLUE, RED, GREEN), strict=False):
            axes.plot((np.arange(len(curve)) + 1) * period, curve, color=colour, label=name)
        axes.axhline(1.0, color=INK, lw=0.8, ls=":")
        axes.set(xlabel="falls after [s]", ylabel="F over F of staying up", yscale="log")
        axes.legend()

    save_png(path, alone(draw), (7, 4))


def plot_walks(results: Sequence[WalkResult], path: Path, *, commanded: float, title: str = "") -> None:
    """Draw body pitch, body roll and way forward of walks under different actuations; `commanded` is in m/s."""

    def draw(figure: Figure) -> None:
        panels = figure.subplots(3, 1, sharex=True)
        for result, colour in zip(results, COLOUR_CYCLE * 3, strict=False):
            trial = result.trial
            shown = trial.times <= min(result.fallen_at + 0.3, trial.times[-1])
            times = trial.times[shown]
            panels[0].plot(times, np.degrees(trial.pitch[shown]), color=colour, label=result.name, lw=1.2)
            panels[1].plot(times, np.degrees(trial.roll[shown]), color=colour, lw=1.2)
            panels[2].plot(times, trial.place[shown, 0] - trial.place[0, 0], color=colour, lw=1.6)
            if np.isfinite(result.fallen_at):
                for panel in panels:
                    panel.axvline(result.fallen_at, color=colour, ls=":", lw=1)
        start = results[0].trial.times
        way = np.clip(start - 1.0, 0, None) * commanded
        panels[2].plot(start, way, color=INK, ls="--", lw=0.8, label="commanded")
        for panel, label in zip(panels, ("pitch [deg]", "roll [deg]", "way [m]"), strict=True):
            panel.set_ylabel(label)
        panels[0].set_ylim(-30, 30)
        panels[1].set_ylim(-30, 30)
        panels[0].legend(loc="upper left", ncols=len(results))
        panels[2].legend(loc="upper left")
        panels[2].set_xlabel("time [s]")
        if title:
            figure.suptitle(title)

    save_png(path, draw, (9, 8))


def plot_phases(
    path: Path,
    walks: Sequence[Mapping[str, Any]],
    partial_models: Sequence[Mapping[str, Any]] = (),
    searched: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Draw the speed of walks over the phase of their pitch against the gait; rows have `actuation`, `speed`, `phase`.

    `walks` have whole actuations, `partial_models` a part of the extensions; `searched` are candidates of a search.
    """

    def draw(axes: Axes) -> None:
        axes.plot([_turned(r) for r in searched], [r["speed"] for r in searched], ".", color=GREY, label="searched")
        for rows, mark in ((walks, "o"), (partial_models, "^")):
            names = list(dict.fromkeys(row["actuation"] for row in rows))
            for name, colour in zip(names, COLOUR_CYCLE * 3, strict=False):
                found = [row for row in rows if row["actuation"] == name and row["speed"] is not None]
                label = f"{name}{', partial model' if mark == '^' else ''}"
                axes.plot([_turned(r) for r in found], [r["speed"] for r in found], mark, color=colour, label=label)
        axes.axvline(180.0, color=INK, lw=0.8, ls=":")
        axes.axhline(0.2, color=INK, lw=0.8, ls="--")
        axes.set(xlabel="phase of the pitch at landing [deg]: 0 leans forward, 180 back", ylabel="speed [m/s]")
        axes.set_xlim(-90, 270)
        axes.legend(fontsize=7, loc="lower right")

    save_png(path, alone(draw), (8, 4.5))


def _turned(row: Mapping[str, Any]) -> float:
    """A phase between -90 and 270 degrees, so that both signs of 180 lie together."""
    return float((np.degrees(row["phase"]) + 90.0) % 360.0 - 90.0)


def plot_predictions(fits: Sequence[Predicted], path: Path) -> None:
    """Draw recorded and predicted angles of a servo: a row for each fit, a panel for each recording."""
    columns = max(len(fit.series) for fit in fits)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(len(fits), columns, squeeze=False, sharex=True)
        for row, fit in zip(panels, fits, strict=True):
            for panel in row[len(fit.series) :]:
                panel.set_axis_off()
            for panel, (name, (times, recorded, simulated)) in zip(row, fit.series.items(), strict=False):
                error = np.degrees(np.abs(simulated - recorded).mean())
                panel.plot(times, np.degrees(recorded), color=GREY, lw=2.0, label="recorded")
                panel.plot(times, np.degrees(simulated), color=RED, lw=1.0, label="predicted")
                panel.set_title(f"{name.removesuffix('.csv')}: {error:.1f} deg")
            row[0].set_ylabel(f"without {fit.left_out}\nangle [deg]")
        panels[0, 0].legend(loc="best")

    save_png(path, draw, (3.6 * columns, 2.6 * len(fits)))


def plot_mesh_reduction(vertices: Floats, faces: Ints, reduced: ReducedMesh, path: Path) -> None:
    """Draw a mesh (n, 3) with triangles (m, 3), its convex hull, and the reduced hull."""
    from nutmeg.model.model_file import convex_hull

    hull, hull_faces = convex_hull(vertices)
    shown = (
        ("original", vertices, faces, reduced.original_vertices),
        ("convex hull", hull, hull_faces, reduced.hull_vertices),
        ("reduced", reduced.vertices, reduced.faces, len(reduced.vertices)),
    )
    low, high = vertices.min(axis=0), vertices.max(axis=0)

    def draw(figure: Figure) -> None:
        figure.subplots_adjust(left=0, right=1, bottom=0, top=0.88, wspace=0)
        for number, (label, points, triangles, count) in enumerate(shown):
            axes: Any = figure.add_subplot(1, 3, number + 1, projection="3d")
            axes.add_collection3d(_solid(points[triangles], _MESH_COLOURS[number]))
            axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
            axes.set_box_aspect(np.maximum(high - low, 1e-9), zoom=1.05)
            axes.set_axis_off()
            error = f"\n{100 * reduced.volume_error:.2f} % of the hull's volume lost" if label == "reduced" else "\n"
            axes.set_title(f"{label}: {count} vertices{error}", loc="center")

    save_png(path, draw, (10.5, 4.2), panel=True)


def _solid(triangles: Floats, colour: Floats) -> Any:  # noqa: ANN401
    """Triangles (m, 3, 3) with the light from one side."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    shade = 0.55 + 0.45 * np.clip(normals @ _MESH_LIGHT, 0, 1)
    solid: Any = Poly3DCollection(triangles)
    solid.set_facecolor(shade[:, None] * colour)
    solid.set_edgecolor((0.15, 0.15, 0.15, 0.5))
    solid.set_linewidth(0.3)
    return solid
