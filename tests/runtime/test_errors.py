"""Errors become statuses, and errors again in the calling service."""

import pytest
from google.rpc import error_details_pb2, status_pb2

from croupier.runtime.errors import DOMAIN, KINDS, IllegalNow, ServiceError, from_status, to_status
from croupier_api.v1 import errors_pb2

BARE = IllegalNow(errors_pb2.ERROR_REASON_TABLE_FULL, "bare")


def fields(error: ServiceError | None) -> tuple[object, ...]:
    assert error
    return type(error), error.reason, error.message, error.field, error.retry_after_seconds, dict(error.metadata)


@pytest.mark.parametrize(
    "error",
    [
        *(kind(errors_pb2.ERROR_REASON_UNKNOWN_BOT, "x", field="bot", retry_after_seconds=0.25) for kind in KINDS),
        IllegalNow(errors_pb2.ERROR_REASON_ILLEGAL_ACTION, "x", metadata={"rule": "X-1"}, retry_after_seconds=0),
        BARE,
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_status_has_all_fields_of_its_error(error: ServiceError) -> None:
    assert fields(from_status(to_status(error))) == fields(error)


def test_a_status_of_another_origin_is_not_read() -> None:
    for info in (
        error_details_pb2.ErrorInfo(reason="TABLE_FULL", domain="elsewhere"),
        error_details_pb2.ErrorInfo(reason="REASON_OF_A_LATER_VERSION", domain=DOMAIN),
    ):
        status = status_pb2.Status(code=to_status(BARE).code)
        status.details.add().Pack(info)
        assert from_status(status) is None
    assert from_status(status_pb2.Status(code=to_status(BARE).code)) is None
    unknown_code = to_status(BARE)
    unknown_code.code = 99
    assert from_status(unknown_code) is None
