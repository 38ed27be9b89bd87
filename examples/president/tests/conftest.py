"""Seeds of random tests."""

import os
import secrets

import pytest


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Return the seed of this test, from CROUPIER_TEST_SEED if set; pytest shows the line when the test fails."""
    given = int(os.environ.get("CROUPIER_TEST_SEED") or secrets.randbelow(1 << 31))
    print(f"repeat with: CROUPIER_TEST_SEED={given} .venv/bin/pytest '{request.node.nodeid}'")
    return given
