"""The fold law's left side: a view made by the client, which knows no rule, of nothing but the viewer's facts."""

from collections.abc import Iterable

import croupier_client
from croupier.engine.api.fact_codec import encode_fact
from croupier.games.facts import SPECTATOR, Fact, Viewer
from croupier_api.v1.facts_pb2 import TableView


def facts_for(facts: Iterable[Fact], viewer: Viewer) -> list[Fact]:
    """Return the facts whose audience includes a viewer."""
    return [fact for fact in facts if fact.audience >> viewer & 1]


def fold(view: TableView, facts: Iterable[Fact], viewer: Viewer) -> TableView:
    """Return the view as a message after those of these facts that the viewer receives."""
    received = map(encode_fact, facts_for(facts, viewer))
    return croupier_client.fold(view, received, None if viewer == SPECTATOR else viewer)
