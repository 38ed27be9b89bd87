"""The notifications of PostgreSQL that logs have grown."""

import json
from collections.abc import Iterator, Mapping

LOG_CHANNEL = "croupier_log"
MAX_PAYLOAD_BYTES = 7_900
"""PostgreSQL accepts less than 8,000."""


def encode_heads(engine_id: str, heads: Mapping[str, int], max_bytes: int) -> Iterator[str]:
    """Yield payloads with the heads of logs, each of at most `max_bytes` bytes."""
    frame = len(json.dumps([engine_id, {}]))
    part: dict[str, int] = {}
    size = frame
    for table_id, sequence in heads.items():
        grown = len(json.dumps({table_id: sequence})) + 1
        if part and size + grown > max_bytes:
            yield json.dumps([engine_id, part])
            part, size = {}, frame
        part[table_id] = sequence
        size += grown
    yield json.dumps([engine_id, part])
