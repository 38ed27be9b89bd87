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

MAX_PILE_CARDS, MAX_CALLS = 8, 16
NAME_WIDTH = 22
NARROWEST_NAME = 8
NUMBERS_WIDTH = 24
"""Of the columns of a seat but its name and remarks."""


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
    is_sorted_by_rank: bool = False


def table_lines(words: Words, table: DisplayedTable, width: int = USUAL_WIDTH) -> list[Text]:
    """Return the lines of a table; `width` in columns."""
    room = max(NARROWEST_NAME, min(NAME_WIDTH, width - NUMBERS_WIDTH - len(INDENT)))
    return [
        _headline(words, table, width),
        Text(_columns(words, room), style="dim"),
        *(_seat_line(words, table, seat, room, width) for seat in range(len(table.view.seats))),
        *(folded(f"{name}: ", text, width) for name, text in _rows(words, table.view)),
        *_hand_lines(words, table, width),
    ]


def _columns(words: Words, room: int) -> str:
    seat, cards, points, tricks = words.tr("seat"), words.tr("cards"), words.tr("points"), words.tr("tricks")
    return f"{INDENT}{seat:{room}} {cards:>5} {points:>6} {tricks if words.has_tricks else '':>6}".rstrip()


def _headline(words: Words, table: DisplayedTable, width: int) -> Text:
    seconds = table.seconds_left
    time_left = words.tr("{seconds} s left", seconds=int(seconds)) if seconds is not None else ""
    phase = words.word(games_pb2.WORD_KIND_PHASE, table.view.phase) if table.view.phase else ""
    text = escaped(", ".join(filter(None, (table.title, f"{words.round} {table.view.round}", phase))))
    room = width - 1 - len(time_left)
    return Text(text.ljust(room)[:room] + time_left, style="bold")


def _seat_line(words: Words, table: DisplayedTable, seat: int, room: int, width: int) -> Text:
    shown = table.view.seats[seat]
    to_act = seat in table.view.seats_to_act
    kind = words.tr("you") if seat == table.seat else words.tr("bot") if seat in table.bots else ""
    kind = f" ({kind})" if kind else ""
    name = set_cell_size(set_cell_size(words.name(seat), room - len(kind)).rstrip() + kind, room)
    tricks = str(shown.tricks_taken) if shown.tricks_taken and words.has_tricks else ""
    line = f"{'>' if to_act else ' '} {seat + 1} {name} {shown.card_count:5} {shown.score:6} {tricks:>6}  "
    # The blanks of the columns are not those at which a line is broken.
    remarks = ", ".join(_remarks(words, table, seat)).split(" ")
    return listed(line, remarks, " ", width, style="bold" if to_act else "")


def _remarks(words: Words, table: DisplayedTable, seat: int) -> Iterable[str]:
    shown = table.view.seats[seat]
    if shown.is_out:
        yield words.tr("out, place {place}", place=shown.place) if shown.HasField("place") else words.tr("out")
    for number, team in enumerate(table.teams, start=1):
        if seat in team.seats:
            yield words.tr("team {number}", number=number)
    if table.view.HasField("dealer") and table.view.dealer == seat:
        yield words.tr("dealer")
    if seat in table.clock.away_seats:
        yield words.tr("left the table") if seat in table.clock.left_seats else words.tr("away")
    if seat in table.offline:
        yield words.tr("offline")
    for mark in table.view.marks:
        if mark.HasField("seat") and mark.seat == seat:
            yield words.mark(mark)


def _rows(words: Words, view: facts_pb2.TableView) -> Iterable[tuple[str, str]]:
    yield from _piles(words, view)
    contract = words.contract(view.contract)
    if contract:
        yield words.tr("contract"), contract
    if view.calls:
        latest = [f"{words.name(call.seat)}: {words.call(call)}" for call in view.calls[-MAX_CALLS:]]
        yield words.tr("calls"), ", ".join([*(["..."] if len(view.calls) > MAX_CALLS else []), *latest])
    marks = [words.mark(mark) for mark in view.marks if not mark.HasField("seat")]
    if marks:
        yield words.tr("table"), ", ".join(marks)


def _piles(words: Words, view: facts_pb2.TableView) -> Iterable[tuple[str, str]]:
    """Yield the piles whose cards are shown, ordered by role, after those of which the numbers are."""
    described = {pile.name: (place, pile.display) for place, pile in enumerate(words.piles)}
    piles = sorted(view.piles, key=lambda pile: described.get(pile.name, (len(described), 0))[0])
    shown, counted = [], []
    for pile in piles:
        display = described.get(pile.name, (0, games_pb2.PILE_DISPLAY_ALL))[1]
        if not pile.cards or display == games_pb2.PILE_DISPLAY_COUNT:
            counted.append(f"{_pile_name(words, pile)} {pile.count}")
        else:
            shown.append((pile, 1 if display == games_pb2.PILE_DISPLAY_TOP else MAX_PILE_CARDS))
    if counted:
        yield words.tr("piles"), ", ".join(counted)
    for pile, most in shown:
        cards = pile.cards[-most:]
        before, after = ("... ", f" ({pile.count})") if pile.count > len(cards) else ("", "")
        name = ", ".join([_pile_name(words, pile), *([words.tr("face down")] if pile.face_down else [])])
        yield name, before + ", ".join(_runs(words, cards)) + after


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
        own, known = words.tr("your hand"), words.tr("{seat}, known", seat=words.name(seat))
        name = own if seat == table.seat else words.name(seat) if cards else known
        if listed_cards := cards or shown.known_cards:
            order, by_rank = table.view.card_order, table.is_sorted_by_rank
            yield folded(f"{name}: ", hand_text(words, listed_cards, order, by_rank=by_rank), width)


def proposal_text(words: Words, proposal: engine_pb2.Proposal, meaning: str, seconds_left: float, width: int) -> Text:
    """Return a proposal with the seats that have agreed and the time that is left; `width` in columns."""
    text = words.tr(
        "{seat} proposes: {proposal}. {meaning} {seconds} s left, agreed: {agreed}.",
        seat=words.name(proposal.proposer),
        proposal=words.word(games_pb2.WORD_KIND_PROPOSAL, proposal.name),
        meaning=meaning or words.tr("All have to agree."),
        seconds=int(seconds_left),
        agreed=", ".join(map(words.name, proposal.agreed_seats)),
    )
    return folded("", text, width, style="bold")
