"""Lookups at a table, during its game and after it: the score sheet, one of its rounds, statistics and rules."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.markdown import Markdown
from rich.text import Text

from croupier.cli.terminal.person_input import InputFault, Lookup, Rules, Sheet, Statistics
from croupier.cli.terminal.result import statistics_of
from croupier.cli.terminal.rules import rule_text, shown_page
from croupier.cli.terminal.sheets import detail_lines, sheet_lines
from croupier.cli.terminal.words import Words
from croupier_api.v1 import tables_pb2
from croupier_client.aio import Client


class Lookups:
    """The lookups of a person at one table."""

    def __init__(self, client: Client, table: tables_pb2.PlayedTable, words: Words) -> None:
        self._client = client
        self._table = table
        self._words = words

    async def lines(self, lookup: Lookup, width: int) -> Sequence[RenderableType]:
        """Return the lines of a lookup; raises InputFault for a round or rule that is not there, and CroupierError."""
        match lookup:
            case Sheet(number):
                return await self._sheet(number, width)
            case Statistics():
                return [await statistics_of(self._client, self._table.game, self._words, width)]
            case Rules(rule):
                return [await self._rules(rule)]

    async def _sheet(self, number: int | None, width: int) -> list[Text]:
        """Return the lines of the sheet, or of a round value by value; raises InputFault for one that is not on it."""
        rounds = (await self._client.get_score_sheet(table_id=self._table.table_id)).rounds
        if number is None:
            return list(sheet_lines(self._words, rounds, width))
        found = [score for score in rounds if score.round == number]
        if not found:
            raise InputFault(self._words.tr("there is no {round} {number}", round=self._words.round, number=number))
        return list(detail_lines(self._words, found[0], width))

    async def _rules(self, rule: str) -> Markdown:
        """Return the rules page in the version of the table, or a rule of it; raises InputFault for an unknown one."""
        page = await self._client.get_rules(
            game=self._table.game, rules_version=self._table.rules_version, language=self._words.texts.language
        )
        text = rule_text(page.markdown, rule) if rule else page.markdown
        if not text:
            raise InputFault(self._words.tr("there is no rule {rule}", rule=rule))
        return shown_page(text)
