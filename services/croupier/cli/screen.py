"""A table as lines of a terminal, at most 80 columns wide: all that a viewer may know, for any game."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rich.text import Text

from croupier.cli.hands import hand_text
from croupier.cli.lines import WIDTH, folded
from croupier.cli.words import Words, contract_text
from croupier_api.v1 import engine_pb2
from croupier_api.v1 import table_pb2 as pb
from croupier_client.cards import CardValue

MOST_PILE_CARDS = 8


@dataclass(frozen=True, slots=True)
class Seen:
    """What is to be shown: the view, whose it is (None for a spectator), and hands known from elsewhere, by seat."""

    title: str
    view: pb.TableView
    clock: engine_pb2.TurnClock
    seat: int | None
    bots: frozenset[int] = frozenset()
    hands: Mapping[int, tuple[CardValue, ...]] = field(default_factory=dict)


def table_lines(words: Words, seen: Seen, now: int) -> list[Text]:
    """The table; `now` in milliseconds since 1970 UTC."""
    return [
        _headline(words, seen, now),
        *_seat_lines(words, seen),
        *(folded(f"{name}: ", text) for name, text in _facts_of_table(words, seen.view)),
        *_hand_lines(words, seen),
    ]


def _headline(words: Words, seen: Seen, now: int) -> Text:
    left = seen.clock.deadline_milliseconds - now
    time_left = f"{max(0, left) // 1000} s left" if seen.clock.deadline_milliseconds else ""
    phase = f", {words.term(seen.view.phase)}" if seen.view.phase else ""
    text = f"{seen.title}, {words.term('round')} {seen.view.round}{phase}"
    return Text(text.ljust(WIDTH - 1 - len(time_left))[: WIDTH - 1 - len(time_left)] + time_left, style="bold")


def _seat_lines(words: Words, seen: Seen) -> list[Text]:
    return [
        Text("    seat                   cards  points  tricks", style="dim"),
        *(_seat_line(words, seen, seat) for seat in range(len(seen.view.seats))),
    ]


def _seat_line(words: Words, seen: Seen, seat: int) -> Text:
    it = seen.view.seats[seat]
    to_act = seat in seen.view.seats_to_act
    name = words.name(seat) + (" (you)" if seat == seen.seat else " (bot)" if seat in seen.bots else "")
    tricks = str(it.tricks_taken) if it.tricks_taken else ""
    line = f"{'>' if to_act else ' '} {seat} {name:22.22} {it.card_count:5} {it.score:7} {tricks:>7}  "
    return folded("", line + ", ".join(_remarks(words, seen, seat)), style="bold" if to_act else "")


def _remarks(words: Words, seen: Seen, seat: int) -> Iterable[str]:
    it = seen.view.seats[seat]
    if it.out:
        yield f"out, place {it.place}" if it.place else "out"
    if seen.view.HasField("dealer") and seen.view.dealer == seat:
        yield "dealer"
    if seat in seen.clock.away_seats:
        yield "away"
    for mark in seen.view.marks:
        if mark.HasField("seat") and mark.seat == seat:
            yield _mark_text(words, mark)


def _mark_text(words: Words, mark: pb.Mark) -> str:
    return f"{words.term(mark.name)} {words.value(mark.value)}"


def _facts_of_table(words: Words, view: pb.TableView) -> Iterable[tuple[str, str]]:
    hidden = [f"{words.term(pile.name)} {pile.count}" for pile in view.piles if not pile.cards]
    if hidden:
        yield "face down", ", ".join(hidden)
    for pile in view.piles:
        if pile.cards:
            yield words.term(pile.name), _pile_text(words, pile)
    contract = contract_text(words, view.contract)
    if contract:
        yield "contract", contract
    if view.calls:
        yield "calls", ", ".join(_call_text(words, call) for call in view.calls)
    marks = [_mark_text(words, mark) for mark in view.marks if not mark.HasField("seat")]
    if marks:
        yield "marks", ", ".join(marks)


def _pile_text(words: Words, pile: pb.Pile) -> str:
    shown = pile.cards[-MOST_PILE_CARDS:]
    more = f" ({pile.count} cards)" if pile.count > len(shown) else ""
    return ("... " if more else "") + ", ".join(_runs(words, shown)) + more


def _runs(words: Words, cards: Iterable[pb.PileCard]) -> list[str]:
    """The cards, those of one seat in a row together with its name."""
    runs: list[tuple[str, list[str]]] = []
    for laid in cards:
        name = words.name(laid.seat) if laid.HasField("seat") else ""
        if not runs or runs[-1][0] != name:
            runs.append((name, []))
        runs[-1][1].append(words.card_and_name(laid.card))
    return [" ".join([*cards, name]).strip() for name, cards in runs]


def _call_text(words: Words, call: pb.Called) -> str:
    return f"{words.name(call.seat)} {words.action(call.action) if call.HasField('action') else 'has decided'}"


def _hand_lines(words: Words, seen: Seen) -> list[Text]:
    hands = dict(seen.hands)
    hands |= {seat: tuple(it.cards) for seat, it in enumerate(seen.view.seats) if it.cards}
    return [
        folded(
            "your hand: " if seat == seen.seat else f"{words.name(seat)}: ",
            hand_text(words, hands[seat], seen.view.card_order),
        )
        for seat in sorted(hands)
        if hands[seat]
    ]


def proposal_text(words: Words, proposal: engine_pb2.Proposal, meaning: str, now: int) -> Text:
    """What is proposed and who has agreed; `now` in milliseconds since 1970 UTC."""
    left = max(0, proposal.expires_milliseconds - now) // 1000
    agreed = ", ".join(map(words.name, proposal.agreed_seats))
    text = f"{words.name(proposal.proposer)} proposes {words.term(proposal.name)}: {meaning or 'all have to agree.'}"
    return folded("", f"{text} {left} s left, agreed: {agreed}.", style="bold")
