"""The editor for a line of input: keys in, lines out."""

from croupier.cli.terminal.line_editor import LineEditor


def test_the_line_editor_returns_lines_and_corrects_them() -> None:
    editor = LineEditor()
    assert editor.feed(b"5x\x7fh") == []
    assert editor.typed == "5h"
    assert editor.feed(b"\x1b[A\x1b[15~ s\r1\n") == ["5h s", "1"]
    assert editor.feed("é".encode()[:1]) == []
    assert editor.feed("é".encode()[1:]) == []
    assert editor.typed == "é"
    assert editor.feed(b"abc\x15\x04") == ["/quit"]
    assert editor.feed(b"y" * 1000) == []
    assert len(editor.typed) == 500
