"""Table 2 of MacAlpine and others (2012): the speed of each learned walk in each direction, and its fitness.

    answer = run(Path("runs/walk-table2"), Settings(threads=2))
    answer["agents"]["DynamicRewards"]["speeds"]["sideways"]        # mean, se, falls, trials
    answer["goals"]                                                  # each met, missed, or not measured

Speeds are distances over ten seconds from standing, as in the paper, from 20 noisy starts each; a robot that falls
counts with the way it came until then. Backward and sideways the robots hold their orientation. Then the direction
changes every three seconds for a minute, and the whole course of section 5.1 is walked. An agent whose walk is not
there is reported as missing. GoToTarget walks the course in two other ways as well, which section 5 rejected: without
turning to its targets, and turning on the spot first. Each agent's measurement is kept: the same command goes on where
it was interrupted, and a walk that has changed is measured again.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from nutmeg.base.journal import each_seed
from nutmeg.experiments import experiment
from nutmeg.experiments.experiment import number
from nutmeg.learning.agents import AGENTS, agent_walks
from nutmeg.learning.courses import DIRECTIONS
from nutmeg.learning.measure import TrialMean, course_fitness, measure_walk
from nutmeg.motion.walk.files import Facing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nutmeg.motion.walk.files import WalkParameters

    Agents = Mapping[str, Mapping[str, Any]]


# The goals that learned walks are held to, and whether they are met: compared and shown without rounding in favour.
#
# What was not measured is neither met nor missed. Falls are allowed in one of twenty starts. The paper's ordering
# (section 6 of MacAlpine and others, 2012): with weights that do not change, forward gets fast at the expense of
# sideways; a walk learned while facing its targets is the fastest ahead and hardly goes sideways.


_MIN_DIRECTION_SPEED = 0.55
"""Goal for the speed of DynamicRewards in every direction [m/s]."""
_MAX_EVENNESS = 1.15
"""Goal for its fastest direction over its slowest."""
_MIN_FORWARD_SPEED = 0.80
"""Goal for the forward speed of FaceForward [m/s]."""
_MIN_FITNESS_RATIO = 3.0
"""Goal for the fitness of GoToTarget over that of Initial."""
_MAX_FALL_SHARE = 1 / 20
"""Share of the starts that may end in a fall."""
_MIN_PHI_LENGTH = 0.08
"""The least phi_length with which steps are slow enough for a real motor."""
_MAX_SIDEWAYS_SPEED = 0.1
"""A walk slower than this does not go in a direction [m/s]; the untrained one is faster in all."""
_SPEED_UNIT = " m/s"
SPEED_TOLERANCE = 0.05
"""A speed counts as the paper's within this [m/s]."""


def goals(agents: Agents) -> list[experiment.Goal]:
    """All goals for agents as `walk_table2` measured them; those that are missing give goals without a number."""
    return [*_holonomic(agents), *_ahead(agents), *_course(agents), *_ordering(agents)]


def evenness(speeds: Mapping[str, Mapping[str, Any]]) -> float:
    """The fastest over the slowest of forward, backward and sideways; infinite if one of them does not go."""
    three = [float(speeds[way]["mean"]) for way in DIRECTIONS]
    return _quotient(max(three), min(three))


def _holonomic(agents: Agents) -> Iterator[experiment.Goal]:
    name = "DynamicRewards"
    for way in DIRECTIONS:
        yield experiment.Goal(
            what=f"{name}, {way}", found=_speed(agents, name, way), limit=_MIN_DIRECTION_SPEED, unit=_SPEED_UNIT
        )
    found = evenness(agents[name]["speeds"]) if name in agents else None
    yield experiment.Goal(what=f"{name}, fastest over slowest direction", found=found, limit=_MAX_EVENNESS, most=True)
    falls = [_falls(agents, name, way) for way in DIRECTIONS]
    worst = None if None in falls else max(one for one in falls if one is not None)
    yield experiment.Goal(
        what=f"{name}, share of falls in the worst direction", found=worst, limit=_MAX_FALL_SHARE, most=True
    )
    yield _changes(agents, name)


def _ahead(agents: Agents) -> Iterator[experiment.Goal]:
    name = "FaceForward"
    yield experiment.Goal(
        what=f"{name}, forward", found=_speed(agents, name, "forward"), limit=_MIN_FORWARD_SPEED, unit=_SPEED_UNIT
    )
    found = _falls(agents, name, "forward")
    yield experiment.Goal(what=f"{name}, share of falls forward", found=found, limit=_MAX_FALL_SHARE, most=True)
    yield _changes(agents, name)
    taken = f" (a step takes {agents[name]['step_time']:.3f} s)" if name in agents else ""
    yield experiment.Goal(
        what=f"{name}, phi_length{taken}", found=_of(agents, name, "phi_length"), limit=_MIN_PHI_LENGTH
    )


def _course(agents: Agents) -> Iterator[experiment.Goal]:
    found = _of(agents, "GoToTarget", "fitness_ratio")
    yield experiment.Goal(
        what="GoToTarget, fitness on the course over Initial's", found=found, limit=_MIN_FITNESS_RATIO
    )


def _ordering(agents: Agents) -> Iterator[experiment.Goal]:
    static, dynamic = (_forward_over_sideways(agents, name) for name in ("StaticRewards", "DynamicRewards"))
    yield experiment.Goal(what="ordering: StaticRewards, forward over sideways", found=static, limit=1.0)
    more = None if static is None or dynamic is None else _quotient(static, dynamic)
    yield experiment.Goal(what="ordering: StaticRewards, the same over DynamicRewards' own", found=more, limit=1.0)
    found = _speed(agents, "FaceForward", "sideways")
    yield experiment.Goal(
        what="ordering: FaceForward, sideways", found=found, limit=_MAX_SIDEWAYS_SPEED, most=True, unit=_SPEED_UNIT
    )
    ahead = _speed(agents, "FaceForward", "forward")
    others = [_speed(agents, name, "forward") for name in agents if name != "FaceForward"]
    known = [one for one in others if one is not None]
    ratio = None if ahead is None or not known else _quotient(ahead, max(known))
    yield experiment.Goal(what="ordering: FaceForward, forward over the fastest other agent's", found=ratio, limit=1.0)


def _changes(agents: Agents, name: str) -> experiment.Goal:
    changes = _of(agents, name, "changes")
    found = None if changes is None else changes["falls"] / changes["trials"]
    return experiment.Goal(
        what=f"{name}, share of falls with a change every 3 s", found=found, limit=_MAX_FALL_SHARE, most=True
    )


def _of(agents: Agents, name: str, key: str) -> Any:  # noqa: ANN401
    return agents[name][key] if name in agents else None


def _speed(agents: Agents, name: str, way: str) -> float | None:
    return float(agents[name]["speeds"][way]["mean"]) if name in agents else None


def _falls(agents: Agents, name: str, way: str) -> float | None:
    if name not in agents:
        return None
    one = agents[name]["speeds"][way]
    return float(one["falls"] / one["trials"])


def _forward_over_sideways(agents: Agents, name: str) -> float | None:
    ahead, aside = _speed(agents, name, "forward"), _speed(agents, name, "sideways")
    return None if ahead is None or aside is None else _quotient(ahead, aside)


def _quotient(a: float, b: float) -> float:
    return a / b if b > 0 else math.inf


_BAR_COLOURS = {"forward": "#1f6feb", "backward": "#1a7f37", "sideways": "#d1242f"}
_BAR_WIDTH = 0.26


def _plot_speeds(path: Path, agents: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes a PNG: for each agent three bars with standard errors, and the paper's numbers as black marks.

    Args:
        path: of the PNG.
        agents: by name, with `speeds` and `paper`, both by direction [m/s].
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.5 + 1.5 * len(agents), 4.5), layout="constrained")
    panel = figure.subplots()
    labelled = False
    for place, way in enumerate(DIRECTIONS):
        left = [index + (place - 1) * _BAR_WIDTH for index in range(len(agents))]
        speeds = [row["speeds"][way] for row in agents.values()]
        errors = [one["se"] for one in speeds]
        panel.bar(
            left,
            [one["mean"] for one in speeds],
            _BAR_WIDTH * 0.92,
            yerr=errors,
            color=_BAR_COLOURS[way],
            label=way,
            error_kw={"lw": 1, "capsize": 2},
        )
        for x, row in zip(left, agents.values(), strict=True):
            if (paper := row["paper"][way]) is not None:
                label = "" if labelled else "paper"
                panel.plot([x - _BAR_WIDTH / 2, x + _BAR_WIDTH / 2], [paper, paper], color="black", lw=2.2, label=label)
                labelled = True
    panel.set_xticks(range(len(agents)), agents, fontsize=9)
    panel.set_ylabel("speed over 10 s from standing [m/s]")
    panel.axhline(0, color="black", lw=0.8)
    panel.grid(axis="y", alpha=0.3)
    panel.set_axisbelow(True)
    panel.legend(loc="upper left", fontsize=8, ncols=4)
    panel.set_ylim(top=1.2 * panel.get_ylim()[1])
    figure.savefig(path, dpi=130)


_OTHER_WAYS: dict[Facing, str] = {"hold": "not turning", "turn-first": "turning first"}
"""Ways to targets that section 5 rejected after games, by the facing of a walk."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Size of the measurements for each seed."""

    trials: int
    """Starts for each speed and for the changes of direction."""
    changes: int
    """Number of directions in the test of changes, three seconds each."""
    starts: int
    """Number of walks over the course."""


FULL = Scale(trials=20, changes=20, starts=20)
QUICK = Scale(trials=4, changes=20, starts=2)


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means 4 starts instead of 20, and the course twice."""

    seed: int = 3001
    """Seed of the first starts, which no walk was tuned on; the others follow."""
    seeds: int = 1
    """Factor on the number of starts; all starts are evaluated together."""
    walks: Path | None = None
    """A folder with other walks than those that come with Nutmeg."""
    size: Scale | None = None
    """Other sizes than those of the quick and the full version."""


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Measures the walks of all agents; draws table-2.png."""
    size = settings.size or (QUICK if settings.quick else FULL)
    numbers = range(settings.seed, settings.seed + settings.seeds)
    known, missing = agent_walks(settings.walks)
    agents: dict[str, dict[str, Any]] = {}
    for name, walk in known.items():

        def one(number: int, name: str = name, walk: WalkParameters = walk) -> dict[str, Any]:
            say(f"{name}, seed {number}")
            return _measured(walk, size, number, settings.threads)

        runs = each_seed(out / AGENTS[name].walk, numbers, {**asdict(size), "walk": asdict(walk)}, one)
        agents[name] = {**_about(name, walk), **_pooled(runs)}
    _compare(agents)
    ways = {}
    if "GoToTarget" in known:
        for facing in _OTHER_WAYS:
            walk = replace(known["GoToTarget"], facing=facing)

            def other(number: int, walk: WalkParameters = walk) -> dict[str, Any]:
                say(f"GoToTarget, {walk.facing}, seed {number}")
                return course_fitness(walk, starts=size.starts, seed=number, threads=settings.threads).as_json()

            decisive = {"starts": size.starts, "walk": asdict(walk)}
            ways[facing] = _together(each_seed(out / f"go-to-target, {facing}", numbers, decisive, other))
    if agents:
        _plot_speeds(out / "table-2.png", agents)
    return {
        "experiment": "walk-table2",
        "agents": agents,
        "missing": {name: f"motion/data/walks/{AGENTS[name].walk}.toml" for name in missing},
        "ways_to_targets": ways,
        "claims": [one.as_json() for one in (*_claims(agents), *_turning_claims(agents, ways))],
        "goals": [one.as_json() for one in goals(agents)],
        "settings": {**asdict(size), "seeds": list(numbers), "quick": settings.quick},
    }


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Speeds of the agents, the paper's in brackets; then every goal."""

    def speed(way: str) -> experiment.Cell:
        def cell(row: Mapping[str, Any]) -> str:
            ours, paper = row["speeds"][way], row["paper"][way]
            return f"{ours['mean']:.3f} ±{ours['se']:.3f}" + ("" if paper is None else f" ({paper:.2f})")

        return cell

    columns: dict[str, experiment.Cell] = {
        "agent": experiment.text("name"),
        **{way: speed(way) for way in DIRECTIONS},
        "turn": lambda row: number(row["speeds"]["turn"]["mean"], 2),
        "falls": lambda row: "+".join(str(row["speeds"][way]["falls"]) for way in (*DIRECTIONS, "turn")),
        "in changes": lambda row: f"{row['changes']['falls']} of {row['changes']['trials']}",
        "course": lambda row: f"{row['fitness']['mean']:.1f} ±{row['fitness']['se']:.1f}",
        "/ Initial": experiment.decimal("fitness_ratio", 2),
    }
    settings = answer["settings"]
    return experiment.ResultTable.of(
        ({"name": name, **row} for name, row in answer["agents"].items()),
        columns,
        "m/s over 10 s from standing ± standard error (the paper's), turning in rad/s; falls forward, backward, "
        f"sideways and turning; falls with a new direction every 3 s for {3 * settings['changes']} s; fitness on "
        "the course of goToTarget. "
        f"{settings['trials']} starts a seed, seeds {settings['seeds'][0]} to {settings['seeds'][-1]}.",
        *(f"{name}: not measured, there is no {file}" for name, file in answer["missing"].items()),
        *(_origin(name, row["made"]) for name, row in answer["agents"].items()),
        *(
            f"GoToTarget, {_OTHER_WAYS[facing]}: fitness on the course {one['mean']:.1f} ±{one['se']:.1f}, "
            f"{one['falls']} falls"
            for facing, one in answer["ways_to_targets"].items()
        ),
        *(goal["sentence"] for goal in answer["goals"]),
        "intervals are over starts of one learned walk each: they say nothing about other learning runs.",
        *experiment.claim_notes(answer["claims"]),
    )


def _claims(agents: Agents) -> list[experiment.Claim]:
    """The paper's speeds, each within `SPEED_TOLERANCE` of it."""
    return [
        experiment.Claim.near(
            f"{name}, {way}",
            experiment.Estimate.with_error(
                row["speeds"][way]["mean"], row["speeds"][way]["se"], row["speeds"][way]["trials"]
            ),
            paper,
            SPEED_TOLERANCE,
            unit="m/s",
        )
        for name, row in agents.items()
        for way in DIRECTIONS
        if (paper := row["paper"][way]) is not None
    ]


def _turning_claims(agents: Agents, ways: Mapping[Facing, Mapping[str, Any]]) -> list[experiment.Claim]:
    """That turning on the way is better than the other ways: by fitness on the course, where the paper has games."""
    claims = []
    for facing, other in ways.items():
        turning = agents["GoToTarget"]["fitness"]
        found = experiment.Estimate.with_error(
            turning["mean"] - other["mean"], math.hypot(turning["se"], other["se"]), turning["trials"]
        )
        what = f"GoToTarget, fitness of turning on the way less that of {_OTHER_WAYS[facing]}"
        claims.append(experiment.Claim(what=what, ours=found, least=0.0, digits=1))
    return claims


def _origin(name: str, made: Mapping[str, Any]) -> str:
    """Origin of a walk: the last search with its effort, those before it, and changes by hand."""
    if not made["command"]:
        return f"{name}: made by hand."
    before = "".join(f"; before that: {command}" for command in reversed(made["history"]))
    about = f" {made['about']}" if made["about"] else ""
    last = f"seed {made['seed']}, {made['evaluations']:,} evaluations in the last search, {made['command']}"
    return f"{name}: {last}{before}.{about}"


def _measured(walk: WalkParameters, size: Scale, seed: int, threads: int) -> dict[str, Any]:
    """One seed of one agent."""
    began = time.perf_counter()
    found = measure_walk(walk, trials=size.trials, seed=seed, changes=size.changes, threads=threads)
    fitness = course_fitness(walk, starts=size.starts, seed=seed, threads=threads)
    return {**found.as_json(), "fitness": fitness.as_json(), "wall_seconds": time.perf_counter() - began}


def _about(name: str, walk: WalkParameters) -> dict[str, Any]:
    agent, origin = AGENTS[name], walk.origin
    about = {"walk": agent.walk, "robot": walk.robot, "section": agent.section, "about": agent.about}
    made = {"command": origin.command, "seed": origin.seed, "history": list(origin.history), "about": origin.about}
    made |= {"generations": origin.generations, "evaluations": origin.evaluations}
    return {**about, "paper": agent.paper, "phi_length": walk.walk.phi_length, "made": made}


def _pooled(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The starts of all seeds taken together."""
    speeds = {way: _together([run["speeds"][way] for run in runs]) for way in runs[0]["speeds"]}
    even = evenness(speeds)
    return {
        "speeds": speeds,
        "evenness": even if math.isfinite(even) else None,
        "changes": _together([run["changes"] for run in runs]),
        "fitness": _together([run["fitness"] for run in runs]),
        "step_time": runs[0]["step_time"],
        "stopping": [run["stopping"] for run in runs],
    }


def _together(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return TrialMean.pooled([TrialMean(**part) for part in parts]).as_json()


def _compare(agents: dict[str, dict[str, Any]]) -> None:
    """Adds each agent's fitness as a multiple of the untrained walk's; None if that has none above 0."""
    plain = agents["Initial"]["fitness"]["mean"] if "Initial" in agents else 0.0
    for row in agents.values():
        row["fitness_ratio"] = row["fitness"]["mean"] / plain if plain > 0 else None
