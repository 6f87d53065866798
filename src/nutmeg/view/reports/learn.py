"""The report of learning a walk: figures 4 and 5 of its paper, the path walked on the course, and the parameters.

    report = learn_report(learned, learning, measured, paths, command="nutmeg learn --task dynamic-rewards")
    write_report(Path("report.html"), report)

MacAlpine and others (2012): figure 4 has the best fitness of each generation, figure 5 the weights of the directions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.settings import field_notes
from nutmeg.learning.courses import DIRECTIONS, read_course
from nutmeg.motion.trot import TrotSettings
from nutmeg.motion.walk.settings import PendulumWalkSettings
from nutmeg.view.reports.fit import Cost, FitReport, parameter_rows
from nutmeg.view.reports.plots import Chart, Curve
from nutmeg.view.reports.report import Table

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.learning.courses import Trajectory
    from nutmeg.learning.learn import LearnedWalk, WalkLearning
    from nutmeg.learning.measure import WalkMeasurement
    from nutmeg.view.reports.fit_plots import ParameterRow

PAPER_SPEEDS = {
    "dynamic-rewards": (0.42, 0.53, 0.48),
    "dynamic-avg-rewards": (0.45, 0.53, 0.51),
    "static-rewards": (0.58, 0.52, 0.37),
    "face-forward": (0.74, 0.35, 0.03),
    "drive-ball": (0.71, 0.40, 0.21),
}
"""Table 2 of the paper: forward, backward, sideways [m/s]; its Final agent had learned to drive the ball last."""


def learn_report(
    learned: LearnedWalk,
    learning: WalkLearning,
    measured: Mapping[str, WalkMeasurement],
    paths: Mapping[str, Floats],
    *,
    command: str,
    seconds: float,
    workers: str,
    video: str = "",
) -> FitReport:
    """The report of learning a walk.

    Args:
        learned: the result of learning.
        learning: the run.
        measured: measurements of the learned walk and of others, by name.
        paths: the path walked on each trajectory of the course, (n, 2) [m]; nan where there is none.
        command: the command line that makes it again.
        seconds: wall-clock time of the run.
        workers: the machines or threads it ran on, such as `2 threads`.
        video: the file name of a video beside the report.
    """
    settings, result = learning.settings, learned.search
    better = (
        f"fitness {learned.fitness_before:.3g} became {learned.fitness:.3g}, each a mean over "
        f"{settings.judged_starts} noisy starts or a few more."
    )
    return FitReport(
        title=f"Learning to walk: {settings.task}",
        command=command,
        kind="learn",
        summary=f"{len(learning.space.names)} parameters of the walk {learned.before.name!r} of {settings.robot}: "
        f"{better}\n\nThe learned walk is the mean of the last distribution, not its luckiest member.",
        parameters=_parameters(learning, result.mean),
        charts=(_fitness(learned), *_weights(learned), *_course(learning.task.course, paths)),
        tables=(parts_table(learned), _speeds(settings.task, measured)),
        cost=Cost(evaluations=result.evaluations, failures=result.failures, seconds=seconds, workers=workers),
        seeds=(settings.seed,),
        video=video,
        facts={
            "robot": f"{settings.robot}, actuation {settings.actuation}",
            "task": f"{settings.task}, learning the set {learning.task.learns!r}",
            "search": f"CMA-ES, population {settings.population}, generations {len(learned.generations)}",
            "starts": f"noisy starts for each candidate: {settings.starts}",
        },
    )


def _parameters(learning: WalkLearning, mean: Floats) -> tuple[ParameterRow, ...]:
    """The learned parameters, each with its meaning."""
    notes = field_notes(TrotSettings if learning.task.learns == "trot" else PendulumWalkSettings)
    rows = parameter_rows(learning.space, mean, old=learning.space.start)
    return tuple(dataclasses.replace(row, about=notes.get(row.name, row.about)) for row in rows)


def _fitness(learned: LearnedWalk) -> Chart:
    x = np.array([g.number + 1.0 for g in learned.generations])
    best = Curve(name="best of the generation", x=x, y=np.array([g.best for g in learned.generations]))
    mean = Curve(name="mean of the generation", x=x, y=np.array([g.mean for g in learned.generations]), dashed=True)
    about = (
        "Fitness over generations, as in figure 4 of the paper. With changing weights it is not one scale throughout."
    )
    return Chart(title="Fitness", curves=(best, mean), x_label="generation", y_label="fitness", about=about)


def _weights(learned: LearnedWalk) -> list[Chart]:
    rows = [g for g in learned.generations if g.shown]
    if not rows:
        return []
    x, shown = np.array([g.number + 1.0 for g in rows]), np.array([g.shown for g in rows])
    curves = tuple(Curve(name=name, x=x, y=shown[:, index]) for index, name in enumerate(DIRECTIONS))
    used = np.array([g.weights for g in rows])
    static = len(used) > 1 and np.ptp(used) < 1e-12
    about = "Weights of the directions that follow from the fittest of each generation, as in figure 5 of the paper."
    about += " They are shown only; this task weighs all alike." if static else ""
    return [Chart(title="Weights of directions", curves=curves, x_label="generation", y_label="weight", about=about)]


def _course(course: str, paths: Mapping[str, Floats]) -> list[Chart]:
    """Each trajectory as a map of its own, for they all begin at the same place."""
    if not course:
        return []
    charts: list[Chart] = []
    for one in read_course(course).trajectory:
        path = paths.get(one.name, np.empty((0, 2)))
        there = path[np.isfinite(path).all(axis=1)]
        if len(there) < 2:
            continue
        asked, stops = _asked(one, path)
        curves = [_points("path", there), Curve(name="target", x=asked[:, 0], y=asked[:, 1], dashed=True)]
        curves += [_points("stop command", stops)] if len(stops) else []
        curves.append(Curve(name="end", x=there[-1:, 0], y=there[-1:, 1], points=True))
        about = "" if charts else "Dashed lines lead from where a target was given towards it; most lie out of reach."
        title = f"Course: {one.name}"
        charts.append(
            Chart(title=title, curves=tuple(curves), x_label="ahead [m]", y_label="left [m]", equal=True, about=about)
        )
    return charts


def _points(name: str, places: Floats) -> Curve:
    return Curve(name=name, x=places[:, 0], y=places[:, 1], points=name != "path")


def _asked(trajectory: Trajectory, path: Floats) -> tuple[Floats, Floats]:
    """Lines towards each target from the robot's place when it was set, (n, 2), and places of stops, (m, 2).

    Most targets are out of reach, so a line is at most a quarter as long as the path is wide; nan separates them.
    """
    there = path[np.isfinite(path).all(axis=1)]
    longest = max(0.25 * float(np.ptp(there, axis=0).max()), 0.1)
    gap = np.full(2, np.nan)
    lines, stops, begin = [gap], [], 0
    for target in trajectory.target:
        place = path[begin] if begin < len(path) else gap
        if np.isfinite(place).all():
            if target.to is None:
                stops += [place, gap]
            else:
                way = np.array(target.to)
                lines += [place, place + way * min(1.0, longest / float(np.hypot(*way))), gap]
        begin += round(target.seconds / CONTROL_CYCLE)
    return np.array(lines), np.array(stops).reshape(-1, 2)


def parts_table(learned: LearnedWalk) -> Table:
    """The fitness of a learned walk by its parts, beside that of the walk it began with."""
    rows = [
        ("lost by stops and falls" if name == "lost" else name, float(before), float(after))
        for name, before, after in zip(learned.part_names, learned.parts_before, learned.parts, strict=True)
    ]
    rows.append(("fitness", learned.fitness_before, learned.fitness))
    return Table(
        title="Rewards on the course",
        columns=("", "before", "learned"),
        rows=tuple(rows),
        about="Rewards [m] of equations 1 and 2 of the paper, means over the starts of the final evaluation; fitness "
        "is their weighted sum.",
    )


def _speeds(task: str, measured: Mapping[str, WalkMeasurement]) -> Table:
    rows: list[tuple[str | float | int | None, ...]] = []
    for name, one in measured.items():
        numbers = [one.speeds[key] for key in (*DIRECTIONS, "turn")]
        cells = tuple(f"{m.mean:.3f} ± {m.se:.3f} ({m.falls} of {m.trials} fell)" for m in numbers)
        rows.append((name, *cells, f"{one.changes.falls} of {one.changes.trials} fell"))
    if task in PAPER_SPEEDS:
        rows.append(("the paper's", *(f"{speed:.2f}" for speed in PAPER_SPEEDS[task]), "", ""))
    return Table(
        title="Speeds",
        columns=("walk", *(f"{key} [m/s]" for key in DIRECTIONS), "turn [rad/s]", "direction changed every 3 s"),
        rows=tuple(rows),
        about="Distance in ten seconds from standing, mean and standard error over noisy starts (the paper's table 2).",
    )
