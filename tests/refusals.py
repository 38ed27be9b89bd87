"""Refusals of services, as callers receive them."""

import asyncio
from collections.abc import Awaitable
from typing import Any, NamedTuple

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from tests.waiting import TIMEOUT_SECONDS


class Refusal(NamedTuple):
    """A status with its details, which are empty if they are missing."""

    code: str
    reason: str
    message: str
    rule: str
    field: str
    retry_milliseconds: int


async def refusal(call: Awaitable[Any]) -> Refusal:
    """Return the refusal of a call, which must be refused."""
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await asyncio.wait_for(call, TIMEOUT_SECONDS)
    info, bad, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    status = rpc_status.from_call(raised.value)
    for detail in status.details if status else ():
        for message in (info, bad, retry):
            detail.Unpack(message)
    assert info.domain == ("croupier" if info.reason else "")
    field = "".join(violation.field for violation in bad.field_violations)
    message_text, delay = raised.value.details() or "", retry.retry_delay.ToMilliseconds()
    return Refusal(raised.value.code().name, info.reason, message_text, info.metadata.get("rule", ""), field, delay)
