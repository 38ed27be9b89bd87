"""What the door does when it has more than it can bear: the next who comes is refused, and who is there stays."""

from croupier.door.envoy_types import Config, typed
from croupier.door.settings import DoorSettings

MEBIBYTE = 1024 * 1024
HEAP = "envoy.resource_monitors.fixed_heap"
TIDY_FROM, REFUSE_FROM = 0.9, 0.95
"""Shares of the memory from which on what is free goes back to the machine, and new calls are refused."""


def overload(settings: DoorSettings) -> Config:
    """The limits of the whole door."""
    connections = typed(
        "envoy.resource_monitors.global_downstream_max_connections",
        "resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
        max_active_downstream_connections=settings.connections_limit,
    )
    if not settings.memory_limit_mebibytes:
        return {"resource_monitors": [connections]}
    largest = settings.memory_limit_mebibytes * MEBIBYTE
    heap = typed(HEAP, "resource_monitors.fixed_heap.v3.FixedHeapConfig", max_heap_size_bytes=largest)
    actions = [_action("shrink_heap", TIDY_FROM), _action("stop_accepting_requests", REFUSE_FROM)]
    return {"resource_monitors": [connections, heap], "actions": actions}


def _action(name: str, share: float) -> Config:
    return {
        "name": f"envoy.overload_actions.{name}",
        "triggers": [{"name": HEAP, "threshold": {"value": share}}],
    }
