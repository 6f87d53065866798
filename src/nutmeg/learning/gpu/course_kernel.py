"""A cycle of a course on a GPU: judges, steers and commands every robot, as `learning.courses` does.

One thread is one bout. A robot that is done stands at the start until all are done: fallen ones would cost time.
"""
# No `from __future__ import annotations`: Warp reads the annotations as they are.

import warp as wp

from nutmeg.learning.courses import (
    FALLEN_COSINE,
    FALLEN_HEIGHT_SHARE,
    MIN_SPEED,
    REACHED_DISTANCE,
    SPRINT_BEARING,
    TURN_GAIN,
)
from nutmeg.learning.gpu.walk_kernels import (
    BACK_SHARE,
    MAX_TURN,
    MAX_X,
    MAX_Y,
    TURNED,
    Z_TORSO,
    Body,
    Gait,
    acosh,
    advance,
    change,
    command,
    feel,
    half_k,
    place,
    stability,
    step_time,
)
from nutmeg.learning.rewards import FALL_COST
from nutmeg.motion.walk.kernels import EXCHANGE_COSH

wp.set_module_options({"enable_backward": False})
_REACHED, _UPRIGHT, _LOW, _FALL = (
    wp.constant(REACHED_DISTANCE),
    wp.constant(FALLEN_COSINE),
    wp.constant(FALLEN_HEIGHT_SHARE),
    wp.constant(FALL_COST),
)
_SLOWEST, _SPRINT, _GAIN = wp.constant(MIN_SPEED), wp.constant(SPRINT_BEARING), wp.constant(TURN_GAIN)
_SWAP = wp.constant(EXCHANGE_COSH)


@wp.struct
class Round:
    """The targets of all bouts, and where each robot is in its trajectory."""

    to: wp.array3d(dtype=float)
    """(N, targets, 2)."""
    cycles: wp.array2d(dtype=int)
    stop: wp.array2d(dtype=int)
    targets: wp.array(dtype=int)
    turns: wp.array(dtype=int)
    """Whether a robot turns to where it goes, (N,)."""
    sprint: int
    """The set of parameters for straight ways; 0 for none."""
    changing: int
    """Cycles that a change of parameters takes."""
    height: float
    """The height of the torso at the start [m]."""
    index: wp.array(dtype=int)
    left: wp.array(dtype=int)
    taken: wp.array(dtype=int)
    done: wp.array(dtype=int)
    active: wp.array(dtype=int)
    fell: wp.array(dtype=int)
    reached: wp.array(dtype=int)
    origin: wp.array(dtype=wp.vec2)
    goal: wp.array(dtype=wp.vec2)
    farthest: wp.array(dtype=float)
    gained: wp.array2d(dtype=float)
    lost: wp.array2d(dtype=float)
    cycle: wp.array(dtype=int)
    """Number of the present cycle, (1,)."""


@wp.kernel
def begin(g: Gait, b: Body, first: wp.array(dtype=int), qpos: wp.array2d(dtype=float), qvel: wp.array2d(dtype=float)):
    """Robots at the start of a step on the spot, as `Walker.reset`; then the swing foot that was drawn."""
    n = wp.tid()
    for k in range(g.now.shape[1]):
        g.now[n, k] = g.sets[0, n, k]
    end = acosh(_SWAP) / half_k(g.now[n, Z_TORSO])
    g.phases[n, 0] = -end
    g.phases[n, 1] = -end
    g.phases[n, 2] = end
    place(g, n, 1.0)
    for k in range(g.meant.shape[1]):
        g.meant[n, k, 0] = (g.feet[n, 0, 0] + g.feet[n, 1, 0]) * -0.5
        g.meant[n, k, 1] = (g.feet[n, 0, 1] + g.feet[n, 1, 1]) * -0.5
    g.swing[n] = first[n]
    w, x = qpos[n, b.root + 3], qpos[n, b.root + 4]
    y, z = qpos[n, b.root + 5], qpos[n, b.root + 6]
    g.tilt[n, 0] = wp.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    g.tilt[n, 1] = wp.asin(wp.clamp(2.0 * (w * y - z * x), -1.0, 1.0))
    for k in range(3):
        g.velocity[n, k] = qvel[n, b.root_rate + k]
    for m in range(b.motors.shape[0]):
        g.last[n, m] = qpos[n, b.motor_addresses[m]]


@wp.func
def settle(r: Round, n: int, at: wp.vec2):
    """Equations 1 and 2, without falls, for the present target."""
    column = r.index[n]
    whole = wp.length(r.goal[n] - r.origin[n])
    gained = whole - wp.length(r.goal[n] - at)
    if r.reached[n] == 1:
        gained = (whole - _REACHED) * float(r.cycles[n, column]) / float(wp.max(r.taken[n], 1))
    if r.stop[n, column] == 1:
        r.lost[n, column] = -r.farthest[n]
    else:
        r.gained[n, column] = gained


@wp.func
def next_target(r: Round, n: int, at: wp.vec2):
    """Gives out the next target, or ends the bout."""
    column = r.index[n] + 1
    if column >= r.targets[n]:
        r.active[n] = 0
    else:
        r.index[n] = column
        r.left[n] = r.cycles[n, column]
        r.taken[n] = 0
        r.origin[n] = at
        r.farthest[n] = 0.0
        r.reached[n] = 0
        r.goal[n] = at + wp.vec2(r.to[n, column, 0], r.to[n, column, 1])


@wp.func
def judge(r: Round, n: int, at: wp.vec2, fallen: bool):
    """Takes note of a fall, a reached target and one whose time is over."""
    begun = r.index[n] >= 0
    r.farthest[n] = wp.max(r.farthest[n], wp.length(at - r.origin[n]))
    if begun:
        if r.reached[n] == 0:
            r.taken[n] = r.taken[n] + 1
        if wp.length(r.goal[n] - at) < _REACHED and r.stop[n, r.index[n]] == 0:
            r.reached[n] = 1
    over = r.left[n] == 0
    if begun and (over or fallen):
        settle(r, n, at)
    if fallen:
        for k in range(wp.max(r.index[n], 0), r.targets[n]):
            r.lost[n, k] = r.lost[n, k] - _FALL
        r.fell[n] = 1
        r.active[n] = 0
    elif over:
        next_target(r, n, at)
    if r.active[n] == 1:
        r.left[n] = r.left[n] - 1
        r.done[n] = r.done[n] + 1


@wp.func
def wished(g: Gait, r: Round, n: int, way: wp.vec2, yaw: float) -> wp.vec3:
    """The fastest velocity towards a place, and a turn towards it for those that turn, as `courses.steer`."""
    cos, sin = wp.cos(yaw), wp.sin(yaw)
    ahead = wp.vec2(cos * way[0] + sin * way[1], cos * way[1] - sin * way[0])
    seconds = step_time(g, n)
    unit = ahead / wp.max(wp.length(ahead), _SLOWEST)
    along = g.now[n, MAX_X] / seconds
    if unit[0] < 0.0:
        along = along * g.now[n, BACK_SHARE]
    aside = g.now[n, MAX_Y] / seconds
    speed = wp.length(wp.vec2(unit[0] / wp.max(along, _SLOWEST), unit[1] / wp.max(aside, _SLOWEST)))
    turn = float(0.0)
    if r.turns[n] == 1:
        most = g.now[n, MAX_TURN] * TURNED / seconds
        turn = wp.clamp(_GAIN * wp.atan2(ahead[1], ahead[0]), -most, most)
    unit = unit / wp.max(speed, _SLOWEST)
    return wp.vec3(unit[0], unit[1], turn)


@wp.kernel
def cycle(
    g: Gait,
    b: Body,
    r: Round,
    start: wp.array(dtype=float),
    qpos: wp.array2d(dtype=float),
    qvel: wp.array2d(dtype=float),
    guess: wp.array2d(dtype=float),
    ctrl: wp.array2d(dtype=float),
):
    """What happens between two steps of the physics."""
    n = wp.tid()
    at = wp.vec2(qpos[n, b.root], qpos[n, b.root + 1])
    w, x = qpos[n, b.root + 3], qpos[n, b.root + 4]
    y, z = qpos[n, b.root + 5], qpos[n, b.root + 6]
    if r.active[n] == 1:
        high = qpos[n, b.root + 2]
        upright = 1.0 - 2.0 * (x * x + y * y)
        stands = upright >= _UPRIGHT and high >= _LOW * r.height and high < 10.0  # false for numbers that are none
        judge(r, n, at, not stands)
    if r.active[n] == 0:
        for k in range(start.shape[0]):
            qpos[n, k] = start[k]
        for k in range(qvel.shape[1]):
            qvel[n, k] = 0.0
            guess[n, k] = 0.0
        for k in range(ctrl.shape[1]):
            ctrl[n, k] = 0.0
        return
    wanted = wp.vec3(0.0, 0.0, 0.0)
    chosen = int(0)
    if r.reached[n] == 0 and r.stop[n, r.index[n]] == 0:
        way = r.goal[n] - at
        yaw = wp.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        wanted = wished(g, r, n, way, yaw)
        bearing = wp.atan2(way[1], way[0]) - yaw
        if r.sprint > 0 and wp.abs(wp.atan2(wp.sin(bearing), wp.cos(bearing))) < _SPRINT:
            chosen = r.sprint
    feel(g, b, n, qpos, qvel)
    share = stability(g, b, n, r.cycle[0], qpos)
    change(g, n, chosen, r.changing)
    advance(g, n, b.period, wanted)
    place(g, n, share)
    command(g, b, n, qpos, ctrl)


@wp.kernel
def count(r: Round):
    """Counts the control cycles that all worlds have done."""
    r.cycle[0] = r.cycle[0] + 1
