"""A gateway whose every text tries to control the terminal, and to look like other lines of the program."""

import unicodedata
from collections.abc import Iterator
from typing import Any

import grpc
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from croupier_api.v1 import actions_pb2, engine_pb2, facts_pb2, games_pb2, lobby_pb2, scoring_pb2, tables_pb2
from tests.client.fake_croupier import FakeCroupier, abort
from tests.client.messages import event_message, refusal_answer

EVIL = "\x1b]0;owned\x07\x9b31m\u202e[red]evil[/red]\u2066\x7f\r\nFAKE line\u2028"
"""A title of the window, a color of C1, overrides of the direction, markup, and a line of its own."""

CARD: Any = 64
"""A card of the deck of the game."""


def assert_harmless(output: str) -> None:
    """Assert that an output has evil texts, none of which controls the terminal or begins a line."""
    controls = {letter for letter in output if unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp")}
    assert controls <= {"\n"}, controls
    assert "evil" in output
    assert not any(line.lstrip().startswith("FAKE") for line in output.splitlines())


class HostileServer(FakeCroupier):
    """Answers all calls of a person; the game goes on until `ends` is true."""

    def __init__(self, *, refuses: bool = False, ends: bool = False) -> None:
        self._refuses, self._ends = refuses, ends
        super().__init__()

    def answer(self, name: str, answer: Descriptor, request: Any, context: grpc.ServicerContext) -> Message:
        match name:
            case "SignIn" if not self._refuses:
                return lobby_pb2.SignInResponse(
                    player=lobby_pb2.Player(player_id="p", name=EVIL),
                    tokens=lobby_pb2.Tokens(access_token="access", refresh_token="refresh"),
                )
            case "ListGames":
                game = games_pb2.GameDescription(game=EVIL, name=EVIL, min_seats=2, max_seats=2, summary=EVIL)
                for kind in games_pb2.WordKind.values():
                    # "w" stands for words that the game describes, EVIL for those that it does not.
                    game.words.add(kind=kind, word="w", text=EVIL)
                game.piles.add(name=EVIL, role=games_pb2.PILE_ROLE_TRICK)
                game.deck.add(number=64, notation=EVIL, suit=EVIL, rank=EVIL, label=EVIL)
                game.proposals.add(name=EVIL, meaning=EVIL)
                reaction = games_pb2.ReactionDescription(reaction=games_pb2.REACTION_CLAP, emoji=EVIL, text=EVIL)
                return lobby_pb2.ListGamesResponse(games=[game], reactions=[reaction])
            case "GetRules":
                page = f'<a id="R-A-1"></a>**R-A-1** {EVIL} [link](javascript:evil)\n'
                return engine_pb2.GetRulesResponse(markdown=page)
            case "GetTable":
                return lobby_pb2.GetTableResponse(table=_table())
            case "GetScoreSheet":
                return scoring_pb2.GetScoreSheetResponse(rounds=[_score()], result=scoring_pb2.GameResult())
            case "GetPlayerStatistics":
                played = scoring_pb2.GameStatistics(game=EVIL, games_finished=1, average_place=1.0, counts={EVIL: 3})
                return scoring_pb2.GetPlayerStatisticsResponse(games=[played])
        return abort(context, _refusal(EVIL))

    def play_table(
        self, request_iterator: Iterator[engine_pb2.PlayTableRequest], context: grpc.ServicerContext
    ) -> Iterator[engine_pb2.PlayTableResponse]:
        next(request_iterator)
        yield event_message(snapshot=_snapshot())
        yield event_message(update=engine_pb2.TableUpdate(sequence=2, facts=_facts(), legal_actions=_legal()))
        yield event_message(reaction=engine_pb2.SeatReaction(seat=1, reaction=games_pb2.REACTION_CLAP))
        if self._ends:
            ended = facts_pb2.GameEnded(ranking=[facts_pb2.RankGroup(seats=[0, 1])], reason=EVIL)
            yield event_message(update=engine_pb2.TableUpdate(sequence=3, facts=[facts_pb2.Fact(game_ended=ended)]))
            return
        for request in request_iterator:
            yield engine_pb2.PlayTableResponse(answer=refusal_answer(request.action, _refusal("ILLEGAL_ACTION")))


def _refusal(reason: str) -> status_pb2.Status:
    status = status_pb2.Status(code=grpc.StatusCode.FAILED_PRECONDITION.value[0], message=EVIL)
    metadata = {"rule": EVIL, "limit": EVIL}
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain="croupier", metadata=metadata))
    return status


def _table() -> tables_pb2.Table:
    seats = [tables_pb2.Seat(player_id="p", name=EVIL), tables_pb2.Seat(name=EVIL, bot=EVIL)]
    return tables_pb2.Table(table_id="t1", game=EVIL, seats=seats, state=tables_pb2.TABLE_STATE_PLAYING)


def _played_table() -> tables_pb2.PlayedTable:
    seats = [tables_pb2.PlayedSeat(player_id="p", name=EVIL), tables_pb2.PlayedSeat(name=EVIL, bot=EVIL)]
    return tables_pb2.PlayedTable(table_id="t1", game=EVIL, seats=seats, state=tables_pb2.TABLE_STATE_PLAYING)


def _score() -> facts_pb2.RoundScore:
    argument = facts_pb2.Parameter(name=EVIL, value=_value())
    phrases = [facts_pb2.Phrase(word=word, parameters=[argument]) for word in (EVIL, "w")]
    notes = [facts_pb2.Note(phrases=phrases), facts_pb2.Note(phrases=phrases[:1])]
    details = [facts_pb2.Mark(name=word, value=_value()) for word in (EVIL, "w")]
    return facts_pb2.RoundScore(round=1, points=[1, 2], totals=[1, 2], headline=phrases, notes=notes, details=details)


def _value() -> facts_pb2.Value:
    return facts_pb2.Value(word=EVIL)


def _bid() -> actions_pb2.Action:
    return actions_pb2.Action(bid=actions_pb2.BidAction(contract=EVIL))


def _legal() -> actions_pb2.LegalActions:
    declared = actions_pb2.Action(declare_word=actions_pb2.DeclareAction(word=EVIL, cards=[CARD]))
    laid = actions_pb2.Action(lay=actions_pb2.LayAction(meld=EVIL, pile=EVIL, cards=[CARD]))
    return actions_pb2.LegalActions(actions=[_bid(), declared, laid])


def _snapshot() -> engine_pb2.Snapshot:
    view = facts_pb2.TableView(
        round=1,
        phase=EVIL,
        seats=[facts_pb2.SeatView(card_count=1, cards=[CARD]), facts_pb2.SeatView(card_count=2)],
        piles=[facts_pb2.Pile(name=EVIL, count=1, cards=[facts_pb2.PileCard(card=CARD, seat=1)])],
        calls=[facts_pb2.Call(seat=1, action=_bid())],
        contract=facts_pb2.Contract(name=EVIL, declarer=1),
        marks=[facts_pb2.Mark(name=EVIL, value=_value()), facts_pb2.Mark(name=EVIL, seat=1, value=_value())],
        seats_to_act=[0],
    )
    proposal = engine_pb2.Proposal(sequence=1, name=EVIL, proposer=1, agreed_seats=[1])
    proposal.expiry_time.FromSeconds(1_000)
    clock = engine_pb2.TurnClock(deadline_unix_ms=900_000, server_unix_ms=1_000)
    return engine_pb2.Snapshot(
        table=_played_table(),
        sequence=1,
        viewer_seat=0,
        view=view,
        clock=clock,
        legal_actions=_legal(),
        proposal=proposal,
    )


def _facts() -> list[facts_pb2.Fact]:
    place = facts_pb2.Place
    laid = facts_pb2.CardsMoved(
        source=place(hand=1), target=place(pile=EVIL), cards=[CARD], count=1, reason=facts_pb2.MOVE_REASON_LAY
    )
    cut = facts_pb2.CardsMoved()
    cut.CopyFrom(laid)
    cut.word = "w"
    return [
        facts_pb2.Fact(called=facts_pb2.Called(call=facts_pb2.Call(seat=1, action=_bid()))),
        facts_pb2.Fact(contract_changed=facts_pb2.ContractChanged(changes=facts_pb2.Contract(name=EVIL))),
        facts_pb2.Fact(mark_changed=facts_pb2.MarkChanged(mark=facts_pb2.Mark(name="m", value=_value()))),
        facts_pb2.Fact(cards_moved=laid),
        facts_pb2.Fact(cards_moved=cut),
        facts_pb2.Fact(round_ended=facts_pb2.RoundEnded(score=_score())),
        facts_pb2.Fact(turn_changed=facts_pb2.TurnChanged(phase=EVIL, seats_to_act=[0])),
    ]
