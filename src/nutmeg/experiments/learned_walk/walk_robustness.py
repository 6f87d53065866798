"""Robustness of learned walks: pushes of stated impulse, and motors that are not ideal.

    answer = run(Path("runs/walk-robustness"), Settings(threads=2))
    answer["pushes"][0]["impulses"][3]              # impulse [N s], share that survived it, 95 % interval
    answer["transfer"]                              # each walk on each actuation: speeds, falls, loss of speed

Pushes are those of `learning.pushes`, for every agent of MacAlpine and others (2012) and every other walk that comes
with Nutmeg, walking ahead and stepping on the spot. The robot of the league has ideal velocity drives only: it has no
numbers for servos, gears and bending links. So walks of robots that have them are tried on `servo` and `motoflex`
beside `ideal`; for the others the answer says that they were not.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from nutmeg.base.journal import each_seed
from nutmeg.experiments import experiment
from nutmeg.learning.agents import AGENTS, agent_walks, other_walks
from nutmeg.learning.measure import PushSettings, TrialMean, push_walk, walk_speeds
from nutmeg.model import load_robot
from nutmeg.model.actuation import load_actuation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nutmeg.motion.walk.files import WalkParameters


_WALKING_COLOUR = "#1f6feb"
_STANDING_COLOUR = "#d1242f"
_LINE_STYLES = {"ideal": "-", "servo": "--", "motoflex": ":"}
_PANEL_COLUMNS = 4


def _plot_pushes(path: Path, curves: Sequence[Mapping[str, Any]]) -> None:
    """Writes a PNG: walking in blue, stepping on the spot in red, other actuations dashed or dotted.

    Args:
        path: of the PNG.
        curves: as `walk_robustness` gives them.
    """
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(curve["walk"] for curve in curves))
    columns = min(_PANEL_COLUMNS, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(3.4 * columns, 2.9 * rows + 0.4), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
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
        linestyle=_LINE_STYLES.get(curve["actuation"], "-."),
        color=_WALKING_COLOUR if curve["walking"] else _STANDING_COLOUR,
        marker="o",
        markersize=3,
        elinewidth=0.8,
        capsize=2,
        label=("walking" if curve["walking"] else "on the spot") + other,
    )


ACTUATIONS = ("ideal", "servo", "motoflex")
MIN_SPEED = 0.02
"""No loss is computed for a speed below this [m/s or rad/s]."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Size of the measurements."""

    pushes: PushSettings
    trials: int
    """Starts for each speed on each actuation."""
    real_pushes: bool
    """Whether robots with realistic motors are pushed with these, too."""


FULL = Scale(
    pushes=PushSettings(impulses=(0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0), trials=10),
    trials=20,
    real_pushes=True,
)
QUICK = Scale(pushes=PushSettings(impulses=(0.0, 1.0, 2.0, 3.0, 4.0), trials=2), trials=2, real_pushes=False)


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means fewer impulses and starts."""

    seed: int = 0
    """Seed of the starts."""
    walks: Path | None = None
    """A folder with other walks than those that come with Nutmeg, as for `walk-table2`."""
    size: Scale | None = None
    """Other sizes than those of the quick and the full version."""

    @property
    def scale(self) -> Scale:
        """Size of the measurements."""
        return self.size or (QUICK if self.quick else FULL)


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Pushes all walks and tries them on other actuations; draws pushes.png."""
    agents, missing = agent_walks(settings.walks)
    known = {**agents, **other_walks(settings.walks)}
    work = _Work(out, settings, say)
    pushes = [row for name, walk in known.items() for row in work.pushes(name, walk)]
    transfer = [row for name, walk in known.items() for row in work.transfer(name, walk)]
    untried = {name: f"{w.robot} has ideal drives only" for name, w in known.items() if len(actuations_of(w)) == 1}
    if pushes:
        _plot_pushes(out / "pushes.png", pushes)
    return {
        "experiment": "walk-robustness",
        "pushes": pushes,
        "transfer": transfer,
        "not_transferred": untried,
        "missing": {name: f"motion/data/walks/{AGENTS[name].walk}.toml" for name in missing},
        "settings": {**asdict(settings.scale), "seed": settings.seed, "quick": settings.quick},
    }


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """The share of robots that survive each impulse, by walk; then what other motors cost."""
    impulses = [row["impulse"] for row in answer["pushes"][0]["impulses"]] if answer["pushes"] else []

    def survived(place: int) -> experiment.Cell:
        return lambda curve: experiment.percent(curve["impulses"][place]["share"], 0)

    columns: dict[str, experiment.Cell] = {
        "walk": lambda curve: f"{curve['walk']}, {curve['actuation']}",
        "pushed": lambda curve: "walking" if curve["walking"] else "on the spot",
        **{f"{impulse:g} N s": survived(place) for place, impulse in enumerate(impulses)},
        "half [N s]": experiment.decimal("half", 2),
    }
    pushed = answer["settings"]["pushes"]
    about = (
        f"share on their feet {pushed['watched']:g} s after a push of {pushed['duration']:g} s, "
        f"{pushed['trials']} starts in each of four directions; half survive the impulse of the last column."
    )
    notes = [
        about,
        *(f"{name}: not pushed, there is no {file}" for name, file in answer["missing"].items()),
        *(_transferred(row) for row in answer["transfer"]),
    ]
    for why in dict.fromkeys(answer["not_transferred"].values()):
        names = ", ".join(name for name, reason in answer["not_transferred"].items() if reason == why)
        notes.append(f"not tried on other motors, for {why}: {names}.")
    return experiment.ResultTable.of(answer["pushes"], columns, *notes)


def _transferred(row: Mapping[str, Any]) -> str:
    """A sentence about a walk on an actuation."""
    parts = [
        f"{way} {speed['mean']:.3f} ± {speed['se']:.3f}"
        + (
            ""
            if row["actuation"] == "ideal" or row["loss"][way] is None
            else f" (loss {experiment.percent(row['loss'][way])})"
        )
        for way, speed in row["speeds"].items()
    ]
    return f"{row['walk']} on {row['actuation']}: {', '.join(parts)}; {row['falls']} of {row['trials']} fell."


def actuations_of(walk: WalkParameters) -> tuple[str, ...]:
    """The actuations that a walk's robot has numbers for; `motoflex` needs gears with play or links that bend."""
    robot = load_robot(walk.robot)
    if robot.model.actuation is None:
        return ACTUATIONS[:1]
    full = load_actuation(robot, "motoflex")
    return ACTUATIONS if full is not None and (full.gear or full.flex) else ACTUATIONS[:2]


@dataclass(frozen=True)
class _Work:
    """Measurements of each walk; results are kept in a folder for each."""

    out: Path
    settings: Settings
    say: experiment.Progress

    def pushes(self, name: str, walk: WalkParameters) -> Iterator[dict[str, Any]]:
        """Curves of a walk: walking and on the spot, on each actuation that is wanted."""
        for actuation in actuations_of(walk) if self.settings.scale.real_pushes else ("ideal",):
            for walking in (True, False):

                def one(seed: int, actuation: str = actuation, walking: bool = walking) -> dict[str, Any]:
                    self.say(f"{name}, {actuation}: pushed while {'walking' if walking else 'on the spot'}")
                    options = {"seed": seed, "actuation": actuation, "threads": self.settings.threads}
                    return push_walk(walk, self.settings.scale.pushes, walking=walking, **options).as_json()  # type: ignore[arg-type]

                name_of_curve = f"{name}-{actuation}-{'walking' if walking else 'standing'}"
                settings = {"walk": asdict(walk), "pushes": asdict(self.settings.scale.pushes)}
                found = each_seed(self.out / name_of_curve, [self.settings.seed], settings, one)[0]
                yield {**found, "walk": name, "robot": walk.robot, "actuation": actuation}

    def transfer(self, name: str, walk: WalkParameters) -> Iterator[dict[str, Any]]:
        """Speeds of a walk on each actuation of its robot; nothing for a robot with one only."""
        if len(actuations_of(walk)) == 1:
            return
        ideal: Mapping[str, Any] = {}
        for actuation in actuations_of(walk):

            def one(seed: int, actuation: str = actuation) -> dict[str, Any]:
                self.say(f"{name} on {actuation}")
                found = walk_speeds(
                    walk,
                    trials=self.settings.scale.trials,
                    seed=seed,
                    actuation=actuation,
                    threads=self.settings.threads,
                )
                return {way: speed.as_json() for way, speed in found.items()}

            settings = {"walk": asdict(walk), "trials": self.settings.scale.trials}
            speeds = each_seed(self.out / f"{name}-{actuation}-speeds", [self.settings.seed], settings, one)[0]
            ideal = ideal or speeds
            loss = {way: _loss(ideal[way], speeds[way]) for way in speeds}
            falls = sum(TrialMean(**speed).falls for speed in speeds.values())
            row = {"walk": name, "robot": walk.robot, "actuation": actuation, "speeds": speeds, "loss": loss}
            yield {**row, "falls": falls, "trials": sum(speed["trials"] for speed in speeds.values())}


def _loss(ideal: Mapping[str, Any], found: Mapping[str, Any]) -> float | None:
    """The share of the speed on ideal drives that is lost; None where there is none to lose."""
    return 1 - found["mean"] / ideal["mean"] if ideal["mean"] > MIN_SPEED else None
