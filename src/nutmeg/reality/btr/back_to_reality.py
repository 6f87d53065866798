"""Back-to-Reality: controllers and simulations searched in turn, until what works in simulation works in reality.

The algorithm of Zagal, Delpiano and Ruiz-del-Solar, Self-modeling in humanoid soccer robots (Robotics and Autonomous
Systems 57, 2009), section 3.3. Each iteration has four steps; step 0 is the configuration (`btr.settings`):

1. search controllers in the best simulation, from the best controller (`ControllerCost`);
2. select some, try them in reality, and store what they did (`btr.transfer`, `realities`);
3. search simulations, from the best one, that do the same in the stored trials (`SimulationCost`);
4. stop at a goal, after some iterations, or on disengagement (`btr.warnings`).

Where the searched numbers cannot explain reality, others are looked at that might (`btr.warnings`), and with `[extend]`
they are freed and join the space (`btr.extension`), the third principle of the paper.

Three things are not in the paper. Step 3 begins at whichever estimate so far explains all stored trials best. Before an
estimate is fitted to new trials, it is asked to predict them: while it does so worse than the simulation before any
identification, controllers are searched in that one, so that a wrong estimate does no harm, and step 3 looks for a
start all over the space. At the end the estimates get intervals (`identify.curvature`).

    run = BackToReality(settings, folder=Path("runs/ant"), evaluator=InThisThread())
    result = run.run()

Everything is in the folder: each generation of each search (`search/00-controllers/search.jsonl`), each trial
in reality (`reality.jsonl`, `trials/`), and a summary of each iteration (`iterations.jsonl`). The same call goes on
where an interrupted one stopped: saved generations are replayed, trials in reality are not repeated, and the
final numbers are those of an undisturbed run.

Other modes share the machinery, to compare with: `none` never does step 3, `discrepancy` estimates real fitness
linearly instead, `reality` learns by trials in reality alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.base.journal import append_lines, open_run, read_lines
from nutmeg.reality.btr.controllers import make_controllers
from nutmeg.reality.btr.costs import ControllerCost, LinearDiscrepancy, RealityCost, SimulationCost
from nutmeg.reality.btr.extension import (
    MIN_TRIALS,
    MORE_TRIALS,
    candidate_terms,
    extended,
    free_terms,
    twin_with_terms,
)
from nutmeg.reality.btr.result import BtrResult, Iteration, Prediction
from nutmeg.reality.btr.transfer import (
    TransferRequest,
    Tried,
    choose_controllers,
    disagreement,
    far_apart,
    fittest,
    remembered_trials,
    rivals_of,
)
from nutmeg.reality.btr.warnings import RANGE_END_SHARE, EngagementSign, Proposal, disengaged, implausible, proposals
from nutmeg.reality.distances.distance import LOSSES, make_distance
from nutmeg.reality.identify.curvature import curvature
from nutmeg.reality.identify.identifiability import Identifiability, assess_identifiability
from nutmeg.reality.observation import Watch
from nutmeg.reality.realities import LoggedReality, make_reality, recorded_trials
from nutmeg.reality.twin import Trial, Twin
from nutmeg.search import Budget, Evaluator, InThisThread, SearchResult, Space, minimise

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.reality.btr.settings import BtrSettings
    from nutmeg.reality.realities.settings import RealityMaker
    from nutmeg.reality.twin import Searched
    from nutmeg.search import SearchSettings
    from nutmeg.search.evaluation import Function, Progress
    from nutmeg.search.run import Generation

ITERATIONS_FILE = "iterations.jsonl"
CONTROLLER_STREAM, SIMULATION_STREAM, EXPLORATION_STREAM, RESTART_STREAM, TERM_STREAM = 1, 2, 3, 4, 5
"""Streams of random numbers, one for each use."""
UNEXPLAINED_SHARE = 0.5
"""Searched numbers explain too little if phi is more than this share of what it is before any identification."""
RESTART_POINTS = 16
"""How many simulations anywhere in the space are looked at for a new start, after an estimate has failed."""


@dataclass(frozen=True, kw_only=True)
class Listeners:
    """Callbacks for progress."""

    on_generation: Callable[[str, int, Generation], None] | None = None
    """Step (`controllers`, `simulations`, `terms/...`), iteration, generation; replayed ones included."""
    on_trial: Callable[[str, float | None, bool], None] | None = None
    """A trial in reality, its fitness, and whether it was remembered."""
    on_iteration: Callable[[Iteration], None] | None = None
    """Called after each iteration."""
    progress: Progress | None = None
    """Called with the number of candidates that are done, and of all."""
    wait: Callable[[], None] = lambda: None
    """Called again and again while a manual reality waits for people; it should take a moment."""
    say: Callable[[str], None] = lambda _: None
    """Called with what a manual reality waits for."""


@dataclass
class _State:
    """The state that one iteration hands to the next."""

    twin: Twin
    """The simulation with the numbers that are searched so far."""
    simulation: Floats
    controller: Floats
    tried: list[Tried] = field(default_factory=list)
    estimates: list[Floats] = field(default_factory=list)
    """The simulation before any identification, and each estimate since."""
    trusted: bool = True
    """Whether controllers are searched in the estimate, or in the simulation before any identification."""
    correction: LinearDiscrepancy | None = None
    last_search: SearchResult | None = None
    """The last simulation search."""
    cost: SimulationCost | None = None
    """What it minimised."""
    signs: list[EngagementSign] = field(default_factory=list)
    freed: int = 0
    """How many terms have joined the space."""
    extend_at: float = MIN_TRIALS
    """The number of stored trials from which terms are tried (again)."""


class BackToReality:
    """A run.

    Args:
        settings: everything.
        folder: where it is kept.
        evaluator: where candidates are simulated; in this thread without one.
        realities: how kinds of reality are made, where not as usual: servers, which this chapter does not know.
        command: the command line, for the folder's manifest.
        copy: the configuration file, which is copied into the folder.
        listeners: callbacks for progress.
    """

    def __init__(
        self,
        settings: BtrSettings,
        *,
        folder: Path,
        evaluator: Evaluator | None = None,
        realities: Mapping[str, RealityMaker] = MappingProxyType({}),
        command: Sequence[str] = ("nutmeg", "btr"),
        copy: Path | None = None,
        listeners: Listeners | None = None,
    ) -> None:
        self.settings, self.listeners = settings, listeners or Listeners()
        self.twin = self.twin_with(settings.simulation)
        """The simulation in the space in which the run begins."""
        self.controllers = make_controllers(settings.controller, self.twin)
        self.watch = Watch(fitness=settings.fitness, series=settings.series, ball=self.twin.base.has_ball)
        self._distance = make_distance(settings.distance)
        self._evaluator = evaluator or InThisThread()
        self._recorded = self._in_recordings()
        self._folder, self._command, self._copy = folder, tuple(command), copy
        self.reality = LoggedReality(
            make_reality(
                settings.reality,
                self.twin_with(settings.named),  # a hidden reality may have what the searched numbers lack
                self.watch,
                folder=folder,
                needs_fitness=settings.needs_fitness,
                wait=self.listeners.wait,
                say=self.listeners.say,
                others=realities,
            ),
            folder,
            needs_fitness=settings.needs_fitness,
            columns=tuple(self.watch.columns(self.twin.table)),
            on_trial=lambda one, known: self._tell_trial(one.trial, one.fitness, remembered=known),
        )

    def run(self) -> BtrResult:
        """Runs until the end; may be interrupted at any time, and called again for the same folder."""
        # [stop] only decides when a run ends; without it, a run can be made longer. Runs of versions that had no
        # [extend] are gone on with as well.
        left_out = {"stop"} if self.settings.extend else {"stop", "extend"}
        decides = {f.name: getattr(self.settings, f.name) for f in fields(self.settings) if f.name not in left_out}
        with open_run(
            self._folder,
            command=self._command,
            seed=self.settings.seed,
            configuration=decides,
            copy=self._copy,
        ):
            self.reality.recall()
            with self.reality:
                return self._alone_in_reality() if self.settings.mode == "reality" else self._iterate()

    def twin_with(self, searched: Mapping[str, Searched]) -> Twin:
        """The simulation that searches these numbers; terms that are not among them are held at their start."""
        return twin_with_terms(
            self.settings.robot, searched, self.settings.extend.terms if self.settings.extend else {}
        )

    # The loop

    def _iterate(self) -> BtrResult:
        stop = self.settings.stop
        start = self.twin.space.start.copy()
        state = _State(self.twin, start, self.controllers.space.start.copy(), estimates=[start])
        done: list[Iteration] = []
        reason = f"{stop.iterations} iterations are done"
        for number in range(stop.iterations):
            last = number == stop.iterations - 1
            done.append(self._iteration(number, state, last=last))
            self._note(done[-1])
            if self.listeners.on_iteration:
                self.listeners.on_iteration(done[-1])
            if why := self._over(done[-1]):
                reason = why
                break
        return self._result(done, state, reason)

    def _iteration(self, number: int, state: _State, *, last: bool) -> Iteration:
        search = self._search_controllers(number, state)
        champion = search.best.candidate
        search_only = last and self.settings.stop.last == "search"
        tried = self._transfer(number, state, search, confirm=search_only)
        state.controller = champion
        state.tried += tried
        if self.settings.mode == "discrepancy":
            state.correction = self._corrected(state.tried)
        iteration = Iteration(
            number=number,
            controllers=search,
            champion=champion,
            fitness=-search.best.value,
            simulation=state.simulation,
            space=state.twin.space,
            searched_in="estimate" if state.trusted else "start",
            prediction=self._predicted(tried, state),
            tried=tuple(tried),
        )
        state.trusted = iteration.prediction is None or iteration.prediction.holds
        if self.settings.mode != "btr" or search_only:
            return iteration
        return self._extend(self._search_simulations(iteration, state), state)

    def _over(self, iteration: Iteration) -> str:
        """Step 4: why the run ends after an iteration; empty if it goes on."""
        stop = self.settings.stop
        if stop.goal is not None and iteration.best_real >= stop.goal:
            return f"the goal {stop.goal:g} is reached: {iteration.best_real:.4g} in reality"
        if iteration.disengagement and stop.disengagement == "stop":
            return str(iteration.disengagement)
        return ""

    # Step 1

    def _search_controllers(self, number: int, state: _State) -> SearchResult:
        cost = ControllerCost(state.twin, self._model(state), self.controllers, self.watch, state.correction)
        space = started(self.controllers.space, state.controller)
        return self._search("controllers", number, CONTROLLER_STREAM, cost, space, self.settings.controller_search)

    def _model(self, state: _State) -> Floats:
        """The simulation in which controllers are searched, (k,)."""
        return state.simulation if state.trusted else state.estimates[0]

    # Step 2

    def _transfer(self, number: int, state: _State, search: SearchResult, *, confirm: bool) -> list[Tried]:
        """Selects controllers, tries them in reality, and simulates the same."""
        stop, most = self.settings.stop, self.settings.stop.most_trials
        count = stop.confirm if confirm else self.settings.trials
        if most is not None:
            reserved = 0 if confirm else stop.confirm
            count = max(0, min(count, most - reserved - self._used(state)))
        rows, hows, trials = self._selected(number, state, search, count, confirm=confirm)
        if not trials:
            return []
        observed = self.reality.try_out(trials)
        seen = self.watch.simulate(state.twin, self._model(state)[None], trials)
        simulated = [float("nan") if b.fitness is None else float(np.asarray(b.fitness)[0]) for b in seen]
        return [Tried(number, *parts) for parts in zip(hows, rows, trials, simulated, observed, strict=True)]

    def _selected(
        self, number: int, state: _State, search: SearchResult, count: int, *, confirm: bool
    ) -> tuple[list[Floats], list[str], list[Trial]]:
        """Controllers, why they were chosen, and their trials."""
        if self._recorded:
            left = [t for t in self._recorded if all(t.name != one.trial.name for one in state.tried)]
            if self.settings.transfer.exploring:
                left = [left[i] for i in np.argsort(-self._worth(number, state, left), kind="stable")]
            return [np.empty(0)] * len(left[:count]), ["recorded"] * len(left[:count]), left[:count]
        have = {one.controller.tobytes() for one in state.tried}
        if confirm:
            rows = np.concatenate([search.best.candidate[None], fittest(search, -np.inf)])
            distinct = [row for i, row in enumerate(rows) if row.tobytes() not in {r.tobytes() for r in rows[:i]}]
            chosen, hows = distinct[:count], ["confirm"] * min(count, len(distinct))
        else:
            request = TransferRequest(
                search=search,
                space=self.controllers.space,
                count=count,
                settings=self.settings.transfer,
                known=lambda row: row.tobytes() in have,
                worth=lambda rows: self._worth(number, state, self.controllers.trials(rows)),
            )
            found = choose_controllers(request, self._rng(number, EXPLORATION_STREAM)) if count else []
            chosen, hows = [one.controller for one in found], [str(one.how) for one in found]
        names = [f"i{number:02d}-{index:02d}{'c' if confirm else ''}" for index in range(len(chosen))]
        return chosen, hows, self.controllers.trials(np.array(chosen), names) if chosen else []

    def _used(self, state: _State) -> int:
        """How many different trials were made up to here; the log may know more, of an interrupted run."""
        return len({one.trial.commands.tobytes() for one in state.tried})

    def _worth(self, number: int, state: _State, trials: Sequence[Trial]) -> Floats:
        """How much rival simulations disagree about trials, (n,)."""
        count, space = self.settings.transfer.rivals, state.twin.space
        if state.last_search is not None:
            rivals = rivals_of(state.last_search, space, count)
        else:
            anywhere = self._rng(number, EXPLORATION_STREAM).random((4 * count, space.size))
            rivals = far_apart(np.concatenate([state.simulation[None], space.values(anywhere)]), space, count)
        return disagreement(state.twin, rivals, trials, self.watch, self._distance)

    def _corrected(self, tried: Sequence[Tried]) -> LinearDiscrepancy | None:
        """The estimate of real fitness after some trials."""
        known = [one for one in tried if np.isfinite(one.simulated) and np.isfinite(one.real)]
        if not known:
            return None
        rows = None
        if self.settings.discrepancy == "controller":
            rows = self.controllers.space.unit(np.stack([one.controller for one in known]))
        return LinearDiscrepancy.fit([one.simulated for one in known], [one.real for one in known], rows)

    def _predicted(self, tried: Sequence[Tried], state: _State) -> Prediction | None:
        """How well the estimate predicts trials that it was not fitted to; None if there is nothing to tell it by."""
        if self.settings.mode != "btr" or not tried or len(state.estimates) < 2:
            return None
        cost = self._simulation_cost(tried, state)
        phi, before = cost(np.stack([state.simulation, state.estimates[0]])).tolist()
        return Prediction(trials=len(tried), phi=phi, before=before)

    # Step 3

    def _simulation_cost(self, stored: Sequence[Tried], state: _State) -> SimulationCost:
        trials, real = zip(*((one.trial, one.observed.behaviour) for one in stored), strict=True)
        return SimulationCost(state.twin, trials, real, self.watch, self.settings.distance)

    def _search_simulations(self, iteration: Iteration, state: _State) -> Iteration:
        """Searches the simulation that does what reality did; puts it into the state and into the iteration."""
        number = iteration.number
        worth = lambda trials: self._worth(number, state, trials)  # noqa: E731
        stored = remembered_trials(state.tried, number, self.settings.memory, worth)
        if not stored:
            raise UsageError(
                "no trial was made in reality, so there is nothing to find a simulation by. Give [transfer] trials, "
                'or choose mode = "none".'
            )
        cost, space = self._simulation_cost(stored, state), state.twin.space
        starts = np.stack(state.estimates)
        if not state.trusted:  # begin anew: what was found so far has misled the search
            anywhere = self._rng(number, RESTART_STREAM).random((RESTART_POINTS, space.size))
            starts = np.concatenate([starts, space.values(anywhere)])
        known = cost(starts)
        before, first = float(known[len(state.estimates) - 1]), int(np.argmin(known))
        begun = started(space, starts[first])
        result = self._search("simulations", number, SIMULATION_STREAM, cost, begun, self.settings.simulation_search)
        best = result.estimate if self.settings.estimate == "best" else result.mean
        phi = result.best.value if np.array_equal(best, result.best.candidate) else float(cost(best[None])[0])
        if known[first] < phi:  # the mean of a population, or of a model, may be worse than what was known
            best, phi = starts[first], float(known[first])
        state.simulation, state.last_search, state.cost = best, result, cost
        if not np.array_equal(best, state.estimates[-1]):
            state.estimates.append(best)
        state.signs.append(
            EngagementSign(
                values=_evaluated(result)[1],
                best=phi,
                before=before,
                fitness=np.array([one.real for one in iteration.tried]),
            )
        )
        gap = self.settings.distance.kind == "phi1"
        return dataclasses.replace(
            iteration,
            simulation=best,
            simulations=result,
            phi=phi,
            phi_before=before,
            compared=len(stored),
            warnings=implausible(space, best, self.settings.plausible, _evaluated(result)),
            disengagement=disengaged(state.signs, fitness_gap=gap),
        )

    def _extend(self, iteration: Iteration, state: _State) -> Iteration:
        """Frees a term where the searched numbers do not explain the stored trials; the state goes on with it."""
        settings, cost = self.settings.extend, state.cost
        if settings is None or cost is None or state.freed >= settings.most:
            return iteration
        stored = len(cost.trials)
        if stored < MIN_TRIALS or len(state.tried) < state.extend_at or not (why := self._lacking(iteration, state)):
            return iteration
        terms = candidate_terms(cost, state.simulation, self.settings.robot, settings.terms)
        twins = {name: self.twin_with({**state.twin.searched, name: one}) for name, one in terms.items()}
        whole = self.settings.simulation_search
        part = dataclasses.replace(whole, generations=max(1, round(settings.effort * whole.generations)))

        def search(name: str, searched: SimulationCost, start: Floats) -> SearchResult:
            space = started(searched.twin.space, start)
            return self._search(f"terms/{name}", iteration.number, TERM_STREAM, searched, space, part)

        extension, state.cost, best = free_terms(
            cost,
            (state.estimates[0], state.simulation),
            twins,
            search,
            reason=why,
            least_gain=settings.least_gain,
        )
        iteration = dataclasses.replace(iteration, extension=extension)
        if extension.freed is None or extension.search is None:
            state.extend_at = MORE_TRIALS * len(state.tried)
            return iteration
        state.freed += 1
        state.twin, state.simulation, state.last_search = state.cost.twin, best, extension.search
        state.estimates = [*(extended(one, extension.freed.searched) for one in state.estimates), best]
        # Trials that it was not fitted to were predicted, as those of the next iteration would be.
        state.trusted = not extension.start < extension.freed.held_out
        state.signs = state.signs[:1]  # whether phi still falls is judged anew in the new space
        return dataclasses.replace(
            iteration,
            simulation=best,
            space=state.twin.space,
            phi=extension.phi,
            warnings=implausible(state.twin.space, best, self.settings.plausible, _evaluated(extension.search)),
            disengagement=None,
        )

    def _lacking(self, iteration: Iteration, state: _State) -> str:
        """Why the searched numbers do not suffice, a sentence; empty where nothing says so."""
        if state.cost is None:
            return ""
        unit = state.twin.space.unit(state.simulation)
        at_end = [n for n, u in zip(state.twin.space.names, unit, strict=True) if min(u, 1 - u) < RANGE_END_SHARE]
        first = float(state.cost(state.estimates[0][None])[0])
        if iteration.disengagement is not None and iteration.disengagement.kind == "stuck":
            return f"For some iterations no better simulation was found, and phi is still {iteration.phi:.3g}."
        if not state.trusted:
            return "The estimate predicts new trials worse than the simulation before any identification."
        if iteration.phi > UNEXPLAINED_SHARE * first:
            return (
                f"The searched numbers explain little: phi is {iteration.phi:.3g}, {first:.3g} without identification."
            )
        if at_end:
            return f"The estimate of {' and '.join(at_end)} is at the end of its range."
        return ""

    # Learning in reality alone

    def _alone_in_reality(self) -> BtrResult:
        most = self.settings.stop.most_trials
        size = self.settings.controller_search.population or 1
        cost = RealityCost(self.reality, self.controllers)
        searcher = self.settings.controller_search.searcher(self.controllers.space, self._rng(0, CONTROLLER_STREAM))
        result = minimise(
            cost,
            searcher,
            InThisThread(),
            budget=Budget(evaluations=max(most or size, size)),
            seed=self.settings.seed,
            folder=self._search_folder(0, "controllers"),
            on_generation=lambda generation: self._tell("controllers", 0, generation),
            progress=self.listeners.progress,
        )
        iteration = Iteration(
            number=0,
            controllers=result,
            champion=result.best.candidate,
            fitness=float("nan"),
            simulation=self.twin.space.start,
            space=self.twin.space,
        )
        self._note(iteration)
        best = -result.best.value
        return dataclasses.replace(
            self._result([iteration], _State(self.twin, self.twin.space.start, result.best.candidate), result.reason),
            fitness=best,
            champion_fitness=best,
        )

    # Shared

    def _search(
        self,
        step: str,
        number: int,
        use: int,
        cost: ControllerCost | SimulationCost,
        space: Space,
        settings: SearchSettings,
    ) -> SearchResult:
        loss = LOSSES.get(cost.distance.kind) if isinstance(cost, SimulationCost) else None
        searcher = settings.searcher(space, self._rng(number, use), loss)
        function: Function = cost.rows if searcher.uses_residuals and isinstance(cost, SimulationCost) else cost
        return minimise(
            function,
            searcher,
            self._evaluator,
            budget=Budget(generations=settings.generations),
            seed=self.settings.seed,
            folder=self._search_folder(number, step),
            on_generation=lambda generation: self._tell(step, number, generation),
            progress=self.listeners.progress,
        )

    def _search_folder(self, iteration: int, step: str) -> Path:
        return self._folder / "search" / f"{iteration:02d}-{step}"

    def _note(self, iteration: Iteration) -> None:
        """Adds the line of an iteration, unless an interrupted run has written it."""
        file = self._folder / ITERATIONS_FILE
        if iteration.number >= len(read_lines(file)):
            append_lines(file, [iteration.as_json(self.controllers.space)])

    def _rng(self, number: int, use: int) -> np.random.Generator:
        return np.random.default_rng([self.settings.seed, number, use])

    def _tell(self, step: str, number: int, generation: Generation) -> None:
        if self.listeners.on_generation:
            self.listeners.on_generation(step, number, generation)

    def _tell_trial(self, name: str, fitness: float | None, *, remembered: bool) -> None:
        if self.listeners.on_trial:
            self.listeners.on_trial(name, fitness, remembered)

    def _in_recordings(self) -> tuple[Trial, ...]:
        """The trials that can be made where reality is a set of recordings."""
        given = self.settings.reality
        if given.kind != "recorded":
            return ()
        return tuple(recorded_trials(given.recordings, self.twin.table.motors, channel=given.commands))

    def _result(self, done: Sequence[Iteration], state: _State, reason: str) -> BtrResult:
        known = [one for one in state.tried if np.isfinite(one.real) and len(one.controller)]
        best = max(known, key=lambda one: one.real, default=None)
        champion = done[-1].champion
        same = [one.real for one in known if np.array_equal(one.controller, champion)]
        return BtrResult(
            mode=self.settings.mode,
            iterations=tuple(done),
            controllers=self.controllers.space,
            simulations=state.twin.space,
            searched=state.twin.searched,
            controller=best.controller if best else champion,
            fitness=best.real if best else float("nan"),
            champion=champion,
            champion_fitness=same[0] if same else float("nan"),
            champion_simulated=done[-1].fitness,
            simulation=state.simulation,
            trials=self._used(state) if self.settings.mode != "reality" else self.reality.trials,
            reason=reason,
            judged=self._judged(state),
            proposals=self._proposed(done, state),
        )

    def _judged(self, state: _State) -> Identifiability | None:
        """Intervals of the last estimate; None where there are too few trials for any."""
        if state.cost is None:
            return None
        cost = state.cost
        try:
            found = curvature(lambda rows: _shared_rows(cost.series(rows)), cost.twin.space, state.simulation)
        except UsageError:  # fewer residuals than numbers
            return None
        return assess_identifiability(cost.twin.space, curvature=found)

    def _proposed(self, done: Sequence[Iteration], state: _State) -> tuple[Proposal, ...]:
        """What to search next, where the searched numbers do not explain reality."""
        last = next((i for i in reversed(done) if i.simulations), None)
        if state.cost is None or last is None or not self._lacking(last, state):
            return ()
        return proposals(state.cost, state.simulation)


def _evaluated(search: SearchResult) -> tuple[Floats, Floats]:
    """All candidates of a search, (n, k), and their values, (n,)."""
    candidates = np.concatenate([generation.candidates for generation in search.history])
    return candidates, np.concatenate([generation.values for generation in search.history])


def _shared_rows(series: Sequence[Floats]) -> list[Floats]:
    """Residuals (n, rows) of each series without rows that some simulation did not reach, because its robot fell.

    Simulations that reached nothing at all stay failed, and take no rows from the others.
    """
    alive = np.any([np.isfinite(one).any(axis=1) for one in series], axis=0)
    return [one[:, np.isfinite(one[alive]).all(axis=0)] for one in series]


def started(space: Space, start: Floats) -> Space:
    """The same space with another start."""
    pairs = zip(space.dimensions.items(), space.checked(start).tolist(), strict=True)
    return Space({name: dataclasses.replace(d, start=value) for (name, d), value in pairs})
