"""An ant walks its tripod gait for ten seconds in 16 worlds, each with other friction; world 0 is recorded."""

from pathlib import Path

import numpy as np

from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.model.robot import ROBOTS_FOLDER
from nutmeg.motion.sinusoid import gait_of, read_gait
from nutmeg.sim import Worlds
from nutmeg.sim.schedule import Schedule
from nutmeg.sim.trace import TraceWriter

scene = assemble(SceneSettings(field="floor", robots=(Placement(robot="ant", name="ant"),)))
worlds = Worlds(scene, count=16, threads=2)
friction = np.linspace(0.1, 1.0, worlds.count)
worlds.vary("ant", "foot.friction", friction)
ant = worlds.robot("ant")
gait = gait_of(read_gait(ROBOTS_FOLDER / "ant" / "gaits.toml", "tripod"), ant.table, ant.start)
schedule = Schedule(worlds)
with TraceWriter(Path("ant.nutmeg"), worlds, world=0, overwrite=True) as trace:
    schedule.every(0.02, lambda now: setattr(ant, "command", gait.angles(now)))
    schedule.every(0.02, trace.sample)
    schedule.run(10.0)
for mu, metres in zip(friction, ant.pose[:, 0], strict=True):
    print(f"friction {mu:.2f}: {metres:.2f} m")
