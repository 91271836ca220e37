"""What limits this process on Linux: the processors it may run on, and the processor time that a container grants."""

import os
from pathlib import Path

import psutil


def usable_processors() -> int | None:
    """Logical processors that this process may run on (affinity); None where the system does not tell."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return None


def usable_cores() -> int:
    """How many threads can calculate at the same time: the cores, or fewer where this process was given less, at least 1."""
    limits = [psutil.cpu_count(logical=False), usable_processors(), cpu_quota()]
    return max(int(min(limit for limit in [*limits, os.cpu_count() or 1] if limit is not None)), 1)


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Processors' worth of time that the process's control group grants, `0.5`, `3.75`; None without a limit.

    A group is limited by its parents too, so the smallest limit on the way up counts. Version 2 writes `cpu.max` ("max" or
    the quota, and the period, in microseconds), version 1 `cpu.cfs_quota_us` (-1: none) and `cpu.cfs_period_us`:
    https://docs.kernel.org/admin-guide/cgroup-v2.html , https://docs.kernel.org/scheduler/sched-bwc.html
    """
    limits = []
    for line in read(root / "proc/self/cgroup").splitlines():
        parts = line.strip().split(":", 2)
        if len(parts) != 3:
            continue
        _, controllers, path = parts
        if controllers == "":
            limits += _up(root / "sys/fs/cgroup", path, _version_2) + _up(root / "sys/fs/cgroup/unified", path, _version_2)
        elif "cpu" in controllers.split(","):
            for mount in (controllers, "cpu", "cpu,cpuacct", "cpuacct,cpu"):
                limits += _up(root / "sys/fs/cgroup" / mount, path, _version_1)
    return min(limits, default=None)


def _up(mount: Path, path: str, limit_of) -> list[float]:
    """The limits of a group and of the groups above it. In a container the path may not exist: then the mount is the group."""
    groups, group = [mount], mount
    for part in path.split("/"):
        if part in ("", ".", ".."):
            continue
        group = group / part
        groups.append(group)
    limits = [limit_of(group) for group in groups]
    return [limit for limit in limits if limit is not None]


def _version_2(group: Path) -> float | None:
    return _ratio(*(read(group / "cpu.max").split() + ["", ""])[:2])


def _version_1(group: Path) -> float | None:
    return _ratio(read(group / "cpu.cfs_quota_us"), read(group / "cpu.cfs_period_us"))


def _ratio(quota: str, period: str) -> float | None:
    try:
        processors = int(quota) / int(period)
    except (ValueError, ZeroDivisionError):
        return None
    return round(processors, 3) if processors > 0 else None


def read(path: Path) -> str:
    """A file's text, or nothing where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
