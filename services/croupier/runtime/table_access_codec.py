"""Translation between the contract's TableAccess and its value."""

from collections.abc import Iterable

from google.protobuf.duration_pb2 import Duration

from croupier.runtime.errors import invalid_field
from croupier.runtime.table_access import (
    MAX_WATCH_DELAY_SECONDS,
    WATCH_POLICIES,
    TableAccess,
    Visibility,
    WatchPolicy,
)
from croupier_api.v1 import tables_pb2

VISIBILITIES = {
    tables_pb2.VISIBILITY_EVERYONE: Visibility.PUBLIC,
    tables_pb2.VISIBILITY_LINK: Visibility.LINK,
    tables_pb2.VISIBILITY_SEATED: Visibility.SEATED,
}
POLICIES = {
    tables_pb2.WATCH_POLICY_ANYONE: WatchPolicy.ANYONE,
    tables_pb2.WATCH_POLICY_LINK: WatchPolicy.LINK,
    tables_pb2.WATCH_POLICY_NOBODY: WatchPolicy.NOBODY,
}
CONTRACT_VISIBILITIES = {value: number for number, value in VISIBILITIES.items()}
CONTRACT_POLICIES = {value: number for number, value in POLICIES.items()}


def decode_access(
    message: tables_pb2.TableAccess,
    default: Visibility,
    *,
    removed_players: Iterable[str] = (),
    is_matched: bool = False,
) -> TableAccess:
    """Return the access of a message; unspecified fields have their defaults. Raises MalformedRequest."""
    visibility = VISIBILITIES.get(message.visibility)
    if message.visibility == tables_pb2.VISIBILITY_UNSPECIFIED:
        visibility = default
    if visibility is None:
        raise invalid_field(
            "access.visibility", f"invalid access.visibility {message.visibility}: expected a value of Visibility"
        )
    policy, delay = _decode_policy(message.watch_policy, visibility), message.watch_delay
    if delay.nanos or not 0 <= delay.seconds <= MAX_WATCH_DELAY_SECONDS:
        raise invalid_field("access.watch_delay", "invalid access.watch_delay: expected whole seconds, 0 s to 5 min")
    return TableAccess(visibility, policy, delay.seconds, tuple(removed_players), is_matched)


def encode_access(access: TableAccess) -> tables_pb2.TableAccess:
    """Return the message of an access, every field set."""
    return tables_pb2.TableAccess(
        visibility=CONTRACT_VISIBILITIES[access.visibility],
        watch_policy=CONTRACT_POLICIES[access.watch_policy],
        watch_delay=Duration(seconds=access.watch_delay_seconds),
    )


def _decode_policy(number: tables_pb2.WatchPolicy.ValueType, visibility: Visibility) -> WatchPolicy:
    allowed = WATCH_POLICIES[visibility]
    if number == tables_pb2.WATCH_POLICY_UNSPECIFIED:
        return allowed[0]
    policy = POLICIES.get(number)
    if policy is None or policy not in allowed:
        raise invalid_field(
            "access.watch_policy",
            f"invalid access.watch_policy {number}: expected one of {', '.join(allowed)} with {visibility}",
        )
    return policy
