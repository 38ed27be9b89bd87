"""Seeds for random tests, a clock that the event loop follows, and an engine on fakes."""

import asyncio
import os
import secrets

import pytest

from tests.engine.fakes import Bench, FakeClock, FakeScoring, MemoryTableStore, bench


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of this test, from CROUPIER_TEST_SEED if that is set; pytest shows the line when the test fails."""
    given = int(os.environ.get("CROUPIER_TEST_SEED") or secrets.randbelow(1 << 31))
    print(f"repeat with: CROUPIER_TEST_SEED={given} .venv/bin/pytest '{request.node.nodeid}'")
    return given


@pytest.fixture
async def engine() -> Bench:
    clock = FakeClock()
    clock.drive(asyncio.get_running_loop())
    return bench(clock, MemoryTableStore(), FakeScoring())
