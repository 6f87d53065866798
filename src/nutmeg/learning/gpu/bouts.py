"""Bouts on a GPU: the same rewards as `courses.run_bouts`, thousands at once.

    results = run_bouts_on_gpu("nao-spark", bouts, noise=StartNoise())

Physics is `mujoco_warp`, in 32-bit numbers: a cycle of it is within a few millionths of a rad/s of the processor's for
the same state, unless a foot just touches. Where a walk ends after ten seconds differs, as it does for any
small change; what was learned here is judged on the processor in the end.

The floor, a box, is a plane here: the GPU's collisions of two boxes give the normal of the foot, not of the floor.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.learning.courses import ROBOT_NAME, BoutResults, StartNoise, course_scene
from nutmeg.motion.legs.nao import NaoBody
from nutmeg.motion.walk.settings import walk_matrix, walk_records
from nutmeg.motion.walk.walker import SWITCH_SECONDS, shoulders
from nutmeg.sim.worlds import Worlds, set_start_state

if TYPE_CHECKING:
    from nutmeg.learning.courses import Bout
    from nutmeg.model.scene import Scene


CONTACTS = 24
"""The most contacts of a world that are kept; two feet flat on the ground have eight."""
CONSTRAINTS = 120
"""The most rows of constraints: 22 drives, the limits of joints, three rows a contact."""
AT_ONCE = 10
"""Cycles that are sent to the GPU together."""


def gpu_modules() -> tuple[Any, Any]:
    """`warp` and `mujoco_warp`, if they are installed and there is a device for them."""
    try:
        import mujoco_warp
        import warp
    except ImportError as error:
        raise UsageError(
            f"walking on a GPU needs mujoco_warp, and {error.name} is not installed. Install it with "
            "pip install 'nutmeg-sim[gpu]', or learn with --device cpu."
        ) from None
    warp.config.quiet = True
    warp.init()
    return warp, mujoco_warp


def run_bouts_on_gpu(
    robot: str, bouts: Sequence[Bout], *, noise: StartNoise | None = None, actuation: str = "ideal"
) -> BoutResults:
    """Walks all bouts at once; arguments as for `run_bouts`."""
    warp, engine = gpu_modules()
    if actuation != "ideal":
        raise UsageError(f"a GPU walks with ideal drives only, not with the actuation {actuation!r}.")
    from nutmeg.learning.gpu import course_kernel as kernels

    scene = course_scene(robot, actuation=actuation, native=True)
    steps = max(round(CONTROL_CYCLE / scene.timestep), 1)
    worlds = Worlds(scene, len(bouts))
    generators = [bout.rng for bout in bouts]
    start, first = (noise or StartNoise()).draw(worlds.robot(ROBOT_NAME), np.arange(len(bouts)), generators)
    set_start_state(worlds, ROBOT_NAME, start)
    model, data = _data(robot, len(bouts))
    data.qpos.assign(worlds.qpos.astype(np.float32))
    data.qvel.assign(worlds.qvel.astype(np.float32))
    data.qacc_warmstart.zero_()
    data.ctrl.zero_()
    gait, round_ = _gait(warp, kernels, scene, bouts), _round(warp, kernels, scene, bouts)
    body = _body(warp, kernels, scene)
    swing = warp.array((first < 0.5).astype(np.int32), dtype=int)
    warp.launch(kernels.begin, dim=len(bouts), inputs=[gait, body, swing, data.qpos, data.qvel])
    start = warp.array(scene.start.astype(np.float32), dtype=float)

    def some_cycles() -> None:
        for _ in range(AT_ONCE):
            arrays = [start, data.qpos, data.qvel, data.qacc_warmstart, data.ctrl]
            warp.launch(kernels.cycle, dim=len(bouts), inputs=[gait, body, round_, *arrays])
            warp.launch(kernels.count, dim=1, inputs=[round_])
            for _ in range(steps):
                engine.step(model, data)

    longest = max(sum(round(target.seconds / CONTROL_CYCLE) for target in bout.trajectory.target) for bout in bouts)
    _repeat(warp, some_cycles, -(-(longest + 1) // AT_ONCE))
    return BoutResults(
        gained=round_.gained.numpy().astype(float),
        lost=round_.lost.numpy().astype(float),
        fell=round_.fell.numpy().astype(bool),
        seconds=round_.done.numpy() * CONTROL_CYCLE,
        paths=None,
    )


def _repeat(warp: Any, work: Any, times: int) -> None:  # noqa: ANN401
    """Does some work often: once as it is, which compiles; then as a graph, where the device has them."""
    work()
    if times > 1 and warp.get_device().is_cuda:
        with warp.ScopedCapture() as capture:
            work()
        for _ in range(times - 1):
            warp.capture_launch(capture.graph)
    else:
        for _ in range(times - 1):
            work()
    warp.synchronize()


@functools.lru_cache(maxsize=4)
def _model(robot: str) -> tuple[mujoco.MjModel, Any]:
    """The robot's scene with a plane for a floor, here and on the GPU."""
    _, engine = gpu_modules()
    scene = course_scene(robot, actuation="ideal", native=True)
    spec = mujoco.MjSpec.from_string(scene.xml, assets=dict(scene.meshes))
    for geom in spec.geoms:
        if geom.parent.name == "world" and geom.type == mujoco.mjtGeom.mjGEOM_BOX and geom.contype:
            geom.pos, geom.type = [0.0, 0.0, geom.pos[2] + geom.size[2]], mujoco.mjtGeom.mjGEOM_PLANE
            geom.size = [0.0, 0.0, 1.0]
    model = spec.compile()
    return model, engine.put_model(model)


@functools.lru_cache(maxsize=2)
def _data(robot: str, count: int) -> tuple[Any, Any]:
    """The model on the GPU, and room for so many worlds."""
    _, engine = gpu_modules()
    here, there = _model(robot)
    there.opt.warn_overflow = 0
    return there, engine.put_data(here, mujoco.MjData(here), nworld=count, nconmax=CONTACTS, njmax=CONSTRAINTS)


def _zeros(warp: Any, *shape: int, dtype: type = float) -> Any:  # noqa: ANN401
    return warp.zeros(shape, dtype=dtype)


def _gait(warp: Any, kernels: Any, scene: Scene, bouts: Sequence[Bout]) -> Any:  # noqa: ANN401
    """The walks of all bouts, not yet begun."""
    count, motors = len(bouts), len(scene.robot(ROBOT_NAME).motors)
    names = list(bouts[0].walk.sets)
    tables = np.stack([walk_matrix(walk_records([bout.walk.sets[name] for bout in bouts])) for name in names])
    latest = max(one.sensing_delay for bout in bouts for one in bout.walk.sets.values())
    gait = kernels.Gait()
    gait.sets = warp.array(tables.astype(np.float32), dtype=float)
    gait.now = _zeros(warp, count, tables.shape[-1])
    gait.towards, gait.left, gait.swing = (_zeros(warp, count, dtype=int) for _ in range(3))
    gait.phases, gait.step, gait.more, gait.velocity = (_zeros(warp, count, 3) for _ in range(4))
    gait.feet = _zeros(warp, count, 2, 3)
    gait.meant = _zeros(warp, count, round(latest / CONTROL_CYCLE) + 1, 2)
    gait.gyro, gait.tilt = _zeros(warp, count, 2), _zeros(warp, count, 2)
    gait.last = _zeros(warp, count, motors)
    return gait


def _body(warp: Any, kernels: Any, scene: Scene) -> Any:  # noqa: ANN401
    """The numbers of the robot."""
    table = scene.robot(ROBOT_NAME)
    nao = NaoBody(table)
    legs = nao.legs
    columns = np.array([[table.joints.index(name) for name in leg] for leg in legs.names])
    signs = np.append(np.tile(legs.signs, 2), 1.0)[nao.motor_legs]
    held = np.column_stack([nao.ready[table.motor_joints], signs, table.limits[table.motor_joints]])
    velocity = [drive == "velocity" for drive in table.drives]
    body = kernels.Body()
    lengths = [legs.thigh, legs.tibia, legs.bow, legs.gap, legs.sole, *legs.nearest, *legs.farthest]
    for name, values in {"legs": lengths, "hips": legs.hips, "limits": legs.limits, "signs": legs.signs}.items():
        setattr(body, name, warp.array(np.asarray(values, np.float32), dtype=float))
    body.held = warp.array(held.astype(np.float32), dtype=float)
    whole = {
        "leg_addresses": table.angles[columns],
        "motor_addresses": table.angles[table.motor_joints],
        "commands": table.commands,
        "motors": np.stack([nao.motor_legs, velocity], axis=1),
        "arms": shoulders(table.motors),
    }
    for name, values in whole.items():
        setattr(body, name, warp.array(np.asarray(values, np.int32), dtype=int))
    body.root, body.root_rate, body.period = table.root, table.root_rate, CONTROL_CYCLE
    return body


def _round(warp: Any, kernels: Any, scene: Scene, bouts: Sequence[Bout]) -> Any:  # noqa: ANN401
    """The targets of all bouts."""
    count, longest = len(bouts), max(len(bout.trajectory.target) for bout in bouts)
    to = np.zeros((count, longest, 2), np.float32)
    cycles, stop = np.zeros((count, longest), np.int32), np.zeros((count, longest), np.int32)
    for row, bout in enumerate(bouts):
        for column, target in enumerate(bout.trajectory.target):
            to[row, column] = target.to or (0.0, 0.0)
            cycles[row, column] = round(target.seconds / CONTROL_CYCLE)
            stop[row, column] = target.stop
    names = list(bouts[0].walk.sets)
    many = np.array([len(bout.trajectory.target) for bout in bouts], np.int32)
    turns = np.array([bout.walk.facing == "turn" for bout in bouts], np.int32)
    round_ = kernels.Round()
    round_.to = warp.array(to, dtype=float)
    for name, whole in {"cycles": cycles, "stop": stop, "targets": many, "turns": turns}.items():
        setattr(round_, name, warp.array(whole, dtype=int))
    round_.sprint = names.index("sprint") if "sprint" in names else 0
    round_.changing = max(round(SWITCH_SECONDS / CONTROL_CYCLE), 1)
    round_.height = float(scene.start[scene.robot(ROBOT_NAME).root + 2])
    for name in ("left", "taken", "done", "fell", "reached"):
        setattr(round_, name, _zeros(warp, count, dtype=int))
    round_.index, round_.active = warp.full(count, -1, dtype=int), warp.full(count, 1, dtype=int)
    round_.origin, round_.goal = (warp.zeros(count, dtype=warp.vec2) for _ in range(2))
    round_.farthest = _zeros(warp, count)
    round_.gained, round_.lost = _zeros(warp, count, longest), _zeros(warp, count, longest)
    round_.cycle = _zeros(warp, 1, dtype=int)
    return round_
