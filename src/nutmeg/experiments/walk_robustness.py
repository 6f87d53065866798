"""What learned walks stand: pushes of stated impulse, and motors that are not ideal.

    answer = walk_robustness(Path("runs/walk-robustness"), threads=2)
    answer["pushes"][0]["impulses"][3]              # impulse [N s], share that survived it, 95 % interval
    answer["transfer"]                              # each walk on each actuation: speeds, falls, loss of speed

Pushes are those of `learning.pushes`, for every agent of MacAlpine and others (2012) and every other walk that comes
with Nutmeg, walking ahead and stepping on the spot. The robot of the league has ideal velocity drives only: it has no
numbers for servos, gears and bending links. So walks of robots that have them are tried on `servo` and `motoflex`
beside `ideal`; for the others it is said that they were not.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from nutmeg.base.journal import each_seed, write_json
from nutmeg.learning.agents import AGENTS, agent_walks, other_walks
from nutmeg.learning.measure import PushSettings, TrialMean, push_walk, walk_speeds
from nutmeg.model import load_robot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from nutmeg.motion.walk.files import WalkParameters


# ----------------------------------------------------------------------------------------------------
# Curves of the share of robots that survive a push over its impulse, with 95 % intervals: a panel for each walk.


WALKING_COLOUR, STANDING_COLOUR = "#1f6feb", "#d1242f"
LINE_STYLES = {"ideal": "-", "servo": "--", "motoflex": ":"}
PANEL_COLUMNS = 4


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
    columns = min(PANEL_COLUMNS, len(names))
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
        linestyle=LINE_STYLES.get(curve["actuation"], "-."),
        color=WALKING_COLOUR if curve["walking"] else STANDING_COLOUR,
        marker="o",
        markersize=3,
        elinewidth=0.8,
        capsize=2,
        label=("walking" if curve["walking"] else "on the spot") + other,
    )


ACTUATIONS = ("ideal", "servo", "motoflex")
MIN_SPEED = 0.02
"""Of a speed below this no loss is told [m/s or rad/s]."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much is measured."""

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


def walk_robustness(
    out: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    walks: Path | None = None,
    threads: int = 1,
    on_progress: Callable[[str], None] = lambda _: None,
    scale: Scale | None = None,
) -> dict[str, Any]:
    """Pushes all walks and tries them on other actuations; writes pushes.png and results.json.

    Args:
        out: folder for the results.
        quick: fewer impulses and starts.
        seed: of the starts.
        walks: a folder with other walks than those that come with Nutmeg, as for `walk-table2`.
        threads: how many threads simulate.
        on_progress: called with what is being done.
        scale: other sizes.
    """
    size = scale or (QUICK if quick else FULL)
    agents, missing = agent_walks(walks)
    known = {**agents, **other_walks(walks)}
    work = _Work(out, size, seed, threads, on_progress)
    pushes = [row for name, walk in known.items() for row in work.pushes(name, walk)]
    transfer = [row for name, walk in known.items() for row in work.transfer(name, walk)]
    untried = {name: f"{w.robot} has ideal drives only" for name, w in known.items() if len(actuations_of(w)) == 1}
    answer = {
        "experiment": "walk-robustness",
        "pushes": pushes,
        "transfer": transfer,
        "not_transferred": untried,
        "missing": {name: f"motion/data/walks/{AGENTS[name].walk}.toml" for name in missing},
        "settings": {**asdict(size), "seed": seed, "quick": quick},
    }
    if pushes:
        plot_pushes(out / "pushes.png", pushes)
    write_json(out / "results.json", answer)
    return answer


def actuations_of(walk: WalkParameters) -> tuple[str, ...]:
    """The actuations that a walk's robot has numbers for."""
    return ACTUATIONS if load_robot(walk.robot).model.actuation is not None else ACTUATIONS[:1]


@dataclass(frozen=True)
class _Work:
    """What is measured of each walk; results are kept in a folder for each."""

    out: Path
    size: Scale
    seed: int
    threads: int
    say: Callable[[str], None]

    def pushes(self, name: str, walk: WalkParameters) -> Iterator[dict[str, Any]]:
        """Curves of a walk: walking and on the spot, on each actuation that is wanted."""
        for actuation in actuations_of(walk) if self.size.real_pushes else ("ideal",):
            for walking in (True, False):

                def one(seed: int, actuation: str = actuation, walking: bool = walking) -> dict[str, Any]:
                    self.say(f"{name}, {actuation}: pushed while {'walking' if walking else 'on the spot'}")
                    options = {"seed": seed, "actuation": actuation, "threads": self.threads}
                    return push_walk(walk, self.size.pushes, walking=walking, **options).as_json()  # type: ignore[arg-type]

                case = f"{name}-{actuation}-{'walking' if walking else 'standing'}"
                settings = {"walk": asdict(walk), "pushes": asdict(self.size.pushes)}
                found = each_seed(self.out / case, [self.seed], settings, one)[0]
                yield {**found, "walk": name, "robot": walk.robot, "actuation": actuation}

    def transfer(self, name: str, walk: WalkParameters) -> Iterator[dict[str, Any]]:
        """Speeds of a walk on each actuation of its robot; nothing for a robot with one only."""
        if len(actuations_of(walk)) == 1:
            return
        ideal: Mapping[str, Any] = {}
        for actuation in actuations_of(walk):

            def one(seed: int, actuation: str = actuation) -> dict[str, Any]:
                self.say(f"{name} on {actuation}")
                found = walk_speeds(walk, trials=self.size.trials, seed=seed, actuation=actuation, threads=self.threads)
                return {way: speed.as_json() for way, speed in found.items()}

            settings = {"walk": asdict(walk), "trials": self.size.trials}
            speeds = each_seed(self.out / f"{name}-{actuation}-speeds", [self.seed], settings, one)[0]
            ideal = ideal or speeds
            loss = {way: _loss(ideal[way], speeds[way]) for way in speeds}
            falls = sum(TrialMean(**speed).falls for speed in speeds.values())
            row = {"walk": name, "robot": walk.robot, "actuation": actuation, "speeds": speeds, "loss": loss}
            yield {**row, "falls": falls, "trials": sum(speed["trials"] for speed in speeds.values())}


def _loss(ideal: Mapping[str, Any], found: Mapping[str, Any]) -> float | None:
    """The share of the speed on ideal drives that is lost; None where there is none to lose."""
    return 1 - found["mean"] / ideal["mean"] if ideal["mean"] > MIN_SPEED else None
