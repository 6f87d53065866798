"""The pendulum walk: continuity across support exchange, symmetry, limits."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.motion.legs.nao import NaoBody
from nutmeg.motion.walk.kernels import (
    exchanged,
    filtered,
    fraction,
    half_k,
    lifted_share,
    moved_share,
    moving_share,
    swayed,
    swung_share,
)
from nutmeg.motion.walk.settings import (
    EXTENDED_PARAMETERS,
    PAPER_PARAMETERS,
    PendulumWalkSettings,
    parameter_range,
    walk_arrays,
)
from nutmeg.motion.walk.walker import PendulumWalk, Walker
from nutmeg.sim.worlds import Worlds

Array = Any
FLIP = np.array([1.0, -1.0, 1.0])
FINE = 1e-4
"""A cycle so short that differences are derivatives [s]."""


@functools.cache
def scene_of(robot: str) -> Scene:
    placement = Placement(robot=robot, name="nao")
    return assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))


@functools.cache
def body_of(robot: str) -> NaoBody:
    return NaoBody(scene_of(robot).robots[0])


def walked(wanted: Array, *, cycles: int, period: float = FINE, **numbers: float) -> Array:
    """The feet in every cycle of a walk at a constant step size from the first, (cycles, 2, 3)."""
    walk = PendulumWalk(body_of("nao-spark"), [PendulumWalkSettings(delta=1.0, **numbers)], period=period)
    rows = []
    for _ in range(cycles):
        walk.advance(wanted)
        rows.append(walk.feet[0].copy())
    return np.array(rows)


@pytest.mark.parametrize("wanted", [(0, 0, 0), (0.1, 0, 0), (-0.1, 0, 0), (0, 0.1, 0), (0, -0.1, 0), (0.05, 0.05, 0.3)])
def test_the_feet_never_jump_not_even_when_support_changes(wanted: Array) -> None:
    feet = walked(wanted, cycles=8000)[10:]
    speed = np.abs(np.diff(feet, axis=0)).max() / FINE
    assert speed < 2.5  # m/s: a jump of a millimetre would be 10


@pytest.mark.parametrize("wanted", [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)])
def test_the_centre_of_mass_moves_evenly_across_support_exchange(wanted: Array) -> None:
    """As the foot on the ground sees it, the torso goes on from the same place at the same velocity."""
    walk = PendulumWalk(body_of("nao-spark"), [PendulumWalkSettings(delta=1.0)], period=FINE)
    feet, support = [], []
    for _ in range(8000):
        walk.advance(wanted)
        support.append(1 - int(walk.swing[0]))
        feet.append(walk.feet[0, :, :2].copy())
    places = -np.array(feet)  # of the torso from each foot, (cycles, 2 feet, 2)
    exchanges = np.flatnonzero(np.diff(support))
    exchanges = exchanges[exchanges > 200]
    assert len(exchanges) > 3
    for before in exchanges:
        for foot in (support[before], support[before + 1]):  # both stand on the ground when support changes
            assert np.abs(places[before + 1, foot] - places[before, foot]).max() < 1.0 * FINE  # at most 1 m/s
    supporting = places[np.arange(len(places)), support]
    velocity = np.diff(supporting, axis=0) / FINE
    assert np.abs(velocity[exchanges + 1] - velocity[exchanges - 1]).max() < 0.003


def test_the_pendulums_that_exchange_match_in_place_and_in_velocity() -> None:
    """Exactly, from the equations: y_stance of the two add up to y_sep, and they part as fast as they met."""
    half, sep, shift, tiny = float(half_k(0.31)), 0.1, 0.008, 1e-6
    end = 0.8 * np.arccosh(3.0) / half  # not the fixed point
    misfits = []
    for _ in range(8):
        start, following = exchanged(half, end)
        assert swayed(half, end, sep, shift) + swayed(half, start, sep, shift) == pytest.approx(sep, abs=1e-12)
        into = (swayed(half, end, sep, shift) - swayed(half, end - tiny, sep, shift)) / tiny
        out = (swayed(half, start + tiny, sep, shift) - swayed(half, start, sep, shift)) / tiny
        misfits.append(abs(into + out))  # y is outward: the torso that leaves one foot comes to the other
        end = following
    assert misfits[-1] < 1e-4 < misfits[0]


def test_the_phase_has_the_fixed_point_of_the_paper_and_its_step_time() -> None:
    settings = PendulumWalkSettings()
    walk = PendulumWalk(body_of("nao-spark"), [settings], period=0.02)
    k = np.sqrt(9.80665 / settings.z_torso)
    assert walk.step_time[0] == pytest.approx(4 * np.arccosh(3) * settings.phi_length / k)
    ends = []
    for _ in range(100):
        walk.advance((0.0, 0.0, 0.0))
        ends.append(float(walk.phi_end[0]))
    assert np.ptp(ends) < 1e-12


def test_a_disturbed_phase_returns_to_its_fixed_point() -> None:
    walk = PendulumWalk(body_of("nao-spark"), [PendulumWalkSettings()], period=0.001)
    settled = walk.phi_end.copy()
    walk.phi_end *= 0.8
    for _ in range(3000):
        walk.advance((0.0, 0.0, 0.0))
    assert walk.phi_end == pytest.approx(settled, rel=1e-3)


def test_on_the_spot_a_walk_repeats_itself_and_its_sides_mirror_each_other() -> None:
    walk = PendulumWalk(body_of("nao-spark"), [PendulumWalkSettings()], period=FINE)
    step = round(walk.step_time[0] / FINE)
    feet = walked((0.0, 0.0, 0.0), cycles=6 * step + 10)
    np.testing.assert_allclose(feet[100 : 100 + 2 * step], feet[100 + 2 * step : 100 + 4 * step], atol=2e-4)
    mirrored = feet[100 + step : 100 + 3 * step, ::-1] * FLIP
    np.testing.assert_allclose(feet[100 : 100 + 2 * step], mirrored, atol=2e-4)


@pytest.mark.parametrize("wanted", [(0.1, 0, 0), (-0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.4), (0.05, -0.05, 0.2)])
def test_a_steady_walk_repeats_itself_every_two_steps(wanted: Array) -> None:
    walk = PendulumWalk(body_of("nao-spark"), [PendulumWalkSettings()], period=FINE)
    pair = round(2 * walk.step_time[0] / FINE)
    feet = walked(wanted, cycles=2 * pair + 110)[100:]
    np.testing.assert_allclose(feet[:pair], feet[pair : 2 * pair], atol=2e-4)
    assert np.ptp(feet[:pair], axis=0).max() > 0.01


def test_straight_ahead_the_left_foot_does_what_the_right_one_did_a_step_before() -> None:
    walk = PendulumWalk(body_of("nao-spark"), [PendulumWalkSettings()], period=FINE)
    step = round(walk.step_time[0] / FINE)
    feet = walked((0.1, 0.0, 0.0), cycles=3 * step + 110)[100:]
    np.testing.assert_allclose(feet[: 2 * step], feet[step : 3 * step, ::-1] * FLIP, atol=2e-4)


def test_the_equations_take_arrays_as_well_as_numbers() -> None:
    rng = np.random.default_rng(5)
    t, share = rng.uniform(0.0, 1.0, 50), rng.uniform(0.0, 0.5, 50)
    phi, half = rng.uniform(-1.0, 1.0, 50), rng.uniform(2.0, 3.0, 50)
    equations = {
        half_k: (half,),
        filtered: (t, phi, share, 0.2 * half, -half, 0.1 * half),
        fraction: (phi, -half, half),
        exchanged: (half, t + 0.2),
        lifted_share: (t, share),
        swayed: (half, phi, share, 0.1 * share),
        moving_share: (t, share),
        moved_share: (t,),
        swung_share: (t, share),
    }
    for equation, inputs in equations.items():
        singly = np.array([equation(*numbers) for numbers in zip(*inputs, strict=True)])
        together = np.asarray(equation.py_func(*inputs)).T
        np.testing.assert_allclose(together, singly, rtol=1e-13, atol=1e-15)


def test_a_mirrored_command_gives_a_mirrored_walk() -> None:
    body, settings = body_of("nao-spark"), PendulumWalkSettings(side_split=0.6, turn_sep=0.05)
    one, other = (PendulumWalk(body, [settings]) for _ in range(2))
    other.swing[:] = 1
    for _ in range(100):
        one.advance((0.1, 0.05, 0.2))
        other.advance((0.1, -0.05, -0.2))
        np.testing.assert_allclose(other.feet[:, ::-1] * FLIP, one.feet, atol=1e-12)


def test_any_row_of_a_batch_is_the_walk_of_its_own() -> None:
    rng = np.random.default_rng(3)
    walks = [PendulumWalkSettings(z_step=z, phi_length=length) for z, length in rng.uniform(0.05, 0.12, (5, 2))]
    wanted = rng.uniform(-0.2, 0.2, (5, 3))
    together, alone = PendulumWalk(body_of("nao-spark"), walks), PendulumWalk(body_of("nao-spark"), walks[3:4])
    for _ in range(60):
        together.advance(wanted)
        alone.advance(wanted[3])
    np.testing.assert_array_equal(together.feet[3], alone.feet[0])


def test_steps_are_never_longer_than_allowed_and_stability_shortens_them() -> None:
    walk = PendulumWalk(body_of("nao-spark"), [PendulumWalkSettings(delta=1.0, back_share=0.5)])
    walk.advance((9.0, 9.0, -9.0))
    np.testing.assert_allclose(walk.step[0], [0.030, 0.025, -0.15])
    walk.advance((-9.0, 0.0, 0.0))
    assert walk.step[0, 0] == pytest.approx(-0.015)
    walk.stability[:] = 0.0
    walk.advance((-9.0, 0.0, 0.0))
    assert walk.feet[0, 0, 0] == pytest.approx(walk.feet[0, 1, 0])


def test_a_limit_of_change_turns_a_reversal_into_an_even_ramp_and_no_limit_is_the_papers_walk() -> None:
    limited = PendulumWalkSettings(delta=0.5, step_change=0.1, side_delta=2.0)
    walk = PendulumWalk(body_of("nao-spark"), [limited, PendulumWalkSettings(delta=0.5, side_delta=2.0)])
    fast = walk.top_speed()[0]
    for _ in range(40):
        walk.advance(fast * (1, 1, 0))
    np.testing.assert_allclose(walk.step[0], walk.step[1], rtol=1e-9)
    before = walk.step.copy()
    walk.advance(fast * (-1, -1, 0))
    np.testing.assert_allclose(walk.step[0] - before[0], [-0.1 * 0.030, -0.2 * 0.025, 0.0], atol=1e-15)
    np.testing.assert_allclose(walk.step[1], [0.0, -0.025, 0.0], atol=1e-9)


def test_what_a_walk_cannot_do_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(ValueError, match=r"z_torso is 0.9; allowed is 0.2..0.45 m"):
        PendulumWalkSettings(z_torso=0.9)
    with pytest.raises(ValueError, match=r"phi_length is nan"):
        PendulumWalkSettings(phi_length=float("nan"))
    with pytest.raises(ValueError, match="err_max"):
        PendulumWalkSettings(err_norm=0.2, err_max=0.1)
    with pytest.raises(UsageError, match="not a number"):
        PendulumWalk(body_of("nao-spark"), [PendulumWalkSettings()]).advance((np.nan, 0, 0))
    with pytest.raises(UsageError, match="2 sets of walk parameters for 3 worlds"):
        Walker(Worlds(scene_of("nao-spark"), 3), "nao", [PendulumWalkSettings()] * 2)
    with pytest.raises(UsageError, match="at least one"):
        walk_arrays([])


def test_every_searched_parameter_has_a_range_around_its_start() -> None:
    assert len(PAPER_PARAMETERS) == 14
    for name in EXTENDED_PARAMETERS:
        low, high, _ = parameter_range(name)
        assert low <= getattr(PendulumWalkSettings(), name) <= high
    with pytest.raises(UnknownNameError, match="phi_length"):
        parameter_range("phi_lenght")
