"""HTML from templates: the only module of the viewer that uses jinja2.

    render("driving_pad.html.j2", cells=CELLS)           # text in the values is escaped

Templates, scripts and style sheets lie in `templates/`.
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2


def render(template: str, **values: Any) -> str:  # noqa: ANN401
    """A template filled with values; all text is escaped, and a value that is missing is an error."""
    return _environment().get_template(template).render(**values)


def read_text(name: str) -> str:
    """A file of `templates/`, such as a script."""
    return (resources.files("nutmeg.view") / "templates" / name).read_text(encoding="utf-8")


def script_json(value: object) -> str:
    """JSON that may stand inside a `<script>` element: nothing in it ends the element."""
    return json.dumps(value).replace("</", "<\\/")


def script_frame(title: str, *, script: str, style: str = "") -> str:
    """HTML that adds a script (and a style sheet) to the page once it is shown.

    A browser does not run scripts of HTML that is put into a page later, but it runs those of a frame: a hidden frame
    hands the script to the page.
    """
    return render(
        "script_frame.html.j2",
        title=title,
        script=script_json(read_text(script)),
        style=style and script_json(read_text(style)),
    )


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("nutmeg.view", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
