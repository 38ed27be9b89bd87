"""One rule out of a rules page, as `/rules ID` shows it."""

import pytest

from croupier.cli.terminal.rules import rule_text

PAGE = """# A game

- <a id="A-PLAY-1"></a>**A-PLAY-1** One, which
  goes on.
- <a id="A-PLAY-2"></a>**A-PLAY-2** Do the first that fits:

| Case | Do |
|---|---|
| one | this |

- <a id="A-PLAY-3"></a>**A-PLAY-3** Three:

  1. an item

## Decisions

| Id | Question |
|---|---|
| <a id="A-D1"></a>**A-D1** | Why? |
| <a id="A-D2"></a>**A-D2** | How? |
"""


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("A-PLAY-1", '- <a id="A-PLAY-1"></a>**A-PLAY-1** One, which\n  goes on.'),
        (
            "a-play-2",
            '- <a id="A-PLAY-2"></a>**A-PLAY-2** Do the first that fits:\n\n| Case | Do |\n|---|---|\n| one | this |\n',
        ),
        ("A-PLAY-3", '- <a id="A-PLAY-3"></a>**A-PLAY-3** Three:\n\n  1. an item\n'),
        ("A-D2", '| Id | Question |\n|---|---|\n| <a id="A-D2"></a>**A-D2** | How? |'),
        ("A-PLAY-4", ""),
    ],
)
def test_a_rule_is_its_item_with_what_it_announces_or_its_row_with_the_head(rule: str, text: str) -> None:
    assert rule_text(PAGE, rule) == text
