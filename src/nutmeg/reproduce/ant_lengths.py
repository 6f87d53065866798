"""The ant's lengths our way: two slow random trials, the motion of the torso, and a fit by responses.

Seed 000 finds the lengths of four segments by the fitness of 180 trials in reality. Here two trials of 4 s are
enough, because every sample of the torso's height and tilt is compared instead of one number a trial, and because
the trials are made to tell something (`reality.excitation`, `reality.response_fit`). Hidden bodies are drawn within
40 % of the drawn one; the other realities differ besides in what is not searched: time step, friction, gains and
the torso's mass.

    rows = ant_lengths(bodies=20, seed=1)       # one a body and reality
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from nutmeg.body.adjustment import Adjustment
from nutmeg.engine.worlds import Worlds
from nutmeg.reality.excitation import ExcitationSettings, excitations
from nutmeg.reality.realities.hidden import HiddenSimulation, Noise
from nutmeg.reality.response_fit import ResponseFitSettings, fit_responses
from nutmeg.reality.twin import ROBOT, Searched, Twin, TwinSettings
from nutmeg.reality.watching import Watch

LENGTHS = ("L1_femur", "L1_tibia", "R3_femur", "R3_tibia")
"""The four segments whose length may differ (1 is the drawn one)."""
SEARCHED: Mapping[str, Searched] = {name: Searched(low=0.5, high=1.5, start=1.0) for name in LENGTHS}
HIDDEN = (0.6, 1.4)
"""Hidden lengths are drawn from here."""
TWIN = TwinSettings(robot="ant", timestep=0.008)
EXCITATION = ExcitationSettings(
    seconds=4.0,
    period=0.016,
    amplitude={"*_yaw": 0.3, "*_lift": 0.35, "*_knee": 0.4},
    centre={"*_lift": 0.7},
)
"""Deep in the knees, where femurs and tibias lift the body by different angles."""
SEEDS = (6, 4)
"""Of the two trials: the ones that told most of six tried on two bodies."""
SCALES = {"pose.x": 0.05, "pose.y": 0.05, "pose.z": 0.01, "pose.q*": 0.05}
"""What differences count alike [m, and parts of a quaternion]; feet slip, so places tell less than heights."""
NOISE = Noise(place=5e-4)
"""Of the measured pose: 0.5 mm, and 1 mrad in its quaternion."""
FIT = ResponseFitSettings(every=3)


@dataclass(frozen=True)
class Found:
    """One body identified."""

    reality: Literal["same", "other"]
    """Whether reality differs in the lengths alone."""
    hidden: Mapping[str, float]
    estimate: Mapping[str, float]
    differs: Mapping[str, float]
    """What else is different, by target."""
    candidates: int
    cpu_seconds: float

    @property
    def errors(self) -> list[float]:
        """Relative errors of the lengths."""
        return [abs(self.estimate[name] / value - 1) for name, value in self.hidden.items()]

    def as_json(self) -> dict[str, Any]:
        """For results.json."""
        return {**vars(self), "errors": self.errors}


def ant_lengths(
    *,
    bodies: int,
    seed: int,
    threads: int = 1,
    hidden: Mapping[str, float] | None = None,
    adjustments: Sequence[Adjustment] = (),
    fit: ResponseFitSettings = FIT,
    on_progress: Callable[[str], None] = lambda _: None,
) -> list[Found]:
    """Identifies hidden bodies, each in a reality of the same physics and in another one.

    Args:
        bodies: how many.
        seed: of the hidden bodies and of the fit.
        threads: that step the worlds.
        hidden: the lengths of the first body, instead of drawn ones.
        adjustments: what else differs in the other reality of the first body, instead of what is drawn.
        fit: effort.
        on_progress: told what is being done.
    """
    found = []
    for number in range(bodies):
        rng = np.random.default_rng([seed, number])
        lengths = dict(zip(LENGTHS, rng.uniform(*HIDDEN, len(LENGTHS)).tolist(), strict=True))
        others = _drawn(rng)
        if number == 0:
            lengths, others = {**lengths, **(hidden or {})}, tuple(adjustments) or others
        for reality, differs in (("same", ()), ("other", others)):
            on_progress(f"our way: body {number + 1} of {bodies}, {reality} physics")
            found.append(_identified(lengths, differs, reality, number=number, seed=seed, threads=threads, fit=fit))  # type: ignore[arg-type]
    return found


def _drawn(rng: np.random.Generator) -> tuple[Adjustment, ...]:
    """Another physics than the searched one."""
    gain = float(rng.uniform(0.8, 1.25))
    return (
        Adjustment(target="physics.timestep", value=0.004),
        Adjustment(target="foot.friction", value=float(rng.uniform(0.6, 1.4))),
        Adjustment(target="drives.servo.stiffness", value=gain, relative=True),
        Adjustment(target="drives.servo.damping", value=gain, relative=True),
        Adjustment(target="mass.Torso", value=float(rng.uniform(0.85, 1.2)), relative=True),
    )


def _identified(
    lengths: Mapping[str, float],
    differs: Sequence[Adjustment],
    reality: Literal["same", "other"],
    *,
    number: int,
    seed: int,
    threads: int,
    fit: ResponseFitSettings,
) -> Found:
    twin = Twin(TWIN, SEARCHED, threads=threads)
    watch = Watch(fitness=None, series=("pose.*",))
    trials = excitations(EXCITATION, twin.table, Worlds(twin.base).robot(ROBOT).start, SEEDS)
    real = HiddenSimulation(
        Twin(replace(TWIN, adjustments=tuple(differs)), SEARCHED, threads=threads),
        lengths,
        watch,
        noise=NOISE,
        seed=seed,
    )
    observed = [one.behaviour for one in real.try_out(trials)]
    begun = time.process_time()
    rng = np.random.default_rng([seed, number, 1])
    result = fit_responses(twin, trials, observed, watch, scales=SCALES, settings=fit, rng=rng)
    return Found(
        reality=reality,
        hidden=dict(lengths),
        estimate=twin.space.named(result.estimate),
        differs={a.target: a.value for a in differs},
        candidates=result.candidates,
        cpu_seconds=time.process_time() - begun,
    )


def summary(found: Sequence[Found], reality: str) -> dict[str, float]:
    """Median and 90th percentile of all relative errors, the slowest fit, and the trials used."""
    chosen = [one for one in found if one.reality == reality]
    errors = np.array([one.errors for one in chosen])
    return {
        "bodies": len(chosen),
        "median": float(np.median(errors)),
        "percentile_90": float(np.percentile(errors, 90)),
        "worst": float(errors.max()),
        "trials_in_reality": len(SEEDS),
        "cpu_seconds": float(np.median([one.cpu_seconds for one in chosen])),
    }
