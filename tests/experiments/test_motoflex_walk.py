"""The phase of walks, and the partial models; `test_experiment` runs the quick version."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.experiments.motoflex.motoflex_walk import ComplianceCost, measure_gait, partial_models, summarised, varied
from nutmeg.motion.preview_walk import MOTOFLEX_1, WalkTrial


def rocking(phase: float, every_second: float = 0.0) -> WalkTrial:
    """A body that rocks by 2 deg with a phase against landing feet; every second swing is larger by a share."""
    times = np.arange(0.0, 9.0, 0.02)
    since = times - MOTOFLEX_1.start
    larger = 1.0 + every_second * (np.floor(since / 0.5) % 2)
    pitch = math.radians(2.0) * larger * np.cos(2 * math.pi * 2.0 * since + phase)
    place = np.stack([0.2 * times, 0 * times, 0 * times], axis=-1)
    return WalkTrial(times=times, place=place, pitch=pitch, roll=0 * times, fallen_at=math.inf)


@pytest.mark.parametrize("degrees", [-150.0, 17.0, 90.0])
def test_the_phase_is_that_of_the_pitch_against_landing_feet(degrees: float) -> None:
    found = measure_gait(rocking(math.radians(degrees)), MOTOFLEX_1, 3.0, 7.0)
    assert math.degrees(found.phase) == pytest.approx(degrees, abs=0.5)
    assert math.degrees(found.landing_pitch) == pytest.approx(2.0 * math.cos(math.radians(degrees)), abs=0.1)


def test_every_second_swing_is_measured() -> None:
    assert measure_gait(rocking(0.3), MOTOFLEX_1, 3.0, 7.0).alternation == pytest.approx(0.0, abs=1e-6)
    assert measure_gait(rocking(0.3, 0.4), MOTOFLEX_1, 3.0, 7.0).alternation > 0.2


def test_the_search_wants_a_body_that_leans_back_and_the_papers_speed() -> None:
    best = ComplianceCost.cost(0.209, math.pi)
    assert best == pytest.approx(0.0, abs=1e-9)
    assert best < ComplianceCost.cost(0.17, math.radians(17.0)) < ComplianceCost.cost(math.nan, math.nan)


def test_partial_models_leave_out_what_they_say() -> None:
    models = partial_models()
    assert models["motors + links"].gear == {}  # type: ignore[union-attr]
    assert models["links"].servo == {}  # type: ignore[union-attr]
    soft, links = models["links, 1/4 stiffness"], models["links"]
    assert soft.flex["legs"].stiffness == links.flex["legs"].stiffness / 4  # type: ignore[union-attr]


def test_seed_0_is_the_walk_itself_and_others_differ_a_little() -> None:
    assert varied(MOTOFLEX_1, 0) is MOTOFLEX_1
    other = varied(MOTOFLEX_1, 3)
    assert other != MOTOFLEX_1
    assert other.step_height == pytest.approx(MOTOFLEX_1.step_height, rel=0.05)
    assert other.forward == MOTOFLEX_1.forward


def test_phases_are_averaged_as_directions() -> None:
    keys = ("speed", "pitch", "roll", "rhythm", "landing_pitch", "alternation", "fallen_at")
    rows = [
        {"set_up": "a", "actuation": "b", **dict.fromkeys(keys), "phase": math.radians(angle)} for angle in (170, -170)
    ]
    assert abs(math.degrees(summarised(rows)[0]["phase"])) == pytest.approx(180.0)
