"""Pages in plain light, for processes whose `PYTHONPATH` begins with this folder: Python imports it when it starts.

Where no graphics card helps, the surroundings that pages mirror take seconds to prepare, and shadows take most of every
frame. Tests of what a page does need neither; those of how it looks leave this folder out.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

STAGE = "nutmeg.view.stage"


def plain(light: Callable[[Any], None]) -> Callable[[Any], None]:
    """A stage's light without what is mirrored and without shadows."""

    def light_plainly(server: Any) -> None:
        light(server)
        server.scene.configure_environment_map(None)
        server.scene.configure_default_lights(enabled=True, cast_shadow=False)

    return light_plainly


class PlainLight(MetaPathFinder):
    """Changes the stage when it is imported; what does not import it pays nothing."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != STAGE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        assert spec is not None
        assert spec.loader is not None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            module._light = plain(module._light)  # type: ignore[attr-defined]

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, PlainLight())
