"""Processes that tests look at from outside."""

import psutil  # type: ignore[import-untyped]


def is_alive(pid: int) -> bool:
    """Whether a process runs; one whose parent has not asked for its end yet does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [child.pid for child in psutil.Process(pid).children()]


def mapped_files(pid: int) -> list[str]:
    """The libraries and other files that a process has in memory; none where the system does not say."""
    process = psutil.Process(pid)
    return [mapped.path for mapped in process.memory_maps()] if hasattr(process, "memory_maps") else []
