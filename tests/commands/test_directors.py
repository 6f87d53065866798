"""Robots that obey a page, without a page: orders in, commands and events out."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.commands.directors import FLOOR_EDGE, HOLD_TIMEOUT, Driver, Handling
from nutmeg.learning.courses import ROBOT_NAME, make_walker
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.motion.walk.files import read_walk
from nutmeg.sim import Worlds
from nutmeg.view.pages.orders import Controls, Inbox, Order

if TYPE_CHECKING:
    from nutmeg.motion.walk.walker import Walker


class Driven:
    """One world with a driver, and what happened in it."""

    def __init__(self, wanted: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        walk = read_walk("initial").with_set("sprint", {"z_step": 0.03})
        placement = Placement(robot="nao-spark", name=ROBOT_NAME)
        scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
        self.worlds = Worlds(scene)
        self.walker: Walker = make_walker(self.worlds, [walk])
        self.inbox = Inbox()
        self.driver = Driver(self.worlds, self.walker, wanted, self.inbox, sets=tuple(walk.sets))
        self.time, self.events = 0.0, list[dict[str, Any]]()
        self._steps = round(CONTROL_CYCLE / scene.timestep)

    def go(self, seconds: float = CONTROL_CYCLE) -> list[str]:
        """Lets time pass; returns the kinds of events that came."""
        before = len(self.events)
        for _ in range(round(seconds / CONTROL_CYCLE)):
            for kind, fields in self.driver.cycle(self.time):
                self.events.append({"kind": kind, **fields})
            self.worlds.step(self._steps)
            self.time += CONTROL_CYCLE
        return [event["kind"] for event in self.events[before:]]

    def say(self, **order: Any) -> None:
        self.inbox.post(Order(**order).line())

    @property
    def wanted(self) -> list[float]:
        return list(self.walker.wanted[0])


def test_what_is_wanted_at_first_stays_wanted_when_nobody_looks() -> None:
    driven = Driven((0.1, 0.0, 0.2))
    assert driven.go(2 * HOLD_TIMEOUT) == ["drive"]
    assert driven.wanted == pytest.approx([0.1, 0.0, 0.2])
    assert driven.worlds.robot(ROBOT_NAME).pose[0, 0] > 0.02


def test_a_held_key_drives_at_its_share_and_a_released_one_stops() -> None:
    driven = Driven()
    drive = driven.driver.controls().drive
    assert drive is not None
    top = drive.top
    driven.say(order="hold", page=1, numbers=(0.5, 0.0, -1.0))
    assert driven.go() == ["drive"]
    assert driven.wanted == pytest.approx([0.5 * top[0], 0.0, -top[2]])
    driven.say(order="hold", page=1)
    assert driven.go() == ["drive"]
    assert driven.wanted == [0.0, 0.0, 0.0]


def test_a_page_that_vanishes_stops_the_robot_and_one_that_repeats_does_not() -> None:
    driven = Driven()
    driven.say(order="hold", page=1, numbers=(1.0, 0.0, 0.0))
    driven.go(0.8 * HOLD_TIMEOUT)
    driven.say(order="hold", page=1, numbers=(1.0, 0.0, 0.0), fresh=False)
    assert driven.go(0.8 * HOLD_TIMEOUT) == [], "a repetition changes nothing"
    assert driven.wanted[0] > 0
    driven.go(0.4 * HOLD_TIMEOUT)
    assert driven.wanted == [0.0, 0.0, 0.0]


def test_a_page_that_was_slow_goes_on_with_the_key_it_holds_unless_something_else_was_commanded() -> None:
    driven = Driven()
    driven.say(order="hold", page=1, numbers=(1.0, 0.0, 0.0))
    driven.go(1.5 * HOLD_TIMEOUT)
    assert driven.wanted == [0.0, 0.0, 0.0]
    driven.say(order="hold", page=1, numbers=(1.0, 0.0, 0.0), fresh=False)
    driven.go()
    assert driven.wanted[0] > 0
    driven.go(1.5 * HOLD_TIMEOUT)
    driven.say(order="stop", page=2)
    driven.say(order="hold", page=1, numbers=(1.0, 0.0, 0.0), fresh=False)
    driven.go()
    assert driven.wanted == [0.0, 0.0, 0.0]


def test_of_two_pages_the_one_that_pressed_last_drives() -> None:
    driven = Driven()
    driven.say(order="hold", page=1, numbers=(1.0, 0.0, 0.0))
    driven.go()
    driven.say(order="hold", page=2, numbers=(0.0, 1.0, 0.0))
    driven.say(order="hold", page=1, numbers=(1.0, 0.0, 0.0), fresh=False)
    driven.say(order="hold", page=1)
    driven.go()
    assert driven.wanted[0] == 0.0
    assert driven.wanted[1] > 0.0


def test_a_slider_asks_for_a_speed_that_stays_and_space_ends_it() -> None:
    driven = Driven()
    driven.say(order="go", page=1, numbers=(0.05, 0.0, 0.1))
    driven.go(2 * HOLD_TIMEOUT)
    assert driven.wanted == pytest.approx([0.05, 0.0, 0.1])
    driven.say(order="stop", page=2)
    driven.go()
    assert driven.wanted == [0.0, 0.0, 0.0]


def test_a_fallen_robot_is_told_once_and_put_back_on_its_feet() -> None:
    driven = Driven((0.1, 0.0, 0.0))
    robot = driven.worlds.robot(ROBOT_NAME)
    driven.go()
    start = robot.pose[0].copy()
    robot.pose[0, 2:7] = [0.1, np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0]
    assert driven.go(0.2).count("fall") == 1
    driven.say(order="restart")
    assert driven.go() == ["restart", "drive"]
    assert robot.pose[0] == pytest.approx(start, abs=0.02)
    assert driven.go(0.4) == []
    assert robot.uprightness()[0] > 0.95


def test_sets_of_parameters_are_chosen_by_number_and_a_missing_one_is_told() -> None:
    driven = Driven()
    driven.say(order="set", index=1)
    assert driven.go() == ["set"]
    assert driven.walker.chosen[0] == 1
    driven.say(order="set", index=2)
    assert driven.go() == ["ignored"]
    assert "it has 2" in driven.events[-1]["text"]


def test_a_flood_of_nonsense_is_told_once_a_second_and_drives_nothing() -> None:
    driven = Driven()
    for _ in range(25):
        for _ in range(200):
            driven.inbox.post('{"order": "go", "numbers": [NaN, 0, 0]}')
        driven.go()
    assert [event["kind"] for event in driven.events] == ["ignored"]
    assert driven.wanted == [0.0, 0.0, 0.0]


def test_a_robot_that_comes_to_the_edge_of_the_floor_comes_in_again_on_the_other_side() -> None:
    driven = Driven()
    driven.go()
    driven.worlds.robot(ROBOT_NAME).pose[0, 0] = FLOOR_EDGE + 0.05
    assert driven.go() == ["wrap"]
    assert driven.worlds.robot(ROBOT_NAME).pose[0, 0] == pytest.approx(0.05 - FLOOR_EDGE, abs=0.01)
    assert driven.go(0.2) == []


# ---- a robot whose joints are moved


def handled(robot: str) -> tuple[Worlds, Handling, Inbox]:
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(Placement(robot=robot, name="it"),)))
    worlds, inbox = Worlds(scene), Inbox()
    return worlds, Handling(worlds, inbox), inbox


def after(worlds: Worlds, handling: Handling, seconds: float) -> list[str]:
    """Lets time pass; the kinds of events that there were."""
    kinds = []
    for cycle in range(round(seconds / 0.02)):
        kinds += [kind for kind, _ in handling.cycle(0.02 * cycle)]
        worlds.advance(0.02)
    return kinds


@pytest.mark.parametrize(("robot", "joint"), [("nao-v6", "HeadYaw"), ("nao-spark", "hj1"), ("ers7", "neckPan")])
def test_a_joint_goes_where_it_is_put_also_with_velocity_drives(robot: str, joint: str) -> None:
    worlds, handling, inbox = handled(robot)
    it = worlds.robot("it")
    joint = next(name for name in it.table.motors if "head" in name.lower() or name == joint or "pan" in name.lower())
    index = it.table.joints.index(joint)
    inbox.post(Order(order="joint", thing=joint, numbers=(0.4, 0.0, 0.0)).line())
    after(worlds, handling, 2.0)
    assert it.angles[0, index] == pytest.approx(0.4, abs=0.06)
    inbox.post(Order(order="joint", thing=joint, numbers=(9.9, 0.0, 0.0)).line())
    after(worlds, handling, 3.0)
    assert it.angles[0, index] <= it.table.limits[index, 1] + 0.05


HAND = """<mujoco><compiler angle="radian"/><worldbody><body name="palm" pos="0 0 .5"><geom size=".05"/>
<body name="a" pos=".1 0 0"><joint name="a" axis="0 0 1" range="-1 1" damping=".1"/><geom size=".02"/></body>
<body name="b" pos="0 .1 0"><joint name="b" axis="0 0 1" range="-1 1" damping=".1"/><geom size=".02"/></body>
</body></worldbody><tendon><fixed name="pull"><joint joint="a" coef="1"/></fixed></tendon>
<actuator><position joint="a" kp="5"/><motor name="tendon" tendon="pull"/>
<position joint="b" kp="5"/></actuator></mujoco>"""


def test_joints_go_where_they_are_put_though_a_tendon_s_actuator_lies_between_their_motors(tmp_path: Path) -> None:
    (tmp_path / "hand.xml").write_text(HAND)
    worlds, handling, inbox = handled(str(tmp_path / "hand.xml"))
    it = worlds.robot("it")
    assert it.table.motors == ("a", "b")
    inbox.post(Order(order="joint", thing="b", numbers=(0.4, 0.0, 0.0)).line())
    after(worlds, handling, 2.0)
    assert it.angles[0] == pytest.approx([0.0, 0.4], abs=0.01)


def test_a_push_lasts_a_tenth_of_a_second_and_a_restart_puts_the_robot_back() -> None:
    worlds, handling, inbox = handled("ant")
    start = worlds.robot("it").pose[0].copy()
    inbox.post(Order(order="push", numbers=(0.0, 30.0, 0.0)).line())
    assert "push" in after(worlds, handling, 1.0)
    moved = worlds.robot("it").pose[0, 1] - start[1]
    assert moved > 0.005
    inbox.post(Order(order="restart").line())
    assert "restart" in after(worlds, handling, 0.04)
    assert worlds.robot("it").pose[0] == pytest.approx(start, abs=0.01)


def test_unknown_joints_and_poses_change_nothing() -> None:
    worlds, handling, inbox = handled("ant")
    for order in (Order(order="joint", thing="nose"), Order(order="pose", thing="../x"), Order(order="hold")):
        inbox.post(order.line())
    assert after(worlds, handling, 0.1) == []


def test_the_page_is_offered_every_joint_with_its_limits_and_gets_them_over_the_wire() -> None:
    _, handling, _ = handled("nao-v6")
    controls = handling.controls(("a and b by 1.0 mm",))
    bench = controls.bench
    assert bench is not None
    assert Controls.of(controls.text()) == dataclasses.replace(controls, inbox=None)
    low, high = bench.joints["LKneePitch"]
    assert (low, high) == pytest.approx((-0.092, 2.113), abs=0.001)
    assert bench.force == pytest.approx(5.3 * 9.81, rel=0.1)
    assert {"ready", "zero"} <= set(bench.poses)
