"""Databases that cannot be used are named in one sentence that says what is wrong."""

from pathlib import Path

import pytest

from croupier.runtime.database import migrate, open_database


@pytest.mark.parametrize("url", ["nonsense", "sqlite:///x.db", "postgresql+unheard://host/name"])
def test_a_url_without_a_driver_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="--database is not the SQLAlchemy URL of a database"):
        open_database(url)


async def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    file = tmp_path / "letter.db"
    file.write_text("dear reader, " * 1000)
    database = open_database(f"sqlite+aiosqlite:///{file}")
    with pytest.raises(ValueError, match=r"letter\.db cannot be used, file is not a database"):
        await migrate(database, "croupier.scoring")
    await database.dispose()
