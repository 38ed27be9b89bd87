"""Names of players: what a person sees decides whether a text is a name, and whether two names are alike.

Both follow Unicode by the tables of libraries, and so are the same with every version of Python (docs/decisions/0030).
"""

import json
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from itertools import count

import regex

from croupier.runtime.errors import MalformedRequest, invalid_field

MAX_NAME_CHARACTERS = 32
"""As a person counts them: grapheme clusters."""
MAX_CHARACTER_CODE_POINTS = 12
"""Emoji of families and letters of Indian scripts have up to eleven."""
_BLANKS = regex.compile(r"\p{Zs}+")
_FORBIDDEN = regex.compile(
    # Controls, line separators, surrogates, private and unassigned code points, other than those reserved for emoji.
    r"(?!\p{Extended_Pictographic})[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]"
    # Format characters, which change the direction or take no room, but joiners, signs of numbers and letters of flags.
    r"|(?![\u200C\u200D\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\U000110BD\U000110CD\U000E0020-\U000E007F])\p{Cf}"
    # More than four marks on one letter.
    r"|(?:[\p{Mn}\p{Me}]\p{Default_Ignorable_Code_Point}*){5}"
)
_CHARACTER = regex.compile(r"\X")
_VISIBLE = regex.compile(r"[^\p{Default_Ignorable_Code_Point}\p{Z}\p{Mn}\p{Me}\u2800\uFFFC\U0001D159]")
"""Not a blank of Braille, a place for an object or a note without a head."""
_UNSEEN = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Z}]")


def normalize_name(name: str) -> str:
    """Return a name with single blanks inside and none around it, empty if it has only blanks.

    Raises MalformedRequest unless each other character is visible.
    """
    if _FORBIDDEN.search(name):
        raise _invalid("", "one line of ordinary characters, with at most four marks on one letter")
    shown: str = _BLANKS.sub(" ", name).strip(" ")
    characters = _CHARACTER.findall(shown)
    if len(characters) > MAX_NAME_CHARACTERS:
        raise _invalid(f"of {len(characters)} characters", f"at most {MAX_NAME_CHARACTERS}")
    for character in characters:
        if len(character) > MAX_CHARACTER_CODE_POINTS or (character != " " and not _VISIBLE.search(character)):
            raise _invalid("", f"visible characters of at most {MAX_CHARACTER_CODE_POINTS} code points")
    return shown


def _invalid(what: str, expected: str) -> MalformedRequest:
    return invalid_field("name", f"invalid name{' ' * bool(what)}{what}: expected {expected}")


def guest_name(player_id: str) -> str:
    """Return the name of a player who has not chosen one."""
    return f"Guest {player_id[:4]}"


def bot_name(seat: int) -> str:
    """Return the name of the bot at a seat."""
    return f"Bot {seat + 1}"


def distinct_name(name: str, others: Iterable[str]) -> str:
    """Return a name, with a number after it if one of the others looks the same."""
    taken = frozenset[str]().union(*map(looks_of, others))
    candidates = (f"{name} {number}" if number > 1 else name for number in count(1))
    return next(candidate for candidate in candidates if looks_of(candidate).isdisjoint(taken))


def looks_of(name: str) -> frozenset[str]:
    """Return what a name looks like, in two forms: names look the same if they have one of them in common.

    They are skeletons of Unicode TR39 without blanks and without case: one of the name as it is written, since a
    capital may look like one of another script, and one of its small letters.
    """
    visible = _UNSEEN.sub("", name)
    return frozenset((_skeleton(_skeleton(visible).casefold()), _skeleton(visible.casefold())))


def _skeleton(text: str) -> str:
    prototypes = load_prototypes()
    # Wide and other forms of a letter are the letter.
    letters = unicodedata.normalize("NFKD", text)
    # A capital i looks like an l, and so does a small one to a person who does not look closely.
    return unicodedata.normalize("NFD", "".join(prototypes.get(letter, letter) for letter in letters)).replace("i", "l")


@cache
def load_prototypes() -> Mapping[str, str]:
    """Return the prototype of each character that looks like others; the first call takes a tenth of a second."""
    table = json.loads(files("confusable_homoglyphs").joinpath("confusables.json").read_text("utf-8"))
    # The table has both directions; marks of direction surround letters that are written from right to left.
    alike = {
        source.strip("\u200e"): [entry["c"].strip("\u200e") for entry in entries] for source, entries in table.items()
    }
    return {source: _prototype(source, targets, alike) for source, targets in alike.items() if len(source) == 1}


def _prototype(source: str, targets: list[str], alike: Mapping[str, list[str]]) -> str:
    """Return the prototype of a character: a sequence, or the one that looks like most others."""
    if len(targets) != 1 or len(targets[0]) > 1:
        return next((target for target in targets if len(target) > 1), source)
    [target] = targets
    return target if len(alike.get(target, ())) > 1 else min(source, target)
