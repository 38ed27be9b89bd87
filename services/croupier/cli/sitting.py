"""A person at a table: what is typed becomes actions, what happens becomes a picture and a story."""

import asyncio
import time
from collections.abc import Iterable

from rich.text import Text

from croupier.cli.legal import legal_lines
from croupier.cli.line_editor import LineEditor
from croupier.cli.lines import folded
from croupier.cli.person_input import HELP, Help, InputFault, Propose, Quit, React, ShowSheet, Vote, read_input
from croupier.cli.screen import Seen, proposal_text, table_lines
from croupier.cli.sheets import sheet_lines
from croupier.cli.terminal import Screen, keys
from croupier.cli.words import Words
from croupier_api.v1 import engine_pb2
from croupier_api.v1 import table_pb2 as pb
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.errors import CroupierError
from croupier_client.table import Event

TICK_SECONDS = 0.25
SHOWN_ROUNDS = 3


class Sitting:
    """One session of a person at one table."""

    def __init__(
        self, client: Client, table: AsyncTable, game: engine_pb2.GameDescription, words: Words, screen: Screen
    ) -> None:
        self._client = client
        self._table = table
        self._game = game
        self._words = words
        self._screen = screen
        self._editor = LineEditor()
        self._proposal = table.proposal
        self._notice = "/help says what you can type"
        self._told: pb.LegalActions | None = None

    async def run(self) -> None:
        """Until the game is over or the person leaves."""
        tasks = [asyncio.create_task(work()) for work in (self._follow, self._listen, self._tick)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()

    async def _follow(self) -> None:
        self._draw()
        async for event in self._table:
            self._tell(event)
            self._draw()

    def _tell(self, event: Event) -> None:
        if isinstance(event, engine_pb2.Reaction):
            self._say(f"{self._words.name(event.seat)} reacts: {event.reaction}")
        elif isinstance(event, engine_pb2.TableUpdate):
            self._tell_update(event)

    def _tell_update(self, update: engine_pb2.TableUpdate) -> None:
        if update.HasField("seat") and update.seat == self._table.seat:
            self._told = None
        self._tell_proposal(update)
        if update.credited_milliseconds:
            self._say(credit_text(update.credited_milliseconds))
        reason = " (time was up)" if update.acted_by == engine_pb2.ACTED_BY_TIMEOUT else ""
        for line in self._words.facts(update.facts):
            self._say(line + reason)
        ended = [fact.round_ended for fact in update.facts if fact.HasField("round_ended")]
        # The last round is on the sheet that is shown when the game is over.
        if ended and not any(fact.HasField("game_ended") for fact in update.facts):
            self._tell_round(ended[-1])

    def _tell_proposal(self, update: engine_pb2.TableUpdate) -> None:
        before, self._proposal = self._proposal, update.proposal if update.HasField("proposal") else None
        if self._proposal is not None and self._proposal != before:
            self._say_lines(self._proposal_lines(update.at_milliseconds))
        elif self._proposal is None and before is not None:
            all_agree = len(before.agreed_seats) == len(self._table.info.seats)
            self._say(f"{self._words.term(before.name)} {'is agreed on' if all_agree else 'is proposed no longer'}")

    def _tell_round(self, ended: pb.RoundEnded) -> None:
        rounds = [line for line in self._table.rounds if line.round <= ended.round]
        self._say(f"Score sheet after {self._words.term('round')} {ended.round}")
        self._say_lines(sheet_lines(self._words, rounds[-SHOWN_ROUNDS:]))

    async def _tell_sheet(self) -> None:
        sheet = await self._client.get_score_sheet(table_id=self._table.table_id)
        self._say_lines(sheet_lines(self._words, sheet.rounds))

    def _say_lines(self, lines: Iterable[Text]) -> None:
        for line in lines:
            self._screen.say(line)

    def _say(self, line: str) -> None:
        self._screen.say(Text(line))

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._draw()

    def _draw(self) -> None:
        table = self._table
        bots = frozenset(seat for seat, info in enumerate(table.info.seats) if info.bot)
        seen = Seen(self._game.name, table.view, table.clock, table.seat, bots)
        now = time.time_ns() // 1_000_000
        picture = table_lines(self._words, seen, now)
        hand = table.view.seats[table.seat].cards if table.seat is not None else ()
        picture += legal_lines(self._words, table.legal_actions, hand, table.view.card_order)
        picture += self._proposal_lines(now)
        if self._notice:
            picture.append(Text(self._notice, style="italic"))
        self._screen.draw(picture, self._editor.typed, is_news=table.to_act and self._told != table.legal_actions)
        self._told = table.legal_actions if table.to_act else None

    def _proposal_lines(self, now: int) -> list[Text]:
        """What is proposed, if anything; `now` in milliseconds since 1970 UTC."""
        proposal = self._table.proposal
        if proposal is None or proposal.expires_milliseconds <= now:
            return []
        lines = [proposal_text(self._words, proposal, self._game.proposals.get(proposal.name, ""), now)]
        if self._table.seat not in proposal.agreed_seats:
            lines.append(Text("  write agree or refuse", style="dim"))
        return lines

    async def _listen(self) -> None:
        pieces = keys()
        while data := await pieces.get():
            for line in self._editor.feed(data):
                if not await self._do(line):
                    return
            self._draw()

    async def _do(self, line: str) -> bool:
        """Do what a line asks for; False if that is to leave."""
        self._notice = ""
        try:
            return await self._fulfil(line)
        except InputFault as fault:
            self._tell_fault(str(fault))
        except CroupierError as error:
            rule = f" ({error.rule})" if error.rule else ""
            self._tell_fault(f"{error.message}{rule}")
        return True

    async def _fulfil(self, line: str) -> bool:
        match read_input(line, self._table.legal_actions, self._words):
            case Quit():
                return False
            case Help():
                self._say_lines(folded("", text) for text in HELP)
            case ShowSheet():
                await self._tell_sheet()
            case React(reaction):
                await self._client.react(table_id=self._table.table_id, reaction=reaction)
            case Propose(name):
                await self._propose(name)
            case Vote(agree):
                await self._table.vote(agree=agree)
            case action:
                await self._act(action)
        return True

    async def _propose(self, name: str) -> None:
        known = self._game.proposals
        if not known:
            raise InputFault(f"{self._game.name} has nothing to propose")
        if name not in known:
            raise InputFault(f"propose one of {', '.join(sorted(known))}")
        await self._table.propose(name)

    async def _act(self, action: pb.Action) -> None:
        # Where several act at once, as with secret bids, what another one does leaves it as it was meant.
        alone = len(self._table.view.seats_to_act) == 1
        await self._table.act(action, expected_sequence=self._table.sequence if alone else None)

    def _tell_fault(self, message: str) -> None:
        self._notice = message
        self._told = None


def credit_text(milliseconds: int) -> str:
    """What is told when time was given back to the seats to act."""
    seconds = max(1, round(milliseconds / 1000))
    return f"The services were away: {seconds} second{'s' * (seconds > 1)} more to act"
