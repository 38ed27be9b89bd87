"""Checks of schemathesis for the OpenAPI document of the gateway; it imports this file."""

from typing import Any

import schemathesis
from google.protobuf.descriptor import Descriptor
from schemathesis.generation import GenerationMode

from croupier.gateway.bindings import calls
from croupier_api.v1.tables_pb2 import TableAccess, TimeControl


def _durations(message: Any) -> set[str]:
    return {field.name for field in message.fields if _is_duration(field.message_type)}


def _is_duration(message: Descriptor | None) -> bool:
    return message is not None and message.full_name == "google.protobuf.Duration"


BEYOND_SCHEMAS = {
    *("device_secret", "device_code", "id_token", "name", "seat_count", "seat", "action"),
    *("visibility", "watch_policy"),
    *_durations(TimeControl.DESCRIPTOR),
    *_durations(TableAccess.DESCRIPTOR),
    *(name for call in calls() for name in _durations(call.input_type)),
}
"""Fields whose values depend on others or on settings, or have a form that no schema describes: ranges of durations."""


@schemathesis.check
def described_form_is_accepted(ctx: Any, response: Any, case: Any) -> None:
    """Fail if a request of the described form is refused for its form.

    It may be refused for other reasons: a table that does not exist, a token of another page.
    """
    if response.status_code != 400 or case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    if case.body == 0:
        # The phase of coverage sends it where it finds no example of a large schema.
        return
    refusal = response.json()
    details = {detail["@type"].rpartition(".")[2]: detail for detail in refusal["details"]}
    fields = {each["field"].rpartition(".")[2] for each in details.get("BadRequest", {}).get("field_violations", ())}
    reason = details["ErrorInfo"]["reason"]
    if reason == "MALFORMED_REQUEST" or (reason == "INVALID_FIELD" and not fields <= BEYOND_SCHEMAS):
        raise AssertionError(f"refused although it has the described form: {refusal['message']}")
