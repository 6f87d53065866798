from typing import Any

import mujoco
import numpy as np

from nutmeg.view.stage.bodies import body_tree, geom_bounds, is_paint, local_poses, visible_geoms


def test_there_is_one_piece_per_moving_body_and_one_for_the_world_and_one_for_paint(model: Any) -> None:
    tree = body_tree(model)
    assert tree[0].path == "/world"
    assert len({piece.path for piece in tree}) == len(tree)
    moving = [b for b in range(1, model.nbody) if model.body_weldid[b] == b]
    assert sorted(p.body for p in tree if p.body) == moving
    assert [p.path for p in tree if not p.casts] == ["/world/paint"]


def test_pieces_know_the_thing_they_belong_to(model: Any) -> None:
    assert {p.thing for p in body_tree(model)} == {"", "a", "b", "ball"}


def test_collision_geoms_and_invisible_geoms_are_not_drawn() -> None:
    hidden = mujoco.MjModel.from_xml_string("""
      <mujoco><worldbody><geom size="1" group="2"/><geom size="1" group="3"/><geom size="1" rgba="1 1 1 0"/>
      </worldbody></mujoco>""")
    assert visible_geoms(hidden) == [0]


def test_a_welded_body_is_drawn_with_its_parent() -> None:
    welded = mujoco.MjModel.from_xml_string("""
      <mujoco><worldbody><body name="t/a"><freejoint/><geom size=".1"/>
        <body name="t/b" pos="1 0 0" euler="0 0 90"><geom type="box" size=".1 .2 .3"/></body></body>
      </worldbody></mujoco>""")
    assert [p.path for p in body_tree(welded)] == ["/world", "/world/t:a"]
    low, high = geom_bounds(welded, 1)
    assert np.allclose(low, [0.8, -0.1, -0.3])
    assert np.allclose(high, [1.2, 0.1, 0.3])


def test_flat_lines_are_paint_and_the_carpet_is_not(model: Any) -> None:
    paint = [g for g in range(model.ngeom) if is_paint(model, g)]
    assert len(paint) == 5
    assert model.geom("carpet").id not in paint


def test_local_poses_put_together_along_the_tree_give_the_world_poses(model: Any, toy: Any) -> None:
    data = mujoco.MjData(model)
    generator = np.random.default_rng(3)
    data.qpos[:] = generator.normal(size=model.nq)
    mujoco.mj_kinematics(model, data)
    tree = body_tree(model)
    positions, turns = local_poses(tree, data.xpos, data.xquat)
    world = {}
    for number, piece in enumerate(tree):
        place, turn = np.zeros(3), np.array([1.0, 0, 0, 0])
        if piece.parent >= 0:
            base, base_turn = world[piece.parent]
            mujoco.mju_rotVecQuat(place, positions[number], base_turn)
            place += base
            mujoco.mju_mulQuat(turn, base_turn, turns[number])
        world[number] = place, turn
        assert np.allclose(place, data.xpos[piece.body], atol=1e-9)
        assert abs(turn @ data.xquat[piece.body]) > 1 - 1e-9
