"""Programs for tests that no Python package contains."""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

REQUIRED = os.environ.get("CROUPIER_TEST_PROGRAMS") == "required"
"""Whether a missing program is a failure, as in `.ci/run`, instead of a skipped test."""


def program(*names: str, install: str) -> Path:
    """Return the path of the first of these programs that is installed; skips the test if none is.

    `install` is the command that installs it, for example `apt-get install chromium`.
    """
    found = next((path for name in names if (path := shutil.which(name))), None)
    return Path(found) if found else missing(f"{' or '.join(names)} is not installed: {install}")


def missing(message: str) -> NoReturn:
    """Skip the test, or fail if every program is required; `message` names the program and its installation."""
    if REQUIRED:
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
