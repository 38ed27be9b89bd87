"""A table as lines of a terminal, as wide as that: all that a viewer may know, for any game."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import set_cell_size
from rich.text import Text

from croupier.cli.terminal.lines import INDENT, USUAL_WIDTH, folded, listed
from croupier.cli.terminal.words import Words, hand_text
from croupier.runtime.printed_text import escaped
from croupier_api.v1 import engine_pb2, facts_pb2, games_pb2
from croupier_client.cards import CardValue

MAX_PILE_CARDS = 8
NAME_WIDTH = 22
NARROWEST_NAME = 8
NUMBERS_WIDTH = 24
"""Of the columns of a seat but its name and remarks."""
SEAT_MARKS = frozenset({"starter"})
"""The marks whose value is a seat."""


@dataclass(frozen=True, slots=True)
class DisplayedTable:
    """A table to show: the view of a seat (None for a spectator), and hands that are known from elsewhere, by seat.

    `seconds_left` is the time until the deadline, None without one; `offline` has the seats of players who are not
    connected.
    """

    title: str
    view: facts_pb2.TableView
    clock: engine_pb2.TurnClock
    seconds_left: float | None
    seat: int | None
    bots: frozenset[int] = frozenset()
    teams: Sequence[games_pb2.Team] = ()
    hands: Mapping[int, tuple[CardValue, ...]] = field(default_factory=dict)
    offline: Collection[int] = ()


def table_lines(words: Words, table: DisplayedTable, width: int = USUAL_WIDTH) -> list[Text]:
    """Return the lines of a table; `width` in columns."""
    room = max(NARROWEST_NAME, min(NAME_WIDTH, width - NUMBERS_WIDTH - len(INDENT)))
    return [
        _headline(words, table, width),
        Text(f"{INDENT}{'seat':{room}} cards points tricks", style="dim"),
        *(_seat_line(words, table, seat, room, width) for seat in range(len(table.view.seats))),
        *(folded(f"{name}: ", text, width) for name, text in _rows(words, table.view)),
        *_hand_lines(words, table, width),
    ]


def _headline(words: Words, table: DisplayedTable, width: int) -> Text:
    time_left = f"{int(table.seconds_left)} s left" if table.seconds_left is not None else ""
    phase = f", {words.term(table.view.phase)}" if table.view.phase else ""
    text = escaped(f"{table.title}, {words.term('round')} {table.view.round}{phase}")
    room = width - 1 - len(time_left)
    return Text(text.ljust(room)[:room] + time_left, style="bold")


def _seat_line(words: Words, table: DisplayedTable, seat: int, room: int, width: int) -> Text:
    shown = table.view.seats[seat]
    to_act = seat in table.view.seats_to_act
    kind = " (you)" if seat == table.seat else " (bot)" if seat in table.bots else ""
    name = set_cell_size(set_cell_size(words.name(seat), room - len(kind)).rstrip() + kind, room)
    tricks = str(shown.tricks_taken) if shown.tricks_taken else ""
    line = f"{'>' if to_act else ' '} {seat + 1} {name} {shown.card_count:5} {shown.score:6} {tricks:>6}  "
    # The blanks of the columns are not those at which a line is broken.
    remarks = ", ".join(_remarks(words, table, seat)).split(" ")
    return listed(line, remarks, " ", width, style="bold" if to_act else "")


def _remarks(words: Words, table: DisplayedTable, seat: int) -> Iterable[str]:
    shown = table.view.seats[seat]
    if shown.is_out:
        yield f"out, place {shown.place}" if shown.HasField("place") else "out"
    for number, team in enumerate(table.teams, start=1):
        if seat in team.seats:
            yield f"team {number}"
    if table.view.HasField("dealer") and table.view.dealer == seat:
        yield "dealer"
    if seat in table.clock.away_seats:
        yield "left" if seat in table.clock.left_seats else "away"
    if seat in table.offline:
        yield "offline"
    for mark in table.view.marks:
        if mark.HasField("seat") and mark.seat == seat:
            yield _mark_text(words, mark)


def _mark_text(words: Words, mark: facts_pb2.Mark) -> str:
    value = words.name(int(mark.value)) if mark.name in SEAT_MARKS else words.value(mark.value)
    return f"{words.term(mark.name)}: {value}"


def _rows(words: Words, view: facts_pb2.TableView) -> Iterable[tuple[str, str]]:
    hidden = [f"{_pile_name(words, pile)} {pile.count}" for pile in view.piles if not pile.cards]
    if hidden:
        yield "face down", ", ".join(hidden)
    for pile in view.piles:
        if pile.cards:
            shown = pile.cards[-MAX_PILE_CARDS:]
            before, after = ("... ", f" ({pile.count} cards)") if pile.count > len(shown) else ("", "")
            name = _pile_name(words, pile) + (", face down" if pile.face_down else "")
            yield name, before + ", ".join(_runs(words, shown)) + after
    contract = words.contract(view.contract)
    if contract:
        yield "contract", contract
    if view.calls:
        yield "calls", ", ".join(f"{words.name(call.seat)} {words.call(call)}" for call in view.calls)
    marks = [_mark_text(words, mark) for mark in view.marks if not mark.HasField("seat")]
    if marks:
        yield "marks", ", ".join(marks)


def _pile_name(words: Words, pile: facts_pb2.Pile) -> str:
    return words.pile(pile.name, pile.owner if pile.HasField("owner") else None)


def _runs(words: Words, cards: Iterable[facts_pb2.PileCard]) -> list[str]:
    """Return the cards, consecutive ones of one seat together with its name."""
    runs: list[tuple[str, list[str]]] = []
    for laid in cards:
        name = words.name(laid.seat) if laid.HasField("seat") else ""
        if not runs or runs[-1][0] != name:
            runs.append((name, []))
        runs[-1][1].append(words.card_and_name(laid.card))
    return [" ".join([*cards, name]).strip() for name, cards in runs]


def _hand_lines(words: Words, table: DisplayedTable, width: int) -> Iterator[Text]:
    """Yield the hands that are seen, and of hidden ones the cards that are known."""
    for seat, shown in enumerate(table.view.seats):
        cards = shown.cards or table.hands.get(seat, ())
        name = "your hand" if seat == table.seat else f"{words.name(seat)}{'' if cards else ', known'}"
        if listed_cards := cards or shown.known_cards:
            yield folded(f"{name}: ", hand_text(words, listed_cards, table.view.card_order), width)


def proposal_text(words: Words, proposal: engine_pb2.Proposal, meaning: str, seconds_left: float, width: int) -> Text:
    """Return a proposal with the seats that have agreed and the time that is left; `width` in columns."""
    agreed = ", ".join(map(words.name, proposal.agreed_seats))
    text = f"{words.name(proposal.proposer)} proposes {words.term(proposal.name)}: {meaning or 'all have to agree.'}"
    return folded("", f"{text} {int(seconds_left)} s left, agreed: {agreed}.", width, style="bold")
