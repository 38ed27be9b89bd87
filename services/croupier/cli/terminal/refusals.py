"""Refusals of calls, as a person reads them."""

from collections.abc import Mapping
from types import MappingProxyType

from croupier.cli.terminal.texts import Texts
from croupier.runtime.translations import ENGLISH
from croupier_client.errors import CroupierError

OWN_PACKAGE = "croupier"
"""The package of the games that have no other one."""
REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "INVALID_FIELD": "a part of the request is invalid",
        "INVALID_ACTION": "the action is invalid",
        "INVALID_OPTION": "an option has a value that the game does not allow",
        "UNKNOWN_GAME": "there is no such game",
        "UNKNOWN_TABLE": "there is no such table",
        "UNKNOWN_PLAYER": "there is no such player",
        "INVALID_DEVICE_CODE": "the code is invalid or has expired",
        "NOT_HOST": "only the host of the table can do that",
        "NOT_SEATED": "you have no seat at the table",
        "TABLE_FULL": "no seat is free for you",
        "SEAT_TAKEN": "the seat is taken",
        "TABLE_STARTED": "the game has begun",
        "TABLE_FINISHED": "the game is over",
        "TABLE_NOT_FINISHED": "the game is not over",
        "TABLE_CLOSED": "the table is closed",
        "TOO_MANY_TABLES": "you have too many tables",
        "TOO_MANY_REQUESTS": "too many requests: wait a moment",
        "TOO_MANY_REACTIONS": "too many reactions: wait a moment",
        "TOO_MANY_PROPOSALS": "too many proposals: wait a moment",
        "NOT_YOUR_TURN": "it is not your turn",
        "STALE_SEQUENCE": "the table has moved on",
        "ALREADY_VOTED": "you have voted",
        "PROPOSAL_EXPIRED": "the time of the proposal is over",
        "PROPOSAL_REPLACED": "something else is proposed now",
        "HOST_SEAT": "the seat of the host stays",
        "TOO_MANY_DEVICES": "the player has too many devices",
        "NO_SCORE_SHEET": "no round of the table has ended",
        "PROPOSAL_PENDING": "something is proposed already",
        "NO_PROPOSAL": "nothing is proposed",
        "SERVER_STOPPING": "the server stops: try again",
        "TABLE_BUSY": "the table is busy: try again",
        "STORE_UNAVAILABLE": "the database does not answer: try again",
        "SERVICE_UNAVAILABLE": "a service does not answer: try again",
        "SERVICE_TIMEOUT": "the answer took too long: try again",
        "RULES_MISSING": "the rules of the game are not installed ({package}): tell the operator",
        "RULES_FAILED": "the rules of the game have failed ({package}): tell the operator",
    }
)
"""By reason the text in other languages than English; in English the message of the service says more."""


def refusal_text(texts: Texts, error: CroupierError) -> str:
    """Return the text of a refusal in the language of the terminal; the message of the service without one."""
    english = REFUSALS.get(error.reason_name)
    if texts.language == ENGLISH or english is None:
        return error.message
    return texts.tr(english, package=error.metadata.get("package") or OWN_PACKAGE)
