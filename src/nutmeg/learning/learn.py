"""Learning a walk: CMA-ES over its parameters, with weights of rewards that may change from generation to generation.

    learning = WalkLearning(LearnSettings(task="dynamic-rewards", population=40, generations=100, seed=1))
    learned = learning.run(InThisThread(), folder=Path("runs/dynamic"))
    learned.walk                        # the mean of the distribution, not the luckiest candidate
    learned.fitness, learned.fitness_before

The weights of a generation follow from what the generations before it brought (equations 5 to 7). So they are not
stored but computed again when a run is resumed: `parts.jsonl` has the rewards of every candidate part by part, and
`search.jsonl` what the search was told. A resumed run ends with the same numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import SeedSequence

from nutmeg.learning.course import DIRECTIONS
from nutmeg.learning.learn_settings import LearnSettings, search_space
from nutmeg.learning.parts_log import PartsLog
from nutmeg.learning.rewards import first_weights, next_weights
from nutmeg.learning.tasks import WalkTrials
from nutmeg.learning.walks import Origin, Walk
from nutmeg.search.cma_es import CmaEs, CmaEsSettings
from nutmeg.search.evaluation import Evaluation, Evaluator, Failure, Function, Progress
from nutmeg.search.run import Budget, Generation, SearchResult, minimise

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.base.arrays import Floats


JUDGING = 1_000_000
"""Number of the generation whose seeds the last judgement uses: none comes that far."""


@dataclass(frozen=True, kw_only=True)
class LearnGeneration:
    """What a generation brought."""

    number: int
    """Counted from 0."""
    best: float
    """Fitness of its fittest."""
    mean: float
    """Mean fitness of those that did not fail."""
    parts: tuple[float, ...]
    """Of its fittest: what each part of the judgement was worth."""
    weights: tuple[float, ...]
    """Of the directions while it was judged; empty without directions."""
    shown: tuple[float, ...]
    """The weights that equations 5 to 7 give for its fittest, whether they are used or not; empty likewise."""


@dataclass(frozen=True, kw_only=True)
class LearnedWalk:
    """What learning came to."""

    walk: Walk
    """The mean of the distribution."""
    before: Walk
    """What it began with."""
    part_names: tuple[str, ...]
    parts: Floats
    """Of the learned walk, means over the starts, (parts,)."""
    parts_before: Floats
    """Of the walk it began with, (parts,)."""
    fitness: float
    """Parts weighed with the first weights, so that runs can be compared."""
    fitness_before: float
    generations: tuple[LearnGeneration, ...]
    search: SearchResult


class WalkLearning:
    """One run of learning."""

    def __init__(self, settings: LearnSettings) -> None:
        self.settings = settings
        self.task = settings.task_settings()
        self.before = settings.start_walk()
        self.space = search_space(settings, self.before)
        self.trials = WalkTrials(
            robot=settings.robot,
            task=self.task,
            start=self.before,
            names=self.space.names,
            actuation=settings.actuation,
            device=settings.device,
        )

    def run(
        self,
        evaluator: Evaluator,
        *,
        folder: Path | None = None,
        on_generation: Callable[[LearnGeneration], None] | None = None,
        progress: Progress | None = None,
        command: str = "",
    ) -> LearnedWalk:
        """Learns, or goes on with it in a folder.

        Args:
            evaluator: where candidates are simulated; pieces of `len(task.parts)` rows are one candidate.
            folder: where to save every generation, and to go on from.
            on_generation: called after every generation, repeated ones included.
            progress: called with rows done and all.
            command: what is noted as the origin of the walk.
        """
        chosen = self.settings
        search = CmaEsSettings(population=chosen.population, step=chosen.step)
        searcher = CmaEs(self.space, search, np.random.default_rng(SeedSequence(chosen.seed, spawn_key=(JUDGING + 1,))))
        weighed = Weighed(evaluator, self.trials, PartsLog(folder))

        def note(generation: Generation) -> None:
            done = weighed.note(generation)
            if on_generation:
                on_generation(done)

        result = minimise(
            self.trials,
            self.space,
            searcher,
            weighed,
            budget=Budget(generations=chosen.generations),
            seed=chosen.seed,
            folder=folder,
            on_generation=note,
            progress=progress,
        )
        return self._judged(result, weighed, command)

    def _judged(self, result: SearchResult, weighed: Weighed, command: str) -> LearnedWalk:
        """The mean of the distribution and the start, both judged from many starts."""
        chosen, weights = self.settings, self.task.weights()
        times = -(-chosen.judged_starts // chosen.starts)
        # one object for each row: a seed sequence counts what it spawned, and both walks are to get the same starts
        seeds = [SeedSequence(chosen.seed, spawn_key=(JUDGING, row % times)) for row in range(2 * times)]
        rows = np.repeat([result.mean, self.space.start], times, axis=0)
        parts = weighed.parts(rows, seeds, None)[0].reshape(2, times, -1)
        after, before = np.nanmean(parts, axis=1)
        fitness, fitness_before = float(weights @ after), float(weights @ before)
        origin = Origin(
            command=command,
            seed=chosen.seed,
            task=chosen.task,
            start=chosen.start or self.task.start,
            generations=len(result.history),
            evaluations=result.evaluations,
            fitness=fitness,
            fitness_before=fitness_before,
            history=(
                *self.before.origin.history,
                *([self.before.origin.command] if self.before.origin.command else []),
            ),
        )
        walk = dataclasses.replace(self.trials.walk_of(result.mean), name=chosen.name or chosen.task, origin=origin)
        return LearnedWalk(
            walk=walk,
            before=self.before,
            part_names=self.task.parts,
            parts=after,
            parts_before=before,
            fitness=fitness,
            fitness_before=fitness_before,
            generations=tuple(weighed.generations),
            search=result,
        )


class Weighed:
    """An evaluator whose values are sums of weighed parts, with weights that follow from former generations.

    Args:
        inner: where candidates are simulated.
        trials: the function that judges them.
        log: what was judged before, and is to be kept.
    """

    def __init__(self, inner: Evaluator, trials: WalkTrials, log: PartsLog) -> None:
        self._inner, self._trials, self._log = inner, trials, log
        self.weights: Floats = first_weights(len(DIRECTIONS))
        """Of the directions in the present generation, (3,)."""
        self.generations: list[LearnGeneration] = []

    def evaluate(
        self,
        function: Function,  # noqa: ARG002 (the trials it was made with)
        candidates: Floats,
        seeds: Sequence[SeedSequence],
        progress: Progress | None = None,
    ) -> Evaluation:
        """Values of candidates (N, k): less fitness is worse, and a search looks for the least."""
        parts, failures = self.parts(candidates, seeds, progress)
        self._log.append(len(self.generations), parts)
        return Evaluation(-(parts @ self._trials.task.weights(self.weights)), failures)

    def parts(
        self, candidates: Floats, seeds: Sequence[SeedSequence], progress: Progress | None
    ) -> tuple[Floats, tuple[Failure, ...]]:
        """The parts of candidates, (N, parts), and which of them failed."""
        many = len(self._trials.task.parts)
        numbers = np.tile(np.arange(many, dtype=float), len(candidates))
        rows = np.column_stack([np.repeat(candidates, many, axis=0), numbers])
        told = None if progress is None else (lambda done, total: progress(done // many, total // many))
        found = self._inner.evaluate(self._trials, rows, [seed for seed in seeds for _ in range(many)], told)
        failed = {failure.index // many: failure.reason for failure in found.failures}
        parts = found.values.reshape(-1, many).copy()
        parts[list(failed)] = np.nan
        return parts, tuple(Failure(index, reason) for index, reason in failed.items())

    def note(self, generation: Generation) -> LearnGeneration:
        """Takes note of a generation that was told, and sets the weights of the next."""
        task = self._trials.task
        parts = self._log.generation(generation.number, len(generation.values))
        fitness = -generation.values
        alive = np.isfinite(fitness)
        first = int(np.argmax(np.where(alive, fitness, -np.inf)))
        weights = shown = ()
        if task.weighting and alive.any():
            weights = tuple(self.weights.tolist())
            shown = tuple(next_weights(parts[:, :-1], fitness, "dynamic").tolist())
            self.weights = next_weights(parts[:, :-1], fitness, task.weighting)
        done = LearnGeneration(
            number=generation.number,
            best=float(fitness[first]),
            mean=float(fitness[alive].mean()) if alive.any() else float("nan"),
            parts=tuple(parts[first].tolist()),
            weights=weights,
            shown=shown,
        )
        self.generations.append(done)
        return done

    def close(self) -> None:
        """Lets go of what simulates."""
        self._inner.close()
