"""Lets the tests find the package, also without an installation, and the modules beside them."""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]
