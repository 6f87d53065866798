"""Sonars: cones and ranges of the paper."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.match.worlds.behavioural.sonar import LEFT_SONAR, Sonar
from nutmeg.match.worlds.behavioural.state import MatchesState, Posture
from nutmeg.model.field import load_field

RIGHT = 1

RADIUS = load_eyes("nao").bodies.width / 2
EDGE = math.radians(19.48 + 9.0)


def heard(x: float, y: float, *, noise: float = 0.0, count: int = 1, post: bool = False) -> np.ndarray:
    """What player 0 at the middle, looking along x, hears of somebody there, (M, 2)."""
    eyes = load_eyes("nao")
    eyes = replace(eyes, sonar=replace(eyes.sonar, noise=noise))
    state = MatchesState(count)
    state.seed[:] = np.arange(count)
    state.present[:, [0, 12]] = True
    state.present[:, 12] = not post
    if post:
        state.pose[:, 0] = 3.05 - x, 0.7 - y, 0.0
    else:
        state.pose[:, 12] = x, y, 1.0
    return Sonar(eyes, load_field("spl2011"), count=count).listen(state)[:, 0].copy()


@pytest.mark.parametrize(("side", "sign"), [(LEFT_SONAR, 1), (RIGHT, -1)])
def test_each_sonar_looks_19_degrees_to_its_side(side: int, sign: int) -> None:
    angle = sign * math.radians(19.48)
    answer = heard(0.6 * math.cos(angle), 0.6 * math.sin(angle))[0]
    assert answer[side] == pytest.approx(0.6 - RADIUS)
    assert np.isnan(answer[1 - side])


@pytest.mark.parametrize(("beyond", "answers"), [(-0.02, True), (0.02, False)])
def test_a_cone_is_18_degrees_wide(beyond: float, answers: bool) -> None:
    angle = EDGE + math.asin(RADIUS / 0.7) + beyond
    assert np.isfinite(heard(0.7 * math.cos(angle), 0.7 * math.sin(angle))[0, LEFT_SONAR]) == answers


@pytest.mark.parametrize(("far", "answers"), [(0.14, False), (0.16, True), (0.74, True), (0.76, False)])
def test_sonars_answer_from_15_to_75_centimetres(far: float, answers: bool) -> None:
    angle = math.radians(19.48)
    way = far + RADIUS
    answer = heard(way * math.cos(angle), way * math.sin(angle))[0, LEFT_SONAR]
    assert np.isfinite(answer) == answers
    if answers:
        assert answer == pytest.approx(far)


def test_posts_answer_too() -> None:
    angle = math.radians(19.48)
    answer = heard(0.5 * math.cos(angle), 0.5 * math.sin(angle), post=True)[0]
    assert answer[LEFT_SONAR] == pytest.approx(0.5 - load_field("spl2011").goal.post_radius)  # type: ignore[union-attr]


def test_noise_has_the_spread_that_is_set() -> None:
    angle = math.radians(19.48)
    answers = heard(0.6 * math.cos(angle), 0.6 * math.sin(angle), noise=0.02, count=2000)[:, LEFT_SONAR]
    assert answers.std() == pytest.approx(0.02, rel=0.1)
    assert answers.mean() == pytest.approx(0.6 - RADIUS, abs=0.002)


def test_who_lies_neither_hears_nor_answers() -> None:
    state = MatchesState(2)
    state.present[:, [0, 12]] = True
    state.pose[:, 12] = 0.5, 0.17, 0.0
    state.posture[0, 0] = state.posture[1, 12] = Posture.LYING
    answers = Sonar(load_eyes("nao"), load_field("spl2011"), count=2).listen(state)
    assert np.isnan(answers[:, 0]).all()
