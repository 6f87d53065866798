"""Table 2 of MacAlpine and others (2012): how fast each learned walk is in each direction, and what it is worth.

    answer = walk_table2(Path("runs/walk-table2"), seed=0, threads=2)
    answer["agents"]["DynamicRewards"]["speeds"]["sideways"]        # mean, se, falls, trials
    answer["goals"]                                                  # each met, missed, or not measured

Speeds are distances over ten seconds from standing, as in the paper, from 20 noisy starts each; a robot that falls
counts with the way it came until then. Backward and sideways the robots hold their orientation. Then the direction
changes every three seconds for a minute, and the whole course of section 5.1 is walked. An agent whose walk is not
there is reported as missing. Each agent's measurement is kept: the same command goes on where it was interrupted, and a
walk that has changed is measured again.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from nutmeg.learning.agents import AGENTS, agent_walks
from nutmeg.learning.measure import Measured, course_fitness, measure_walk
from nutmeg.reproduce.seeds import each_seed, write_results
from nutmeg.reproduce.walk_table2_figure import plot_speeds
from nutmeg.reproduce.walk_table2_goals import evenness, goals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from nutmeg.learning.walks import Walk


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much is measured for each seed."""

    trials: int
    """Starts for each speed and for the changes of direction."""
    changes: int
    """How many directions are walked in the test of changes, three seconds each."""
    starts: int
    """How many times the course is walked."""


FULL = Scale(trials=20, changes=20, starts=20)
QUICK = Scale(trials=4, changes=20, starts=2)


def walk_table2(
    out: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    seeds: int = 1,
    walks: Path | None = None,
    threads: int = 1,
    on_progress: Callable[[str], None] = lambda _: None,
    scale: Scale | None = None,
) -> dict[str, Any]:
    """Measures the walks of all agents; writes table-2.png and results.json.

    Args:
        out: folder for the results.
        quick: 4 starts instead of 20, and the course twice.
        seed: of the first starts; the others follow.
        seeds: how many times as many starts; all are taken together.
        walks: a folder with other walks than those that come with Nutmeg.
        threads: how many threads simulate.
        on_progress: called with what is being done.
        scale: other sizes.
    """
    size = scale or (QUICK if quick else FULL)
    known, missing = agent_walks(walks)
    agents: dict[str, dict[str, Any]] = {}
    for name, walk in known.items():

        def one(number: int, name: str = name, walk: Walk = walk) -> dict[str, Any]:
            on_progress(f"{name}, seed {number}")
            return _measured(walk, size, number, threads)

        settings = {**asdict(size), "walk": asdict(walk)}
        runs = each_seed(out / AGENTS[name].walk, range(seed, seed + seeds), settings, one)
        agents[name] = {**_about(name, walk), **_pooled(runs)}
    _compare(agents)
    answer = {
        "experiment": "walk-table2",
        "agents": agents,
        "missing": {name: f"learning/data/walks/{AGENTS[name].walk}.toml" for name in missing},
        "goals": [{**goal.as_json(), "sentence": goal.sentence()} for goal in goals(agents)],
        "settings": {**asdict(size), "seeds": list(range(seed, seed + seeds)), "quick": quick},
    }
    if agents:
        plot_speeds(out / "table-2.png", agents)
    write_results(out, answer)
    return answer


def _measured(walk: Walk, size: Scale, seed: int, threads: int) -> dict[str, Any]:
    """One seed of one agent."""
    began = time.perf_counter()
    found = measure_walk(walk, trials=size.trials, seed=seed, changes=size.changes, threads=threads)
    fitness = course_fitness(walk, starts=size.starts, seed=seed, threads=threads)
    return {**found.as_json(), "fitness": fitness.as_json(), "wall_seconds": time.perf_counter() - began}


def _about(name: str, walk: Walk) -> dict[str, Any]:
    agent, origin = AGENTS[name], walk.origin
    told = {"walk": agent.walk, "robot": walk.robot, "section": agent.section, "about": agent.about}
    made = {"command": origin.command, "seed": origin.seed, "history": list(origin.history)}
    made |= {"generations": origin.generations, "evaluations": origin.evaluations}
    return {**told, "paper": agent.paper, "phi_length": walk.walk.phi_length, "made": made}


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


def _together(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    return Measured.pooled([Measured(**part) for part in parts]).as_json()


def _compare(agents: dict[str, dict[str, Any]]) -> None:
    """Adds each agent's fitness as a multiple of the untrained walk's; None if that has none above 0."""
    plain = agents["Initial"]["fitness"]["mean"] if "Initial" in agents else 0.0
    for row in agents.values():
        row["fitness_ratio"] = row["fitness"]["mean"] / plain if plain > 0 else None
