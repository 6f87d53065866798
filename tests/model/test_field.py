"""Pitches are where the rule books put them, and hold what is shot at them."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import FileError, UnknownNameError
from nutmeg.model.ball import add_ball, ball_names, load_ball
from nutmeg.model.field import FIELDS_FOLDER, add_field, field_names, load_field

PITCHES = ["spl2011", "spl2025", "sim3d", "sim3d-21x14", "sim3d-12x8", "fifa", "fifa7vs7", "hl-adult", "hl-kid"]


def scene(name: str, *, step: float = 0.005, visuals: bool = False) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    spec.option.timestep = step
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    field = load_field(name)
    add_field(spec, field, visuals=visuals)
    ball = load_ball("spl-foam" if field.ball == "none" else field.ball)
    add_ball(spec, ball, (0, 0, ball.radius), visuals=visuals)
    return spec.compile()


def shoot(model: mujoco.MjModel, start: list[float], velocity: list[float], seconds: float) -> np.ndarray:
    """Positions of the ball, (steps, 3)."""
    data = mujoco.MjData(model)
    data.qpos[:3], data.qvel[:3] = start, velocity
    track = []
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
        track.append(data.qpos[:3].copy())
    return np.array(track)


@pytest.mark.parametrize("name", field_names())
@pytest.mark.parametrize("visuals", [True, False])
def test_every_field_compiles_and_steps_without_warnings(name: str, visuals: bool) -> None:
    model = scene(name, visuals=visuals)
    data = mujoco.MjData(model)
    for _ in range(20):
        mujoco.mj_step(model, data)
    assert all(warning.number == 0 for warning in data.warning)
    assert load_field(name).name == name
    assert load_field(name).ball in (*ball_names(), "none")
    assert (model.ngeom > 20) == (visuals and name in PITCHES)


@pytest.mark.parametrize("name", PITCHES)
def test_what_is_only_seen_never_collides_and_is_left_out_on_request(name: str) -> None:
    seen, felt = scene(name, visuals=True), scene(name, visuals=False)
    collides = (seen.geom_contype > 0) | (seen.geom_conaffinity > 0)
    assert set(seen.geom_group[~collides]) == {1}
    assert set(seen.geom_group[collides]) == {0, 3}
    assert felt.ngeom == collides.sum() == 20  # carpet, two goals of nine parts, ball
    names = [seen.geom(i).name for i in range(seen.ngeom)]
    assert all(n.startswith(("field/", "ball/")) for n in names)


@pytest.mark.parametrize("name", PITCHES)
def test_lines_lie_inside_the_pitch_and_mirror_in_both_axes(name: str) -> None:
    field = load_field(name)
    lines = np.array(field.lines())
    assert np.abs(lines[..., 0]).max() == pytest.approx(field.length / 2)
    assert np.abs(lines[..., 1]).max() == pytest.approx(field.width / 2)
    there = {frozenset(tuple(p) for p in np.round(line, 6) + 0.0) for line in lines}
    for mirror in ((-1, 1), (1, -1)):
        assert {frozenset(tuple(p) for p in np.round(line * mirror, 6) + 0.0) for line in lines} == there


@pytest.mark.parametrize("name", PITCHES)
def test_goals_and_landmarks_mirror_in_both_axes(name: str) -> None:
    model, marks = scene(name), load_field(name).landmarks()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    here = {tuple(p) for p in np.round(data.geom_xpos[: model.ngeom - 1], 6) + 0.0}
    for mirror in ((-1, 1, 1), (1, -1, 1)):
        assert {tuple(p) for p in np.round(np.array(list(here)) * mirror, 6) + 0.0} == here
    assert marks["F1L"] == (-marks["F1R"][0], marks["F1R"][1], 0.0)
    assert marks["G1L"][1] == -marks["G2L"][1] > 0


def test_goals_stand_where_the_rules_say() -> None:
    model = scene("spl2025")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert np.allclose(data.geom("field/right_goal/post1").xpos, (4.525, 0.8, 0.425))
    assert np.allclose(data.geom("field/left_goal/crossbar").xpos, (-4.525, 0, 0.85))
    assert load_field("sim3d").landmarks()["G2R"] == (15.0, -1.05, 0.8)
    assert load_field("sim3d").landmarks()["F1L"] == (-15.0, 10.0, 0.0)
    assert load_field("spl2011").goal.left_colour != load_field("spl2011").goal.right_colour  # type: ignore[union-attr]


@pytest.mark.parametrize("name", PITCHES)
@pytest.mark.parametrize("step", [0.002, 0.004, 0.005])
def test_a_shot_of_eight_metres_a_second_stays_in_the_net(name: str, step: float) -> None:
    field, model = load_field(name), scene(name, step=step)
    assert field.goal
    line, depth = field.length / 2, field.goal.post_offset + field.goal.depth
    half = field.goal.inner_width / 2 + field.goal.post_radius
    for velocity in ([8, 0, 0], [7, 3.5, 0], [6.5, 0, 3.2], [7, -3.5, 1.5]):
        for shift in (0.0, 0.011, 0.023):  # other phases of the step
            track = shoot(model, [line - 0.3 - shift, 0, 0.15], velocity, 1.0)
            in_goal = track[np.argmax(track[:, 0] > line) :]
            assert track[:, 0].max() < line + depth + field.goal.net_thickness / 2
            inside = in_goal[in_goal[:, 0] > line + field.goal.post_offset + 0.05]
            assert np.abs(inside[:, 1]).max() < half + field.goal.net_thickness / 2
            behind = in_goal[in_goal[:, 0] > line]  # one that bounces out under the bar may rise again before the goal
            assert behind[:, 2].max() < field.goal.height + field.goal.net_thickness / 2
            assert track[-1, 0] > line - 1.0


@pytest.mark.parametrize("name", PITCHES)
def test_a_ball_that_misses_a_goal_by_a_hand_rolls_out_beside_it(name: str) -> None:
    field, model = load_field(name), scene(name)
    assert field.goal
    radius = load_ball(field.ball).radius
    post = field.goal.inner_width / 2 + 2 * field.goal.post_radius
    for out in (-1, 1):
        for side in (-1, 1):
            start = [out * (field.length / 2 - 0.3), side * (post + radius + 0.01), radius]
            track = shoot(model, start, [3 * out, 0, 0], 0.4)
            assert np.abs(track[:, 0]).max() > field.length / 2 + field.line_width / 2 + radius


@pytest.mark.parametrize("name", PITCHES)
@pytest.mark.parametrize("step", [0.002, 0.004, 0.005])
def test_a_shot_of_eight_metres_a_second_never_passes_through_post_or_bar(name: str, step: float) -> None:
    field, model = load_field(name), scene(name, step=step)
    assert field.goal
    x, half = field.length / 2 + field.goal.post_offset, field.goal.inner_width / 2 + field.goal.post_radius
    bar = field.goal.height + field.goal.post_radius
    touch = field.goal.post_radius + load_ball(field.ball).radius
    for out in (-1, 1):
        for shift in (0.0, 0.007, 0.013, 0.021, 0.033):
            for side in (half, -half):
                track = shoot(model, [out * (x - 0.5 - shift), side, 0.4], [8 * out, 0, 0], 0.2)
                assert np.hypot(track[:, 0] - out * x, track[:, 1] - side).min() > 0.2 * touch
                assert out * track[-1, 0] < x - touch
            track = shoot(model, [out * (x - 0.5 - shift), 0.2, bar], [8 * out, 0, 0.3], 0.2)
            assert np.hypot(track[:, 0] - out * x, track[:, 2] - bar).min() > 0.2 * touch
            assert out * track[-1, 0] < x - touch


def test_beyond_the_carpet_there_is_no_ground() -> None:
    model = scene("spl2025")
    inside = shoot(model, [5.1, 3.6, 0.05], [0, 0, 0], 0.5)
    outside = shoot(model, [50.0, 0, 0.05], [0, 0, 0], 0.5)
    assert inside[-1, 2] == pytest.approx(0.05, abs=2e-3)
    assert outside[-1, 2] < -1
    assert shoot(scene("none"), [0, 0, 0.05], [0, 0, 0], 0.5)[-1, 2] < -1


def test_a_misspelt_field_is_told_its_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'spl2025'"):
        load_field("spl2052")


def test_a_broken_field_file_names_file_and_line(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    text = (FIELDS_FOLDER / "spl2025.toml").read_text()
    mine.write_text(text.replace("border = 0.7", "border = 1.5"))
    assert load_field(mine).border == 1.5
    assert load_field(str(mine)).border == 1.5
    mine.write_text(text.replace("border = 0.7", "border ="))
    with pytest.raises(FileError, match=r"mine\.toml, line 5: broken TOML"):
        load_field(mine)
    mine.write_text(text.replace("border = 0.7", "boarder = 0.7"))
    with pytest.raises(FileError, match=r"mine\.toml, line 5: boarder: .*Did you mean 'border'"):
        load_field(mine)
    mine.write_text(text.replace("inner_width = 1.5", "inner_width = 15"))
    with pytest.raises(FileError, match=r"mine\.toml.*wider than the pitch"):
        load_field(mine)
    with pytest.raises(FileError, match="there is no such file"):
        load_field(tmp_path / "gone.toml")


@pytest.mark.parametrize("name", ["spl2011", "spl2025", "sim3d", "sim3d-21x14", "floor"])
def test_every_number_has_a_source(name: str) -> None:
    field = load_field(name)
    assert "length" in field.source
    assert all(len(text) > 10 for text in field.source.values())
    if field.goal:
        assert {"width", "border", "line_width", "centre_circle_radius", "goal", "ball"} <= set(field.source)
