"""All dashboards."""

from k8s.dashboards.calls import CALLS
from k8s.dashboards.door import DOOR
from k8s.dashboards.engines import ENGINES
from k8s.dashboards.house import HOUSE

DASHBOARDS = (HOUSE, ENGINES, CALLS, DOOR)
