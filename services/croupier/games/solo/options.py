"""The options of Solo, those of a group together; all are independent (SOLO-OPT-1)."""

from croupier.games.interface import Option

OPTIONS = (
    Option("deal_packets", "323", ("323", "singles"), "how many cards are dealt to a seat at a time", group="deal"),
    Option(
        "deal_start", "right", ("right", "left"), "which neighbour of the dealer gets the first cards", group="deal"
    ),
    Option(
        "do_over_clubs",
        True,
        (False, True),
        "whether a solo do outranks a solo in clubs",
        earlier=True,
        group="bidding",
    ),
    Option(
        "solo_keep",
        False,
        (False, True),
        "whether a soloist may take clubs themselves when clubs overrule them",
        group="bidding",
    ),
    Option("partner_do", True, (False, True), "whether a do may be called with a partner", group="bidding"),
    Option(
        "call",
        "must",
        ("must", "may"),
        "whether the declarer of a froke or an iss may call nobody and play alone",
        earlier="must",
        group="bidding",
    ),
    Option(
        "wedding_trump",
        "not_called_suit",
        ("not_called_suit", "any_suit"),
        "trumps of the partner in a wedding",
        group="bidding",
    ),
    Option(
        "first_lead",
        "left_of_dealer",
        ("left_of_dealer", "declarer"),
        "the leader to the first trick",
        group="play",
    ),
    Option(
        "called_card_rule",
        "forced",
        ("forced", "penalty"),
        "whether the called card must be played when it can be",
        group="play",
    ),
    Option(
        "wedding_card",
        "binds",
        ("binds", "free"),
        "whether the card called in a wedding has to be played in time, as in a froke",
        earlier="free",
        group="play",
    ),
    Option("through_factor", 2, (1, 2), "factor for a hand that goes through", group="scoring"),
    Option("do_factor", 3, (1, 3), "factor for a do", group="scoring"),
    Option(
        "fail_value",
        "full",
        ("full", "base"),
        "the value of a failed do or through: with its factor or without",
        group="scoring",
    ),
    Option(
        "last_two",
        "declarers",
        ("declarers", "either_pair"),
        "which pairs of the last two seats cause a throw-in",
        group="end",
    ),
    Option(
        "double_out",
        "void",
        ("void", "lowest"),
        "the result if a hand would put out all who remain",
        group="end",
    ),
    Option(
        "ranking",
        "buck_only",
        ("buck_only", "out_order"),
        "whether the three safe seats share one rank",
        group="end",
    ),
)
