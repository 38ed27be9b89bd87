"""A fake table, at which one seat plays its cards one by one."""

import threading

from croupier_api.v1 import actions_pb2, engine_pb2, facts_pb2, tables_pb2
from croupier_api.v1.cards_pb2 import (
    CARD_FIVE_OF_CLUBS,
    CARD_FOUR_OF_CLUBS,
    CARD_THREE_OF_CLUBS,
    CARD_TWO_OF_CLUBS,
    Card,
)
from tests.client.messages import ILLEGAL, STALE, play, refusal_answer

HAND = (CARD_TWO_OF_CLUBS, CARD_THREE_OF_CLUBS, CARD_FOUR_OF_CLUBS, CARD_FIVE_OF_CLUBS)
RANKING = (facts_pb2.RankGroup(seats=[0]), facts_pb2.RankGroup(seats=[1]))


def legal_after(sequence: int) -> actions_pb2.LegalActions | None:
    """Return the legal actions of seat 0 after this many updates."""
    return actions_pb2.LegalActions(actions=[play(HAND[sequence])]) if sequence < len(HAND) else None


def update_message(
    update: engine_pb2.TableUpdate, answer: engine_pb2.ActionAnswer | None = None
) -> engine_pb2.PlayTableResponse:
    """Return the message of an update for seat 0, with the legal actions after it."""
    event = engine_pb2.TableEvent(update=update)
    if legal := legal_after(update.sequence):
        event.update.legal_actions.CopyFrom(legal)
    return engine_pb2.PlayTableResponse(table_event=event, answer=answer)


class FakeTable:
    """A game in which seat 0 plays its cards one by one, and seat 1 does nothing."""

    def __init__(self) -> None:
        self.updates: list[engine_pb2.TableUpdate] = []
        self.answers: dict[str, engine_pb2.ActionAnswer] = {}
        self.submitted: list[str] = []
        self.proposal: engine_pb2.Proposal | None = None
        """The proposal in snapshots."""
        self.lock = threading.Lock()

    @property
    def played_count(self) -> int:
        return len(self.updates)

    @property
    def finished(self) -> bool:
        return self.played_count == len(HAND)

    def view(self) -> facts_pb2.TableView:
        """Return the view of seat 0, built without a fold."""
        hand, played = HAND[self.played_count :], HAND[: self.played_count]
        view = facts_pb2.TableView(round=1, contract=facts_pb2.Contract(), phase="over" if self.finished else "play")
        view.seats.add(card_count=len(hand), cards=hand)
        view.seats.add(card_count=3)
        if played:
            view.piles.add(name="trick", count=len(played), cards=[facts_pb2.PileCard(card=c, seat=0) for c in played])
        if self.finished:
            view.ranking.extend(RANKING)
        else:
            view.seats_to_act.append(0)
        return view

    def snapshot(self) -> engine_pb2.Snapshot:
        return engine_pb2.Snapshot(
            table=tables_pb2.PlayedTable(table_id="t1", game="laying"),
            sequence=self.played_count,
            viewer_seat=0,
            view=self.view(),
            legal_actions=legal_after(self.played_count),
            revealed_seed=self._revealed_seed(),
            proposal=self.proposal,
        )

    def turn_state(self) -> engine_pb2.TurnState:
        return engine_pb2.TurnState(
            sequence=self.played_count, legal_actions=legal_after(self.played_count), proposal=self.proposal
        )

    def submit(self, request: engine_pb2.SubmitActionRequest) -> engine_pb2.ActionAnswer:
        with self.lock:
            self.submitted.append(request.request_id)
            if request.request_id not in self.answers:
                self.answers[request.request_id] = self._decide(request)
            return self.answers[request.request_id]

    def _decide(self, request: engine_pb2.SubmitActionRequest) -> engine_pb2.ActionAnswer:
        if request.HasField("expected_sequence") and request.expected_sequence != self.played_count:
            return refusal_answer(request, STALE)
        if self.finished or request.action != play(HAND[self.played_count]):
            return refusal_answer(request, ILLEGAL)
        self._play_card(request.action.play.card)
        return engine_pb2.ActionAnswer(request_id=request.request_id, sequence=self.played_count)

    def _play_card(self, card: Card.ValueType) -> None:
        update = engine_pb2.TableUpdate(sequence=self.played_count + 1, seat=0)
        self.updates.append(update)
        moved = facts_pb2.CardsMoved(
            source=facts_pb2.Place(hand=0), target=facts_pb2.Place(pile="trick"), cards=[card], count=1
        )
        update.facts.add(cards_moved=moved)
        if self.finished:
            update.facts.add(turn_changed=facts_pb2.TurnChanged(phase="over"))
            update.facts.add(game_ended=facts_pb2.GameEnded(ranking=RANKING))
        update.revealed_seed = self._revealed_seed()

    def _revealed_seed(self) -> str:
        return "5eed" if self.finished else ""
