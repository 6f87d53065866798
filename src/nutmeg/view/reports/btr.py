"""Figures and report of a Back-to-Reality run, drawn as in figure 3 of its paper.

    Path("figure3.png").write_bytes(figure3(result, truth={"L1_femur": 1.2}))
    write_report(Path("report.html"), btr_report(result, settings, command="nutmeg btr ant.toml"))

Zagal, Delpiano and Ruiz-del-Solar (Self-modeling in humanoid soccer robots, 2009), figure 3: (a) fitness of controllers
per generation, best and mean; (b) phi per generation, least and mean; then each searched number, every candidate a
point that is the darker the smaller its phi, the best as a line, and reality as a straight one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.reality.distances.distance import distance_unit
from nutmeg.view.reports.fit import Cost, FitReport, parameter_rows
from nutmeg.view.reports.fit_plots import Convergence, mark_starts
from nutmeg.view.reports.plots import GREEN, INK, ORANGE, RED, Chart, Curve, png

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nutmeg.base.arrays import Floats
    from nutmeg.reality.btr.result import BtrResult
    from nutmeg.reality.btr.settings import BtrSettings
    from nutmeg.search import SearchResult

NOTHING: Mapping[str, float] = {}


def figure3(
    result: BtrResult, *, truth: Mapping[str, float] = NOTHING, fitness: str = "fitness", phi: str = "phi"
) -> bytes:
    """The figure as a PNG.

    Args:
        result: of the run.
        truth: the numbers in reality, where they are known.
        fitness: what controllers are judged by, for the axis.
        phi: what simulations are judged by, for the axis.
    """
    names = result.simulations.names if _searches(result) else ()
    columns = 2
    rows = 1 + math.ceil(len(names) / columns)

    def draw(figure: Figure) -> None:
        draw_fitness(figure.add_subplot(rows, columns, 1), result, fitness)
        if names:
            draw_phi(figure.add_subplot(rows, columns, 2), result, phi)
        for index, name in enumerate(names):
            axes = figure.add_subplot(rows, columns, columns + 1 + index)
            draw_estimate(axes, result, index, truth.get(name))

    return png(draw, (10.0, 2.7 * rows))


def draw_fitness(axes: Axes, result: BtrResult, label: str) -> None:
    """(a): fitness of the controllers, best and mean of each generation, and what reality said."""
    searches = [iteration.controllers for iteration in result.iterations]
    best, mean, starts = _course(searches, -1.0)
    x = np.arange(1, len(best) + 1)
    where = "reality" if result.mode == "reality" else "simulation"
    axes.plot(x, best, color=GREEN, lw=1.6, label=f"best, {where}")
    axes.plot(x, mean, color=GREEN, lw=1.1, ls="--", label=f"mean, {where}")
    tried = [
        (end, [t.real for t in i.tried]) for end, i in zip([*starts[1:], len(best)], result.iterations, strict=True)
    ]
    xs = [end for end, real in tried for _ in real]
    if xs:
        axes.plot(xs, [f for _, real in tried for f in real], ls="", marker=".", ms=4, color=ORANGE, label="in reality")
    mark_starts(axes, [start + 0.5 for start in starts])
    axes.set(title="(a) fitness of controllers", xlabel="generations", ylabel=label)
    axes.legend(loc="best")


def draw_phi(axes: Axes, result: BtrResult, label: str) -> None:
    """(b): phi of the simulations, least and mean of each generation."""
    least, mean, starts = _course(_searches(result), 1.0)
    x = np.arange(1, len(least) + 1)
    for first, last in zip(starts, [*starts[1:], len(least)], strict=True):  # phi is of other trials each time
        part = slice(first, last)
        axes.plot(x[part], least[part], color=INK, lw=1.6, label=None if first else "least")
        axes.plot(x[part], mean[part], color=INK, lw=1.0, ls="--", label=None if first else "mean")
    mark_starts(axes, [start + 0.5 for start in starts])
    axes.set(title="(b) phi of simulations", xlabel="generations", ylabel=label)
    axes.legend(loc="upper right")


def draw_estimate(axes: Axes, result: BtrResult, index: int, truth: float | None = None) -> None:
    """(c) and on: a searched number; points of smaller phi are darker."""
    name = result.simulations.names[index]
    dimension = result.simulations.dimensions[name]
    generation, starts, line = 0, [], []
    for search in _searches(result):
        starts.append(generation)
        values = np.concatenate([g.values for g in search.history])
        order = np.argsort(np.argsort(np.where(np.isfinite(values), values, np.inf), kind="stable"), kind="stable")
        dark = (1 - order / max(len(values) - 1, 1)) ** 2
        done = 0
        for g in search.history:
            generation += 1
            part = dark[done : done + len(g.values)]
            done += len(g.values)
            shades = np.column_stack([np.zeros((len(part), 3)), 0.04 + 0.5 * part])
            axes.scatter(np.full(len(part), generation), g.candidates[:, index], s=7, c=shades, linewidths=0)
            line.append(float(g.best.candidate[index]))
    axes.plot(np.arange(1, len(line) + 1), line, color=GREEN, lw=1.6)
    if truth is not None:
        axes.axhline(truth, color=RED, lw=1.1, ls="--")
    mark_starts(axes, [start + 0.5 for start in starts])
    if dimension.scale == "log":
        axes.set_yscale("log")
    axes.set(title=f"({chr(ord('c') + index)}) {name}", xlabel="generations", ylabel=dimension.unit)
    axes.set_ylim(dimension.low, dimension.high)


def btr_report(
    result: BtrResult,
    settings: BtrSettings,
    *,
    command: str,
    truth: Mapping[str, float] = NOTHING,
    seconds: float | None = None,
) -> FitReport:
    """What the report page of a run shows."""
    searches = _searches(result)
    rows = parameter_rows(result.simulations, result.simulation, old=result.simulations.start) if searches else ()
    if truth and rows:
        rows = tuple(dataclasses.replace(row, true=truth.get(row.name)) for row in rows)
    disengaged = [str(i.disengagement) for i in result.iterations if i.disengagement]
    return FitReport(
        title=f"Back-to-Reality: {settings.robot.robot}",
        kind="btr",
        command=command,
        summary=_summary(result, settings),
        parameters=rows,
        error_name=settings.distance.kind,
        error_unit=settings.fitness.unit if settings.distance.kind == "phi1" else distance_unit(settings.distance, ()),
        train_error=next((i.phi for i in reversed(result.iterations) if i.simulations), None),
        train_error_before=next((i.phi_before for i in result.iterations if i.simulations), None),
        convergences=(Convergence.of(*searches, label=f"seed {settings.seed}"),) if searches else (),
        charts=_charts(result, settings),
        cost=Cost(
            real_trials=result.trials,
            evaluations=result.evaluations["controllers"] + result.evaluations["simulations"],
            failures=sum(s.failures for s in [*searches, *(i.controllers for i in result.iterations)]),
            seconds=seconds,
        ),
        seeds=(settings.seed,),
        facts={"mode": result.mode, "ended": result.reason, "reality": settings.reality.kind},
        warnings=(*(result.iterations[-1].warnings if result.iterations else ()), *disengaged[-1:]),
    )


def _summary(result: BtrResult, settings: BtrSettings) -> str:
    unit = settings.fitness.unit
    found = (
        f"The best controller achieves {result.fitness:.4g} {unit} in reality" if np.isfinite(result.fitness) else ""
    )
    sure = f"; the last one {result.champion_simulated:.4g} {unit} in simulation" if found else ""
    if np.isfinite(result.champion_fitness):
        sure += f" and {result.champion_fitness:.4g} {unit} in reality"
    return f"{found}{sure}. {len(result.iterations)} iterations, {result.trials} trials in reality."


def _charts(result: BtrResult, settings: BtrSettings) -> tuple[Chart, ...]:
    best, mean, _ = _course([i.controllers for i in result.iterations], -1.0)
    x = np.arange(1.0, len(best) + 1)
    unit = settings.fitness.unit
    charts = [
        Chart(
            title="Fitness of controllers",
            curves=(Curve(name="best", x=x, y=best), Curve(name="mean", x=x, y=mean, dashed=True)),
            x_label="generations of controller searches",
            y_label=f"{settings.fitness.kind} [{unit}]",
            about="Best and mean of each generation of the controller searches.",
        )
    ]
    if any(i.tried for i in result.iterations):
        number = np.array([i.number + 1.0 for i in result.iterations])
        simulated = np.array([i.fitness for i in result.iterations])
        real = np.array([i.best_real for i in result.iterations])
        charts.append(
            Chart(
                title="In simulation and in reality",
                curves=(
                    Curve(name="best in simulation", x=number, y=simulated, points=True),
                    Curve(name="best of the trials in reality", x=number, y=real, points=True),
                ),
                x_label="iterations",
                y_label=f"{settings.fitness.kind} [{unit}]",
                about="The fittest controller of each iteration in its simulation, and the best in reality.",
            )
        )
    return tuple(charts)


def _searches(result: BtrResult) -> list[SearchResult]:
    return [i.simulations for i in result.iterations if i.simulations is not None]


def _course(searches: list[SearchResult], sign: float) -> tuple[Floats, Floats, list[int]]:
    """Best so far and mean of every generation of searches one after the other, and where each search begins."""
    best: list[float] = []
    mean: list[float] = []
    starts: list[int] = []
    for search in searches:
        starts.append(len(best))
        for generation in search.history:
            known = sign * generation.values[np.isfinite(generation.values)]
            best.append(sign * generation.best.value)
            mean.append(known.mean() if len(known) else np.nan)
    return np.array(best), np.array(mean), starts
