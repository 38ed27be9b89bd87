"""The law of hidden cards: no view and no fact shows a card to a viewer who may not know it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from croupier.conformance.fold import facts_for
from croupier.conformance.law import Law, require
from croupier.conformance.tables import SampledTable
from croupier.conformance.walks import Transition, some_viewers
from croupier.games.actions import Action, CallPartner, Declare, KeepCards, Lay, Play, SwapCards
from croupier.games.cards import Card, card_names
from croupier.games.facts import (
    EVERYONE,
    SPECTATOR,
    Called,
    CardsMoved,
    ContractChanged,
    Fact,
    HandRevealed,
    MarkChanged,
    OwnedPile,
    RoundEnded,
    RoundStarted,
    Seat,
    View,
    Viewer,
)
from croupier.games.interface import (
    Game,
)


def known(view: View, viewer: Viewer) -> set[Card]:
    """Return the viewer's hand and all open cards, by their view."""
    own = view.seats[viewer].cards if viewer != SPECTATOR else ()
    return {*own, *(pile_card.card for pile in view.piles for pile_card in pile.cards)}


def played_openly(facts: Iterable[Fact]) -> set[Card]:
    """Return cards that went to a pile openly."""
    moves = [fact for fact in facts if isinstance(fact, CardsMoved) and isinstance(fact.target, str | OwnedPile)]
    return {value for move in moves if move.audience == EVERYONE for value in move.cards}


def shown(fact: Fact) -> set[Card]:
    """Return the cards that a fact shows."""
    if isinstance(fact, CardsMoved | HandRevealed):
        return set(fact.cards)
    return named(fact.call.action) if isinstance(fact, Called) else set()


def named(action: Action | None) -> set[Card]:
    """Return the cards of an action."""
    match action:
        case Play(value) | CallPartner(int() as value):
            return {value}
        case KeepCards(cards) | SwapCards(cards) | Lay(cards) | Declare(cards=cards):
            return set(cards)
        case _:
            return set()


def called(fact: Fact, viewer: Viewer) -> set[Card]:
    """Return the cards that a seat calls or declares, in a public fact or in one of the viewer's own."""
    if (
        isinstance(fact, Called)
        and isinstance(fact.call.action, CallPartner | Declare)
        and (fact.audience == EVERYONE or fact.call.seat == viewer)
    ):
        return named(fact.call.action)
    return set()


def texts(fact: Fact) -> Iterator[str]:
    """Yield the texts of a fact, or of the mark, contract or score in it."""
    content: tuple[object, ...] = fact[0] if isinstance(fact, MarkChanged | ContractChanged | RoundEnded) else fact
    for value in content:
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            yield from (text for text in value if isinstance(text, str))


def mentioned(game: Game, lines: Iterable[str]) -> set[Card]:
    """Return the cards whose notation stands in texts."""
    cards = card_names(game.deck).cards
    return {cards[word] for word in re.findall(r"\w+", " ".join(lines)) if word in cards}


class _Openness:
    """What lies or lay open in a round: hands that were revealed, and cards that everyone saw."""

    def __init__(self, game: Game) -> None:
        self.reveals = game.sampling.reveals
        self.hands: set[Seat] = set()
        self.cards: set[Card] = set()

    def add(self, facts: Iterable[Fact]) -> None:
        """Add the facts of a step; a hand is revealed at the end of the round, or as the game's `sampling` says."""
        told = tuple(facts)
        if any(isinstance(fact, RoundStarted) for fact in told):
            self.hands.clear()
            self.cards.clear()
        revealed = [fact for fact in told if isinstance(fact, HandRevealed)]
        is_over = any(isinstance(fact, RoundEnded) for fact in told)
        require(
            is_over or all(map(self.reveals, revealed)),
            f"`sampling.reveals` names no hand that is revealed in the round: {revealed}",
        )
        self.hands |= {fact.seat for fact in revealed}
        self.cards |= played_openly(told).union(*[fact.cards for fact in revealed])


def check_views(table: SampledTable) -> None:
    """Look for cards in views and facts that their viewers may not know."""
    openness = _Openness(table.game)
    for step in table.some_transitions():
        openness.add(step.facts)
        for viewer in some_viewers(table.seats, table.random):
            _check_hands(table, step, viewer, openness)
            _check_facts(table, step, viewer)


def _check_hands(table: SampledTable, step: Transition, viewer: Viewer, openness: _Openness) -> None:
    view = table.game.view
    for seat, hand in enumerate(view(step.after, viewer).seats):
        is_own = seat == viewer
        require(not hand.cards or is_own or seat in openness.hands, f"viewer {viewer} sees the hand of seat {seat}")
        unseen = set(hand.known_cards) - openness.cards
        require(not unseen, f"viewer {viewer} knows cards of seat {seat} that never lay on an open pile: {unseen}")
        is_both = hand.known_cards and (hand.cards or is_own)
        require(not is_both, f"viewer {viewer} sees the hand of seat {seat} and has known cards of it")
        gone = Counter(hand.known_cards) - Counter(view(step.after, seat).seats[seat].cards)
        require(not gone, f"viewer {viewer} knows cards of seat {seat} that it does not hold: {gone}")


def _check_facts(table: SampledTable, step: Transition, viewer: Viewer) -> None:
    views = (table.game.view(step.before, viewer), table.game.view(step.after, viewer))
    may_know = played_openly(step.facts).union(*[known(view, viewer) for view in views])
    for fact in facts_for(step.facts, viewer):
        may_learn = may_know | called(fact, viewer)
        is_shown = isinstance(fact, HandRevealed) or shown(fact) <= may_learn
        require(is_shown, f"viewer {viewer} receives a card that they may not know: {fact}")
        is_told = mentioned(table.game, texts(fact)) <= may_know
        require(is_told, f"viewer {viewer} receives a text with a card that they may not know: {fact}")


HIDDEN_CARDS_LAW: Law[SampledTable] = Law(
    "hidden cards",
    "Show a card only to its holder, or to all when it lies open: give facts an audience, leave hidden cards out of "
    "views, known cards and texts, and let a card that all see go by way of an open pile.",
    check_views,
)
