"""The entries of a table in memory."""

from collections.abc import Iterator, Sequence
from typing import overload

from croupier.engine.log import Entry, body_to_json
from croupier.engine.packing import packed, unpacked

CHUNK = 64
"""So many entries are packed together; as many of the last ones, or more, are at hand."""


class History(Sequence[Entry]):
    """A table's log, of which all but the end is packed as in the archive: it is long, and read again by hardly anyone.

    Packed, an entry takes about a tenth of the memory, and it costs a fiftieth of what an action costs.
    """

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._last: list[Entry] = []

    def append(self, entry: Entry) -> None:
        """Go on with the next entry."""
        self._last.append(entry)
        if len(self._last) == 2 * CHUNK:
            older, self._last = self._last[:CHUNK], self._last[CHUNK:]
            self._chunks.append(packed((each.sequence, each.at, each.deadline, body_to_json(each)) for each in older))

    def __len__(self) -> int:
        return len(self._chunks) * CHUNK + len(self._last)

    @overload
    def __getitem__(self, index: int) -> Entry: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...

    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        if isinstance(index, slice):
            return list(self)[index]
        place = index if index >= 0 else len(self) + index
        if not 0 <= place < len(self):
            raise IndexError(f"there is no entry {place + 1}: there are {len(self)}")
        chunk, inside = divmod(place, CHUNK)
        if chunk < len(self._chunks):
            return unpacked(self._chunks[chunk])[inside]
        return self._last[place - len(self._chunks) * CHUNK]

    def __iter__(self) -> Iterator[Entry]:
        for chunk in self._chunks:
            yield from unpacked(chunk)
        yield from self._last

    def __reversed__(self) -> Iterator[Entry]:
        yield from reversed(self._last)
        for chunk in reversed(self._chunks):
            yield from reversed(unpacked(chunk))
