"""The client runs on pages over plain HTTP, where browsers lack the APIs of secure contexts."""

import re
from pathlib import Path

PACKAGES = Path(__file__).parents[2] / "clients" / "typescript"
SECURE = re.compile(
    r"\b(randomUUID|subtle|isSecureContext|SharedArrayBuffer|caches|Notification|cookieStore|show\w*FilePicker"
    r"|navigator\.(clipboard|serviceWorker|wakeLock|share|locks|storage|credentials|geolocation|mediaDevices))\b"
)
"""https://developer.mozilla.org/docs/Web/Security/Secure_Contexts/features_restricted_to_secure_contexts"""


def test_no_api_of_secure_contexts_is_used() -> None:
    sources = [path for path in sorted(PACKAGES.glob("*/src/**/*.ts*")) if ".test." not in path.name]
    lines = [
        f"{source.name}: {line}"
        for source in sources
        for line in source.read_text(encoding="utf-8").splitlines()
        if SECURE.search(line.partition("//")[0])
    ]
    assert len(sources) > 30
    assert lines == []
