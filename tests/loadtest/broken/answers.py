"""Defects of how an engine takes actions and answers them."""

import asyncio
from collections.abc import Callable
from typing import Any

from croupier.engine import servicer
from croupier.engine.cached import CachedTable, Request
from croupier.engine.live import LiveTable
from croupier.engine.log import ActedBy
from croupier.engine.servicer import EngineServicer
from croupier.engine.table import Step, advance
from croupier.games.actions import Action, Call, Play
from croupier.games.cards import notation
from croupier.games.facts import Seat
from croupier.games.interface import IllegalAction, SeatActed
from croupier.games.thulla.state import ThullaState
from croupier.runtime.errors import AlreadyExists, IllegalNow, MalformedRequest, NotPermitted, ServiceError
from croupier_api.v1 import engine_pb2, table_pb2
from tests.loadtest.broken.defect import Every, named, now_at, put

NO_ACTION = Call(None)
SLOW_SECONDS = 1.5


def take_stale() -> None:
    """At which sequence somebody wanted to act is not looked at."""
    steps_of = LiveTable._steps_of_player

    def careless(table: LiveTable, seat: Seat, action: Action, request_id: str, _: int | None) -> list[Step]:
        return steps_of(table, seat, action, request_id, None)

    put(LiveTable, "_steps_of_player", careless)


def take_any_card() -> None:
    """The rules of Thulla do not mind who does not follow suit."""
    check = ThullaState._check

    def lenient(state: ThullaState, seat: Seat, action: Action) -> int:
        try:
            return check(state, seat, action)
        except IllegalAction as refusal:
            if refusal.rule == "THU-PLAY-3" and isinstance(action, Play):
                return action.card
            raise

    put(ThullaState, "_check", lenient)


def take_strangers() -> None:
    """Whoever has no seat at a table acts for the first one."""
    seat_of = LiveTable.seat_of

    def hospitable(table: LiveTable, player_id: str) -> Seat:
        try:
            return seat_of(table, player_id)
        except NotPermitted:
            return 0

    put(LiveTable, "seat_of", hospitable)


def refuse_legal() -> None:
    """Now and then an action that is legal is refused, with a rule that is a rule of the game."""
    steps_of, is_time = LiveTable._steps_of_player, Every(15)

    def picky(table: LiveTable, seat: Seat, action: Action, request_id: str, expected: int | None) -> list[Step]:
        steps = steps_of(table, seat, action, request_id, expected)
        if is_time():
            refusal = _refusal_by(table, seat)
            raise IllegalNow("ILLEGAL_ACTION", str(refusal), metadata={"rule": refusal.rule})
        return steps

    put(LiveTable, "_steps_of_player", picky)


def _refusal_by(table: LiveTable, seat: Seat) -> IllegalAction:
    """How the rules refuse what is hardly ever legal: to call nobody, which is done in solo only."""
    try:
        table.state.game.apply(SeatActed(seat, NO_ACTION))
    except IllegalAction as refusal:
        return refusal
    return IllegalAction("SOLO-CALL-1", "call a partner now")


def refuse_without_text() -> None:
    """Refusals on streams have no text."""
    _refuse_otherwise(lambda refusal: refusal.ClearField("message"))


def refuse_without_rule() -> None:
    """Refusals on streams name no rule."""
    _refuse_otherwise(lambda refusal: refusal.ClearField("rule"))


def refuse_by_strange_rule() -> None:
    """Refusals on streams name rules that stand on no page."""

    def strange(refusal: engine_pb2.Refusal) -> None:
        if refusal.rule:
            refusal.rule += "9"

    _refuse_otherwise(strange)


def refuse_for_another_reason() -> None:
    """Whoever acts out of turn hears that his action is illegal."""

    def confused(refusal: engine_pb2.Refusal) -> None:
        if refusal.reason == "NOT_YOUR_TURN":
            refusal.reason = "ILLEGAL_ACTION"

    _refuse_otherwise(confused)


def refuse_with_another_code() -> None:
    """Another request under the name of one that was accepted is refused as if it could be sent again later."""
    put(AlreadyExists, "code", IllegalNow.code)


def tell_in_refusals() -> None:
    """Refusals of illegal plays name a card of the next seat's hand."""
    steps_of = LiveTable._steps_of_player

    def talkative(table: LiveTable, seat: Seat, action: Action, request_id: str, expected: int | None) -> list[Step]:
        try:
            return steps_of(table, seat, action, request_id, expected)
        except IllegalNow as refusal:
            other = (seat + 1) % table.config.seat_count
            hand = table.state.game.view(other).seats[other].cards
            message = f"{refusal.message} (seat {other} has {' '.join(notation(hand[-1:]))})"
            raise IllegalNow(refusal.reason, message, metadata=refusal.metadata) from None

    put(LiveTable, "_steps_of_player", talkative)


def _refuse_otherwise(alter: Any) -> None:
    refused = now_at(servicer, "encode_refused")

    def altered(request_id: str, error: ServiceError) -> bytes:
        message = engine_pb2.PlayResponse.FromString(refused(request_id, error))
        alter(message.answer.refusal)
        return message.SerializeToString()

    put(servicer, "encode_refused", altered)


def forget_requests() -> None:
    """What was answered before is not remembered: a request that is sent again is a new one."""
    put(CachedTable, "_answered", lambda *_: None)


def answer_otherwise() -> None:
    """A request that is sent again is answered with the newest sequence of the table."""
    answered = CachedTable._answered

    def newest(table: CachedTable, request: Request, request_id: str) -> int | None:
        known = answered(table, request, request_id)
        return known and table.state.sequence + 1

    put(CachedTable, "_answered", newest)


def lose() -> None:
    """Once at each table an action of seat 0 is acknowledged and forgotten."""
    act, forgetful = LiveTable.act, set[str]()

    async def losing(table: LiveTable, seat: Seat, action: Action, request_id: str, expected: int | None) -> int:
        if seat == 0 and table.state.sequence > 4 and table.config.table_id not in forgetful:
            steps = table._steps_of_player(seat, action, request_id, expected)
            forgetful.add(table.config.table_id)
            return steps[0].entry.sequence
        return await act(table, seat, action, request_id, expected)

    put(LiveTable, "act", losing)


def exchange() -> None:
    """Now and then another legal action is stored in place of the one that is acknowledged."""
    steps_of, is_time = LiveTable._steps_of_player, Every(10)

    def exchanging(table: LiveTable, seat: Seat, action: Action, request_id: str, expected: int | None) -> list[Step]:
        steps = steps_of(table, seat, action, request_id, expected)
        legal = table.state.game.legal_actions(seat).actions
        if not is_time() or len(legal) < 2:
            return steps
        other = legal[0] if legal[0] != action else legal[1]
        return steps_of(table, seat, other, request_id, expected)

    put(LiveTable, "_steps_of_player", exchanging)


def double() -> None:
    """A seat that is on turn again after its action acts once more by itself."""
    steps_of = LiveTable._steps_of_player

    def doubling(table: LiveTable, seat: Seat, action: Action, request_id: str, expected: int | None) -> list[Step]:
        steps = steps_of(table, seat, action, request_id, expected)
        after = steps[-1].after
        legal = after.game.legal_actions(seat).actions if seat in after.seats_to_act else ()
        if not legal:
            return steps
        again = SeatActed(seat, legal[0])
        return steps + advance(table.config, after, table.services.clock(), again, ActedBy.PLAYER)

    put(LiveTable, "_steps_of_player", doubling)


def crash() -> None:
    """Every third call of GetView fails with a fault of the program."""
    get_view, is_time = EngineServicer.get_view, Every(3)

    async def crashing(
        one: EngineServicer, request: engine_pb2.GetViewRequest, context: Any
    ) -> engine_pb2.GetViewResponse:
        if is_time():
            raise KeyError(request.table_id)
        return await get_view(one, request, context)

    put(EngineServicer, "get_view", crashing)


def crash_at_rubbish() -> None:
    """An action with a card that is none is a fault of the program."""
    decode: Callable[[table_pb2.Action], Action] = now_at(servicer, "decode_action")

    def unchecked(message: table_pb2.Action) -> Action:
        try:
            return decode(message)
        except MalformedRequest as refusal:
            raise IndexError("tuple index out of range") from refusal

    put(servicer, "decode_action", unchecked)


def dawdle() -> None:
    """Of twenty actions one takes long."""
    act, is_time = LiveTable.act, Every(20)

    async def dawdling(table: LiveTable, seat: Seat, action: Action, request_id: str, expected: int | None) -> int:
        if is_time():
            await asyncio.sleep(SLOW_SECONDS)
        return await act(table, seat, action, request_id, expected)

    put(LiveTable, "act", dawdling)


ANSWERS = named(
    "engine",
    (
        take_stale,
        take_any_card,
        take_strangers,
        refuse_legal,
        refuse_without_text,
        refuse_without_rule,
        refuse_by_strange_rule,
        refuse_for_another_reason,
        refuse_with_another_code,
        tell_in_refusals,
        forget_requests,
        answer_otherwise,
        lose,
        exchange,
        double,
        crash,
        crash_at_rubbish,
        dawdle,
    ),
)
