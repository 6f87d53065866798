"""Nutmeg altered for a test, in processes whose `PYTHONPATH` begins with this folder: Python imports it at its start.

`END_WITH="SIGKILL 3"` sends the process that signal when three generations of a search are saved; `END_WITH="FULL 3"`
lets the disk be full from then on. A third word tells the search, by a part of its path. Whoever sends a signal from
outside may come too late on a busy computer.

`PLAIN_LIGHT=1` leaves out what pages mirror and their shadows: where no graphics card helps, the one takes seconds to
prepare, and the other most of every frame. Tests of what a page does need neither; those of how it looks keep them.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ROOM = 700
"""Bytes that a full disk still takes: half a generation."""


def ending(append: Callable[[Any, Any], None], how: str, count: int, part: str = "") -> Callable[[Any, Any], None]:
    """What saves a generation, and then ends the process if it was the last."""
    saved: list[object] = []

    def append_and_end(self: Any, told: Any) -> None:
        append(self, told)
        saved.extend([told] if part in str(self.path) else [])
        if part in str(self.path) and len(saved) == count:
            if how == "FULL":
                room = self.path.stat().st_size + ROOM
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            else:
                os.kill(os.getpid(), getattr(signal, how))

    return append_and_end


def plain(light: Callable[[Any], None]) -> Callable[[Any], None]:
    """A stage's light without what is mirrored and without shadows."""

    def light_plainly(server: Any) -> None:
        light(server)
        server.scene.configure_environment_map(None)
        server.scene.configure_default_lights(enabled=True, cast_shadow=False)

    return light_plainly


def end_itself(checkpoint: Any) -> None:
    how, count, *part = os.environ["END_WITH"].split()
    checkpoint.Checkpoint.append = ending(checkpoint.Checkpoint.append, how, int(count), *part)


def light_plainly(stage: Any) -> None:
    stage._light = plain(stage._light)


ALTERATIONS = {
    "END_WITH": ("nutmeg.search.run", end_itself),
    "PLAIN_LIGHT": ("nutmeg.view.stage.stage", light_plainly),
}
"""By the variable that asks for it: the module, and what is done to it."""


class Altering(MetaPathFinder):
    """Changes modules when they are imported; what does not import them pays nothing."""

    def __init__(self, alterations: Mapping[str, Callable[[Any], None]]) -> None:
        self._alterations = dict(alterations)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        alter = self._alterations.pop(fullname, None)
        if alter is None:
            return None
        spec = importlib.util.find_spec(fullname)
        assert spec is not None
        assert spec.loader is not None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            alter(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, Altering(dict(one for asked, one in ALTERATIONS.items() if asked in os.environ)))
