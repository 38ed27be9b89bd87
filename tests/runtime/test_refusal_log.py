"""Refused calls are counted exactly, and logged in a sample."""

import pytest
from structlog.testing import CapturingLogger

from croupier.runtime.admission.budget import SECOND
from croupier.runtime.admission.network import ADDRESS_HEADER
from croupier.runtime.admission.refusal_log import MAX_LINES_AT_ONCE, RefusalLog
from croupier.runtime.errors import LimitReached, NotFound, ServiceError
from croupier_api.v1.errors_pb2 import ERROR_REASON_TOO_MANY_STREAMS, ERROR_REASON_UNKNOWN_TABLE
from tests.runtime.lobby_server import bearer, running_lobby

UNKNOWN = NotFound(ERROR_REASON_UNKNOWN_TABLE, "no such table")


def limited(limit: str) -> ServiceError:
    return LimitReached(ERROR_REASON_TOO_MANY_STREAMS, "too many", metadata={"limit": limit})


def test_a_flood_is_logged_by_a_few_lines_with_the_number_of_the_others() -> None:
    logger, now = CapturingLogger(), 0
    log = RefusalLog(logger, lambda: now)
    for _ in range(10_000):
        log.add(limited("streams"), "192.0.2.0/24")
    assert len(logger.calls) == MAX_LINES_AT_ONCE
    now += SECOND
    log.add(limited("streams"), "")
    log.add(limited("streams"), "")
    first, last = logger.calls[0], logger.calls[-1]
    details = {"reason": "TOO_MANY_STREAMS", "code": "RESOURCE_EXHAUSTED", "limit": "streams"}
    assert first.kwargs == details | {"network": "192.0.2.0/24"}
    assert last.kwargs == details | {"suppressed": 10_000 - MAX_LINES_AT_ONCE}
    # It hides no other refusal.
    for other in (limited("spectators"), UNKNOWN):
        log.add(other, "")
    assert [call.kwargs.get("limit") for call in logger.calls[MAX_LINES_AT_ONCE:]] == ["streams", "spectators", None]


@pytest.mark.parametrize(("error", "count"), [(limited("streams"), 1000), (UNKNOWN, None)])
async def test_every_refusal_by_a_limit_is_counted(error: ServiceError, count: int | None) -> None:
    def refuse() -> None:
        raise error

    async with running_lobby() as lobby:
        lobby.servicer.act = refuse
        sent = (*bearer(), (ADDRESS_HEADER, "192.0.2.1"))
        for _ in range(1000):
            with pytest.raises(Exception, match=error.message):
                await lobby.call("GetTable", sent)
        assert lobby.registry.get_sample_value("croupier_refusals_total", {"limit": "streams"}) == count
        lines = [call for call in lobby.logger.calls if call.args[0] == "call refused"]
        assert MAX_LINES_AT_ONCE <= len(lines) < 100
        assert {call.kwargs["network"] for call in lines} == {"192.0.2.0/24"}
