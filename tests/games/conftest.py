"""Seeds for random tests: a new one each time, printed with the command that repeats it."""

import os
import secrets

import pytest


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Return the seed of this test, from CROUPIER_TEST_SEED if set; pytest shows the printed line of a failed test."""
    given = int(os.environ.get("CROUPIER_TEST_SEED") or secrets.randbelow(1 << 31))
    print(f"repeat with: CROUPIER_TEST_SEED={given} .venv/bin/pytest '{request.node.nodeid}'")
    return given
