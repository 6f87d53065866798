"""`python -m nutmeg` is the `nutmeg` command."""

import sys

from nutmeg.cli import main

if __name__ == "__main__":
    sys.exit(main())
