"""How much memory this process has had at most."""

from __future__ import annotations

import re
import resource
from pathlib import Path


def peak_bytes() -> int:
    """Resident memory, at most; what a process inherits of its parent's figure does not count, where that is known."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
    return 1024 * int(found[1]) if found else 0
