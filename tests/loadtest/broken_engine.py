"""An engine with one defect in place of the engine: `python -m tests.loadtest.broken_engine DEFECT SERVICE FLAGS`.

The defects are made here, from outside, by replacing a method of the engine or of the rules. Other services are started
as they are.
"""

import sys
from collections.abc import Callable, Mapping, Sequence

from croupier.cli.child import main as run_child
from croupier.engine.live import LiveTable
from croupier.engine.streams import Subscription
from croupier.games.actions import Action, Play
from croupier.games.cards import Card, cards_of_mask
from croupier.games.facts import SPECTATOR, Seat, View, Viewer
from croupier.games.interface import IllegalAction
from croupier.games.thulla import ThullaState
from croupier_api.v1 import engine_pb2

LEAKED_TO: Viewer = 0
LEAKED_FROM: Seat = 1
MANY_MESSAGES = 12


def leak() -> None:
    """Views show seat 0 the lowest card of seat 1."""
    view = ThullaState.view

    def leaking(state: ThullaState, viewer: Viewer) -> View:
        true = view(state, viewer)
        if viewer not in (LEAKED_TO, SPECTATOR) or not state.hands[LEAKED_FROM]:
            return true
        shown = true.seats[LEAKED_FROM]._replace(cards=cards_of_mask(state.hands[LEAKED_FROM])[:1])
        return true._replace(seats=(*true.seats[:LEAKED_FROM], shown, *true.seats[LEAKED_FROM + 1 :]))

    ThullaState.view = leaking  # type: ignore[assignment, method-assign]


def accept() -> None:
    """The rules do not mind who does not follow suit."""
    check = ThullaState._check

    def lenient(state: ThullaState, seat: Seat, action: Action) -> Card:
        try:
            return check(state, seat, action)
        except IllegalAction as refusal:
            if refusal.rule == "THU-PLAY-3" and isinstance(action, Play):
                return action.card
            raise

    ThullaState._check = lenient  # type: ignore[assignment, method-assign]


def lose() -> None:
    """Once at each table a legal move of seat 0 is acknowledged and forgotten."""
    act, forgetful = LiveTable.act, set[str]()

    async def losing(
        table: LiveTable, seat: Seat, action: Action, request_id: str, expected_sequence: int | None
    ) -> int:
        if seat == 0 and table.state.sequence > 4 and table.config.table_id not in forgetful:
            steps = table._steps_of_player(seat, action, request_id, expected_sequence)
            forgetful.add(table.config.table_id)
            return steps[0].entry.sequence
        return await act(table, seat, action, request_id, expected_sequence)

    LiveTable.act = losing  # type: ignore[assignment, method-assign]


def skip() -> None:
    """One update of one stream is left out, and the next ones come."""
    _leave_out(turns=False)


def hush() -> None:
    """One update of one stream is left out, by which a seat that waits would hear that it is its turn.

    A seat that goes on after its own move would notice by the answer to that move.
    """
    _leave_out(turns=True)


def _leave_out(*, turns: bool) -> None:
    push, pushed = Subscription.push, list[bytes]()

    def forgetting(stream: Subscription, message: bytes) -> None:
        told = engine_pb2.PlayResponse.FromString(message)
        waits = told.HasField("update") and not (turns and told.update.seat == stream.viewer)
        if waits and told.HasField("legal_actions") == turns and len(pushed) < MANY_MESSAGES:
            pushed.append(message)
            if len(pushed) == MANY_MESSAGES:
                return
        push(stream, message)

    Subscription.push = forgetting  # type: ignore[assignment, method-assign]


DEFECTS: Mapping[str, Callable[[], None]] = {"leak": leak, "accept": accept, "lose": lose, "skip": skip, "hush": hush}


def main(arguments: Sequence[str]) -> int:
    defect, service, *flags = arguments
    if service == "engine":
        DEFECTS[defect]()
    return run_child([service, *flags])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
