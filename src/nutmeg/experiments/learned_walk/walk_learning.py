"""Sections 5 and 6 of MacAlpine and others (2012) by the paper's own procedure, several learning runs of each agent.

    answer = run(Path("runs/walk-learning"), Settings(device="gpu"))
    answer["agents"]["StaticRewards"]["speeds"]["sideways"]     # mean and standard deviation over learning runs
    run(out, Settings(walks=Path("runs/walk-learning/learned")))    # measures learning runs again

The procedure is the printed one: the fourteen starred parameters, no feedback from the gyro, the whole course
goToTarget once for each candidate, losses weighed 7 / 124.1, CMA-ES with 150 candidates and 200 generations, from the
walk `initial`, nothing by hand, and the mean of the last generation as the result. All searches walk together on a GPU
(`learning.learn.learn_together`), where contacts are MuJoCo's own; the walks are measured on the processor with the
contacts of the league's engine, from 100 starts that no search has seen. Intervals are over learning runs, which is
what the paper's claims are about. An interrupted search goes on when the same command is given.

Sets of parameters are learned in layers (section 5): Sprint's second set on the course with the walk of that run's
GoToTarget frozen, Final's third set by driving a ball with both frozen. Driving a ball does not run on a GPU.

The folder `learned` gets a walk of each run, and `history.json` with the history of all: for every generation the
fitness of the fittest, the rewards of the directions and their weights. Both are written anew after each generation, so
that runs that were interrupted can be measured, too (`--walks`). From the history come figure 4 (best fitness) and
figure 5 (weights). The quick version is the same in small on the processor: two agents, one run, a few candidates.

Section 5 chose between three ways to a target by games: to turn on the way, not to turn, and to turn first. Here they
walk the course goToTarget: GoToTarget; GoToTargetHold, learned like it but without turning; and GoToTarget's set,
turning on the spot until the target is ahead.
"""

from __future__ import annotations

import json
import lzma
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.base.journal import write_json
from nutmeg.experiments import experiment
from nutmeg.experiments.learned_walk.walk_table2 import SPEED_TOLERANCE
from nutmeg.learning.agents import AGENTS, Agent
from nutmeg.learning.courses import DIRECTIONS, read_course
from nutmeg.learning.learn import PARTS_FILE, LearnGeneration, LearnSettings, learn_together
from nutmeg.learning.measure import course_fitness, walk_speeds
from nutmeg.motion.walk.files import WalkParameters, read_walk, write_walk

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nutmeg.base.arrays import Floats

HISTORY_FILE = "history.json"
HOLONOMIC = ("StaticRewards", "DynamicRewards", "DynamicAvgRewards")
"""The agents whose directions are weighed, static weights first."""
_LEARNED = {name: AGENTS[name] for name in (*HOLONOMIC, "FaceForward", "GoToTarget", "Sprint", "Final")} | {
    agent.name: agent
    for agent in (
        Agent("SprintAlone", "sprint-alone", "5.2", "learned for ten seconds straight ahead only", 0.78),
        Agent("GoToTargetHold", "go-to-target-hold", "5", "one set, learned on the course without turning"),
    )
}
"""All agents that are learned, and two attempts of section 5 that became none, by name."""
_LAYERS = {"Sprint": "GoToTarget", "Final": "Sprint"}
"""Agents that are learned from another one, whose sets stay as they are."""
_TASK_NAMES = {name: "drive-ball" if name == "Final" else agent.walk for name, agent in _LEARNED.items()}
_SHIPPED_REWARDS = Path(__file__).parents[1] / "data" / "walk_learning" / "rewards"
"""Rewards of candidates of runs that have not ended, RUN.jsonl.xz; a search of their size goes on from them."""
_START_SEED = 1001
"""Seed of the starts from which walks are measured, which no search has used."""
COLOURS = {
    "StaticRewards": "#1f6feb",
    "DynamicRewards": "#d1242f",
    "DynamicAvgRewards": "#bf8700",
    "FaceForward": "#1a7f37",
}
"""Colours of the agents of section 6 in figure 4."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Size of learning and measurements; by default the paper's procedure with three runs."""

    agents: tuple[str, ...] = tuple(_LEARNED)
    population: int = 150
    generations: int = 200
    runs: int = 3
    """Learning runs of each agent."""
    judged: int = 20
    """Starts from which the fitness of what was learned is judged."""
    starts: int = 100
    """Starts from which each walk is measured."""
    courses: int = 5
    """Number of walks over the course with sets that were learned separately."""


QUICK = Effort(agents=HOLONOMIC[:2], population=6, generations=3, runs=1, judged=1, starts=2, courses=1)


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means `QUICK`, on the processor."""

    seed: int = _START_SEED
    """Seed of the starts from which walks are measured."""
    walks: Path | None = None
    """A folder with learning runs (static-rewards-1.toml, ..., history.json) that are measured, and nothing learned."""
    device: Literal["cpu", "gpu"] | None = None
    """Device on which candidates walk; by default a GPU. A processor needs more than half a day for each run."""
    agents: tuple[str, ...] = ()
    """The agents that are learned; those of the effort if empty."""
    generations: int = 0
    """How many generations; those of the effort if 0."""
    seeds: int = 0
    """Learning runs of each agent; those of the effort if 0."""
    effort: Effort | None = None
    """Other sizes than those of the quick and the full version."""

    @property
    def size(self) -> Effort:
        """What is learned, and how much."""
        effort = self.effort or (QUICK if self.quick else Effort())
        for name in self.agents:
            if name not in _LEARNED:
                raise UnknownNameError("agent", name, _LEARNED)
        return replace(
            effort,
            agents=self.agents or effort.agents,
            generations=self.generations or effort.generations,
            runs=self.seeds or effort.runs,
        )


def learn_agents(
    folder: Path, effort: Effort, device: Literal["cpu", "gpu"], say: experiment.Progress = experiment.silent
) -> None:
    """Learns agents layer by layer, and all runs of a layer together.

    Args:
        folder: gets a walk of each run and the history; searches are saved below it and go on from there.
        effort: which agents, and how much.
        device: where candidates walk; balls are driven on the processor.
        say: called after every generation.
    """
    history: dict[str, list[LearnGeneration]] = {}
    left = list(effort.agents)
    while left:
        layer = [name for name in left if _LAYERS.get(name) not in left]
        left = [name for name in left if name not in layer]
        # Walks of one batch have the same sets of parameters, and only courses are walked in batches.
        for group in ([name for name in layer if name not in _LAYERS], *([name] for name in layer if name in _LAYERS)):
            if group:
                _learn_group(folder, _searches(folder, effort, device, group), history, say)


def _searches(
    folder: Path, effort: Effort, device: Literal["cpu", "gpu"], agents: Sequence[str]
) -> dict[str, LearnSettings]:
    """The searches of agents that walk together, by the names of their runs."""
    return {
        f"{_LEARNED[name].walk}-{seed}": LearnSettings(
            task=_TASK_NAMES[name],
            device="cpu" if name == "Final" else device,
            start=str(folder / f"{_LEARNED[_LAYERS[name]].walk}-{seed}.toml") if name in _LAYERS else "",
            population=effort.population,
            generations=effort.generations,
            starts=1,
            judged_starts=effort.judged,
            seed=seed,
            name=_LEARNED[name].walk,
        )
        for name in agents
        for seed in range(1, effort.runs + 1)
    }


def _learn_group(
    folder: Path,
    searches: Mapping[str, LearnSettings],
    history: dict[str, list[LearnGeneration]],
    say: experiment.Progress,
) -> None:
    """Learns agents that walk together, and adds to the history; walks and history are written as they change."""
    names = list(searches)
    for name, search in searches.items():
        _use_shipped_rewards(name, folder / "searches" / name, search)
    history |= {name: [] for name in names}

    def keep(number: int, walk: WalkParameters) -> None:
        write_walk(folder / f"{names[number]}.toml", walk)
        write_json(folder / HISTORY_FILE, _compact(history))

    def note(number: int, generation: LearnGeneration) -> None:
        history[names[number]].append(generation)
        say(f"{names[number]}, generation {generation.number + 1}: fitness {generation.best:.2f}")

    learned = learn_together(
        list(searches.values()),
        [folder / "searches" / name for name in names],
        on_generation=note,
        on_walk=keep,
        commands=_commands(list(searches.values())),
    )
    for number, one in enumerate(learned):
        keep(number, one.walk)


def _use_shipped_rewards(name: str, folder: Path, search: LearnSettings) -> None:
    """Puts rewards that come with Nutmeg where a search finds them, unless it has its own or is of another size."""
    shipped = _SHIPPED_REWARDS / f"{name}.jsonl.xz"
    if not shipped.is_file() or (folder / PARTS_FILE).exists():
        return
    lines = lzma.decompress(shipped.read_bytes())
    if len(json.loads(lines.splitlines()[0])["parts"]) == search.population:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PARTS_FILE).write_bytes(lines)


def _commands(searches: Sequence[LearnSettings]) -> list[str]:
    """Commands that run one of the searches alone."""
    return [
        f"nutmeg learn --task {one.task} --population {one.population} --generations {one.generations} --starts 1 "
        f"--seed {one.seed} --device {one.device}" + (f" --start {Path(one.start).name}" if one.start else "")
        for one in searches
    ]


def _compact(history: Mapping[str, Sequence[LearnGeneration]]) -> dict[str, dict[str, Any]]:
    """The history of learning runs with numbers of five digits: lists over generations, by what they are."""

    def rounded(value: Any) -> Any:  # noqa: ANN401 (numbers, or lists of them)
        return [rounded(one) for one in value] if isinstance(value, list | tuple) else float(f"{value:.5g}")

    keys = ("best", "mean", "parts", "weights", "shown")
    return {
        name: {key: [rounded(getattr(one, key)) for one in generations] for key in keys}
        for name, generations in history.items()
    }


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Measures all learning runs; draws figures 4 and 5."""
    effort = settings.size
    folder, starts = settings.walks or out / "learned", effort.starts
    if settings.walks is None:
        learn_agents(folder, effort, settings.device or ("cpu" if settings.quick else "gpu"), say)
    walks = learned_walks(folder)
    keys = [(agent, number, walk) for agent, runs in walks.items() for number, walk in runs.items()]
    jobs = [
        experiment.SeedJob(
            out / f"{_LEARNED[agent].walk}-{number}",
            settings.seed,
            {"starts": starts, "walk": asdict(walk)},
            partial(_speeds, walk, starts),
        )
        for agent, number, walk in keys
    ]
    measured: dict[str, list[dict[str, Any]]] = {}
    for (agent, number, _), found in zip(keys, experiment.finish_jobs(jobs, settings.threads, say), strict=True):
        measured.setdefault(agent, []).append({"run": number, **found})
    history = json.loads((folder / HISTORY_FILE).read_text(encoding="utf-8"))
    agents = {agent: summary(agent, runs, list(walks[agent].values())) for agent, runs in measured.items()}
    _draw_figures(out, history)
    mixed, ways = _mixed_sets(out, walks, effort, settings, say), _ways_to_targets(out, walks, effort, settings, say)
    speeds = _speed_claims(agents)
    others = [*_order_claims(agents, history), *_mixing_claims(mixed), *_turning_claims(ways)]
    return {
        "experiment": "walk-learning",
        "agents": agents,
        "runs": measured,
        "tests": _tests(agents),
        "mixed_sets": mixed,
        "ways_to_targets": ways,
        "claims": [one.as_json() for one in (*speeds, *others)],
        "goals": [one.as_json() for one in _goals(agents)],
        "settings": {"starts": starts, "seed": settings.seed, "quick": settings.quick},
    }


def _mixed_sets(
    out: Path,
    walks: Mapping[str, Mapping[int, WalkParameters]],
    effort: Effort,
    settings: Settings,
    say: experiment.Progress,
) -> list[dict[str, Any]]:
    """Section 5.2: the share of trajectories with a fall, without and with a sprint set that was learned alone.

    The first set is that of GoToTarget, as in the paper, or of StaticRewards if GoToTarget was not learned.
    """
    base = next((name for name in ("GoToTarget", "StaticRewards") if name in walks), None)
    if base is None or "SprintAlone" not in walks:
        return []
    numbers = [number for number in walks[base] if number in walks["SprintAlone"]]
    jobs = []
    for number in numbers:
        alone = replace(walks[base][number], facing="turn")
        for word, walk in (("alone", alone), ("mixed", replace(alone, sprint=walks["SprintAlone"][number].walk))):
            decides = {"courses": effort.courses, "walk": asdict(walk)}
            fall_share = partial(_fall_share, walk, effort.courses)
            jobs.append(experiment.SeedJob(out / f"{word}-{number}", settings.seed, decides, fall_share))
    found = [one["share"] for one in experiment.finish_jobs(jobs, settings.threads, say)]
    pairs = zip(numbers, found[::2], found[1::2], strict=True)
    return [{"run": number, "base": base, "alone": alone, "mixed": mixed} for number, alone, mixed in pairs]


def _fall_share(walk: WalkParameters, courses: int, seed: int) -> dict[str, float]:
    """The share of the trajectories of goToTarget on which a walk falls."""
    many = len(read_course("go-to-target").trajectory)
    return {"share": course_fitness(walk, starts=courses, seed=seed).falls / (courses * many)}


def _mixing_claims(mixed: Sequence[Mapping[str, Any]]) -> list[experiment.Claim]:
    """The claim that a sprint set which was learned alone makes robots fall."""
    if not mixed:
        return []
    more = experiment.Estimate.of([one["mixed"] - one["alone"] for one in mixed])
    what = f"share of trajectories with a fall: {mixed[0]['base']} with the set of SprintAlone less without it"
    return [experiment.Claim(what=what, ours=more, least=0.0)]


def _ways_to_targets(
    out: Path,
    walks: Mapping[str, Mapping[int, WalkParameters]],
    effort: Effort,
    settings: Settings,
    say: experiment.Progress,
) -> dict[str, list[float]]:
    """Section 5: the fitness of learning runs on the course, by the way in which they go to targets."""
    turning = walks.get("GoToTarget", {})
    ways = {
        "turn": turning,
        "hold": walks.get("GoToTargetHold", {}),
        "turn-first": {number: replace(walk, facing="turn-first") for number, walk in turning.items()},
    }
    jobs = [
        experiment.SeedJob(
            out / f"{way}-{number}",
            settings.seed,
            {"courses": effort.courses, "walk": asdict(walk)},
            partial(_course_fitness, walk, effort.courses),
        )
        for way, runs in ways.items()
        for number, walk in runs.items()
    ]
    found = iter(experiment.finish_jobs(jobs, settings.threads, say))
    return {way: [next(found)["fitness"] for _ in runs] for way, runs in ways.items() if runs}


def _course_fitness(walk: WalkParameters, courses: int, seed: int) -> dict[str, float]:
    """The fitness of a walk on goToTarget."""
    return {"fitness": course_fitness(walk, starts=courses, seed=seed).mean}


def _turning_claims(ways: Mapping[str, Sequence[float]]) -> list[experiment.Claim]:
    """The claims that turning on the way is better than not turning and than turning first."""
    return [
        experiment.Claim(
            what=f"fitness on goToTarget: {what}",
            ours=_difference(ways["turn"], ways[other])[0],
            least=0.0,
            digits=1,
        )
        for other, what in (
            ("hold", "turning on the way less not turning"),
            ("turn-first", "turning on the way less turning first"),
        )
        if {"turn", other} <= set(ways)
    ]


def _speeds(walk: WalkParameters, starts: int, seed: int) -> dict[str, Any]:
    """The speeds of a walk in all directions, from a number of starts."""
    return {way: found.as_json() for way, found in walk_speeds(walk, trials=starts, seed=seed).items()}


def learned_walks(folder: Path) -> dict[str, dict[int, WalkParameters]]:
    """The walks of learning runs in a folder, by agent and by the seed of the run."""
    found = {
        agent: {
            int(path.stem.rpartition("-")[2]): read_walk(str(path))
            for path in sorted(folder.glob(f"{_LEARNED[agent].walk}-[0-9]*.toml"))
        }
        for agent in _LEARNED
    }
    found = {agent: runs for agent, runs in found.items() if runs}
    if not found:
        raise UsageError(f"{folder} has no learning runs; needed are files such as static-rewards-1.toml.")
    return found


def summary(agent: str, runs: Sequence[Mapping[str, Any]], walks: Sequence[WalkParameters]) -> dict[str, Any]:
    """An agent's speeds as means and standard deviations over its learning runs, and how even these are."""
    values = {way: [one[way]["mean"] for one in runs] for way in (*DIRECTIONS, "turn")}
    ways = np.array([values[way] for way in DIRECTIONS])
    return {
        "paper": _LEARNED[agent].paper,
        "runs": len(runs),
        "generations": [walk.origin.generations for walk in walks],
        "evaluations": [walk.origin.evaluations for walk in walks],
        "gain": [_gain(walk) for walk in walks],
        "speeds": {
            way: {"values": found, "mean": float(np.mean(found)), "deviation": _deviation(found)}
            for way, found in values.items()
        },
        "falls": {way: sum(one[way]["falls"] for one in runs) for way in (*DIRECTIONS, "turn")},
        "starts": sum(one["forward"]["trials"] for one in runs),
        "evenness": _ratio(ways.max(axis=0), ways.min(axis=0)),
        "forward_over_sideways": _ratio(ways[0], ways[2]),
    }


def _goals(agents: Mapping[str, Mapping[str, Any]]) -> list[experiment.Goal]:
    """Every run makes its walk fitter, whatever else is found; runs that have not ended are not judged."""
    return [
        experiment.Goal(
            what=f"{name}: fitness over that of the start, worst run",
            found=min((gain for gain in row["gain"] if gain is not None), default=None),
            limit=1.0,
        )
        for name, row in agents.items()
    ]


def _gain(walk: WalkParameters) -> float | None:
    """Ratio of the fitness after and before learning; 0 if the start had none, None for a run that has not ended."""
    after, before = walk.origin.fitness, walk.origin.fitness_before
    if after is None or before is None:
        return None
    return after / before if before > 0 else 0.0


def _ratio(above: Floats, below: Floats) -> list[float]:
    """Quotients; a direction that a walk does not go in counts as a centimetre a second."""
    return [float(a / max(b, 0.01)) for a, b in zip(above, below, strict=True)]


def _deviation(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def _difference(a: Sequence[float], b: Sequence[float]) -> tuple[experiment.Estimate, float]:
    """The mean of a less that of b with Welch's interval, and the p-value of Welch's test that both are alike."""
    from scipy import stats

    mean = float(np.mean(a) - np.mean(b))
    if min(len(a), len(b)) < 2 or np.ptp(a) + np.ptp(b) == 0:
        return experiment.Estimate(mean, -math.inf, math.inf, 1), math.nan
    found = stats.ttest_ind(a, b, equal_var=False)
    interval = found.confidence_interval(0.90)
    return experiment.Estimate(mean, float(interval.low), float(interval.high), min(len(a), len(b))), float(
        found.pvalue
    )


_COMPARED = (
    ("evenness", "fastest over slowest direction"),
    ("forward_over_sideways", "forward over sideways"),
)
"""Measures that dynamic weights are said to reduce."""
_PAPER_RATIOS = {
    name: {
        "evenness": max(speeds.values()) / min(speeds.values()),
        "forward_over_sideways": speeds["forward"] / speeds["sideways"],
    }
    for name in HOLONOMIC
    if (speeds := {way: speed for way, speed in AGENTS[name].paper.items() if speed is not None})
}
"""Values of these measures for the paper's walks, from table 2."""
_SIZE_TOLERANCE, _MIN_RATIO_TOLERANCE = 0.25, 0.1
"""Tolerance of a difference of ratios, as a share of the paper's difference, and the smallest tolerance."""


def _tests(agents: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Static against dynamic weights, by Welch's test over learning runs."""
    rows = []
    for other in ("DynamicRewards", "DynamicAvgRewards"):
        for key, what in _COMPARED:
            if {"StaticRewards", other} <= set(agents):
                static, dynamic = agents["StaticRewards"][key], agents[other][key]
                p = _difference(static, dynamic)[1]
                means = {"static": float(np.mean(static)), "dynamic": float(np.mean(dynamic))}
                rows.append({"agent": other, "what": what, **means, "p": p if math.isfinite(p) else None})
    return rows


def _speed_claims(agents: Mapping[str, Mapping[str, Any]]) -> list[experiment.Claim]:
    """The speeds of table 2, with intervals over learning runs."""
    return [
        experiment.Claim.near(
            f"{name}, {way}", experiment.Estimate.of(row["speeds"][way]["values"]), paper, SPEED_TOLERANCE, unit="m/s"
        )
        for name, row in agents.items()
        for way in DIRECTIONS
        if (paper := row["paper"][way]) is not None
    ]


def _order_claims(
    agents: Mapping[str, Mapping[str, Any]], history: Mapping[str, Mapping[str, Any]]
) -> list[experiment.Claim]:
    """Claims of sections 5 and 6 about one agent against another, with intervals over learning runs."""
    claims = []
    for other in ("DynamicRewards", "DynamicAvgRewards"):
        for key, ratio in _COMPARED:
            if {"StaticRewards", other} <= set(agents):
                found, _ = _difference(agents["StaticRewards"][key], agents[other][key])
                what = f"{ratio}: StaticRewards less {other}"
                claims.append(experiment.Claim(what=what, ours=found, least=0.0, digits=2))
                paper = _PAPER_RATIOS["StaticRewards"][key] - _PAPER_RATIOS[other][key]
                tolerance = max(_SIZE_TOLERANCE * abs(paper), _MIN_RATIO_TOLERANCE)
                claims.append(experiment.Claim.near(f"{what}, as much as", found, paper, tolerance, digits=2))
    for first, second in (("Sprint", "GoToTarget"), ("FaceForward", "StaticRewards")):
        if {first, second} <= set(agents):
            found, _ = _difference(*(agents[name]["speeds"]["forward"]["values"] for name in (first, second)))
            what = f"forward: {first} less {second}"
            claims.append(experiment.Claim(what=what, ours=found, least=0.0, unit="m/s"))
    if {"StaticRewards", "FaceForward"} <= set(agents):
        last = [
            [one["best"][-1] for name, one in history.items() if name.startswith(_LEARNED[agent].walk)]
            for agent in ("FaceForward", "StaticRewards")
        ]
        found, _ = _difference(*last)
        what = "figure 4, last fitness: FaceForward less StaticRewards"
        claims.append(experiment.Claim(what=what, ours=found, least=0.0))
    return claims


# ----------------------------------------------------------------------------------------------------
# Figures


def _draw_figures(out: Path, history: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes figure-4.png, best fitness over generations, and figure-5.png, weights of the directions.

    Figures of agents that were not learned are left out.
    """
    from nutmeg.view.reports.plots import save_png

    runs = {
        agent: [one for name, one in history.items() if name.rpartition("-")[0] == _LEARNED[agent].walk]
        for agent in COLOURS
    }
    runs = {agent: found for agent, found in runs.items() if found}
    if runs:
        save_png(out / "figure-4.png", lambda figure: _draw_fitness(figure, runs), (7.5, 4.5))
    if set(HOLONOMIC) & set(runs):
        save_png(out / "figure-5.png", lambda figure: _draw_weights(figure, runs), (10.0, 3.6))


def _draw_fitness(figure: Figure, runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    panel = figure.subplots()
    for agent, found in runs.items():
        many = min(len(one["best"]) for one in found)
        table = np.array([one["best"][:many] for one in found])
        generations = np.arange(1, many + 1)
        panel.fill_between(generations, table.min(axis=0), table.max(axis=0), color=COLOURS[agent], alpha=0.2, lw=0)
        panel.plot(generations, table.mean(axis=0), color=COLOURS[agent], label=f"{agent} ({len(found)} runs)")
    panel.set_xlabel("generation of CMA-ES")
    panel.set_ylabel("fitness of the fittest: mean and range over runs")
    panel.grid(alpha=0.3)
    panel.legend(loc="lower right", fontsize=8)


def _draw_weights(figure: Figure, runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """The weights that equations 5 to 7 give; for StaticRewards those that they would give."""
    shown = [agent for agent in HOLONOMIC if agent in runs]
    panels = np.atleast_1d(figure.subplots(1, len(shown), sharey=True))
    for panel, agent in zip(panels, shown, strict=True):
        key = "shown" if agent == "StaticRewards" else "weights"
        many = min(len(one[key]) for one in runs[agent])
        table = np.array([one[key][:many] for one in runs[agent]])
        for place, way in enumerate(DIRECTIONS):
            for row in table[:, :, place]:
                panel.plot(range(1, many + 1), row, color=f"C{place}", lw=0.5, alpha=0.5)
            panel.plot(range(1, many + 1), table[:, :, place].mean(axis=0), color=f"C{place}", label=way)
        panel.set_title(agent + (" (not used)" if key == "shown" else ""), fontsize=9)
        panel.set_xlabel("generation")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("weight of the direction")
    panels[0].legend(fontsize=8)


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Speeds of the agents over learning runs, the paper's in brackets, tests and verdicts."""

    def speed(way: str) -> Any:  # noqa: ANN401 (a cell)
        def cell(row: Mapping[str, Any]) -> str:
            one, paper = row["speeds"][way], row["paper"][way]
            spread = "" if one["deviation"] is None else f" ±{one['deviation']:.3f}"
            return f"{one['mean']:.3f}{spread}" + ("" if paper is None else f" ({paper:.2f})")

        return cell

    def several(key: str) -> Any:  # noqa: ANN401 (a cell)
        return lambda row: " ".join(f"{one:.2f}" for one in row[key])

    columns = {
        "agent": experiment.text("name"),
        "runs": experiment.text("runs"),
        **{way: speed(way) for way in DIRECTIONS},
        "fastest / slowest": several("evenness"),
        "forward / sideways": several("forward_over_sideways"),
        "falls": lambda row: "+".join(str(row["falls"][way]) for way in (*DIRECTIONS, "turn")),
        "generations": lambda row: " ".join(map(str, row["generations"])),
    }
    tests = [
        f"{one['what']}: StaticRewards {one['static']:.2f}, {one['agent']} {one['dynamic']:.2f}; Welch's test over "
        f"learning runs: p = {'-' if one['p'] is None else format(one['p'], '.2f')}"
        for one in answer["tests"]
    ]
    settings = answer["settings"]
    return experiment.ResultTable.of(
        ({"name": name, **row} for name, row in answer["agents"].items()),
        columns,
        "m/s over 10 s from standing: mean and standard deviation over learning runs (the paper's one run); "
        f"{settings['starts']} starts of each run, seed {settings['seed']}; falls forward, backward, sideways and "
        "turning, of all runs. The paper's searches have 200 generations of 150 candidates.",
        *tests,
        *(
            f"run {one['run']}: {one['base']} falls on {one['alone']:.0%} of the trajectories, with the sprint set "
            f"that was learned alone on {one['mixed']:.0%}"
            for one in answer["mixed_sets"]
        ),
        *(
            f"fitness on goToTarget, {way}: {' '.join(format(one, '.1f') for one in found)}"
            for way, found in answer["ways_to_targets"].items()
        ),
        *experiment.claim_notes(answer["claims"]),
        *experiment.goal_notes(answer["goals"]),
    )
