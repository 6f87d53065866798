"""The ball of a match against ODE 0.16.2, the engine of the league's server, and against kicks recorded there."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.match.worlds.physical.percept import JOINTS
from nutmeg.match.worlds.physical.world import MatchWorld
from nutmeg.model.ode import gaps_of

# Computed by ODE itself (dWorldStep, 20 ms, the surfaces of rcssserver3d): cycles, x, y, z.
KICKED = (
    (1, 0.2032, -0.001984615, 0.131722154),
    (10, 1.09699993, -0.019173076, 0.320065396),
    (20, 2.019908562, -0.036921318, 0.153941822),
    (30, 2.722414186, -0.050431042, 0.15852245),
    (60, 4.130100888, -0.07750194, 0.035257296),
    (300, 5.623012949, -0.106211787, 0.040271257),
)
DROPPED = (
    (10, 0.0, 0.0, 0.149084658),
    (13, 0.0, 0.0, 0.013674313),
    (20, 0.0, 0.0, 0.160853091),
    (30, 0.0, 0.0, 0.034303986),
    (100, 0.0, 0.0, 0.040271257),
)


@pytest.mark.parametrize(
    ("place", "velocity", "computed"),
    [((0.1, 0.0, 0.09), (5.2, -0.1, 2.3), KICKED), ((0.0, 0.0, 0.36), (0.0, 0.0, 0.0), DROPPED)],
)
def test_a_ball_flies_bounces_and_rolls_as_the_leagues_engine_computes_it(
    place: tuple[float, ...], velocity: tuple[float, ...], computed: tuple[tuple[float, ...], ...]
) -> None:
    world = MatchWorld("sim3d", seats=1)
    world.place_ball(place, velocity)
    ways = []
    for _ in range(300):
        world.step()
        ways.append(world.ball)
    for cycles, *where in computed:
        assert ways[int(cycles) - 1] == pytest.approx(where, abs=2e-9)


def test_a_ball_at_rest_lies_as_deep_as_its_weight_presses_it() -> None:
    world = MatchWorld("sim3d", seats=1)
    for _ in range(200):
        world.step()
    # The row of the contact at rest: erp (depth - layer) / h = cfm f, with the mean of both surfaces' erp.
    weight, erp, cfm, layer = 0.026 * 9.81, 0.35, 0.05, 0.001
    assert world.ball[2] == pytest.approx(world.ball_radius - layer - cfm * weight * 0.02 / erp, abs=1e-9)
    assert np.linalg.norm(world.ball_velocity) < 1e-9


def test_a_swinging_foot_kicks_the_ball_and_loses_momentum_to_it() -> None:
    world = MatchWorld("sim3d", seats=1)
    world.join(0, 0)
    seat_angles = world.ground.seats["joints"][0]
    world.ground.world.qpos[seat_angles[JOINTS.index("llj3")]] = np.radians(-20)
    world.place(0, x=0.0, y=0.0, height=2.0, heading=0.0)
    world.settle()
    foot = world.ground.world.data.xpos[world.ground.seats["feet"][0, 1]]
    world.place_ball((foot[0] + 0.17, foot[1], foot[2] + 0.01))
    command, touched = np.zeros((1, 22)), 0
    command[0, JOINTS.index("llj3")] = 6.0
    momenta = []
    for _ in range(12):
        world.command([0], command)
        world.step()
        touched += int(world.touches[0])
        momenta.append(_momentum(world))
    assert touched
    assert world.ball_velocity[0] > 1.0
    assert np.ptp(momenta) < 0.003, "what the ball gets the robot loses; only drag takes something"


def _momentum(world: MatchWorld) -> float:
    """Of the robot and the ball ahead [N s]: bodies have the velocities that the league's engine gave them."""
    model, bodies = world.ground.world.model, np.unique(world.ground.bodies[0])
    velocities = gaps_of(model, world.ground.world.data.userdata)[bodies, 12]
    return float(model.body_mass[bodies] @ velocities + 0.026 * world.ball_velocity[0])
