"""Messages, actions and refusals as the services send them."""

from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2

from croupier_api.v1 import actions_pb2, engine_pb2, errors_pb2
from croupier_api.v1.cards_pb2 import Card
from croupier_api.v1.errors_pb2 import ERROR_REASON_UNSPECIFIED, ErrorReason


def event_message(**kind: Any) -> engine_pb2.PlayTableResponse:
    """Return the message of an event, whose kind is a field of TableEvent."""
    return engine_pb2.PlayTableResponse(table_event=engine_pb2.TableEvent(**kind))


MOVE = event_message(resume_notice=engine_pb2.ResumeNotice())
"""The last message of a stream whose engine stops."""


def play(card: Card.ValueType) -> actions_pb2.Action:
    return actions_pb2.Action(play=actions_pb2.PlayAction(card=card))


def refused(
    code: grpc.StatusCode, message: str, reason: ErrorReason.ValueType = ERROR_REASON_UNSPECIFIED, rule: str = ""
) -> status_pb2.Status:
    status = status_pb2.Status(code=code.value[0], message=message)
    if reason:
        name, metadata = ErrorReason.Name(reason).removeprefix("ERROR_REASON_"), {"rule": rule} if rule else {}
        status.details.add().Pack(error_details_pb2.ErrorInfo(reason=name, domain="croupier", metadata=metadata))
    return status


def refusal_answer(request: engine_pb2.SubmitActionRequest, refusal: status_pb2.Status) -> engine_pb2.ActionAnswer:
    return engine_pb2.ActionAnswer(request_id=request.request_id, refusal=refusal)


STALE = refused(grpc.StatusCode.ABORTED, "moved on", errors_pb2.ERROR_REASON_STALE_SEQUENCE)
ILLEGAL = refused(
    grpc.StatusCode.FAILED_PRECONDITION, "play the lowest card", errors_pb2.ERROR_REASON_ILLEGAL_ACTION, "LAY-1"
)
SUPERSEDED = refused(grpc.StatusCode.ABORTED, "replaced", errors_pb2.ERROR_REASON_SUPERSEDED)
STORE_UNAVAILABLE = refused(grpc.StatusCode.UNAVAILABLE, "again", errors_pb2.ERROR_REASON_STORE_UNAVAILABLE)
