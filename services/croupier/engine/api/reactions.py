"""The reactions of players, each with its emoji and text."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from croupier.engine.api.game_texts import SHARED, catalogue
from croupier.runtime.errors import MalformedRequest
from croupier_api.v1 import errors_pb2, games_pb2

CONTEXT = "reaction"


class ReactionTexts(NamedTuple):
    """The emoji and the English text of a reaction."""

    emoji: str
    text: str


REACTIONS: Mapping[games_pb2.Reaction.ValueType, ReactionTexts] = MappingProxyType(
    {
        games_pb2.REACTION_THUMBS_UP: ReactionTexts("👍", "well done"),
        games_pb2.REACTION_THUMBS_DOWN: ReactionTexts("👎", "oh no"),
        games_pb2.REACTION_LAUGH: ReactionTexts("😂", "laughter"),
        games_pb2.REACTION_CRY: ReactionTexts("😢", "tears"),
        games_pb2.REACTION_WOW: ReactionTexts("😮", "surprise"),
        games_pb2.REACTION_ANGRY: ReactionTexts("😠", "anger"),
        games_pb2.REACTION_CLAP: ReactionTexts("👏", "applause"),
        games_pb2.REACTION_HEART: ReactionTexts("❤️", "heart"),
        games_pb2.REACTION_THINK: ReactionTexts("🤔", "thinking"),
        games_pb2.REACTION_SLEEP: ReactionTexts("😴", "sleep"),
    }
)


def check_reaction(reaction: int) -> None:
    """Raise MalformedRequest unless the reaction is one of REACTIONS."""
    if reaction not in REACTIONS:
        expected = ", ".join(map(games_pb2.Reaction.Name, REACTIONS))
        message = f"invalid reaction {reaction}: expected one of {expected}"
        raise MalformedRequest(errors_pb2.ERROR_REASON_UNKNOWN_REACTION, message, field="reaction")


def encode_reactions(language: str) -> list[games_pb2.ReactionDescription]:
    """Return the descriptions of all reactions in one of LANGUAGES."""
    translations = catalogue(SHARED, language)
    return [
        games_pb2.ReactionDescription(
            reaction=reaction, emoji=texts.emoji, text=translations.get((CONTEXT, texts.text), texts.text)
        )
        for reaction, texts in REACTIONS.items()
    ]
