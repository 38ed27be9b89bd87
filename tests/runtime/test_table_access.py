"""Access: its message, its defaults, and the rules for players without a seat."""

from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from croupier.runtime.errors import MalformedRequest
from croupier.runtime.table_access import OPEN, SEATED, LinkPurpose, TableAccess, Visibility, WatchPolicy
from croupier.runtime.table_access_codec import decode_access, encode_access
from croupier_api.v1.tables_pb2 import (
    VISIBILITY_EVERYONE,
    VISIBILITY_LINK,
    VISIBILITY_SEATED,
    WATCH_POLICY_ANYONE,
    WATCH_POLICY_LINK,
    WATCH_POLICY_NOBODY,
)
from croupier_api.v1.tables_pb2 import TableAccess as Message
from croupier_api.v1.tables_pb2 import Visibility as MessageVisibility
from croupier_api.v1.tables_pb2 import WatchPolicy as MessagePolicy

WATCH, REPLAY = LinkPurpose.WATCH, LinkPurpose.REPLAY


@pytest.mark.parametrize(
    ("visibility", "policy"),
    [
        (VISIBILITY_EVERYONE, WATCH_POLICY_ANYONE),
        (VISIBILITY_LINK, WATCH_POLICY_LINK),
        (VISIBILITY_SEATED, WATCH_POLICY_NOBODY),
    ],
)
def test_an_access_is_decoded_as_it_was_encoded_with_its_defaults(
    visibility: MessageVisibility.ValueType, policy: MessagePolicy.ValueType
) -> None:
    access = decode_access(Message(visibility=visibility), Visibility.PUBLIC)
    message = encode_access(access)
    assert (message.visibility, message.watch_policy) == (visibility, policy)
    assert message.HasField("watch_delay")
    assert decode_access(message, Visibility.PUBLIC) == access


def test_an_unset_access_has_the_default_visibility() -> None:
    assert decode_access(Message(), Visibility.PUBLIC) == OPEN
    assert decode_access(Message(), Visibility.SEATED) == SEATED
    delayed = decode_access(Message(watch_delay=Duration(seconds=300)), Visibility.PUBLIC)
    assert delayed == TableAccess(Visibility.PUBLIC, WatchPolicy.ANYONE, 300)


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("visibility", {"visibility": 4}),
        ("watch_policy", {"watch_policy": 4}),
        ("watch_policy", {"visibility": VISIBILITY_LINK, "watch_policy": WATCH_POLICY_ANYONE}),
        ("watch_policy", {"visibility": VISIBILITY_SEATED, "watch_policy": WATCH_POLICY_ANYONE}),
        ("watch_policy", {"visibility": VISIBILITY_SEATED, "watch_policy": WATCH_POLICY_LINK}),
        ("watch_delay", {"watch_delay": Duration(seconds=301)}),
        ("watch_delay", {"watch_delay": Duration(seconds=-1)}),
        ("watch_delay", {"watch_delay": Duration(nanos=1)}),
    ],
)
def test_an_invalid_access_is_refused(field: str, fields: Any) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        decode_access(Message(**fields), Visibility.PUBLIC)
    assert refusal.value.field == f"access.{field}"


@pytest.mark.parametrize(
    ("visibility", "policy", "watch", "read"),
    [
        (VISIBILITY_EVERYONE, WATCH_POLICY_ANYONE, {None, WATCH, REPLAY}, {None, WATCH, REPLAY}),
        (VISIBILITY_EVERYONE, WATCH_POLICY_LINK, {WATCH}, {None, WATCH, REPLAY}),
        (VISIBILITY_EVERYONE, WATCH_POLICY_NOBODY, set(), {None, WATCH, REPLAY}),
        (VISIBILITY_LINK, WATCH_POLICY_LINK, {WATCH}, {REPLAY}),
        (VISIBILITY_LINK, WATCH_POLICY_NOBODY, set(), {REPLAY}),
        (VISIBILITY_SEATED, WATCH_POLICY_NOBODY, set(), set()),
    ],
)
def test_players_without_a_seat_have_the_access_that_table_and_link_grant(
    visibility: MessageVisibility.ValueType,
    policy: MessagePolicy.ValueType,
    watch: set[LinkPurpose | None],
    read: set[LinkPurpose | None],
) -> None:
    message = Message(visibility=visibility, watch_policy=policy)
    access = decode_access(message, Visibility.SEATED, removed_players=["eve"])
    links = (None, WATCH, REPLAY)
    assert {link for link in links if access.lets_watch("bob", link)} == watch
    assert {link for link in links if access.lets_read("bob", link)} == read
    assert not any(access.lets_watch("eve", link) or access.lets_read("eve", link) for link in links)
    assert access.allows_link(WATCH) == bool(watch)
    assert access.allows_link(REPLAY) == (REPLAY in read)
