"""The page around a report: one look for all of them, in light and in dark as the reader's system is set.

    sheet("Servo", "<main><section>...</section></main>", style=".columns { display: flex }")

Pictures that take their colours from it (`fit_plots.svg`) follow. The body must be escaped already.
"""

from __future__ import annotations

from html import escape
from importlib import resources


def sheet(title: str, body: str, *, style: str = "") -> str:
    """A whole page with a body, and with what of its style is its own."""
    common = (resources.files("nutmeg.view") / "fit_page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title>\n<style>\n{common}{style}</style></head>\n<body>{body}</body></html>\n"
    )
