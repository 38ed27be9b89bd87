"""The key of the hashes by which services know the networks of callers."""

import os
import re
import secrets
from pathlib import Path

from croupier.runtime.permissions import check_secret, open_private
from croupier.runtime.program import SettingsError

KEY_BYTES = 16


def write_new_network_key(path: Path) -> None:
    """Write a random key, readable by its owner only; an existing one is kept."""
    if path.exists():
        return
    with open_private(path, os.O_EXCL) as file:
        file.write(f"{secrets.token_hex(KEY_BYTES)}\n".encode())


def check_network_key(path: Path) -> None:
    """Raise SettingsError for a file that is no such key, without its content, and if others may read it."""
    check_secret(path)
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        text = ""
    if not re.fullmatch(rf"[0-9a-fA-F]{{{2 * KEY_BYTES}}}\s*", text):
        raise SettingsError(f"{path} cannot be read as a network key: expected {2 * KEY_BYTES} hexadecimal digits")
