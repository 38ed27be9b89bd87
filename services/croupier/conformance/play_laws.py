"""Laws of play: what is legal is accepted, all else refused, and facts, views, scores and cards agree at each step."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import partial

from croupier.conformance.attempts import NONSENSE, attempted_actions, fits, plays_of, refusing_rule
from croupier.conformance.fold import facts_for, fold, known_view
from croupier.conformance.law import Law, LawBroken, require, require_equal
from croupier.conformance.tables import MAX_TRANSITIONS, SampledTable
from croupier.conformance.walks import Transition, shuffle, some_viewers, viewers
from croupier.engine.api.fact_codec import encode_view
from croupier.games.actions import Action, Play
from croupier.games.cards import Card
from croupier.games.facts import ALL_SEATS, SPECTATOR, CardsMoved, RoundStarted, Seat
from croupier.games.interface import (
    NOTHING_LEGAL,
    CardsShuffled,
    Event,
    Game,
    IllegalAction,
    Legal,
    ProposalAgreed,
    SeatActed,
    SeatsToAct,
    ShuffleNeeded,
    State,
)

ATTEMPTS = 25
"""The number of actions that a seat to act attempts between two events, besides the legal ones and its own cards."""
OTHERS_ATTEMPTS = 6
"""The number of actions that each other seat attempts."""
MAX_FOLDED = 1000
"""The number of a table's transitions whose facts are folded, as messages."""
_RULE = re.compile(r"[A-Z0-9]+-[A-Z0-9-]+[a-z]?")


def check_legal_actions(table: SampledTable) -> None:
    """Attempt legal and other actions in each position, by seats that are to act and by others."""
    for before, *_ in table.some_transitions():
        awaiting = table.game.awaiting(before)
        acting = awaiting.seats if isinstance(awaiting, SeatsToAct) else ()
        views = {viewer: table.game.view(before, viewer) for viewer in some_viewers(table.seats, table.random)}
        for seat in acting:
            _check_seat_to_act(table, before, seat)
        for seat in {-1, table.seats, *range(table.seats)} - set(acting):
            _check_other_seat(table, before, seat)
        for viewer, view in views.items():
            require_equal("the view after refused actions", table.game.view(before, viewer), view)


def _check_seat_to_act(table: SampledTable, state: State, seat: Seat) -> None:
    legal = table.game.legal_actions(state, seat)
    _check_order(legal, seat)
    hand = table.game.view(state, seat).seats[seat].cards

    attempted = attempted_actions(table.game, legal, hand, table.random)
    for action in (*legal.actions, *plays_of(hand), *table.random.sample(attempted, ATTEMPTS)):
        _check_action(table.game, state, seat, action, is_legal=fits(legal, action))


def _check_order(legal: Legal, seat: Seat) -> None:
    require(legal.actions or legal.choices, f"seat {seat} is to act and has no legal action")
    if len(set(legal.actions)) < len(legal.actions):
        raise LawBroken(f"a legal action is listed twice: {legal.actions}")
    played = [action.card for action in legal.actions if isinstance(action, Play)]
    require(played == sorted(played), f"the cards that may be played are not ascending: {played}")


def _check_action(game: Game, state: State, seat: Seat, action: Action, *, is_legal: bool) -> None:
    rule = refusing_rule(game, state, SeatActed(seat, action))
    require(not rule or _RULE.fullmatch(rule), f"{action} is refused by {rule!r}, which is no rule id")
    if is_legal and rule:
        raise LawBroken(f"seat {seat} may {action}, and it is refused by {rule}")
    if not is_legal and not rule:
        raise LawBroken(f"seat {seat} may not {action}, and it is accepted")


def _check_other_seat(table: SampledTable, state: State, seat: Seat) -> None:
    legal = table.game.legal_actions(state, seat)
    require(legal == NOTHING_LEGAL, f"seat {seat} is not to act and has legal actions: {legal}")
    attempted = attempted_actions(table.game, NOTHING_LEGAL, (), table.random)
    for action in table.random.sample(attempted, OTHERS_ATTEMPTS):
        _check_action(table.game, state, seat, action, is_legal=False)


def check_events(table: SampledTable) -> None:
    """Attempt shuffles that are not due and unknown proposals in each position, and write the records of shuffles."""
    for before, event, after, _ in table.some_transitions():
        for wrong in wrong_events(table, before):
            rule = refusing_rule(table.game, before, wrong)
            require(_RULE.fullmatch(rule), f"{type(wrong).__name__} is not refused by a rule id: {rule!r}")
        if isinstance(event, CardsShuffled):
            _check_record(table, before, event, after)


def wrong_events(table: SampledTable, state: State) -> Iterable[Event]:
    """Return shuffles and proposals that are refused."""
    due = table.game.awaiting(state)
    yield ProposalAgreed(NONSENSE)
    if not isinstance(due, ShuffleNeeded):
        yield CardsShuffled((), ())
        return
    good = shuffle(due, table.random)
    yield good._replace(cards=good.cards[1:])
    yield good._replace(drawn=(*good.drawn, 0))
    if due.draw_bounds:
        yield good._replace(drawn=due.draw_bounds)


def _check_record(table: SampledTable, state: State, event: CardsShuffled, after: State) -> None:
    """Check that another shuffle with the same record leads to the same table."""
    record = table.game.event_record(state, event)
    require(isinstance(record.get("type"), str), f"the record of a shuffle has no type: {record}")
    due = table.game.awaiting(state)
    other = shuffle(due, table.random) if isinstance(due, ShuffleNeeded) else event
    if table.game.event_record(state, other) == record:
        otherwise, _ = table.game.apply(state, other)
        for viewer in viewers(table.seats):
            same = table.game.view(otherwise, viewer) == table.game.view(after, viewer)
            require(same, f"two shuffles with the record {record} lead to different tables")


def check_fold(table: SampledTable) -> None:
    """Fold the facts of some viewers as their client does, and compare with the views of the rules."""
    view = table.game.view
    chosen = (*some_viewers(table.seats, table.random), ALL_SEATS)
    folded = {viewer: encode_view(known_view(partial(view, table.state), table.seats, viewer)) for viewer in chosen}
    for step in table.some_transitions(MAX_FOLDED):
        for viewer, before in folded.items():
            folded[viewer] = fold(before, step.facts, viewer)
            known = encode_view(known_view(partial(view, step.after), table.seats, viewer))
            if folded[viewer] != known:
                found = f"after {step.event} viewer {viewer} has by facts\n{folded[viewer]}and by the view\n{known}"
                raise LawBroken(found)


def check_cards(table: SampledTable) -> None:
    """Count the cards on the table by the facts of spectators, and find each card as often as the deck has it."""
    on_the_table, deck = 0, Counter[Card]()
    for step in table.some_transitions(MAX_TRANSITIONS * 2):
        for fact in facts_for(step.facts, SPECTATOR):
            if isinstance(fact, RoundStarted):
                on_the_table = 0
                if isinstance(step.event, CardsShuffled):
                    deck = Counter(step.event.cards)
            if isinstance(fact, CardsMoved):
                on_the_table += fact.card_count * ((fact.source is None) - (fact.target is None))
                deck.update(fact.cards if fact.source is None and fact.target == "removed" else ())
        view = table.game.view(step.after, SPECTATOR)
        counted = sum(seat.card_count for seat in view.seats) + sum(pile.card_count for pile in view.piles)
        require_equal(f"the number of cards in the view after {step.event}", counted, on_the_table)
        seen = _all_seen(table, step)
        require(not seen - deck, f"after {step.event} cards are seen that the deck does not have: {seen - deck}")


def _all_seen(table: SampledTable, step: Transition) -> Counter[Card]:
    """Return every visible card, with its number."""
    piles = table.game.view(step.after, SPECTATOR).piles
    seen_cards = Counter(pile_card.card for pile in piles for pile_card in pile.cards)
    for seat in range(table.seats):
        seen_cards.update(table.game.view(step.after, seat).seats[seat].cards)
    return seen_cards


def check_replay(table: SampledTable) -> None:
    """Apply the same events again, and compare facts and views."""
    state = table.state
    for step in list(table.some_transitions()):
        state, facts = table.game.apply(state, step.event)
        require_equal(f"the facts of {step.event} in a replay", facts, step.facts)
        for viewer in some_viewers(table.seats, table.random):
            view, first = table.game.view(state, viewer), table.game.view(step.after, viewer)
            require_equal(f"the view of {viewer} in a replay", view, first)


def check_refused_proposals(table: SampledTable) -> None:
    """Attempt every proposal of the game in each position: it is refused by a rule id, or has a record."""
    for before, *_ in table.some_transitions():
        for proposal in table.game.proposals:
            event = ProposalAgreed(proposal)
            rule = refusing_rule(table.game, before, event)
            require(not rule or _RULE.fullmatch(rule), f"{event} is refused by {rule!r}, which is no rule id")
            try:
                record = table.game.event_record(before, event)
            except IllegalAction as refused:
                require_equal(f"the rule that refuses the record of {event}", refused.rule, rule)
            else:
                require(not rule and record.get("type"), f"{event} is refused by {rule!r} and has the record {record}")


PLAY_LAWS: tuple[Law[SampledTable], ...] = (
    Law(
        "legal actions",
        "Let `legal_actions` list exactly what `act` accepts, plays ascending, and let `act` refuse all else by the "
        "id of a rule without changing the state.",
        check_legal_actions,
    ),
    Law(
        "shuffles",
        "Let `event_rules` name the rule of each wrong shuffle and proposal, and let `shuffle_record` write all that "
        "decides how the table goes on.",
        check_events,
    ),
    Law(
        "proposals",
        "Let `agree` and `proposal_record` refuse a proposal in the same positions, by the id of the same rule.",
        check_refused_proposals,
    ),
    Law(
        "views",
        "Let `view` return exactly what a viewer's facts add up to: send a fact for each change of the view, and "
        "change the view by each fact.",
        check_fold,
    ),
    Law(
        "cards",
        "Tell every movement of cards by a `CardsMoved` with the right count, from the box at the deal, and let no "
        "card be in two places.",
        check_cards,
    ),
    Law(
        "replay",
        "Let the next state depend on the state and the event alone: keep no data in the game and change no value "
        "that a state holds.",
        check_replay,
    ),
)
