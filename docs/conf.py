"""How the documentation is built: `make docs`, then open `docs/_build/html/index.html`."""

import sys
from pathlib import Path

from nutmeg import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Nutmeg"
author = "The Nutmeg developers"
copyright = "The Nutmeg developers, Apache-2.0"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "tables", "docstrings", "mathml", "datapath"]
exclude_patterns = ["_build", "reference/generated", "benchmarks-results.md"]
language = "en-GB"

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
suppress_warnings = ["ref.python"]  # several settings have a field `type`, which autodoc takes for Python's own
python_maximum_signature_line_length = 100

html_theme = "furo"
html_title = f"Nutmeg {release}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["nutmeg.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1d6b42", "color-brand-content": "#1d6b42"},
    "dark_css_variables": {"color-brand-primary": "#6fcf97", "color-brand-content": "#6fcf97"},
}
