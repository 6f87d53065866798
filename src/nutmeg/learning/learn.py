"""Learning a walk: CMA-ES over its parameters, with weights of rewards that may change from generation to generation.

    learning = WalkLearning(LearnSettings(task="dynamic-rewards", population=40, generations=100, seed=1))
    learned = learning.run(InThisThread(), folder=Path("runs/dynamic"))
    learned.walk                        # the mean of the distribution, not the luckiest candidate
    learned.fitness, learned.fitness_before

Several searches on a GPU walk in one batch, which a single one would fill to a small part only:

    learn_together([LearnSettings(task="static-rewards", device="gpu", seed=seed) for seed in (1, 2, 3)], folders)

The weights of a generation follow from the rewards of the generations before it (equations 5 to 7). So they are not
stored but computed again when a run is resumed: `parts.jsonl` has the rewards of every candidate part by part, and
`search.jsonl` the values that the search saw. A resumed run ends with the same numbers. `parts.jsonl` alone is enough
to go on, also on another machine, and it is small (a few kilobytes a generation): a search that finds the rewards of
its candidates there does not walk them again.

What is learned is a file for `nutmeg learn`, or `LearnSettings` in Python:

    task = "dynamic-rewards"
    robot = "nao-spark"
    start = "initial"                   # a walk that comes with Nutmeg, or the path of one
    parameters = "extended"             # the paper's fourteen: "searched"; or a list of names
    population = 40                     # MacAlpine and others (2012) had 150, over 200 generations
    generations = 100
    [ranges]
    phi_length = [0.09, 0.2]            # instead of that in learning/data/ranges.toml
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.random import SeedSequence

from nutmeg.base.errors import FileError, UnknownNameError, UsageError
from nutmeg.base.journal import append_lines, finite, read_lines
from nutmeg.base.settings import above, at_least, bounds_of, check_bounds, read, read_toml
from nutmeg.learning.courses import AS_BUILT, DIRECTIONS, BodyVariant, StartNoise, run_bouts
from nutmeg.learning.rewards import first_weights, next_weights
from nutmeg.learning.tasks import TASKS, TaskSettings, WalkTrials, task_settings
from nutmeg.model.identified import read_body
from nutmeg.model.robot import load_robot
from nutmeg.model.scene import Placement
from nutmeg.motion.trot import TROT_AHEAD_PARAMETERS, TROT_PARAMETERS, TrotSettings
from nutmeg.motion.walk.files import Origin, WalkParameters, read_walk, walk_names
from nutmeg.motion.walk.settings import EXTENDED_PARAMETERS, PAPER_PARAMETERS, PendulumWalkSettings
from nutmeg.search.evaluation import Evaluation, Evaluator, Failure, Function, InThisThread, Progress
from nutmeg.search.run import Budget, Generation, SearchResult, minimise
from nutmeg.search.searchers import CmaEs, CmaEsSettings
from nutmeg.search.space import Dimension, Space

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats


PARTS_FILE = "parts.jsonl"
REWARD_DIGITS = 3
"""Rewards are rounded to so many digits before a search sees them: to millimetres, far below their noise."""
BODY_KEY = 3
"""Key of the seeds by which bodies are drawn."""
JUDGING_GENERATION = 1_000_000
"""Number of the generation whose seeds the last judgement uses: none comes that far."""
WALK_PARAMETER_GROUPS = {"searched": PAPER_PARAMETERS, "extended": EXTENDED_PARAMETERS}
"""Names for the searched parameters of walks on two legs."""
TROT_PARAMETER_GROUPS = {"searched": TROT_AHEAD_PARAMETERS, "extended": TROT_PARAMETERS}
"""The same for trots."""


@dataclass(frozen=True, kw_only=True)
class LearnSettings:
    """What is learned, from which walk, and for how long."""

    task: str = "go-to-target"
    """One of the tasks of `learning.tasks`."""
    robot: str = "nao-spark"
    actuation: str = "ideal"
    """The drives of its joints."""
    start: str = ""
    """The walk to begin with: a name, a file, or the folder of a run; the task's own (initial, trot) if left out."""
    parameters: Literal["searched", "extended"] | tuple[str, ...] = "searched"
    """Those that are searched: the paper's fourteen (of a trot, the twelve of walking ahead), those and more with the
    gyro's feedback (of a trot, all), or names."""
    course: str = ""
    """Another course than the task's own: a name or a file."""
    starts: Annotated[int, at_least(1)] = 3
    """From how many noisy starts each candidate is tried."""
    judged_starts: Annotated[int, at_least(1)] = 20
    """From how many starts the result is judged in the end."""
    noise: StartNoise = field(default_factory=StartNoise)
    """How much starts differ."""
    caution: float = 1.0
    """How many times as much as in the paper stops and falls cost; above 1 for the last steps of a fast walk."""
    population: Annotated[int, at_least(4)] = 40
    generations: Annotated[int, at_least(1)] = 100
    step: Annotated[float, above(0.0, up_to=1 / 3)] = 0.12
    """The first standard deviation of the search, as a share of each range."""
    seed: Annotated[int, at_least(0)] = 1
    device: Literal["cpu", "gpu"] = "cpu"
    """Where candidates walk: a GPU walks thousands at once, but rounds otherwise, so that results differ."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Lowest and highest value of parameters whose range is to differ from `learning/data/ranges.toml`."""
    name: str = ""
    """What the learned walk is called; the task if left out."""
    body: str = ""
    """File of an identified body, which walks instead of the robot as built."""
    randomise: bool = False
    """Whether candidates walk with bodies that are drawn from what the identification allows."""
    spread: Literal["estimate", "ranges"] = "estimate"
    """From what bodies are drawn: the joint distribution of the estimates, or evenly from the searched ranges."""
    bodies: Annotated[int, at_least(1)] = 8
    """How many bodies are drawn; every candidate walks with each of them, so it starts at least as many times."""

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(str(UnknownNameError("task", self.task, TASKS)))
        check_bounds(self)
        if self.randomise and not self.body:
            raise ValueError("`randomise` draws bodies from a file of `nutmeg identify`; name it with `body`.")

    def variants(self) -> tuple[BodyVariant, ...]:
        """The bodies that walk."""
        if not self.body:
            return (AS_BUILT,)
        body = read_body(Path(self.body))
        body.placed(Placement(robot=self.robot))  # one of another robot is an error
        if not self.randomise:
            return (BodyVariant.of(body),)
        rng = np.random.default_rng(SeedSequence(self.seed, spawn_key=(BODY_KEY,)))
        return tuple(BodyVariant.of(one) for one in body.draws(self.bodies, rng, spread=self.spread))

    @property
    def names(self) -> tuple[str, ...]:
        """The searched parameters."""
        if not isinstance(self.parameters, str):
            return self.parameters
        return (TROT_PARAMETER_GROUPS if TASKS[self.task].learns == "trot" else WALK_PARAMETER_GROUPS)[self.parameters]

    def task_settings(self) -> TaskSettings:
        """The task with this file's course, starts and noise."""
        course = {"course": self.course} if self.course else {}
        try:
            starts = max(self.starts, self.bodies) if self.randomise else self.starts
            return task_settings(self.task, starts=starts, noise=self.noise, caution=self.caution, **course)
        except ValueError as error:
            raise UsageError(f"task {self.task}: {error}") from None

    def start_walk(self) -> WalkParameters:
        """The walk to begin with; it must be for this robot, and of the kind that the task learns."""
        load_robot(self.robot)  # an unknown name is said to be one
        begin = TASKS[self.task].start
        others = [name.removeprefix(f"{begin}-") for name in walk_names() if name.startswith(f"{begin}-")]
        if not self.start and others and self.robot not in others:
            raise UsageError(
                f"the task {self.task} is for {' and '.join(others)}, and the robot is {self.robot}; "
                f"add --robot {others[-1]}, or say with --start which walk of this robot to begin with."
            )
        walk = read_walk(self.start or begin, self.robot).for_robot(self.robot)
        if (walk.trot is None) == (TASKS[self.task].learns == "trot"):
            kind = "walks on two legs" if walk.trot is None else "is a trot"
            raise UsageError(f"the walk {walk.name!r} {kind}; the task {self.task} cannot begin with it.")
        return walk


def read_learn(path: Path) -> LearnSettings:
    """The settings in a TOML file; a course, a start or a body beside it may be named relative to it."""
    found = read(path, LearnSettings)
    beside = {
        name: str(path.parent / value)
        for name in ("course", "start", "body")
        if (value := getattr(found, name)) and (path.parent / value).exists()
    }
    return dataclasses.replace(found, **beside)  # type: ignore[arg-type]


def search_space(chosen: LearnSettings, start: WalkParameters) -> Space:
    """The searched parameters with their ranges, starting at the walk to begin with."""
    trots = chosen.task_settings().learns == "trot"
    kind, what = (TrotSettings, "parameter of the trot") if trots else (PendulumWalkSettings, "parameter of the walk")
    known = {} if trots else _ranges()
    for name in (*chosen.names, *chosen.ranges):
        bounds_of(kind, name, what=what)  # an unknown name is an error
    present = getattr(start, chosen.task_settings().learns) or start.walk
    dimensions = {}
    for name in chosen.names:
        bounds = bounds_of(kind, name, what=what)
        low, high = chosen.ranges.get(name) or known.get(name) or (bounds.low, bounds.high)
        if not bounds.low <= low < high <= bounds.high:
            raise UsageError(
                f"the range of {name} is {low:g}..{high:g}; allowed is within {bounds.low:g}..{bounds.high:g}."
            )
        value = getattr(present, name)
        if not low <= value <= high:
            raise UsageError(
                f"{name} starts at {value:g}, outside the searched range {low:g}..{high:g}. Give it another range "
                "under [ranges], or begin with another walk."
            )
        dimensions[name] = Dimension(low=low, high=high, start=value, unit=bounds.unit)
    return Space(dimensions)


def _ranges() -> dict[str, tuple[float, float]]:
    """The ranges that walks are searched in, narrower than what is allowed."""
    path = Path(__file__).parent / "data" / "ranges.toml"
    return {name: (one["low"], one["high"]) for name, one in read_toml(path).items()}


@dataclass(frozen=True, kw_only=True)
class LearnGeneration:
    """Results of a generation."""

    number: int
    """Counted from 0."""
    best: float
    """Fitness of its fittest."""
    mean: float
    """Mean fitness of those that did not fail."""
    parts: tuple[float, ...]
    """What each part of the fitness was worth for the fittest candidate."""
    weights: tuple[float, ...]
    """The weights of the directions in this generation; empty without directions."""
    shown: tuple[float, ...]
    """The weights that equations 5 to 7 give for its fittest, whether they are used or not; empty likewise."""


@dataclass(frozen=True, kw_only=True)
class LearnedWalk:
    """Result of learning."""

    walk: WalkParameters
    """The mean of the distribution."""
    before: WalkParameters
    """The walk that it began with."""
    part_names: tuple[str, ...]
    parts: Floats
    """The parts of the fitness of the learned walk, means over the starts, (parts,)."""
    parts_before: Floats
    """The parts of the fitness of the walk it began with, (parts,)."""
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
            bodies=settings.variants(),
        )

    def run(
        self,
        evaluator: Evaluator,
        *,
        folder: Path | None = None,
        on_generation: Callable[[LearnGeneration], None] | None = None,
        on_walk: Callable[[WalkParameters], object] | None = None,
        progress: Progress | None = None,
        command: str = "",
    ) -> LearnedWalk:
        """Learns, or goes on with it in a folder.

        Args:
            evaluator: where candidates are simulated; pieces of `len(task.parts)` rows are one candidate.
            folder: where to save every generation, and to go on from.
            on_generation: called after every generation, repeated ones included.
            on_walk: called with the walk that is learned so far, after every generation that is evaluated now.
            progress: called with rows done and all.
            command: what is noted as the origin of the walk.
        """
        chosen = self.settings
        search = CmaEsSettings(population=chosen.population, step=chosen.step)
        searcher = CmaEs(
            self.space, search, np.random.default_rng(SeedSequence(chosen.seed, spawn_key=(JUDGING_GENERATION + 1,)))
        )
        weighed = _Weighed(evaluator, self.trials, _PartsLog(folder))

        def note(generation: Generation) -> None:
            done = weighed.note(generation)
            if on_generation:
                on_generation(done)
            if on_walk and not generation.replayed:
                on_walk(
                    self._walk_of(generation.mean, command, generation.number + 1, generation.evaluations, fitness=None)
                )

        result = minimise(
            self.trials,
            searcher,
            weighed,
            budget=Budget(generations=chosen.generations),
            seed=chosen.seed,
            folder=folder,
            on_generation=note,
            progress=progress,
        )
        return self._judged(result, weighed, command)

    def _judged(self, result: SearchResult, weighed: _Weighed, command: str) -> LearnedWalk:
        """The mean of the distribution and the start, both judged from many starts."""
        chosen, weights = self.settings, self.task.weights()
        times = -(-chosen.judged_starts // self.task.starts)
        # one object for each row: a seed sequence counts what it spawned, and both walks are to get the same starts
        seeds = [SeedSequence(chosen.seed, spawn_key=(JUDGING_GENERATION, row % times)) for row in range(2 * times)]
        rows = np.repeat([result.mean, self.space.start], times, axis=0)
        parts = weighed.parts(rows, seeds, None)[0].reshape(2, times, -1)
        after, before = np.nanmean(parts, axis=1)
        fitness, fitness_before = float(weights @ after), float(weights @ before)
        walk = self._walk_of(
            result.mean, command, len(result.history), result.evaluations, fitness=(fitness, fitness_before)
        )
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

    def _walk_of(
        self,
        mean: Floats,
        command: str,
        generations: int,
        evaluations: int,
        *,
        fitness: tuple[float, float] | None,
    ) -> WalkParameters:
        """The walk at a mean of the distribution (k,), with where it comes from; its fitness and that of the start."""
        chosen, before = self.settings, self.before.origin
        origin = Origin(
            command=command,
            seed=chosen.seed,
            task=chosen.task,
            start=chosen.start or self.task.start,
            generations=generations,
            evaluations=evaluations,
            fitness=fitness[0] if fitness else None,
            fitness_before=fitness[1] if fitness else None,
            history=(*before.history, *([before.command] if before.command else [])),
        )
        return dataclasses.replace(self.trials.walk_of(mean), name=chosen.name or chosen.task, origin=origin)


def learn_together(
    searches: Sequence[LearnSettings],
    folders: Sequence[Path],
    *,
    on_generation: Callable[[int, LearnGeneration], None] | None = None,
    on_walk: Callable[[int, WalkParameters], object] | None = None,
    commands: Sequence[str] = (),
) -> list[LearnedWalk]:
    """Runs several searches at once, generation by generation, and walks the bouts of all in one batch.

    Args:
        searches: what is learned; all with the same robot, actuation, noise of starts and sets of parameters.
        folders: where each search is saved, and goes on from.
        on_generation: called as in `WalkLearning.run`, with the number of the search before the generation; never by
            two searches at the same time.
        on_walk: called likewise.
        commands: what is noted as the origin of each walk.
    """
    from nutmeg.learning.device_bouts import BoutsTogether, walk_bouts_on_device

    on_gpu = searches[0].device == "gpu"
    together = BoutsTogether(len(searches), walk_bouts_on_device if on_gpu else run_bouts)
    one_at_a_time = threading.Lock()

    def locked(call: Callable[..., object] | None, number: int) -> Callable[[Any], None]:
        def inner(value: Any) -> None:  # noqa: ANN401 (a generation or a walk)
            if call is not None:
                with one_at_a_time:
                    call(number, value)

        return inner

    def run(number: int) -> LearnedWalk:
        try:
            learning = WalkLearning(searches[number])
            learning.trials = dataclasses.replace(learning.trials, walk_bouts=together.walk)
            return learning.run(
                InThisThread(),
                folder=folders[number],
                on_generation=locked(on_generation, number),
                on_walk=locked(on_walk, number),
                command=commands[number] if commands else "",
            )
        finally:
            together.leave()

    with concurrent.futures.ThreadPoolExecutor(len(searches), thread_name_prefix="search") as pool:
        return list(pool.map(run, range(len(searches))))


class _PartsLog:
    """The rewards of every candidate part by part, in memory and, with a folder, in its `parts.jsonl`.

    A generation is written here before the search is told of it. So the file never has less than `search.jsonl`. Each
    line also has the mean of its candidates, by which generations of another search are recognised.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / PARTS_FILE
        self._kept: list[tuple[Floats, Floats]] = [] if self._path is None else self._read()

    def append(self, number: int, centre: Floats, parts: Floats) -> None:
        """Adds generation `number` with the mean (k,) of its candidates; later ones that were there are dropped."""
        self._kept = [*self._kept[:number], (np.array(centre), np.array(parts))]
        if self._path is not None:
            line = finite({"centre": centre.tolist(), "parts": parts.tolist()})
            append_lines(self._path, [line], keep=number, problem="the generation could not be saved")

    def generation(self, number: int, size: int) -> Floats:
        """The parts of a generation of `size` candidates, (size, parts)."""
        if number >= len(self._kept) or len(self._kept[number][1]) != size:
            raise FileError(
                self._path or PARTS_FILE,
                f"lacks the {size} candidates of generation {number}, which search.jsonl has: the file was changed. "
                "Begin again in another folder.",
                line=number + 1,
            )
        return self._kept[number][1]

    def find(self, number: int, candidates: Floats) -> Floats | None:
        """The parts of these candidates (N, k) as generation `number`, (N, parts); None if they were not judged yet."""
        if number >= len(self._kept):
            return None
        centre, parts = self._kept[number]
        # Another machine may round the candidates otherwise; another search has others altogether.
        if parts.shape[0] != len(candidates) or not np.allclose(centre, candidates.mean(axis=0), rtol=1e-6, atol=0):
            raise FileError(
                self._path or PARTS_FILE,
                f"generation {number} has other candidates than this search asks for: it was made with other settings "
                "or another version of the software. Use the same, or begin again in another folder.",
                line=number + 1,
            )
        return parts

    def _read(self) -> list[tuple[Floats, Floats]]:
        assert self._path is not None
        found = []
        for number, line in enumerate(read_lines(self._path), start=1):
            try:
                parts = np.array([[np.nan if v is None else v for v in row] for row in line["parts"]], float)
                found.append((np.array(line["centre"], float), parts))
            except (KeyError, ValueError, TypeError):
                raise FileError(
                    self._path, "has no mean (`centre`) and rewards (`parts`) of candidates.", line=number
                ) from None
        return found


class _Weighed:
    """An evaluator whose values are sums of weighed parts, with weights that follow from former generations.

    Args:
        inner: where candidates are simulated.
        trials: the function that judges them.
        log: what was judged before, and is to be kept.
    """

    def __init__(self, inner: Evaluator, trials: WalkTrials, log: _PartsLog) -> None:
        self._inner, self._trials, self._log = inner, trials, log
        self.weights: Floats = first_weights(len(DIRECTIONS))
        """The weights of the directions in the present generation, (3,)."""
        self.generations: list[LearnGeneration] = []

    def evaluate(
        self,
        function: Function,  # noqa: ARG002 (the trials it was made with)
        candidates: Floats,
        seeds: Sequence[SeedSequence],
        progress: Progress | None = None,
    ) -> Evaluation:
        """Values of candidates (N, k): less fitness is worse, and a search looks for the least."""
        number = len(self.generations)
        parts, failures = self._log.find(number, candidates), tuple[Failure, ...]()
        if parts is None:
            parts, failures = self.parts(candidates, seeds, progress)
            parts = parts.round(REWARD_DIGITS)
            self._log.append(number, candidates.mean(axis=0), parts)
        return Evaluation(-(parts @ self._trials.task.weights(self.weights)), failures)

    def parts(
        self, candidates: Floats, seeds: Sequence[SeedSequence], progress: Progress | None
    ) -> tuple[Floats, tuple[Failure, ...]]:
        """The parts of candidates, (N, parts), and which of them failed."""
        many = len(self._trials.task.parts)
        numbers = np.tile(np.arange(many, dtype=float), len(candidates))
        rows = np.column_stack([np.repeat(candidates, many, axis=0), numbers])
        shown = None if progress is None else (lambda done, total: progress(done // many, total // many))
        found = self._inner.evaluate(self._trials, rows, [seed for seed in seeds for _ in range(many)], shown)
        failed = {failure.index // many: failure.reason for failure in found.failures}
        parts = found.values.reshape(-1, many).copy()
        parts[list(failed)] = np.nan
        return parts, tuple(Failure(index, reason) for index, reason in failed.items())

    def note(self, generation: Generation) -> LearnGeneration:
        """Records a generation that was evaluated, and sets the weights of the next."""
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
        """Closes the evaluator."""
        self._inner.close()
