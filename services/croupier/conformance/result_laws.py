"""Laws of results and players: scores, rankings and turns agree, bots act legally, and messages carry everything."""

from croupier.conformance.law import Law, LawBroken, require, require_equal
from croupier.conformance.tables import MAX_TRANSITIONS, SampledTable, Style, decisions, observation
from croupier.conformance.walks import Transition
from croupier.engine.api import action_codec
from croupier.games.actions import Action, decode_action, encode_action
from croupier.games.cards import card_names
from croupier.games.facts import SPECTATOR, GameEnded, Ranking, RoundEnded, View
from croupier.games.interface import Bot, Game, GameOver, SeatActed, SeatsToAct
from croupier.games.registry import bots_of
from croupier.games.search import SearchBot
from croupier.runtime.errors import MalformedRequest


def check_results(table: SampledTable) -> None:
    """Compare scores, turns and the ranking of the rules with those of facts and views, at each step."""
    for step in table.some_transitions():
        scores = table.game.scores(step.after)
        view = table.game.view(step.after, SPECTATOR)
        require_equal("the number of scores", len(scores), table.seats)
        require_equal("the scores in the view", tuple(seat.score for seat in view.seats), tuple(scores))
        awaiting = table.game.awaiting(step.after)
        acting = awaiting.seats if isinstance(awaiting, SeatsToAct) else ()
        require_equal(f"the seats to act in the view after {step.event}", view.seats_to_act, acting)
        _check_rounds(table, step)
        _check_end(table, step, view)
        at_limit = table.game.ranking_at_limit(step.after)
        if acting and at_limit is not None:
            _check_ranking("the ranking at a limit", at_limit, table.seats)


def _check_rounds(table: SampledTable, step: Transition) -> None:
    for fact in step.facts:
        if isinstance(fact, RoundEnded):
            score = fact.score
            require_equal("the number of points of a round", len(score.points), table.seats)
            require(len(score.notes) in (0, table.seats), f"a round has notes of {len(score.notes)} seats")
            require_equal("the totals of a round", score.totals, tuple(table.game.scores(step.after)))
            round_number = table.game.view(step.before, SPECTATOR).round_number
            require_equal("the number of a round that ended", score.round_number, round_number)


def _check_end(table: SampledTable, step: Transition, view: View) -> None:
    awaiting, ended = table.game.awaiting(step.after), [fact for fact in step.facts if isinstance(fact, GameEnded)]
    require_equal("the number of GameEnded facts", len(ended), int(isinstance(awaiting, GameOver)))
    if not isinstance(awaiting, GameOver):
        require(not view.ranking, f"the view has a ranking before the end: {view.ranking}")
        return
    _check_ranking("the ranking", awaiting.ranking, table.seats)
    (fact,) = ended
    told = (fact.ranking, fact.reason, fact.is_void)
    require_equal("the end of the game in its fact", told, (awaiting.ranking, awaiting.reason, awaiting.is_void))
    outcomes = () if awaiting.is_void else table.game.outcomes(awaiting.ranking, awaiting.reason)
    require(len(outcomes) in (0, table.seats), f"the game has outcomes of {len(outcomes)} seats")
    known = table.game.standing.outcomes
    require(set(outcomes) <= set(known), f"invalid outcomes {outcomes}: expected {known}")


def _check_ranking(what: str, ranking: Ranking, seats: int) -> None:
    ranked = sorted(seat for group in ranking for seat in group)
    require(ranked == list(range(seats)) and all(ranking), f"{what} is {ranking}: expected each seat in one group")


def check_determinization(table: SampledTable) -> None:
    """Determinize each observation of a seat that acts, and compare what the seat sees."""
    if not table.game.is_searchable:
        return
    for before, event, *_ in table.some_transitions(MAX_TRANSITIONS // 2):
        if not isinstance(event, SeatActed):
            continue
        observed = observation(table.game, before, event.seat, table.options)
        determinized = table.game.determinize(observed, table.random.randrange)
        view, legal = table.game.view(determinized, event.seat), table.game.legal_actions(determinized, event.seat)
        require_equal(f"the view of seat {event.seat} in a determinized table", view, observed.view)
        require_equal(f"the legal actions of seat {event.seat} in a determinized table", legal, observed.legal)
        after, _ = table.game.apply(determinized, event)
        values = table.game.evaluate(determinized, after)
        is_valid = len(values) == table.seats and all(0 <= value <= 1 for value in values)
        require(is_valid, f"invalid evaluation {values}: expected a number from 0 to 1 for each seat")


def rarely_searching(game: Game) -> Bot:
    """Return a bot that searches for one decision in thirty, so that long tables end soon."""
    bots = [SearchBot(game, max_iterations=1), *[SearchBot(game, max_iterations=0)] * 29]
    return lambda observation, randrange: bots[randrange(30)](observation, randrange)


def check_bots(table: SampledTable) -> None:
    """Let bots of all names play the table to its end."""
    if table.style is Style.STEERED:
        return  # Bots reach positions that random walks do not, and steered options are for those.
    bots = dict(bots_of(table.game))
    if table.game.is_searchable:
        bots["search"] = rarely_searching(table.game)
    chosen = [table.random.choice([*bots.values()]) for _ in range(table.seats)]
    for _ in decisions(table.game, table.state, table.options, chosen, table.random):
        pass


def check_messages(table: SampledTable) -> None:
    """Encode actions and legal actions as JSON and messages, and decode the actions again."""
    for step in table.some_transitions():
        if isinstance(step.event, SeatActed):
            action = step.event.action
            try:
                action_codec.encode_legal(table.game.legal_actions(step.before, step.event.seat))
                decoded = _decoded(table.game, action)
            except (IndexError, MalformedRequest, ValueError) as fault:
                raise LawBroken(f"no message can carry {action}: {fault}") from fault
            require_equal("an action decoded from JSON and from its message", decoded, (action, action))


def _decoded(game: Game, action: Action) -> tuple[Action, Action]:
    names = card_names(game.deck)
    message = action_codec.encode_action(action)
    return decode_action(encode_action(action, names), names), action_codec.decode_action(message, game.deck)


RESULT_LAWS: tuple[Law[SampledTable], ...] = (
    Law(
        "results",
        "Let `scores`, `awaiting`, `outcomes` and `ranking_at_limit` agree with the facts: each seat once in a "
        "ranking, totals that are the scores, and one GameEnded at the end.",
        check_results,
    ),
    Law(
        "determinization",
        "Let `determinize` return a state in which the seat has the view and the legal actions of the observation, "
        "and `evaluate` a number from 0 to 1 for each seat.",
        check_determinization,
    ),
    Law("bots", "Let every bot choose a legal action, so that tables come to an end.", check_bots),
    Law(
        "messages",
        "Use cards of the standard deck or of `deck`, seats of the table and words of at most 64 characters in "
        "actions, so that messages and replays can carry them.",
        check_messages,
    ),
)
