"""One engine process for all tests that only talk to it, and one of its own for a test that ends it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.contract.house import Engine, House, visit


@pytest.fixture(scope="session")
def shared_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine.new(tmp_path_factory.mktemp("engine")).start()
    yield engine
    engine.kill()


@pytest.fixture
async def house(shared_engine: Engine) -> AsyncIterator[House]:
    async with visit(shared_engine) as house:
        yield house


@pytest.fixture
def own_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine.new(tmp_path_factory.mktemp("own")).start()
    yield engine
    engine.kill()
