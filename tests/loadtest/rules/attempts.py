"""Actions as JSON that a seat may try, most of them against the rules and some that no action looks like."""

from random import Random

from loadtest.judge.rules.interface import Act, Choice, Legal

CARDS = [*(rank + suit for suit in "CDHS" for rank in "23456789TJQKA"), "JK"]
BIDS = ["froke", "solo", "beg", "nonsense", ""]
MALFORMED: tuple[Act, ...] = (
    {},
    {"type": "fly"},
    {"type": "play"},
    {"type": "play", "card": "1H"},
    {"type": "play", "card": None},
    {"type": "play", "card": "5H", "seat": 0},
    {"type": "bid"},
    {"type": "bid", "amount": True},
    {"type": "bid", "amount": 1.0},
    {"type": "bid", "amount": "1"},
    {"type": "bid", "amount": 1, "bid": "froke"},
    {"type": "pass", "amount": 0},
    {"type": "swap"},
    {"type": "keep", "trump": "X", "cards": []},
    {"type": "call"},
    {"type": "name_trump", "trump": "H"},
)


def attempt(legal: list[Legal], random: Random) -> Act:
    """Something to try at a table where seats may do what is given, by seat."""
    kind = random.randrange(8)
    actions = [action for each in legal for action in each.actions]
    choices = [choice for each in legal for choice in each.choices]
    if kind < 3 and actions:
        return dict(random.choice(actions))
    if choices and kind < 6:
        return near(random.choice(choices), random)
    if kind == 7 and random.random() < 0.3:
        return dict(random.choice(MALFORMED))
    return anything(random)


def near(choice: Choice, random: Random) -> Act:
    """Cards of a choice, most likely with one too many, one too few or one that is not among them."""
    count = random.randint(max(choice.fewest - 1, 0), min(choice.most + 1, len(choice.cards)))
    cards = random.sample(choice.cards, count)
    if cards and random.random() < 0.4:
        cards[random.randrange(len(cards))] = random.choice([*CARDS, cards[0]])
    suits = random.choice([choice.suits or ["C"], choice.suits, ["C", "D", "H", "S"]])
    trump = {"trump": random.choice(suits)} if suits else {}
    return {"type": choice.verb, "cards": cards, **(trump if choice.verb == "keep" else {})}


def anything(random: Random) -> Act:
    """Any verb with anything."""
    card, suit = random.choice(CARDS), random.choice("CDHS")
    some = random.sample(CARDS, random.randrange(6))
    bare: list[Act] = [{"type": verb} for verb in ("pass", "match", "yield", "draw", "throw_down", "keep")]
    amounts = random.choice([range(-2, 12), range(-5, 200, 5)])
    told: list[Act] = [
        {"type": "play", "card": card, "suit": suit},
        {"type": "bid", "amount": random.choice(amounts)},
        {"type": "bid", "bid": random.choice(BIDS)},
        {"type": "keep", "cards": some, "trump": suit},
        {"type": "swap", "cards": some},
        {"type": "call", "card": random.choice([card, "unknown"])},
        {"type": "name_trump", "trump": suit, "do": random.random() < 0.5},
    ]
    return random.choice([random.choice(bare), *told, *[{"type": "play", "card": random.choice(CARDS)}] * 4])
