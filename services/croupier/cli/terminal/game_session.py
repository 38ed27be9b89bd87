"""A person's session at a table: typed lines become actions, events become a picture and a story."""

import asyncio
from collections.abc import Sequence

from rich.text import Text

from croupier.cli.terminal import person_input
from croupier.cli.terminal.console import Picture, Screen, carry_out_lines, until_first
from croupier.cli.terminal.facts import fact_lines
from croupier.cli.terminal.legal import legal_lines, possible_text
from croupier.cli.terminal.lines import folded
from croupier.cli.terminal.lookups import Lookups
from croupier.cli.terminal.person_input import (
    Command,
    InputFault,
    Propose,
    React,
    Request,
    Rules,
    Sheet,
    Statistics,
    Vote,
)
from croupier.cli.terminal.refusals import refusal_text
from croupier.cli.terminal.screen import DisplayedTable, proposal_text, table_lines
from croupier.cli.terminal.sheets import sheet_lines
from croupier.cli.terminal.words import Words
from croupier_api.v1 import actions_pb2, engine_pb2, games_pb2
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.errors import CroupierError, StaleSequence

TICK_SECONDS = 0.25
SHOWN_ROUNDS = 3


class GameSession:
    """One session of a person at one table."""

    def __init__(
        self,
        client: Client,
        table: AsyncTable,
        game: games_pb2.GameDescription,
        words: Words,
        screen: Screen,
        reactions: Sequence[games_pb2.ReactionDescription] = (),
    ) -> None:
        self.has_left = False
        """Whether the person has given the table up."""
        self._client = client
        self._table = table
        self._game = game
        self._meanings = {proposal.name: proposal.meaning for proposal in game.proposals}
        self._words = words
        self._screen = screen
        self._lookups = Lookups(client, table.table, words)
        self._reactions = {reaction.reaction: reaction for reaction in reactions}
        self._proposal = table.proposal
        self._hint = words.tr("/help lists what you can type")
        self._notice = self._hint
        self._unconfirmed: tuple[str, Request, int | None] | None = None
        self._is_connected = True
        self._is_news = True
        self._shown_actions: actions_pb2.LegalActions | None = None
        self._is_sorted_by_rank = False

    async def run(self) -> None:
        """Run until the game is over or the person leaves; raises CroupierError if the table cannot be followed."""
        await until_first(self._follow(), self._tick(), carry_out_lines(self._screen, self._handle))

    async def _follow(self) -> None:
        self._draw()
        async for event in self._table:
            if isinstance(event, engine_pb2.SeatReaction):
                reaction = self._reactions.get(event.reaction)
                shown = f"{reaction.emoji} ({reaction.text})" if reaction else self._words.tr("unknown")
                self._say(f"{self._words.name(event.seat)}: {shown}")
            elif isinstance(event, engine_pb2.TableUpdate):
                self._show_update(event)
            self._draw()

    def _show_update(self, update: engine_pb2.TableUpdate) -> None:
        if update.HasField("seat") and update.seat == self._table.seat:
            self._shown_actions = None
        self._notice = self._hint if self._notice == self._hint else ""
        self._show_proposal(update)
        if update.compensated_ms:
            self._say(compensation_text(self._words, update.compensated_ms))
        if update.HasField("is_away"):
            name, tr = self._words.name(update.seat), self._words.tr
            left = tr("{seat} leaves the seat to the computer", seat=name)
            self._say(left if update.is_away else tr("{seat} is back", seat=name))
        reason = ""
        if update.acted_by == engine_pb2.ACTED_BY_TIMEOUT:
            is_left = update.seat in update.clock.left_seats
            reason = f" ({self._words.tr('away') if is_left else self._words.tr('time was up')})"
        for line in fact_lines(self._words, update.facts):
            self._say(line + reason)
        scores = [fact.round_ended.score for fact in update.facts if fact.HasField("round_ended")]
        # The last round is on the sheet that is shown when the game is over.
        if scores and not any(fact.HasField("game_ended") for fact in update.facts):
            last = scores[-1].round
            rounds = [score for score in self._table.round_scores if score.round <= last]
            self._say(f"{self._words.tr('Score sheet')}, {self._words.round} {last}")
            self._screen.say(*sheet_lines(self._words, rounds[-SHOWN_ROUNDS:], self._screen.width))

    def _show_proposal(self, update: engine_pb2.TableUpdate) -> None:
        before, self._proposal = self._proposal, update.proposal if update.HasField("proposal") else None
        if self._proposal is not None and self._proposal != before:
            self._screen.say(*self._proposal_lines())
        elif self._proposal is None and before is not None:
            all_agree = len(before.agreed_seats) == len(self._table.table.seats)
            proposal = self._words.word(games_pb2.WORD_KIND_PROPOSAL, before.name)
            agreed = self._words.tr("{proposal}: all agree", proposal=proposal)
            ended = self._words.tr("{proposal}: proposed no longer", proposal=proposal)
            self._say(agreed if all_agree else ended)

    def _say(self, line: str) -> None:
        self._screen.say(folded("", line, self._screen.width))

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            is_connected = self._table.interruption is None
            if is_connected != self._is_connected:
                self._is_connected = is_connected
                lost, again = self._words.tr("the connection is lost"), self._words.tr("connected again")
                self._say(again if is_connected else lost)
            self._draw()

    def _draw(self) -> None:
        table, width = self._table, self._screen.width
        bots = frozenset(number for number, seat in enumerate(table.table.seats) if seat.bot)
        shown = DisplayedTable(
            self._game.name,
            table.view,
            table.clock,
            table.seconds_left,
            table.seat,
            bots,
            table.table.teams,
            offline=table.offline_seats,
            is_sorted_by_rank=self._is_sorted_by_rank,
        )
        choices = [*self._legal_lines(), *self._proposal_lines()]
        picture = Picture(table_lines(self._words, shown, width), choices, self._messages())
        is_other_turn = table.is_to_act and self._shown_actions != table.legal_actions
        self._screen.draw(picture, is_news=self._is_news or is_other_turn)
        self._is_news, self._shown_actions = False, table.legal_actions if table.is_to_act else None

    def _legal_lines(self) -> list[Text]:
        table = self._table
        hand = table.view.seats[table.seat].cards if table.seat is not None else ()
        return legal_lines(self._words, table.legal_actions, hand, table.view.card_order, self._screen.width)

    @property
    def _is_away(self) -> bool:
        return self._table.seat in self._table.clock.away_seats

    def _messages(self) -> list[Text]:
        width, messages = self._screen.width, []
        if self._is_away:
            away = self._words.tr("The computer plays for you: write /back, or anything else, to play on.")
            messages.append(folded("", away, width, style="bold"))
        if self._table.interruption is not None:
            messages.append(folded("", self._lost_text(), width, style="bold red"))
        if self._notice:
            messages.append(folded("", self._notice, width, style="italic"))
        if self._unconfirmed is not None:
            question = self._words.tr("{action}: write yes to confirm, or something else", action=self._unconfirmed[0])
            messages.append(folded("", question, width))
        return messages

    def _lost_text(self) -> str:
        if self._table.unanswered_requests():
            return self._words.tr(
                "The connection is lost: trying to come back to the table, and to send your action. /quit leaves; you "
                "can come back."
            )
        return self._words.tr(
            "The connection is lost: trying to come back to the table. /quit leaves; you can come back."
        )

    def _proposal_lines(self) -> list[Text]:
        """Return the lines of the pending proposal, if any."""
        proposal, seconds_left = self._table.proposal, self._table.proposal_seconds_left
        if proposal is None or not seconds_left:
            return []
        meaning = self._meanings.get(proposal.name, "")
        lines = [proposal_text(self._words, proposal, meaning, seconds_left, self._screen.width)]
        if self._table.seat not in proposal.agreed_seats:
            lines.append(Text(f"  {self._words.tr('write agree or refuse')}", style="dim"))
        return lines

    async def _handle(self, line: str) -> bool:
        """Carry out a line of input; returns False if the person gives the table up."""
        self._notice = ""
        unconfirmed, self._unconfirmed = self._unconfirmed, None
        try:
            if unconfirmed is not None and line.strip().lower() in ("yes", "y", self._words.tr("yes")):
                await self._carry_out(*unconfirmed[1:])
            else:
                await self._return(line)
                request = person_input.read_input(line, self._table.legal_actions, self._words)
                expected = self._table.expected_sequence
                if question := self._question(request):
                    self._unconfirmed, self._is_news = (question, request, expected), True
                else:
                    await self._carry_out(request, expected)
        except InputFault as fault:
            self._notify(str(fault))
        except StaleSequence:
            # No notice: the events that made it late come at the same time, and each ends a notice.
            late = self._words.tr("too late, the table has moved on, and nothing was played")
            self._say(f"{line.strip()}: {late}")
        except CroupierError as error:
            self._notify(self._refusal(line, error))
        self._draw()
        return not self.has_left

    async def _return(self, line: str) -> None:
        """Return to a seat that is away, since the person writes something, unless that is to leave it."""
        if self._is_away and line.strip().lower() not in (Command.AWAY, Command.LEAVE):
            await self._table.set_away(is_away=False)

    def _question(self, request: Request) -> str:
        """Return what the person is to confirm; empty if nothing is."""
        match request:
            case Command.LEAVE:
                return self._words.tr("leave the table for good, where the computer plays on for you")
            case Vote(agree=True) if self._table.proposal is not None:
                proposal = self._words.word(games_pb2.WORD_KIND_PROPOSAL, self._table.proposal.name)
                return self._words.tr("agree: {proposal}", proposal=proposal)
            case actions_pb2.Action() if person_input.is_irrevocable(request):
                return self._words.action(request)
            case _:
                return ""

    def _refusal(self, line: str, error: CroupierError) -> str:
        """Return the refusal of a typed line, with the rule and what is possible instead."""
        if not error.rule:
            return refusal_text(self._words.texts, error)
        legal = self._table.legal_actions
        possible = f"; {possible_text(self._words, legal)}" if legal.actions else ""
        text = self._words.rule(error.rule) or error.message
        return f"{line.strip()}: {text} (/rules {error.rule}){possible}"

    async def _carry_out(self, request: Request, expected_sequence: int | None) -> None:
        match request:
            case Command.AWAY | Command.LEAVE:
                await self._table.set_away(is_away=True)
                self.has_left = request is Command.LEAVE
            case Command.BACK:
                # Every line is a return.
                self._notice = self._hint
            case Command.SORT:
                self._is_sorted_by_rank = not self._is_sorted_by_rank
            case Sheet() | Statistics() | Rules():
                self._screen.say(*await self._lookups.lines(request, self._screen.width))
            case Command.ACTIONS:
                self._screen.say(*self._legal_lines())
            case Command.HELP:
                for text in person_input.help_lines(self._words):
                    self._say(text)
            case React(reaction):
                await self._client.send_reaction(table_id=self._table.table_id, reaction=reaction)
            case Propose(name):
                await self._propose(name)
            case Vote(agree):
                await self._table.cast_vote(agree=agree)
            case actions_pb2.Action():
                await self._table.submit_action(request, expected_sequence=expected_sequence)

    async def _propose(self, name: str) -> None:
        if not self._meanings:
            raise InputFault(self._words.tr("{game} has nothing to propose", game=self._game.name))
        if name not in self._meanings:
            raise InputFault(self._words.tr("propose one of {names}", names=", ".join(sorted(self._meanings))))
        await self._table.create_proposal(name)

    def _notify(self, message: str) -> None:
        self._notice, self._is_news = message, True


def compensation_text(words: Words, milliseconds: int) -> str:
    """Return a sentence on the time that was added to the deadline."""
    seconds = max(1, round(milliseconds / 1000))
    return words.tr("The services were away: {seconds} s more to act", seconds=seconds)
