"""The references of all families: see `families.py`."""

import importlib
from pathlib import Path

#: Name -> reference
FAMILIES = {}
for _path in sorted(Path(__file__).parent.glob("family_*.py")):
    FAMILIES |= importlib.import_module(_path.stem).REFERENCES
