"""Figures and report of a Back-to-Reality run, drawn as in figure 3 of its paper.

    Path("figure3.png").write_bytes(figure3(result, truth={"L1_femur": 1.2}))
    write_report(Path("report.html"), btr_report(result, settings, command="nutmeg btr ant.toml"))

Zagal, Delpiano and Ruiz-del-Solar (Self-modeling in humanoid soccer robots, 2009), figure 3: (a) fitness of controllers
per generation, best and mean; (b) phi per generation, least and mean; then each searched number, every candidate a
point that is the darker the smaller its phi, the best as a line, and reality as a straight one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.reality.btr.extension import padded
from nutmeg.reality.distances.distance import distance_unit
from nutmeg.view.reports.fit import Cost, FitReport, parameter_rows
from nutmeg.view.reports.fit_plots import Convergence, ParameterRow, draw_convergence, mark_starts
from nutmeg.view.reports.plots import GREEN, INK, ORANGE, Chart, Curve, Panel, png, side_by_side
from nutmeg.view.reports.report import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nutmeg.base.arrays import Floats
    from nutmeg.reality.btr.result import BtrResult
    from nutmeg.reality.btr.settings import BtrSettings
    from nutmeg.search import SearchResult, Space

_DISTANCE_MEANINGS = {
    "phi1": "phi1 tells how far a simulation is from reality by the fitness alone: the difference between the fitness "
    "of a controller in simulation and in reality, as a mean over the controllers that were tried. It is 0 for a "
    "simulation that predicts every trial. Numbers of the body that change no fitness cannot be found with it.",
    "phi2": "phi2 tells how far a simulation is from reality by what the sensors measured: the information distance "
    "between the simulated and the real values of each channel, added up, in bits. It is 0 where one tells the other.",
    "joint_error": "The joint error adds up the squared differences between simulated and real joint angles; trials "
    "that end earlier than the real one count more.",
    "rms": "The distance is the root mean square of the differences between simulated and real values.",
    "mean_absolute": "The distance is the mean absolute difference between simulated and real values.",
    "combination": "The distance is a weighted sum of several, as the configuration says.",
}
"""Meaning of the distance between simulation and reality, by its kind."""
NO_TRUTH: Mapping[str, float] = {}
"""True numbers of a reality about which none are known."""


def figure3(
    result: BtrResult, *, truth: Mapping[str, float] = NO_TRUTH, fitness: str = "fitness", phi: str = "phi"
) -> bytes:
    """The figure as a PNG file.

    Args:
        result: the result of a run.
        truth: the true numbers, where they are known.
        fitness: label of the fitness of controllers.
        phi: label of the distance of simulations from reality.
    """
    panels: list[Panel] = [partial(_draw_fitness, result=result, label=fitness)]
    searches = _searches(result)
    if searches:
        panels.append(partial(_draw_phi, searches=searches, label=phi))
        found = (Convergence.of(*searches),)
        rows = parameter_rows(result.simulations, result.simulation, true=truth)
        panels += [partial(_draw_estimate, row=row, found=found, index=index) for index, row in enumerate(rows)]
    return png(*side_by_side(panels, columns=2))


def _draw_estimate(axes: Axes, row: ParameterRow, found: tuple[Convergence, ...], index: int) -> None:
    """Panels (c) and on: a searched number over the evaluations."""
    draw_convergence(axes, row, found, index)
    axes.set_title(f"({chr(ord('c') + index)}) {row.name}")


def _draw_fitness(axes: Axes, result: BtrResult, label: str) -> None:
    """Panel (a): fitness of the controllers, best and mean of each generation, and in reality."""
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


def _draw_phi(axes: Axes, searches: list[SearchResult], label: str) -> None:
    """Panel (b): phi of the simulations, least and mean of each generation."""
    least, mean, starts = _course(searches, 1.0)
    x = np.arange(1, len(least) + 1)
    for first, last in zip(starts, [*starts[1:], len(least)], strict=True):  # phi is of other trials each time
        part = slice(first, last)
        axes.plot(x[part], least[part], color=INK, lw=1.6, label=None if first else "least")
        axes.plot(x[part], mean[part], color=INK, lw=1.0, ls="--", label=None if first else "mean")
    mark_starts(axes, [start + 0.5 for start in starts])
    axes.set(title="(b) phi of simulations", xlabel="generations", ylabel=label)
    axes.legend(loc="upper right")


def btr_report(
    result: BtrResult,
    settings: BtrSettings,
    *,
    command: str,
    truth: Mapping[str, float] = NO_TRUTH,
    seconds: float | None = None,
    video: str = "",
) -> FitReport:
    """The report of a run; `video` is the name of a file beside it."""
    searches = _searches(result)
    space = result.simulations
    rows = parameter_rows(space, result.simulation, identifiability=result.judged, old=space.start, true=truth)
    disengaged = [str(i.disengagement) for i in result.iterations if i.disengagement]
    return FitReport(
        title=f"Back-to-Reality: {settings.robot.robot}",
        kind="btr",
        command=command,
        summary=_summary(result, settings),
        parameters=rows if searches else (),
        error_name=settings.distance.kind,
        error_unit=settings.fitness.unit if settings.distance.kind == "phi1" else distance_unit(settings.distance, ()),
        train_error=next((i.phi for i in reversed(result.iterations) if i.simulations), None),
        train_error_before=next((i.phi_before for i in result.iterations if i.simulations), None),
        convergences=(Convergence.of(*searches, label=f"seed {settings.seed}"),) if searches else (),
        charts=_charts(result, settings),
        tables=_terms_table(result),
        cost=Cost(
            real_trials=result.trials,
            evaluations=result.evaluations["controllers"] + result.evaluations["simulations"],
            failures=sum(s.failures for s in [*searches, *(i.controllers for i in result.iterations)]),
            seconds=seconds,
        ),
        seeds=(settings.seed,),
        video=video,
        facts={"mode": result.mode, "ended": result.reason, "reality": settings.reality.kind},
        warnings=(*result.warnings, *disengaged[-1:], *(one.text for one in result.proposals)),
        notes=tuple(f"Iteration {i.number + 1}: {i.extension.text}" for i in result.iterations if i.extension),
    )


def _summary(result: BtrResult, settings: BtrSettings) -> str:
    unit = settings.fitness.unit
    found = (
        f"The best controller achieves {result.fitness:.4g} {unit} in reality" if np.isfinite(result.fitness) else ""
    )
    sure = f"; the last one {result.champion_simulated:.4g} {unit} in simulation" if found else ""
    if np.isfinite(result.champion_fitness):
        sure += f" and {result.champion_fitness:.4g} {unit} in reality"
    about = _DISTANCE_MEANINGS[settings.distance.kind] if result.mode == "btr" else ""
    headline = f"{found}{sure}. {len(result.iterations)} iterations, {result.trials} trials in reality."
    return f"{headline}\n\n{about}".strip()


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
    """The searches of simulations, one after the other; numbers that were freed later are at their start before."""
    found = [(i.simulations, i.extension.search if i.extension else None) for i in result.iterations]
    return [_widened(one, result.simulations) for pair in found for one in pair if one is not None]


def _widened(search: SearchResult, space: Space) -> SearchResult:
    wide = [dataclasses.replace(g, candidates=padded(g.candidates, space)) for g in search.history]
    return dataclasses.replace(search, history=tuple(wide))


def _terms_table(result: BtrResult) -> tuple[Table, ...]:
    """The terms that were freed for a while, and what they explain."""
    rows = []
    for iteration in result.iterations:
        if (extension := iteration.extension) is None:
            continue
        rows += [
            (
                str(iteration.number + 1),
                one.name,
                ", ".join(one.searched.targets(one.name)),
                f"{one.value:.4g} {one.searched.unit}".rstrip(),
                f"{one.held_out:.4g}",
                f"{extension.control:.4g}",
                "joins" if one is extension.freed else "",
            )
            for one in extension.tried
        ]
    columns = ("after iteration", "term", "sets", "estimate", "phi with it", "phi without", "")
    about = (
        "Terms that were freed one at a time, because the searched numbers did not explain the trials. Phi is that in "
        "trials that were not fitted, with the term and without it, after searches of equal effort."
    )
    return (Table(columns=columns, rows=tuple(rows), title="Terms tried", about=about),) if rows else ()


def _course(searches: list[SearchResult], sign: float) -> tuple[Floats, Floats, list[int]]:
    """Best so far and mean of every generation of several searches, and the generations at which searches begin."""
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
