"""The engine's control callback: code of Nutmeg that runs inside every step of MuJoCo.

    install_for(batch, model)               # as long as the batch lives; `Worlds` does it
    check_installed()                       # an error if other code has replaced it

Two things need it, as C functions without Python's lock: motors as MoToFlex prints them (`paper_motors`), and steps as
the league's engine does them (`ode_step`). MuJoCo has one control callback for the whole process. It is installed when
the first batch of worlds that needs it is made and removed when the last is gone; it does nothing to other models.
A callback of other code is never replaced: making the worlds fails instead, and so does stepping them after other code
has replaced this callback. To step such a model without `Worlds`:

    install_for(data, scene.model)          # as long as `data` lives
    mujoco.mj_step(scene.model, data)
"""

from __future__ import annotations

import threading
import weakref
from functools import cache
from typing import Any

import mujoco

from nutmeg.base.errors import ModelError, SimulationError
from nutmeg.model.actuation.printed import SIGNATURE, is_printed, userdata_of
from nutmeg.model.ode import is_ode

_USERS: dict[int, str] = {}
"""The objects that need the callback, by id, and what for; global because the engine's callback is global."""
_LOCK = threading.RLock()  # reentrant: the garbage collector may release a batch while another is made
MOTORS, STEPS = "the actuation motoflex-paper", "the physics profile league"


def printed_count(model: mujoco.MjModel) -> int:
    """Number of printed motors of a model."""
    kinds, numbers = model.actuator_dyntype, model.actuator_dynprm
    return sum(is_printed(kinds[a], numbers[a, SIGNATURE]) for a in range(model.nactuator))


def install_for(owner: object, model: mujoco.MjModel) -> bool:
    """Installs the callback that a model needs for as long as `owner` lives; returns whether it needs one."""
    motors = printed_count(model)
    if not motors and not is_ode(model):
        return False
    if motors and model.nuserdata < userdata_of(motors):
        raise ModelError(
            f"the model has {motors} motors as printed, which need nuserdata = {userdata_of(motors)}; "
            f"it is {model.nuserdata}. Set it in <size>."
        )
    _acquire(id(owner), MOTORS if motors else STEPS)
    weakref.finalize(owner, _release, id(owner)).atexit = False
    return True


def check_installed() -> None:
    """Raises an error if other code has replaced the callback, because motors that need it would stand still."""
    if mujoco.get_mjcb_control() is not _wanted():
        needs = " and ".join(sorted(set(_USERS.values())))
        raise SimulationError(
            f"mujoco.set_mjcb_control was called while worlds have {needs}, which needs it. Beside a control callback "
            f"of your own, use the actuation motoflex, or the physics profile fine."
        )


def _wanted() -> Any:  # noqa: ANN401
    """The callback that the present users need; None without users."""
    needs = set(_USERS.values())
    return _callback(motors=MOTORS in needs, steps=STEPS in needs).ctypes if needs else None


@cache
def _callback(*, motors: bool, steps: bool) -> Any:  # noqa: ANN401
    """The compiled callback; motors take about a second, once in a process."""
    from numba import cfunc, types

    parts = []
    if motors:
        from nutmeg.sim.paper_motors import compiled

        parts.append(compiled())
    if steps:
        from nutmeg.sim.ode_step import compiled_for_all_models

        parts.append(compiled_for_all_models())
    first, last = parts[0], parts[-1]
    if first is last:

        def control(model: int, data: int) -> None:
            first(model, data)
    else:

        def control(model: int, data: int) -> None:
            first(model, data)
            last(model, data)

    return cfunc(types.void(types.intp, types.intp))(control)


def _acquire(user: int, need: str) -> None:
    with _LOCK:
        ours, present = _wanted(), mujoco.get_mjcb_control()
        if present is not None and present is not ours:
            raise ModelError(
                f"{need} needs MuJoCo's control callback, and another one is installed ({present!r}). Take it out "
                f"with mujoco.set_mjcb_control(None), or use the actuation motoflex or the physics profile fine."
            )
        _USERS[user] = need
        if present is not _wanted():
            mujoco.set_mjcb_control(_wanted())


def _release(user: int) -> None:
    with _LOCK:
        ours = _wanted()
        _USERS.pop(user, None)
        if mujoco.get_mjcb_control() is ours:
            mujoco.set_mjcb_control(_wanted())
