"""A table as lines of a terminal, at most 80 columns wide: all that a viewer may know, for any game."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.table import Table as Grid
from rich.text import Text

from croupier.cli.words import JOKER, SUITS, Words, contract_text
from croupier_api.v1 import engine_pb2
from croupier_api.v1 import table_pb2 as pb
from croupier_client.cards import CardValue, card_text

WIDTH = 80
MOST_PILE_CARDS = 14


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
        _headline(seen, now),
        *_seat_lines(words, seen),
        *(_folded(f"{name}: ", text) for name, text in _facts_of_table(words, seen.view)),
        *_hand_lines(words, seen),
    ]


def _headline(seen: Seen, now: int) -> Text:
    left = seen.clock.deadline_milliseconds - now
    time_left = f"{max(0, left) // 1000} s left" if seen.clock.deadline_milliseconds else ""
    text = f"{seen.title}, round {seen.view.round}{f', {_spaced(seen.view.phase)}' if seen.view.phase else ''}"
    return Text(text.ljust(WIDTH - 1 - len(time_left))[: WIDTH - 1 - len(time_left)] + time_left, style="bold")


def _spaced(word: str) -> str:
    return word.replace("_", " ")


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
    return _folded("", line + ", ".join(_remarks(seen, seat)), style="bold" if to_act else "")


def _remarks(seen: Seen, seat: int) -> Iterable[str]:
    it = seen.view.seats[seat]
    if it.out:
        yield f"out, place {it.place}" if it.place else "out"
    if seen.view.HasField("dealer") and seen.view.dealer == seat:
        yield "dealer"
    if seat in seen.clock.away_seats:
        yield "away"
    for mark in seen.view.marks:
        if mark.HasField("seat") and mark.seat == seat:
            yield f"{_spaced(mark.name)} {_spaced(mark.value)}"


def _facts_of_table(words: Words, view: pb.TableView) -> Iterable[tuple[str, str]]:
    for pile in view.piles:
        yield _spaced(pile.name), _pile_text(words, pile)
    contract = contract_text(words, view.contract)
    if contract:
        yield "contract", contract
    if view.calls:
        yield "calls", ", ".join(_call_text(words, call) for call in view.calls)
    marks = [f"{_spaced(mark.name)} {_spaced(mark.value)}" for mark in view.marks if not mark.HasField("seat")]
    if marks:
        yield "marks", ", ".join(marks)


def _pile_text(words: Words, pile: pb.Pile) -> str:
    if not pile.cards:
        return f"{pile.count} face down"
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
        runs[-1][1].append(words.card(laid.card))
    return [" ".join([*cards, name]).strip() for name, cards in runs]


def _call_text(words: Words, call: pb.Called) -> str:
    return f"{words.name(call.seat)} {words.action(call.action) if call.HasField('action') else '(secret)'}"


def _hand_lines(words: Words, seen: Seen) -> list[Text]:
    hands = dict(seen.hands)
    hands |= {seat: tuple(it.cards) for seat, it in enumerate(seen.view.seats) if it.cards}
    return [
        _folded("your hand: " if seat == seen.seat else f"{words.name(seat)}: ", hand_text(words, hands[seat]))
        for seat in sorted(hands)
        if hands[seat]
    ]


def hand_text(words: Words, cards: Iterable[CardValue]) -> str:
    """A hand sorted by suit, for example "2♣ K♣   5♥   JK"."""
    by_suit = {suit: [card for card in sorted(cards) if _suit_of(card) == suit] for suit in (*SUITS, JOKER)}
    return "   ".join(words.cards(group) for group in by_suit.values() if group)


def _suit_of(card: CardValue) -> str:
    text = card_text(card)
    return text if text == JOKER else text[-1]


def legal_lines(words: Words, legal: pb.LegalActions) -> list[Text]:
    """What the viewer may do, numbered as he may name it."""
    told = [words.action(action) for action in legal.actions]
    verbs = {text.partition(" ")[0] for text in told}
    # Where all do the same, as when a card is to be played, the verb is said once.
    verb = f" {verbs.pop()}" if len(verbs) == 1 and len(told) > 1 else ""
    numbered = [f"{number} {text.removeprefix(verb[1:]).strip()}" for number, text in enumerate(told, start=1)]
    lines = [_listed(f"you may{verb}: ", numbered, "   ")] if numbered else []
    return lines + [_folded("you may: ", choice_text(words, choice)) for choice in legal.choices]


def choice_text(words: Words, choice: pb.CardChoice) -> str:
    """A choice of cards as a half sentence."""
    few, many = choice.min_cards, choice.max_cards
    count = f"{few}" if few == many else f"{few} to {many}"
    suits = f", and one suit of {' '.join(map(words.suit, choice.suits))}" if choice.suits else ""
    return f"{verb_text(choice)} {count} of {hand_text(words, choice.cards)}{suits}"


def verb_text(choice: pb.CardChoice) -> str:
    """The verb of a choice, as one writes it."""
    return pb.CardChoiceVerb.Name(choice.verb).removeprefix("CARD_CHOICE_VERB_").lower()


def _folded(label: str, text: str, style: str = "") -> Text:
    """A text that is broken at blanks to the width, later lines indented; red suits in red."""
    return _listed(label, text.split(" "), " ", style)


def _listed(label: str, items: Iterable[str], separator: str, style: str = "") -> Text:
    """Items side by side, never broken within, as many to a line as the width allows."""
    lines = [label]
    for item in items:
        if cell_len(lines[-1]) + cell_len(item) >= WIDTH and lines[-1].strip():
            lines.append("    ")
        lines[-1] += item + separator
    listed = Text("\n".join(line.rstrip() for line in lines), style=style)
    listed.highlight_regex(r"\b[2-9TJQKA][♦♥]", "red")
    return listed


def sheet_grid(words: Words, rounds: Iterable[tuple[int, Iterable[int], Iterable[int]]]) -> Grid:
    """A score sheet of (round, points by seat, totals by seat): points, then the running total."""
    grid = Grid(box=None, pad_edge=False, padding=(0, 1))
    grid.add_column("round", justify="right")
    for name in words.names:
        grid.add_column(name[:16], justify="right", overflow="ellipsis", no_wrap=True)
    for number, points, totals in rounds:
        grid.add_row(str(number), *(f"{gained:+} = {total}" for gained, total in zip(points, totals, strict=True)))
    return grid
