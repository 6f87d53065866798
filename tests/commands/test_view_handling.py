"""A robot that is handled from the page of `nutmeg view`."""

from __future__ import annotations

from pathlib import Path

import pytest

from nutmeg.commands.view_handling import Handling
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.sim import Worlds
from nutmeg.view.pages.orders import Inbox, Order
from nutmeg.view.pages.workbench import Bench


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
    bench = handling.offer(("a and b by 1.0 mm",))
    assert Bench.of(bench.text()) == bench
    low, high = bench.joints["LKneePitch"]
    assert (low, high) == pytest.approx((-0.092, 2.113), abs=0.001)
    assert bench.force == pytest.approx(5.3 * 9.81, rel=0.1)
    assert {"ready", "zero"} <= set(bench.poses)
