"""Docstrings of this project, written as plain text with Markdown's backticks, made ready for Sphinx.

Indented examples become code blocks, `Args:` become parameters, tables with bars become tables, stray stars and
bars are escaped. Single backticks need nothing: they are code by the configuration's default role.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_CODE = re.compile(r"^(\[+\w|\w[\w.]* = |\w[\w.]*\(|with |for |from |import )")


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers both conversions."""
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _process(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:  # noqa: ARG001
    lines[:] = _converted(_indented_examples(lines) if what == "module" else list(lines))


def _signature(
    app: Sphinx,  # noqa: ARG001
    what: str,  # noqa: ARG001
    name: str,  # noqa: ARG001
    obj: object,  # noqa: ARG001
    options: object,  # noqa: ARG001
    signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None]:
    """Defaults made by a factory are empty mappings here; Sphinx cannot read `<factory>`."""
    return (signature.replace("<factory>", "{}") if signature else signature), returns


def _indented_examples(lines: list[str]) -> list[str]:
    """Examples that a formatter has moved to the margin, indented again."""
    if any(line.startswith("    ") for line in lines):
        return list(lines)
    out, code = lines[:2], False
    for line in lines[2:]:
        if not code and _CODE.match(line):
            code = True
        elif code and line and out[-1] == "" and not _CODE.match(line):
            code = False
        out.append(f"    {line}" if code and line else line)
    return out


def _converted(lines: list[str]) -> list[str]:
    out: list[str] = []
    block = section = ""
    for line in lines:
        indented = line.startswith("    ")
        if line in ("Args:", "Returns:"):
            section = line
            continue
        if line and not indented:
            block = section = ""
        if section:
            out.append(_field(line, section))
        elif line.startswith(("| ", "|-")):
            out += _table_row(line, first=not (out and out[-1].startswith(("     - ", "   * - "))))
        else:
            if indented and not block and (not out or out[-1] == ""):
                block = ".. code-block:: " + ("text" if _is_prose(line) else "python")
                out += [block, ""]
            out.append(line if block else _escaped(line))
    return [*out, ""]


def _field(line: str, section: str) -> str:
    """A line of a section as a field of reStructuredText."""
    if not line.strip():
        return ""
    if section == "Returns:":
        return f":returns: {_escaped(line.strip())}"
    found = re.match(r"    (\w+): (.*)", line)
    return f":param {found[1]}: {_escaped(found[2])}" if found else f"    {_escaped(line.strip())}"


def _is_prose(line: str) -> bool:
    """Whether a block is a listing or an equation rather than Python."""
    columns = re.search(r"\S {3,}\S", line)  # a table set with spaces
    return bool(columns) or not re.search(r"\w\(|^\s*(with|for|from|import|@)\b| = \w", line)


def _table_row(line: str, *, first: bool) -> list[str]:
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if all(set(cell) <= set("-: ") for cell in cells):
        return []
    head = [".. list-table::", "   :header-rows: 1", ""] if first else []
    cells = ["–" if cell == "-" else cell for cell in cells]  # a lone dash would begin a list
    return [*head, *(f"   * - {c}" if i == 0 else f"     - {c}" for i, c in enumerate(cells))]


def _escaped(line: str) -> str:
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(p if p.startswith("`") else _escape(p) for p in parts)


def _escape(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("|", "\\|")
    text = re.sub(r"(?<!\*)\*(?!\*)", r"\*", text)
    return re.sub(r"(?<=\w)_(?=\W|$)", r"\_", text)
