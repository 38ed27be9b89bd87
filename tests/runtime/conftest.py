"""A running lobby for each test that calls one."""

from collections.abc import AsyncIterator

import pytest

from tests.runtime.lobby_server import LobbyServer, running_lobby


@pytest.fixture
async def lobby() -> AsyncIterator[LobbyServer]:
    async with running_lobby() as opened:
        yield opened
