"""Whether this environment has the MuJoCo that Nutmeg is made for.

`mujoco` 3 and `mujoco-core` 4 install into the same folder: whichever comes last overwrites files of the other, pip
says nothing, and what is left of both fails with an AttributeError somewhere. Programs that pin `mujoco` 3 (rcsssmj,
metaworld) therefore need an environment of their own.

    check_mujoco()                      # EnvironmentProblem, if there is anything wrong

The first start in an environment compiles kernels, which takes minutes. Programs that report this register a callback:

    ON_COMPILED.append(lambda count: print(count, "functions compiled"))
"""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING

from nutmeg.base.errors import EnvironmentProblem

if TYPE_CHECKING:
    from collections.abc import Callable

ON_COMPILED: list[Callable[[int], object]] = []
"""Called whenever a kernel had to be compiled, with the number of kernels that this process has compiled so far."""
_MUJOCO_MAJOR = 4  # the major version of MuJoCo whose names and memory layout Nutmeg uses
_REPAIR = "pip uninstall -y mujoco mujoco-core && pip install 'mujoco-core>=4.0,<5'"
"""The command that installs the right MuJoCo again."""


def mujoco_problem() -> str:
    """The problem of the installed MuJoCo and its cure in one sentence; empty if there is none."""
    found = {name: version for name in ("mujoco", "mujoco-core") if (version := _version(name))}
    others = [f"{name} {version}" for name, version in found.items() if _major(version) != _MUJOCO_MAJOR]
    spec = find_spec("mujoco")
    if not others and spec is not None and spec.origin is not None:
        return ""
    what = (
        f"this environment has {' and '.join(others)}, and Nutmeg needs MuJoCo {_MUJOCO_MAJOR}; use an environment of "
        "its own for each"
        if others
        else "MuJoCo is missing or only half installed in this environment"
    )
    return f"{what}, or make it whole again: {_REPAIR}"


def check_mujoco() -> None:
    """Raises `EnvironmentProblem` if the installed MuJoCo is not the one that Nutmeg needs."""
    if problem := mujoco_problem():
        raise EnvironmentProblem(problem)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _major(version: str) -> int:
    first = version.partition(".")[0]
    return int(first) if first.isdigit() else -1
