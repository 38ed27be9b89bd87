"""Names are what a person sees, and names that look the same are distinguished at a table."""

import subprocess
import sys

import pytest

from croupier.lobby.accounts.names import bot_name, distinct_name, looks_of, normalize_name
from croupier.runtime.errors import MalformedRequest

BLANK = ("\u3164", "\u2800\u2800", "\u115f", "\u1160", "\uffa0", "\ufe0f", "\u034f", "\u17b4", "\u180b", "\u0301\u0302")
INVISIBLE = ("\u200b", "\u200d", "\u200c", "\u2060", "\ufeff", "\u00ad", "\ufffc", "\U0001d159", "\U000e0041")
DIRECTION = ("\u202eabc", "a\u202db", "\u2066a\u2069", "\u200fa", "\u061ca")
LINES = ("new\nline", "a\tb", "null\0", "a\x7f", "a\x85b", "a\u2028b", "a\u2029b")
NO_CHARACTERS = ("\ue000", "\U0010fffd", "\ud800", "\u0378", "\ufdd0", "\U0001ffff")
STACKED = ("a" + "\u0301" * 5, "a" + "\u0301" * 30, "a" + "\u0301\u0301\u034f" * 2 + "\u0301", "a" + "\u200d\u0301" * 5)
HIDDEN_INSIDE = ("a \u0301", "Ka\u3164ri", "Ka\u2800ri", "zero\u200bwidth", "Kari\uffa0")
LONG = ("x" * 33, "\U0001f44d\U0001f3fd" * 33, "\u0915\u094d" * 64 + "\u0915", "\U0001f468\u200d" * 7 + "\U0001f468")


@pytest.mark.parametrize(
    "name",
    [*BLANK, *INVISIBLE, *DIRECTION, *LINES, *NO_CHARACTERS, *STACKED, *HIDDEN_INSIDE, *LONG],
    ids=ascii,
)
def test_names_that_a_person_cannot_read_are_refused(name: str) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        normalize_name(name)
    assert refusal.value.field == "name"


LATIN = ("Ada", "x" * 32, "Bj\u00f8rn \u00c6rlig", "A\u030ase", "Nguy\u1ec5n", "N\u0303\u0302\u0323a")
IRISH = ("\u00d3 S\u00failleabh\u00e1in", "O'Brien", "O\u2019Brien")
PERSIAN = "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627"
RIGHT_TO_LEFT = ("\u0645\u062d\u0645\u062f", PERSIAN, "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd")
INDIAN = ("\u0915\u094d\u0937\u0924\u094d\u0930\u093f\u092f", "\u0936\u094d\u0930\u0940\u200d", "\u0d28\u0d4d\u200d")
THAI = ("\u0e01\u0e33\u0e18\u0e23", "\u0e19\u0e49\u0e33")
KOREAN = ("\uae40\ubbfc\uc218", "\u1112\u1161\u11ab")
BURMESE_AND_KHMER = ("\u1019\u103c\u1014\u103a\u1019\u102c", "\u1780\u17d2\u1793\u17bb\u1784")
TIBETAN = "\u0f62\u0fa1\u0f7c\u0f0b\u0f62\u0f97\u0f7a"
EAST_ASIAN = ("\u674e\u5c0f\u9f8d", "\u3055\u304f\u3089")
EMOJI = ("\u00c5se \U0001f0a1", "\U0001f44d\U0001f3fd" * 32, "\U0001f1f3\U0001f1f4" * 32)
KEYCAP_AND_HEART = ("1\ufe0f\u20e3", "\u2764\ufe0f")
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
KISS = "\U0001f469\U0001f3fd\u200d\u2764\ufe0f\u200d\U0001f48b\u200d\U0001f469\U0001f3ff"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
COMING_EMOJI = ("\U0001f8ff", "\U0001fadf")
"""Reserved for emoji of coming years."""
SCRIPTS = (*LATIN, *IRISH, *RIGHT_TO_LEFT, *INDIAN, *THAI, *KOREAN, *BURMESE_AND_KHMER, TIBETAN, *EAST_ASIAN)


@pytest.mark.parametrize(
    "name",
    [*SCRIPTS, *EMOJI, *KEYCAP_AND_HEART, FAMILY, KISS, ENGLAND, *COMING_EMOJI],
    ids=ascii,
)
def test_names_in_all_scripts_and_emoji_stay_as_they_are(name: str) -> None:
    assert normalize_name(name) == name


BLANKS = {"  Ada ": "Ada", "Ada  Lovelace": "Ada Lovelace", "Ada\u3000\u00a0L": "Ada L", " ": "", "\u3000": "", "": ""}


@pytest.mark.parametrize(("name", "shown"), BLANKS.items())
def test_blanks_are_single_and_inside(name: str, shown: str) -> None:
    assert normalize_name(name) == shown


LIKE_KARI = ("Kari", "K\u0430ri", "\u039aari", "KARI", "\uff2b\uff41\uff52\uff49", "K a\u200dri", "KARl")
BOLD_KARI = "\U0001d40a\U0001d41a\U0001d42b\U0001d422"
CYRILLIC_MAMA = "\u041c\u0410\u041c\u0410"
ALIKE = {
    "Kari": (*LIKE_KARI, BOLD_KARI),
    "Karl": ("KarI", "Kar1"),
    "modern": ("rnodern",),
    CYRILLIC_MAMA: ("\u043c\u0430\u043c\u0430", "MAMA"),
    "B\u00e5rd": ("Ba\u030ard",),
    "Bot 4": ("\u0412\u043et4",),
    "Bot 10": ("B0T lO",),
}


@pytest.mark.parametrize(("name", "other"), [(name, each) for name in ALIKE for each in ALIKE[name]], ids=ascii)
def test_names_that_look_the_same_are_alike(name: str, other: str) -> None:
    assert not looks_of(name).isdisjoint(looks_of(other))


KOREANS = ("\uae40\ubbfc\uc218", "\uae40\ubbfc\uc900")
DIFFERENT = [("Kari", "K\u00e5ri"), ("Ann", "Anna"), ("Bot 4", "Bot 5"), ("Kari", "Kari 2"), KOREANS]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_names_that_look_different_are_not(one: str, other: str) -> None:
    assert looks_of(one).isdisjoint(looks_of(other))


def test_a_name_that_others_have_gets_the_first_free_number() -> None:
    assert distinct_name("Kari", []) == "Kari"
    assert distinct_name("Kari", ["Kari"]) == "Kari 2"
    assert distinct_name("K\u0430ri", ["Kari", "KARI 2"]) == "K\u0430ri 3"
    assert distinct_name("Bot 4", [bot_name(seat) for seat in range(4)]) == "Bot 4 2"


def test_names_are_judged_by_the_tables_of_a_library_alone() -> None:
    """In a Python whose own tables would answer otherwise."""
    program = (
        "import sys, unicodedata\n"
        "unicodedata.category = unicodedata.name = None\n"
        "from croupier.lobby.accounts.names import normalize_name\n"
        "print(normalize_name(sys.argv[1]) == sys.argv[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "\U0001faea \U0001f8ff"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"
