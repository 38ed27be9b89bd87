"""What a page has received of its servers, and the cards in its memory, by the protocol of the browser."""

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from playwright.sync_api import CDPSession, Error, Page, WebSocket

from croupier_api.v1 import actions_pb2, cards_pb2, facts_pb2

HEAD_BYTES = 5
"""Of a message of gRPC-Web: its flags, and the number of its bytes from there on."""
TRAILERS = 0x80
UNPLACED_CARDS = frozenset({"CardOrderChanged.cards", "TableView.card_order"})
"""Fields that name cards without their place."""
HELD = """function (fields) {
    const held = new Set();
    for (const object of this) {
        let kind;
        try { kind = object.$typeName } catch { continue }
        for (const [name, group] of Object.hasOwn(fields, kind) ? fields[kind] : []) {
            const value = group === "" ? object[name] : object[group]?.case === name ? object[group].value : undefined;
            for (const card of [value ?? []].flat()) held.add(`${kind}.${name} ${card}`);
        }
    }
    return [...held];
}"""


@dataclass(slots=True)
class Answer:
    """An answer over gRPC-Web, of which more may follow."""

    path: str
    body: bytes = b""


@dataclass
class ReceivedMessages:
    """Messages in the order of their arrival: those of a table's WebSocket, and those of each call with its type."""

    session: CDPSession
    frames: list[bytes] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    """By the browser's id of the request."""

    @classmethod
    def of(cls, page: Page) -> Self:
        """Keep all that a page receives from now on."""
        messages = cls(page.context.new_cdp_session(page))
        page.on("websocket", messages._follow)
        messages.session.on("Network.responseReceived", messages._answered)
        messages.session.on("Network.dataReceived", messages._continued)
        messages.session.send("Network.enable")
        return messages

    def _follow(self, socket: WebSocket) -> None:
        socket.on(
            "framereceived", lambda frame: self.frames.append(frame if isinstance(frame, bytes) else frame.encode())
        )

    def _answered(self, event: Any) -> None:
        response, request_id = event["response"], event["requestId"]
        if not response["mimeType"].startswith("application/grpc-web"):
            return
        answer = self.answers[request_id] = Answer(urlsplit(response["url"]).path)
        try:
            begun = self.session.send("Network.streamResourceContent", {"requestId": request_id})["bufferedData"]
        except Error:
            # The whole answer is there.
            begun = self.session.send("Network.getResponseBody", {"requestId": request_id})["body"]
        answer.body = b64decode(begun) + answer.body

    def _continued(self, event: Any) -> None:
        if event["requestId"] in self.answers:
            self.answers[event["requestId"]].body += b64decode(event.get("data", ""))

    def decoded_answers(self) -> Iterator[Message]:
        """Yield the messages of all answers so far."""
        for answer in self.answers.values():
            method = descriptor_pool.Default().FindMethodByName(answer.path.strip("/").replace("/", "."))
            kind, rest = message_factory.GetMessageClass(method.output_type), answer.body
            while len(rest) >= HEAD_BYTES and len(rest) >= (end := HEAD_BYTES + int.from_bytes(rest[1:HEAD_BYTES])):
                if not rest[0] & TRAILERS:
                    yield kind.FromString(rest[HEAD_BYTES:end])
                rest = rest[end:]


def cards_held(session: CDPSession) -> dict[int, str]:
    """Return the cards that messages of the contract name in the memory of a page, after a collection, with a field."""
    prototype = session.send("Runtime.evaluate", {"expression": "Object.prototype"})["result"]["objectId"]
    objects = session.send("Runtime.queryObjects", {"prototypeObjectId": prototype})["objects"]["objectId"]
    call = {
        "functionDeclaration": HELD,
        "objectId": objects,
        "arguments": [{"value": card_fields()}],
        "returnByValue": True,
    }
    held = session.send("Runtime.callFunctionOn", call)["result"]["value"]
    session.send("Runtime.releaseObject", {"objectId": objects})
    return {int(card): where for where, card in (text.split() for text in held)}


def card_fields() -> dict[str, list[tuple[str, str]]]:
    """Return the fields of cards by type of message, each with the choice that it is a part of."""
    kinds = [kind for file in (actions_pb2, facts_pb2) for kind in file.DESCRIPTOR.message_types_by_name.values()]
    return {kind.full_name: fields for kind in kinds if (fields := [*_fields_of(kind)])}


def _fields_of(kind: Descriptor) -> Iterator[tuple[str, str]]:
    for each in kind.fields:
        is_card = each.enum_type is not None and each.enum_type.full_name == cards_pb2.Card.DESCRIPTOR.full_name
        if is_card and f"{kind.name}.{each.name}" not in UNPLACED_CARDS:
            yield each.json_name, _choice_of(each)


def _choice_of(field: FieldDescriptor) -> str:
    group = field.containing_oneof
    return group.name if group is not None and not group.name.startswith("_") else ""
