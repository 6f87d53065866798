"""Motors and gears as MoToFlex prints them, in worlds that have them: the actuation `motoflex-paper`.

    scene = assemble(SceneSettings(robots=(Placement(robot="nao-v6", actuation="motoflex-paper"),), timestep=0.001))
    worlds = Worlds(scene, 64, threads=2)       # installs what the motors need; commands are angles as always

The reference for the native `motoflex`: algorithms 1 and 2 of the paper (see `paper_motor_kernels`, which also says
what differs), run beside the engine by its control callback, as a C function that needs no Python lock. Each
motor's torque T_j is the activation of its actuator, so `actuator_force` shows it.

MuJoCo has one control callback for the whole process. It is installed when the first batch of worlds with such
motors is made and removed when the last is gone; it looks at no model but those with such motors. Someone
else's callback is never replaced: making the worlds fails instead, and so does stepping them after someone
else has replaced ours. To step such a model without `Worlds`:

    install_for(data, scene.model)              # as long as `data` lives
    mujoco.mj_step(scene.model, data)
"""

from __future__ import annotations

import threading
import weakref
from functools import cache
from typing import TYPE_CHECKING, Any

import mujoco

from nutmeg.base.errors import ModelError, SimulationError
from nutmeg.model.actuation.printed import SIGNATURE, is_printed, userdata_of

if TYPE_CHECKING:
    pass

_USERS: set[int] = set()
"""Who needs the callback: as global as the engine's own variable that it keeps account of."""
_LOCK = threading.RLock()
"""Reentrant: the garbage collector may release a batch while another is made."""


def printed_count(model: mujoco.MjModel) -> int:
    """Number of printed motors of a model."""
    kinds, numbers = model.actuator_dyntype, model.actuator_dynprm
    return sum(is_printed(kinds[a], numbers[a, SIGNATURE]) for a in range(model.nactuator))


def install_for(owner: object, model: mujoco.MjModel) -> bool:
    """Lets the motors as printed of a model run as long as an object lives; returns whether it has any."""
    motors = printed_count(model)
    if not motors:
        return False
    if model.nuserdata < userdata_of(motors):
        raise ModelError(
            f"the model has {motors} motors as printed, which need nuserdata = {userdata_of(motors)}; "
            f"it is {model.nuserdata}. Set it in <size>."
        )
    _acquire(id(owner))
    weakref.finalize(owner, _release, id(owner)).atexit = False
    return True


def check_installed() -> None:
    """Raises an error if the callback is no longer ours, so that motors as printed would stand still."""
    if mujoco.get_mjcb_control() is not _callback().ctypes:
        raise SimulationError(
            "mujoco.set_mjcb_control was called while worlds have the actuation motoflex-paper, which needs it. "
            "Use the actuation motoflex beside a control callback of your own."
        )


@cache
def _callback() -> Any:  # noqa: ANN401
    """The compiled callback; compiling takes about a second, once in a process."""
    from nutmeg.sim.paper_motor_kernels import compiled

    return compiled()


def _acquire(user: int) -> None:
    ours = _callback().ctypes
    with _LOCK:
        _USERS.add(user)
        present = mujoco.get_mjcb_control()
        if present is not None and present is not ours:
            _USERS.discard(user)
            raise ModelError(
                "the actuation motoflex-paper needs MuJoCo's control callback, and another one is installed "
                f"({present!r}). Take it out with mujoco.set_mjcb_control(None), or use the actuation motoflex."
            )
        if present is None:
            mujoco.set_mjcb_control(ours)


def _release(user: int) -> None:
    with _LOCK:
        _USERS.discard(user)
        if not _USERS and mujoco.get_mjcb_control() is _callback().ctypes:
            mujoco.set_mjcb_control(None)
