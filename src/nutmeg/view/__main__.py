"""`python -m nutmeg.view match.nutmeg --port 8080` shows a recording in the browser; see `pages/server.py`."""

import sys

from nutmeg.view.pages.server import main

if __name__ == "__main__":
    sys.exit(main())
