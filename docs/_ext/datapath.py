"""The directive `datapath`: the way of the data through the code as a picture, checked against the code.

    ```{datapath}
    net.simspark.server.Server.run: waits until the next cycle is due
    match.game.Game.cycle: applies the players' actions and steps the world
    ```

Each line is a box: a function or class of `nutmeg` and what it does with the data. A name that does not exist is a
warning, which `make docs` treats as an error, so that the pictures stay true.
"""

from __future__ import annotations

import html
import importlib
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LOG = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the directive."""
    app.add_directive("datapath", DataPath)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class DataPath(Directive):
    """A chain of boxes, one for each line of its content."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Makes the boxes."""
        boxes = []
        for number, line in enumerate(filter(str.strip, self.content)):
            name, _, text = line.partition(":")
            found = _place(name.strip())
            if found is None:
                LOG.warning("datapath: nutmeg.%s does not exist", name.strip(), location=(None, self.lineno + number))
                continue
            boxes.append(_box(*found, text.strip()))
        return [nodes.raw("", f'<ol class="datapath">{"".join(boxes)}</ol>', format="html")]


def _place(name: str) -> tuple[str, str] | None:
    """The file of a dotted name and the name inside it."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(["nutmeg", *parts[:k]]))
        except ImportError:
            continue
        for part in parts[k:]:
            if not hasattr(thing, part):
                return None
            thing = getattr(thing, part)
        return "/".join(parts[:k]) + ".py", ".".join(parts[k:])
    return None


def _box(file: str, name: str, text: str) -> str:
    chapter = file.split("/", maxsplit=1)[0]
    return (
        f'<li class="datapath-{html.escape(chapter)}"><span class="datapath-file">{html.escape(file)}</span>'
        f'<span class="datapath-name">{html.escape(name)}</span><span>{html.escape(text)}</span></li>'
    )
