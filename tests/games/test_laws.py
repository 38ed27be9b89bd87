"""Laws that hold for every game, with any options, at every number of seats, at each step of a random table.

Another game comes under them by its line in GAMES and one in PECULIAR.
"""

import json
import re
from collections import Counter

from croupier.games.actions import action_from_json, action_to_json
from croupier.games.cards import Card
from croupier.games.facts import SPECTATOR, CardsMoved, RoundStarted
from croupier.games.interface import (
    NOTHING_LEGAL,
    CardsShuffled,
    Event,
    Game,
    GameOver,
    IllegalAction,
    SeatActed,
    SeatsToAct,
    Seen,
    ShuffleNeeded,
    State,
)
from tests.games.fold import fold, heard
from tests.games.laws import STEPS, attempts, every_table, fits, steps, tables
from tests.games.peculiar import PECULIAR
from tests.games.walk import viewers, walk


def refused(state: State, event: Event) -> bool:
    """Whether an event is refused, and then with the id of a rule and a reason."""
    try:
        state.apply(event)
    except IllegalAction as error:
        refusal = error
    else:
        return False
    assert re.fullmatch(r"[A-Z0-9]+-[A-Z0-9-]+", refusal.rule)
    assert str(refusal)
    return True


@every_table
def test_what_is_legal_is_accepted_and_all_else_refused_without_a_change(game: Game, seats: int, seed: int) -> None:
    for (before, *_), random in steps(game, seats, seed):
        awaiting = before.awaiting
        acting = awaiting.seats if isinstance(awaiting, SeatsToAct) else ()
        views = [before.view(viewer) for viewer in viewers(seats)]
        for seat in acting:
            legal = before.legal_actions(seat)
            assert legal.actions or legal.choices
            assert len(set(legal.actions)) == len(legal.actions)
            for action in attempts(legal, random):
                assert refused(before, SeatActed(seat, action)) != fits(legal, action), (seat, action)
        for seat in {-1, seats, *range(seats)} - set(acting):
            assert before.legal_actions(seat) == NOTHING_LEGAL
            for action in random.sample(attempts(NOTHING_LEGAL, random), 12):
                assert refused(before, SeatActed(seat, action)), (seat, action)
        assert [before.view(viewer) for viewer in viewers(seats)] == views


@every_table
def test_wrong_shuffles_are_refused(game: Game, seats: int, seed: int) -> None:
    for (before, event, *_), _ in steps(game, seats, seed):
        if not isinstance(event, CardsShuffled):
            assert refused(before, CardsShuffled(tuple(range(52))))
            continue
        due, (cards, drawn) = before.awaiting, event
        assert isinstance(due, ShuffleNeeded)
        wrong = [CardsShuffled(cards[1:], drawn), CardsShuffled((*cards, cards[0]), drawn)]
        wrong += [CardsShuffled(cards, (*drawn, 0)), CardsShuffled((53, *cards[1:]), drawn)]
        wrong += [
            CardsShuffled(cards, (*drawn[:-1], beyond)) for bound in due.draw_bounds[-1:] for beyond in (bound, -1)
        ]
        if len(set(cards[:2])) == 2:
            wrong.append(CardsShuffled((cards[1], *cards[1:]), drawn))
        assert [shuffled for shuffled in wrong if not refused(before, shuffled)] == []


@every_table
def test_the_fold_of_what_a_viewer_got_is_his_view(game: Game, seats: int, seed: int) -> None:
    for state, _, random in tables(game, seats, seed):
        folded = {viewer: state.view(viewer) for viewer in viewers(seats)}
        for step in walk(game, state, random):
            for viewer, view in folded.items():
                folded[viewer] = fold(view, heard(step.facts, viewer), viewer)
                assert folded[viewer] == step.after.view(viewer), (viewer, step.event, step.facts)


@every_table
def test_a_replay_gives_the_same_table(game: Game, seats: int, seed: int) -> None:
    for state, _, random in tables(game, seats, seed):
        for _, event, after, facts in walk(game, state, random):
            if isinstance(event, SeatActed):
                written = json.dumps(action_to_json(event.action))
                event = SeatActed(event.seat, action_from_json(json.loads(written)))
            state, again = state.apply(event)
            assert (again, state.awaiting, state.scores) == (facts, after.awaiting, after.scores)
            assert state == after


@every_table
def test_no_card_is_lost_or_found(game: Game, seats: int, seed: int) -> None:
    on_the_table, deck = 0, Counter[Card]()
    for step, _ in steps(game, seats, seed, most=STEPS * 4):
        for fact in heard(step.facts, SPECTATOR):
            if isinstance(fact, RoundStarted):
                on_the_table = 0
                if isinstance(step.event, CardsShuffled):
                    deck = Counter(step.event.cards)
            if isinstance(fact, CardsMoved):
                on_the_table += fact.card_count * ((fact.source is None) - (fact.target is None))
                deck.update(fact.cards if fact.source is None and fact.target == "removed" else ())
        view = step.after.view(SPECTATOR)
        assert sum(seat.card_count for seat in view.seats) + sum(pile.card_count for pile in view.piles) == on_the_table
        assert not all_seen(step.after, seats) - deck


def all_seen(state: State, seats: int) -> Counter[Card]:
    """Every card that anybody sees, as often as it is there."""
    seen = Counter(laid.card for pile in state.view(SPECTATOR).piles for laid in pile.cards)
    for seat in range(seats):
        seen.update(state.view(seat).seats[seat].cards)
    return seen


@every_table
def test_what_a_seat_imagines_looks_like_what_it_sees(game: Game, seats: int, seed: int) -> None:
    for state, options, random in tables(game, seats, seed):
        for number, (before, event, *_) in enumerate(walk(game, state, random)):
            if number == STEPS:
                break
            if not isinstance(event, SeatActed):
                continue
            seen = Seen(event.seat, options, before.view(event.seat), before.legal_actions(event.seat))
            imagined = game.imagine(seen, random.randrange)
            assert imagined.view(event.seat) == seen.view
            assert imagined.legal_actions(event.seat) == seen.legal
            after, _ = imagined.apply(event)
            ratings = game.rate(imagined, after)
            assert len(ratings) == seats
            assert all(0 <= rating <= 1 for rating in ratings)


@every_table
def test_every_game_ends_with_the_scores_and_the_ranking_of_a_naive_recount(game: Game, seats: int, seed: int) -> None:
    for state, options, random in tables(game, seats, seed):
        oracle = PECULIAR[game.id].oracle(seats, options)
        for before, event, after, _ in walk(game, state, random):
            if isinstance(event, SeatActed):
                oracle.action(event.seat, action_to_json(event.action))
            else:
                oracle.table_event(json.loads(json.dumps(before.event_record(event))))
            assert list(after.scores) == oracle.totals, before
            state = after
        over = state.awaiting
        assert isinstance(over, GameOver)
        assert [list(group) for group in over.ranking] == oracle.ranking
        assert sorted(seat for group in over.ranking for seat in group) == list(range(seats))
        assert state.view(SPECTATOR).ranking == over.ranking
