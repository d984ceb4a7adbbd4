"""The command line, as ``python -m gpustats``."""

import sys

from .commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
