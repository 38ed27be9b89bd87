"""Texts of others cannot control a terminal."""

import pytest

from croupier.runtime.printed_text import escaped


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ASCII", "plain ASCII"),
        ("Åse 🂡 ♥ 日本語 नमस्ते", "Åse 🂡 ♥ 日本語 नमस्ते"),
        ("👩\u200d🚀 می\u200cخواهم a\u0301", "👩\u200d🚀 می\u200cخواهم a\u0301"),
        ("a\x1b[2Jb\x07", "a\\x1b[2Jb\\x07"),
        ("C1: \x9b31m \x9d0;x\x9c \x85", "C1: \\x9b31m \\x9d0;x\\x9c \\x85"),
        ("\u202eabc\u2066\u200f\u061c", "\\u202eabc\\u2066\\u200f\\u061c"),
        ("\ufeff\u00ad\U000e0041", "\\ufeff\\xad\\U000e0041"),
        ("one\r\ntwo\ttab\u2028\u2029\x7f\x00", "one\\r\\ntwo\\ttab\\u2028\\u2029\\x7f\\x00"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_controls_a_terminal_is_escaped(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_characters_to_keep_are_kept() -> None:
    assert escaped("one\ntwo\x1b", keep="\n") == "one\ntwo\\x1b"
