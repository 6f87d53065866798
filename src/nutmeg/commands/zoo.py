"""The whole zoo on a pitch, in the browser: an ant walks, a Nao and a T1 wave, one is pushed and falls, the ball rolls.

example: nutmeg zoo
         nutmeg zoo --seconds 20 --record zoo.nutmeg
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nutmeg.base.interrupts import Starting, load_physics
from nutmeg.commands.options import JsonOption, WatchOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nutmeg.model.scene import SceneSettings
    from nutmeg.sim.worlds import Worlds
    from nutmeg.view.terminal import Terminal

FALLEN = 0.5  # a robot whose uprightness is below this has fallen
_ACT = 14.0  # seconds between two pushes
PUSH = (4.0, 0.12, 45.0)  # when in each act, for how long [s] and how hard [N] the Nao is pushed
_BACK_UP = 11.0  # when in each act the fallen Nao is put on its feet again


@dataclass(frozen=True, kw_only=True)
class Arguments(WatchOptions, JsonOption):
    """Options of `nutmeg zoo`."""

    field: str = "spl2011"
    """Field to play on."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Builds the zoo and watches it."""
    with Starting(), terminal.busy("building the zoo"):
        load_physics()
        from nutmeg.model import assemble
        from nutmeg.sim import Worlds
        from nutmeg.view.live import watch

        worlds = Worlds(assemble(zoo(arguments.field)))
    return watch(worlds, _Zoo(worlds), arguments.watching("zoo"), terminal)


def zoo(field: str = "spl2011") -> SceneSettings:
    """The scene of the zoo; each robot is called by its kind."""
    from nutmeg.model import Placement, SceneSettings

    return SceneSettings(
        field=field,
        ball_pos=(-2.2, -0.55),
        robots=(
            Placement(robot="nao-v6", name="nao-v6", pos=(-0.75, 0.55), heading=-1.2, team="blue"),
            Placement(robot="nao-v4", name="nao-v4", pos=(0.75, 0.55), heading=-1.9, team="red"),
            Placement(robot="nao-v3", name="nao-v3", pos=(-1.75, 0.9), heading=-1.0, team="blue"),
            Placement(robot="nao-spark", name="nao-spark", pos=(1.75, 0.9), heading=-2.2, team="red"),
            Placement(robot="ers7", name="ers7", pos=(-1.2, -0.9), heading=-1.3, team="blue"),
            Placement(robot="ers210", name="ers210", pos=(1.3, -0.9), heading=-1.9, team="red"),
            Placement(robot="t1", name="t1", pos=(-0.5, 1.55), heading=-1.4, team="blue"),
            Placement(robot="k1", name="k1", pos=(0.5, 1.5), heading=-1.7, team="red"),
            Placement(robot="robotis-op3", name="robotis-op3", pos=(-2.45, 1.2), heading=-0.9, team="red"),
            Placement(robot="ant", name="ant", pos=(-0.2, -1.5), heading=0.0, team="red"),
        ),
    )


class _Zoo:
    """The robots of the zoo, and their motions."""

    def __init__(self, worlds: Worlds) -> None:
        import numpy as np

        from nutmeg.model.robot import ROBOTS_FOLDER
        from nutmeg.motion.keyframes import SmoothPath, with_changes
        from nutmeg.motion.sinusoid import gait_of, read_gait

        self._worlds = worlds
        self._down = False
        ant, waver = worlds.robot("ant"), worlds.robot("nao-v6")
        self._gait = gait_of(read_gait(ROBOTS_FOLDER / "ant" / "gaits.toml", "tripod"), ant.table, ant.start)
        up = {"RShoulderPitch": -1.1, "RShoulderRoll": -0.35, "RElbowYaw": 0.3}
        left, right = {**up, "RElbowRoll": 0.35, "HeadYaw": 0.25}, {**up, "RElbowRoll": 1.25, "HeadYaw": -0.25}
        poses = [waver.start, *(with_changes(waver.table, waver.start, p) for p in (left, right, left))]
        self._wave = SmoothPath([0.0, 1.0, 1.45, 1.9], poses, repeat_from=1.0)
        self._heads = [(worlds.robot(n), *_head(worlds.robot(n).table.motors)) for n in ("ers7", "ers210")]
        tall, small = worlds.robot("t1"), worlds.robot("k1")
        raised = {"Right_Shoulder_Pitch": -0.6, "Right_Shoulder_Roll": -0.6, "Right_Elbow_Yaw": 0.4}
        poses = [tall.start, *(with_changes(tall.table, tall.start, {**raised, "AAHead_yaw": p}) for p in (0.4, -0.4))]
        self._greeting = SmoothPath([0.0, 1.5, 3.0, 4.5], [*poses, poses[1]], repeat_from=1.5)
        poses = [with_changes(small.table, small.start, {"Head_pitch": p}) for p in (0.0, 0.5, 0.0)]
        self._nod = SmoothPath([0.0, 1.0, 2.0], poses, repeat_from=0.0)
        self._ball_speed = np.array([1.6, 0.35, 0.0])
        self._ant_home = ant.pose[0].copy()

    def cycle(self, time: float) -> Iterator[tuple[str, dict[str, object]]]:
        """Commands of one control cycle."""
        worlds = self._worlds
        worlds.robot("ant").command = self._gait.angles(time)
        worlds.robot("nao-v6").command = self._wave.angles(time)
        worlds.robot("t1").command = self._greeting.angles(time)
        worlds.robot("k1").command = self._nod.angles(time)
        for dog, pan, tail in self._heads:
            dog.command[:, pan] = dog.start[pan] + 0.5 * math.sin(1.3 * time)
            dog.command[:, tail] = dog.start[tail] + 0.35 * math.sin(9 * time)
        yield from self._push(time)
        yield from self._roll(time)

    def _push(self, time: float) -> Iterator[tuple[str, dict[str, object]]]:
        faller, act = self._worlds.robot("nao-v4"), math.fmod(time, _ACT)
        start, length, force = PUSH
        pushing = start <= act < start + length
        if pushing and abs(act - start) < 1e-6:
            yield "push", {"robot": "nao-v4", "text": f"nao-v4 is pushed with {force:.0f} N"}
        faller.push((force, 0.0, 0.0) if pushing else (0.0, 0.0, 0.0))
        down = bool(faller.uprightness()[0] < FALLEN)
        if down and not self._down:
            yield "fall", {"robot": "nao-v4", "text": "nao-v4 falls"}
        self._down = down
        if abs(act - _BACK_UP) < 1e-6 and down:
            x, y = (float(v) for v in self._worlds.scene.start[faller.table.root : faller.table.root + 2])
            faller.activate(x, y, -1.9)
            yield "stand", {"robot": "nao-v4", "text": "nao-v4 is put on its feet"}

    def _roll(self, time: float) -> Iterator[tuple[str, dict[str, object]]]:
        """Kicks the ball off at the start of every act, and brings the ant home before it leaves the carpet."""
        worlds = self._worlds
        if math.fmod(time, _ACT) < 1e-6:
            worlds.put_ball((*worlds.scene.settings.ball_pos,), self._ball_speed)
            yield "kick", {"text": "the ball rolls"}
        ant = worlds.robot("ant")
        if abs(ant.pose[0, 0] - self._ant_home[0]) > 2.6 or abs(ant.pose[0, 1] - self._ant_home[1]) > 1.2:
            ant.pose[0] = self._ant_home


def _head(motors: tuple[str, ...]) -> tuple[int, int]:
    """Indices of a dog's neck pan and tail pan."""
    names = [m.lower() for m in motors]
    pan = next(i for i, n in enumerate(names) if "neck" in n and "pan" in n)
    tail = next(i for i, n in enumerate(names) if "tail" in n and "pan" in n)
    return pan, tail
