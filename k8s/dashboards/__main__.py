"""Writes the dashboards for Grafana: python -m k8s.dashboards."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from k8s.dashboards.calls import CALLS
from k8s.dashboards.engines import ENGINES
from k8s.dashboards.gateway import GATEWAY
from k8s.dashboards.grafana import grafana
from k8s.dashboards.overview import OVERVIEW

DASHBOARDS = (OVERVIEW, ENGINES, CALLS, GATEWAY)
FOLDER = Path(__file__).parents[1] / "components" / "monitoring" / "dashboards"


def files() -> Mapping[str, str]:
    """Return the content of each file of the folder, by its name."""
    return {f"{one.uid}.json": json.dumps(grafana(one), indent=2) + "\n" for one in DASHBOARDS}


def main() -> int:
    """Write all files."""
    for path in FOLDER.glob("*.json"):
        path.unlink()
    for name, text in files().items():
        (FOLDER / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
