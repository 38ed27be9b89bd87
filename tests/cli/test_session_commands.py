"""What a person asks for at a table: statistics, a round in detail, a rule, another order of the hand, reactions."""

import asyncio
from typing import Any

import grpc
import pytest
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from croupier.cli.terminal.console import Picture
from croupier.cli.terminal.game_session import GameSession
from croupier.cli.terminal.texts import Texts
from croupier.cli.terminal.words import Words
from croupier_api.v1 import actions_pb2, engine_pb2, facts_pb2, games_pb2, scoring_pb2
from croupier_api.v1.cards_pb2 import SUIT_HEARTS
from croupier_api.v1.errors_pb2 import ERROR_REASON_ILLEGAL_ACTION
from croupier_client import FollowedTable
from croupier_client.cards import card_from_text as card
from croupier_client.errors import FailedPrecondition
from tests.cli.conftest import FakeScreen
from tests.client.fake_table import FakeTable
from tests.client.messages import event_message

DEADLINE_SECONDS = 60.0
WORDS = Words(
    ("Ada", "Ben"),
    symbols=True,
    texts=Texts("nb", {("", "You so far"): "Du til nå", ("", "there is no rule {rule}"): "det er ingen regel {rule}"}),
    words={
        (games_pb2.WORD_KIND_TERM, "round"): "omgang",
        (games_pb2.WORD_KIND_MARK, "trump"): "trumf",
        (games_pb2.WORD_KIND_RULE, "LAY-1"): "Spill det laveste kortet.",
    },
)
PAGE = """# Laying

- <a id="LAY-1"></a>**LAY-1** Play the lowest card
  of your hand.
- <a id="LAY-2"></a>**LAY-2** Play on.

| | |
|---|---|
| <a id="LAY-D1a"></a>**LAY-D1a** | Who leads? |
"""
NEWEST = games_pb2.Reaction.ValueType(99)
CLAP = games_pb2.ReactionDescription(reaction=games_pb2.REACTION_CLAP, emoji="👏", text="applaus")


class Client:
    """A client that answers what a session asks for, and keeps the reactions and requests for rules."""

    def __init__(self) -> None:
        self.reactions: list[int] = []
        self.rules: list[dict[str, Any]] = []

    async def get_rules(self, **asked: Any) -> engine_pb2.GetRulesResponse:
        self.rules.append(asked)
        return engine_pb2.GetRulesResponse(markdown=PAGE, language="nb")

    async def get_score_sheet(self, *, table_id: str) -> scoring_pb2.GetScoreSheetResponse:
        assert table_id == "t1"
        hearts = facts_pb2.Value(suit=SUIT_HEARTS)
        details = [facts_pb2.Mark(name="trump", value=hearts), facts_pb2.Mark(name="hand", seat=1, value=hearts)]
        score = facts_pb2.RoundScore(round=1, points=[1, 2], totals=[1, 2], details=details)
        return scoring_pb2.GetScoreSheetResponse(rounds=[score])

    async def get_player_statistics(self) -> scoring_pb2.GetPlayerStatisticsResponse:
        played = scoring_pb2.GameStatistics(game="laying", games_finished=4, games_won=3, win_rate=0.75)
        return scoring_pb2.GetPlayerStatisticsResponse(games=[played])

    async def send_reaction(self, *, table_id: str, reaction: int) -> None:
        self.reactions.append(reaction)


class Table(FollowedTable):
    """A table with a hand of two suits, whose events are given."""

    def __init__(self, *events: Any) -> None:
        super().__init__("t1")
        snapshot = FakeTable().snapshot()
        snapshot.table.game, snapshot.table.rules_version = "laying", 7
        hand = [card(text) for text in ("2C", "KC", "2H")]
        snapshot.view.seats[0].CopyFrom(facts_pb2.SeatView(card_count=3, cards=hand))
        self.receive(event_message(snapshot=snapshot))
        self._events = list(events)

    def __aiter__(self) -> "Table":
        return self

    async def __anext__(self) -> Any:
        if not self._events:
            await asyncio.Event().wait()
        return self._events.pop(0)

    async def submit_action(self, action: actions_pb2.Action, *, expected_sequence: int | None) -> int:
        code, metadata = grpc.StatusCode.FAILED_PRECONDITION, {"rule": "LAY-1"}
        raise FailedPrecondition(code, "play the lowest card", reason=ERROR_REASON_ILLEGAL_ACTION, metadata=metadata)


class Screen(FakeScreen):
    """A screen that keeps the story as text, and the hands of the pictures."""

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)
        self.story: list[str] = []
        self.hands: list[str] = []

    def say(self, *lines: object) -> None:
        console = Console(width=80)
        for line in lines:
            assert isinstance(line, Text | Markdown)
            with console.capture() as captured:
                console.print(line)
            self.story += [row.rstrip() for row in captured.get().splitlines()]

    def draw(self, picture: Picture, *, is_news: bool) -> None:
        super().draw(picture, is_news=is_news)
        self.hands += [row.plain for row in picture.table if row.plain.startswith("your hand")]


async def played(*typed: str, events: tuple[Any, ...] = ()) -> tuple[Client, Screen]:
    """Type lines at a table, whose events come first."""
    client, table, screen = Client(), Table(*events), Screen(*typed)
    game = games_pb2.GameDescription(game="laying", name="Laying")
    asked: Any = client
    followed: Any = table
    async with asyncio.timeout(DEADLINE_SECONDS):
        await GameSession(asked, followed, game, WORDS, screen, [CLAP]).run()
    return client, screen


async def test_statistics_have_the_win_rate() -> None:
    _, screen = await played("/stats")
    assert screen.story == ["Du til nå: games: 4, won: 3 (75%), average place: 0.0"]


async def test_a_round_is_shown_value_by_value() -> None:
    _, screen = await played("/sheet 1", "/sheet 2")
    assert screen.story == ["omgang 1", "  1 Ada +1 1   Ben +2 2", "    trumf: ♥", "    Ben, hand: ♥"]
    assert "there is no omgang 2" in screen.messages


@pytest.mark.parametrize(
    ("typed", "shown", "hidden"),
    [
        ("/rules LAY-1", "LAY-1 Play the lowest card of your hand.", "LAY-2"),
        ("/rules lay-1", "LAY-1 Play the lowest card of your hand.", "LAY-2"),
        ("/rules LAY-D1a", "LAY-D1a Who leads?", "LAY-1"),
        ("/rules", "LAY-2 Play on.", "<a id"),
    ],
)
async def test_a_rule_is_shown_alone_in_the_version_of_the_table_and_the_language(
    typed: str, shown: str, hidden: str
) -> None:
    client, screen = await played(typed)
    assert client.rules == [{"game": "laying", "rules_version": 7, "language": "nb"}]
    assert shown in " ".join(" ".join(screen.story).split())
    assert hidden not in "".join(screen.story)


async def test_an_unknown_rule_is_reported() -> None:
    _, screen = await played("/rules LAY-9")
    assert screen.story == []
    assert "det er ingen regel LAY-9" in screen.messages


async def test_the_hand_is_sorted_by_rank_and_by_suit_again() -> None:
    _, screen = await played("/sort", "/sort")
    assert [screen.hands[0], *screen.hands[-2:]] == [
        "your hand: 2♣ K♣   2♥",
        "your hand: 2♣ 2♥   K♣",
        "your hand: 2♣ K♣   2♥",
    ]


async def test_a_refusal_has_the_text_of_its_rule_in_the_language() -> None:
    _, screen = await played("1")
    assert any(message.startswith("1: Spill det laveste kortet. (/rules LAY-1)") for message in screen.messages)


async def test_reactions_are_sent_by_name_and_shown_as_emoji() -> None:
    seen = [engine_pb2.SeatReaction(seat=1, reaction=reaction) for reaction in (games_pb2.REACTION_CLAP, NEWEST)]
    client, screen = await played("/react clap", events=tuple(seen))
    assert client.reactions == [games_pb2.REACTION_CLAP]
    assert screen.story == ["Ben: 👏 (applaus)", "Ben: unknown"]
