"""A gateway whose every text tries to control the terminal, and to look like other lines of the program."""

import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from croupier_api.v1 import actions_pb2, engine_pb2, facts_pb2, games_pb2, lobby_pb2, scoring_pb2, tables_pb2

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


class HostileServer:
    """Answers all calls of a person; the game goes on until `ends` is true."""

    def __init__(self, *, refuses: bool = False, ends: bool = False) -> None:
        self._refuses, self._ends = refuses, ends

    @contextmanager
    def running(self) -> Iterator[str]:
        """Serve until the end of the block; yields the address."""
        server = grpc.server(ThreadPoolExecutor(16))
        for file, name in ((lobby_pb2, "Lobby"), (engine_pb2, "Engine"), (scoring_pb2, "Scoring")):
            service = file.DESCRIPTOR.services_by_name[f"{name}Service"]
            handlers = {rpc.name: self._handler(rpc) for rpc in service.methods}
            server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service.full_name, handlers),))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            server.stop(0)

    def _handler(self, rpc: Any) -> Any:
        codec = GetMessageClass(rpc.input_type).FromString, GetMessageClass(rpc.output_type).SerializeToString
        if rpc.name == "PlayTable":
            return grpc.stream_stream_rpc_method_handler(self._play, *codec)
        answer: Callable[..., Any] = getattr(self, f"_{rpc.name}", self._refuse)
        if rpc.server_streaming:
            return grpc.unary_stream_rpc_method_handler(self._refuse, *codec)
        return grpc.unary_unary_rpc_method_handler(answer, *codec)

    def _refuse(self, _request: Any, context: grpc.ServicerContext) -> Any:
        status = status_pb2.Status(code=grpc.StatusCode.FAILED_PRECONDITION.value[0], message=EVIL)
        status.details.add().Pack(
            error_details_pb2.ErrorInfo(reason=EVIL, domain="croupier", metadata={"rule": EVIL, "limit": EVIL})
        )
        context.abort_with_status(rpc_status.to_status(status))

    def _SignIn(self, request: Any, context: grpc.ServicerContext) -> Any:
        if self._refuses:
            self._refuse(request, context)
        return lobby_pb2.SignInResponse(
            player=lobby_pb2.Player(player_id="p", name=EVIL),
            tokens=lobby_pb2.Tokens(access_token="access", refresh_token="refresh"),
        )

    def _ListGames(self, _request: Any, _context: grpc.ServicerContext) -> Any:
        game = games_pb2.GameDescription(game=EVIL, name=EVIL, min_seats=2, max_seats=2, summary=EVIL)
        game.display_names["term"] = EVIL
        game.deck.add(number=64, notation=EVIL, suit=EVIL, rank=EVIL, label=EVIL)
        game.proposals.add(name=EVIL, meaning=EVIL)
        return lobby_pb2.ListGamesResponse(games=[game])

    def _GetTable(self, _request: Any, _context: grpc.ServicerContext) -> Any:
        return lobby_pb2.GetTableResponse(table=_table())

    def _GetScoreSheet(self, _request: Any, _context: grpc.ServicerContext) -> Any:
        return scoring_pb2.GetScoreSheetResponse(rounds=[_score()], result=scoring_pb2.GameResult())

    def _GetPlayerStatistics(self, _request: Any, _context: grpc.ServicerContext) -> Any:
        statistics = scoring_pb2.GameStatistics(game=EVIL, games_finished=1, average_place=1.0, counts={EVIL: 3})
        return scoring_pb2.GetPlayerStatisticsResponse(games=[statistics])

    def _play(self, requests: Iterator[Any], _context: grpc.ServicerContext) -> Iterator[Any]:
        next(requests)
        events = [
            engine_pb2.TableEvent(snapshot=_snapshot()),
            engine_pb2.TableEvent(update=engine_pb2.TableUpdate(sequence=2, facts=_facts(), legal_actions=_legal())),
            engine_pb2.TableEvent(reaction=engine_pb2.Reaction(seat=1, reaction=EVIL)),
        ]
        if self._ends:
            ended = facts_pb2.GameEnded(ranking=[facts_pb2.RankGroup(seats=[0, 1])], reason=EVIL)
            last = engine_pb2.TableUpdate(sequence=3, facts=[facts_pb2.Fact(game_ended=ended)])
            events.append(engine_pb2.TableEvent(update=last))
        yield from (engine_pb2.PlayTableResponse(table_event=event) for event in events)
        for request in requests:
            refusal = status_pb2.Status(code=grpc.StatusCode.FAILED_PRECONDITION.value[0], message=EVIL)
            refusal.details.add().Pack(
                error_details_pb2.ErrorInfo(reason="ILLEGAL_ACTION", domain="croupier", metadata={"rule": EVIL})
            )
            answer = engine_pb2.ActionAnswer(request_id=request.action.request_id, refusal=refusal)
            yield engine_pb2.PlayTableResponse(answer=answer)


def _table() -> tables_pb2.Table:
    seats = [tables_pb2.Seat(player_id="p", name=EVIL), tables_pb2.Seat(name=EVIL, bot=EVIL)]
    return tables_pb2.Table(table_id="t1", game=EVIL, seats=seats, state=tables_pb2.TABLE_STATE_PLAYING)


def _score() -> facts_pb2.RoundScore:
    return facts_pb2.RoundScore(round=1, points=[1, 2], totals=[1, 2], headline=EVIL, notes=[EVIL, EVIL])


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
        seats=[facts_pb2.SeatView(card_count=1, cards=[CARD]), facts_pb2.SeatView(card_count=1)],
        piles=[facts_pb2.Pile(name=EVIL, count=1, cards=[facts_pb2.PileCard(card=CARD, seat=1)])],
        calls=[facts_pb2.Call(seat=1, action=_bid())],
        contract=facts_pb2.Contract(name=EVIL, declarer=1),
        marks=[facts_pb2.Mark(name=EVIL, value=EVIL), facts_pb2.Mark(name=EVIL, seat=1, value=EVIL)],
        seats_to_act=[0],
    )
    proposal = engine_pb2.Proposal(sequence=1, name=EVIL, proposer=1, agreed_seats=[1])
    proposal.expiry_time.FromSeconds(1_000)
    clock = engine_pb2.TurnClock(deadline_unix_ms=900_000, server_unix_ms=1_000)
    return engine_pb2.Snapshot(
        table=_table(), sequence=1, viewer_seat=0, view=view, clock=clock, legal_actions=_legal(), proposal=proposal
    )


def _facts() -> list[facts_pb2.Fact]:
    place = facts_pb2.Place
    laid = facts_pb2.CardsMoved(
        source=place(hand=1), target=place(pile=EVIL), cards=[CARD], count=1, reason=facts_pb2.MOVE_REASON_LAY
    )
    return [
        facts_pb2.Fact(called=facts_pb2.Called(call=facts_pb2.Call(seat=1, action=_bid()))),
        facts_pb2.Fact(contract_changed=facts_pb2.ContractChanged(changes=facts_pb2.Contract(name=EVIL))),
        facts_pb2.Fact(mark_changed=facts_pb2.MarkChanged(mark=facts_pb2.Mark(name="m", value=EVIL))),
        facts_pb2.Fact(cards_moved=laid),
        facts_pb2.Fact(round_ended=facts_pb2.RoundEnded(score=_score())),
        facts_pb2.Fact(turn_changed=facts_pb2.TurnChanged(phase=EVIL, seats_to_act=[0])),
    ]
