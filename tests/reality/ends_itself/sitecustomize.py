"""Searches that end themselves at an exact moment, for processes whose `PYTHONPATH` begins with this folder.

`END_WITH="SIGKILL 3"` sends the process that signal when three generations are saved; `END_WITH="FULL 3"` lets the disk
be full from then on. A third word tells the search, by a part of its path. Whoever sends a signal from outside may come
too late on a busy computer.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

CHECKPOINT = "nutmeg.search.checkpoint"
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


class EndsItself(MetaPathFinder):
    """Changes the checkpoint when it is imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != CHECKPOINT:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        assert spec is not None
        assert spec.loader is not None
        execute = spec.loader.exec_module
        how, count, *part = os.environ["END_WITH"].split()

        def exec_module(module: ModuleType) -> None:
            execute(module)
            module.Checkpoint.append = ending(module.Checkpoint.append, how, int(count), *part)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if __name__ == "sitecustomize" and "END_WITH" in os.environ:
    sys.meta_path.insert(0, EndsItself())
