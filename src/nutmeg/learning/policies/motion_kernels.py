"""The cycle of robots that learn to correct a motion, compiled; `motion_task` says what it does.

`body` is always the three records of `LearningBody`, `PolicyTable` and `MotionRewards`, `robots` those of
`MotionEpisode` and `PolicyState`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.angle_kernels import heading_of, upward, wrap_angle_exactly
from nutmeg.base.kernels import kernel
from nutmeg.learning.policies.task import FALLEN_HEIGHT, FALLEN_UP
from nutmeg.learning.policies.walk_kernels import (
    about_normal,
    command_pending,
    sense,
    signed,
    uniform,
)
from nutmeg.motion.correction import STOP_MARGIN
from nutmeg.motion.policy import BALL, BALL_SCALE, KIND
from nutmeg.motion.policy_kernels import observe, set_progress, smooth
from nutmeg.sim.ball_way import DAMPING, RADIUS, rest_of_ball, spin_in_world

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats, Floats32, Indices
    from nutmeg.learning.policies.motion_task import MotionEpisode, MotionPlans, MotionRewards
    from nutmeg.motion.policy import PolicyState

    Records = NDArray[np.void]
    Body = tuple[Records, Records, Records]
    Robots = tuple[Records, Records]

STANDS_UP, STANDS_HEIGHT, STANDS_RATE = 0.95, 0.85, 2.0
"""A robot stands above this cosine of its tilt and share of its height, and below this angular velocity [rad/s]."""
STEADY_TIME = 0.3
"""Time to go into the stance after a motion, as `SkillSettings.steady` [s]."""
FAR_AWAY = 30.0
"""Balls that came further than this are not believed [m]."""
KICK_BALL_RANGE, DIVE_BALL_RANGE = 1.0, 5.0
"""The critic of a kick sees the ball up to this distance along each axis, that of a dive farther [m]."""
MOVES = 0.3
"""A ball that is faster has been hit [m/s]."""
EASY_SIDE, WIDE_SIDE = (0.2, 0.6), (0.2, 1.0)
"""How far to the left of the robot the balls of a dive pass it at level 0 and at level 1 [m]."""
EASY_TIME, QUICK_TIME = (0.7, 0.9), (0.5, 0.9)
"""How long after a dive began they pass, at level 0 and at level 1 [s]."""
ROLLING_SPEED, ROLLING_ANGLE = (2.5, 6.0), 0.4
"""How fast they roll when the dive begins [m/s], and how far from straight ahead they come at most [rad]."""
PASSED_DISTANCE = 0.2
"""A ball that is so far behind the line on which the robot stood has passed it [m]."""
SAVED_TIME = 0.4
"""A ball that has not passed so long after it should have is saved [s]."""


@kernel
def heading(q: Floats, root: int) -> float:
    """The heading of a torso [rad]."""
    return heading_of((q[root + 3], q[root + 4], q[root + 5], q[root + 6]))


@kernel
def pace_of(seconds: float, r: MotionRewards) -> float:
    """How many times as fast as its file says a motion of so many seconds is played at the present level."""
    return float(1.0 + r.level * (max(seconds / r.seconds, 1.0) - 1.0))


@kernel
def duration(e: MotionEpisode, p: MotionPlans) -> float:
    """How long a robot's motion takes at its pace [s]."""
    return float(p.ends[e.motion, p.frames[e.motion] - 1] / e.pace)


@kernel
def _between(e: MotionEpisode, easy: tuple[float, float], hard: tuple[float, float], level: float) -> float:
    """A number drawn evenly between two bounds that move from the easy ones to the hard ones with the level."""
    low, high = easy[0] + level * (hard[0] - easy[0]), easy[1] + level * (hard[1] - easy[1])
    return low + (high - low) * uniform(e)


@kernel
def _roll_ball(
    e: MotionEpisode, s: PolicyState, state: tuple[Floats, Floats], r: MotionRewards, p: MotionPlans
) -> None:
    """Lets a ball roll towards the line on which a robot stands, so that it passes to the left of it."""
    q, v = state
    side = _between(e, EASY_SIDE, WIDE_SIDE, r.level)
    e.passes = _between(e, EASY_TIME, QUICK_TIME, r.level)
    speed = _between(e, ROLLING_SPEED, ROLLING_SPEED, 0.0)
    # A rolling ball loses speed in proportion to it; its spin is that of rolling, so that it does not slide at first.
    way, angle = speed * (1.0 - math.exp(-DAMPING * e.passes)) / DAMPING, e.yaw + ROLLING_ANGLE * signed(e)
    cos, sin = math.cos(e.yaw), math.sin(e.yaw)
    along, across = math.cos(angle), math.sin(angle)
    x, y = e.origin[0] - sin * side, e.origin[1] + cos * side
    e.ball[0], e.ball[1] = x + way * along, y + way * across
    at, rate = p.ball, p.ball_rate
    q[at], q[at + 1], q[at + 2] = e.ball[0], e.ball[1], RADIUS
    q[at + 3], q[at + 4], q[at + 5], q[at + 6] = 1.0, 0.0, 0.0, 0.0
    v[rate], v[rate + 1], v[rate + 2] = -speed * along, -speed * across, 0.0
    v[rate + 3], v[rate + 4], v[rate + 5] = speed * across / RADIUS, -speed * along / RADIUS, 0.0
    # The robot knows only about where the ball will pass.
    s.task[BALL + 1] = (side - p.places[e.motion, 1] + r.unsure * about_normal(e)) / BALL_SCALE


@kernel
def begin_motions(
    rows: Indices,
    state: tuple[Floats, Floats],
    stored: tuple[Floats, Floats, Indices],
    body: Body,
    p: MotionPlans,
    robots: Robots,
    out: Floats32,
) -> None:
    """Puts robots `rows` (n,) into stored states, and begins their episodes.

    Args:
        rows: which, (n,).
        state: configurations (N, nq) and velocities (N, nv); changed.
        stored: `States`.
        body: see above.
        p: the motions.
        robots: see above, (N,) each; changed.
        out: what the networks see, (n, observations); changed.
    """
    at, t, r = body[0][0], body[1][0], body[2][0]
    for place in range(len(rows)):
        row = rows[place]
        e, s, q, v = robots[0][row], robots[1][row], state[0][row], state[1][row]
        chosen = int(uniform(e) * len(stored[0]))
        q[:], v[:] = stored[0][chosen], stored[1][chosen]
        e.cycle, e.hit = 0, 0
        e.motion = p.assigned[row] if p.assigned[row] >= 0 else stored[2][chosen]
        e.pace = pace_of(p.ends[e.motion, p.frames[e.motion] - 1], r)
        e.yaw = heading(q, at.root)
        e.origin[0], e.origin[1] = q[at.root], q[at.root + 1]
        for i in range(3):
            s.gyro[i], e.last[i] = v[at.rate + 3 + i], v[at.rate + i]
        s.up[0], s.up[1], s.up[2] = upward((q[at.root + 3], q[at.root + 4], q[at.root + 5], q[at.root + 6]))
        for i in range(t.motors):
            # States differ a little from each other however often they are used.
            angle = q[at.moved[i]] + 0.01 * about_normal(e)
            angle = min(max(angle, t.lowest[i] + 0.002), t.highest[i] - 0.002)
            q[at.moved[i]] = angle
            s.angles[i], s.before[i], s.action[i], e.pending[i], e.start[i] = angle, angle, 0.0, 0.0, angle
        e.head[0], e.head[1] = 0.3 * signed(e), 0.3 * signed(e)
        s.task[BALL], s.task[BALL + 1] = 0.0, 0.0
        s.task[KIND] = 0.0 if p.kicks or p.dives else (1.0 if stored[2][chosen] == 0 else -1.0)
        if p.dives:
            _roll_ball(e, s, (q, v), r, p)
        elif p.kicks:
            off = 0.2 * r.tolerance + 0.8 * r.level * r.tolerance
            x, y = off * signed(e), off * signed(e)
            ahead, left = p.places[e.motion, 0] + x, p.places[e.motion, 1] + y
            cos, sin = math.cos(e.yaw), math.sin(e.yaw)
            e.ball[0], e.ball[1] = e.origin[0] + cos * ahead - sin * left, e.origin[1] + sin * ahead + cos * left
            q[p.ball], q[p.ball + 1] = e.ball[0], e.ball[1]
            for i in range(6):
                v[p.ball_rate + i] = 0.0
            # The robot knows only about where it lies.
            s.task[BALL] = (x + r.unsure * about_normal(e)) / BALL_SCALE
            s.task[BALL + 1] = (y + r.unsure * about_normal(e)) / BALL_SCALE
        set_progress(s, min(t.period / duration(e, p), 1.0))
        observe(s, t, out[place])


@kernel
def _frame_at(e: MotionEpisode, p: MotionPlans, seconds: float, joint: int, off: tuple[float, float]) -> float:
    """The target of one joint so long after the beginning, for a ball that is seen `off` its place [rad]."""
    before, since = e.start[joint], 0.0
    for frame in range(p.frames[e.motion]):
        slope = p.slopes[e.motion, frame, joint]
        end = p.ends[e.motion, frame] / e.pace
        pose = p.poses[e.motion, frame, joint] + slope[0] * off[0] + slope[1] * off[1]
        if seconds <= end:
            return float(before + (seconds - since) / (end - since) * (pose - before))
        before, since = pose, end
    return float(before)


@kernel
def command_motions(
    actions: Floats32, qpos: Floats, body: Body, p: MotionPlans, robots: Robots, commands: Floats
) -> None:
    """Commands of the motors in the next cycle, (N, motors): those that were decided a cycle ago."""
    at, t = body[0][0], body[1][0]
    for n in range(len(actions)):
        e, s = robots[0][n], robots[1][n]
        command_pending(qpos[n], at, t, e, commands[n])
        smooth(s, t, actions[n])
        seconds, whole = (e.cycle + 1) * t.period, duration(e, p)
        share = min((seconds - whole) / STEADY_TIME, 1.0)
        share = share * share * (3 - 2 * share)
        off = s.task[BALL] * BALL_SCALE, s.task[BALL + 1] * BALL_SCALE
        for i in range(t.motors):
            if seconds <= whole + 1e-9:
                goal = _frame_at(e, p, seconds, i, off) + t.reach[i] * s.action[i]
            else:
                # The motion is over: from where its joints are into the stance, as `Skills` does.
                if seconds - t.period <= whole + 1e-9:
                    e.start[i] = s.angles[i]
                goal = e.start[i] + share * (t.home[i] - e.start[i])
            goal = min(max(goal, t.lowest[i] + STOP_MARGIN), t.highest[i] - STOP_MARGIN)
            e.pending[i] = min(max((goal - s.angles[i]) / t.period, -t.fastest[i]), t.fastest[i])


@kernel
def ball_way(q: Floats, v: Floats, e: MotionEpisode, p: MotionPlans) -> tuple[float, float]:
    """How far a ball will have come when it rests: ahead of where the robot faced, and to the left [m]."""
    at, rate = p.ball, p.ball_rate
    x, y = rest_of_ball(
        (q[at], q[at + 1], q[at + 2]),
        (v[rate], v[rate + 1], v[rate + 2]),
        spin_in_world((q[at + 3], q[at + 4], q[at + 5], q[at + 6]), (v[rate + 3], v[rate + 4], v[rate + 5])),
    )
    x, y = x - e.ball[0], y - e.ball[1]
    cos, sin = math.cos(e.yaw), math.sin(e.yaw)
    ahead, left = cos * x + sin * y, cos * y - sin * x
    return min(max(ahead, -FAR_AWAY), FAR_AWAY), min(max(left, -FAR_AWAY), FAR_AWAY)


@kernel
def _observe_truth(q: Floats, v: Floats, at: Any, p: MotionPlans, e: MotionEpisode, out: Floats32) -> None:  # noqa: ANN401
    """What only the critic sees, (10,)."""
    cos, sin = math.cos(e.yaw), math.sin(e.yaw)
    x, y = v[at.rate], v[at.rate + 1]
    out[0], out[1], out[2] = cos * x + sin * y, cos * y - sin * x, v[at.rate + 2]
    out[3], out[4] = q[at.root + 2], wrap_angle_exactly(heading(q, at.root) - e.yaw)
    if p.kicks or p.dives:
        far = DIVE_BALL_RANGE if p.dives else KICK_BALL_RANGE
        x, y = q[p.ball] - q[at.root], q[p.ball + 1] - q[at.root + 1]
        out[5], out[6] = min(cos * x + sin * y, far), min(max(cos * y - sin * x, -far), far)
        x, y = v[p.ball_rate], v[p.ball_rate + 1]
        out[7], out[8], out[9] = cos * x + sin * y, cos * y - sin * x, v[p.ball_rate + 2]


@kernel
def _has_passed(q: Floats, e: MotionEpisode, p: MotionPlans) -> bool:
    """Whether the ball of a dive is behind the line on which the robot stood."""
    x, y = q[p.ball] - e.origin[0], q[p.ball + 1] - e.origin[1]
    return bool(math.cos(e.yaw) * x + math.sin(e.yaw) * y < -PASSED_DISTANCE)


@kernel
def judge_motions(
    qpos: Floats, qvel: Floats, body: Body, p: MotionPlans, robots: Robots, results: tuple[Any, Any, Any, Any]
) -> None:
    """Senses, rewards and ends of N robots after a cycle, and what they see then.

    Args:
        qpos: configurations, (N, nq).
        qvel: velocities, (N, nv).
        body: see above.
        p: the motions.
        robots: see above, (N,) each; changed.
        results: rewards (N,), ends (N,), truths (N, 10) and observations (N, ...); changed.
    """
    reward, ended, truth, out = results
    at, t, r = body[0][0], body[1][0], body[2][0]
    for n in range(len(reward)):
        e, s, q, v = robots[0][n], robots[1][n], qpos[n], qvel[n]
        e.cycle += 1
        sense(q, v, body, e, s)
        whole = duration(e, p)
        up = upward((q[at.root + 3], q[at.root + 4], q[at.root + 5], q[at.root + 6]))[2]
        high = q[at.root + 2] / r.stand_height
        total = 0.0
        for i in range(t.motors):
            total -= r.action * s.action[i] ** 2 / t.motors
        if not p.kicks and not p.dives:
            total += r.upright * up + r.height * min(high, 1.0)
        reward[n] = total * t.period
        if p.dives:
            passed = _has_passed(q, e, p)
            ended[n] = passed or e.cycle * t.period >= max(e.passes + SAVED_TIME, whole)
            if ended[n]:
                reward[n] += -r.fall if passed else r.saved
                e.tried += 1
                e.saved += int(not passed)
            _observe_truth(q, v, at, p, e, truth[n])
            set_progress(s, min((e.cycle + 1) * t.period / whole, 1.0))
            observe(s, t, out[n])
            continue
        over = e.cycle >= int(whole / t.period) + r.standing
        fell = p.kicks and (up < FALLEN_UP or high < FALLEN_HEIGHT)
        if p.kicks and e.hit == 0 and abs(v[p.ball_rate]) + abs(v[p.ball_rate + 1]) > MOVES:
            e.hit = e.cycle
        enough = r.watched > 0 and e.hit > 0 and e.cycle >= e.hit + r.watched
        # The ball of a robot that falls may still be hit.
        ended[n] = over or enough or (fell and (e.hit > 0 or e.cycle * t.period > whole))
        if ended[n]:
            rates = math.sqrt(v[at.rate + 3] ** 2 + v[at.rate + 4] ** 2)
            stands = (up > STANDS_UP and high > STANDS_HEIGHT and rates < STANDS_RATE) or (enough and not fell)
            reward[n] += (0.0 if p.kicks else r.stood) if stands else -r.fall
            e.tried += 1
            e.stood += int(stands)
            if p.kicks:
                ahead, left = ball_way(q, v, e, p)
                reward[n] += r.metre * (ahead - abs(left))
                e.distance += ahead
                e.aside += abs(left)
        _observe_truth(q, v, at, p, e, truth[n])
        set_progress(s, min((e.cycle + 1) * t.period / whole, 1.0))
        observe(s, t, out[n])
